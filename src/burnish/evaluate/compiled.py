"""A config becomes a trial, whatever happens on the way."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

from burnish.errors import InternalError, ToolchainError
from burnish.model.binary import Binary
from burnish.model.code import Code
from burnish.model.control import Risk
from burnish.model.frozen import FrozenMap
from burnish.model.objective import Limit
from burnish.model.space import Config, Space
from burnish.model.trial import Status, Trial
from burnish.spaces.bound import BoundSpace

__all__ = [
    "Compiled",
    "Compiler",
    "build_limit_s",
    "check_canary",
    "demand_of",
    "over_limit",
    "trial_of",
]

_MOST_MESSAGE = 2000
_LEAST_BUILD_S = 10.0
_TIMES_PLAIN = 30.0


@dataclass(frozen=True, slots=True)
class Compiled:
    """What the compilers made of a config.

    Attributes:
        config: The config.
        status: OK, or why there is no binary.
        binary: The machine code; None where it failed.
        figures: Static metrics.
        message: What the compiler said; where it failed, why.
        advisories: ptxas's advisories.
        demand: What its answers must show, if it is run.
        seconds: Stage to seconds.
    """

    config: Config
    status: Status
    binary: Binary | None = None
    figures: FrozenMap[float] = field(default_factory=FrozenMap)
    message: str = ""
    advisories: tuple[str, ...] = ()
    demand: Risk = Risk.EXACT
    seconds: FrozenMap[float] = field(default_factory=FrozenMap)


class Compiler(Protocol):
    """Makes machine code of configs. Safe to call from many threads."""

    @property
    def bound(self) -> BoundSpace:
        """Where the configs come from."""

    def within(self, wall_s: float) -> Self:
        """The same compiler, with that much time for one build."""

    def compile(self, config: Config) -> Compiled:
        """Build a config; a compiler's refusal is a result."""

    def build(self, config: Config, code: Code) -> Compiled:
        """Build what a compiler is told, on behalf of a config."""


def demand_of(space: Space, config: Config) -> Risk:
    """What a config's answers must show: the most that one of its decisions demands."""
    order = list(Risk)
    risks = [space[name].risk_of(value) for name, value in space.changes(config).items()]
    return max(risks, key=order.index, default=Risk.EXACT)


def trial_of(
    number: int, compiled: Compiled, known: Mapping[str, Trial], baseline: Compiled
) -> Trial:
    """The trial of a compiled config, before anything is run.

    Args:
        number: Its place in the order of asking.
        compiled: What the compilers made of it.
        known: Binary digest to the trial that had it first.
        baseline: The plain build; an advisory that it does not have fails the candidate.
    """
    trial = Trial(
        number=number,
        config=compiled.config,
        status=compiled.status,
        message=compiled.message[:_MOST_MESSAGE],
        seconds=compiled.seconds,
    )
    if compiled.binary is None:
        return trial
    trial = replace(trial, binary=compiled.binary.digest)
    fresh = sorted(set(compiled.advisories) - set(baseline.advisories))
    if fresh:
        why = f"ptxas gives an advisory that the plain build does not have: {', '.join(fresh)}"
        return replace(trial, status=Status.REFUSED, message=why)
    first = known.get(compiled.binary.digest)
    if first is not None:
        return replace(
            trial, status=Status.DUPLICATE, duplicate_of=first.number, figures=first.figures
        )
    return replace(trial, figures=compiled.figures)


def over_limit(trial: Trial, limits: tuple[Limit, ...]) -> Trial:
    """The trial, failed where one of its figures passes a bound of the user."""
    for limit in limits:
        figure = trial.figures.get(limit.metric)
        if figure is not None and figure > limit.most and not trial.status.failed:
            why = f"{limit.metric} {figure:g} is above the limit of {limit.most:g}"
            return replace(trial, status=Status.OVER_LIMIT, message=why)
    return trial


def build_limit_s(plain: Compiled) -> float:
    """How long a candidate's build may take: thirty times the plain build's CPU time, or 10 s."""
    return max(_LEAST_BUILD_S, _TIMES_PLAIN * plain.figures.get("compile-time", 0.0) / 1e3)


def check_canary(compiler: Compiler) -> Compiled:
    """Show that controls reach the compiler, and return the plain build.

    The default config must give the plain build's digest, and a build known to be bad another.

    Raises:
        ToolchainError: The plain build does not compile, or a control does nothing.
        InternalError: The default config is not the plain build.
    """
    bound = compiler.bound
    default = bound.space.default
    plain = compiler.build(default, replace(bound.code_of(default), options=bound.kernel.options))
    if plain.binary is None:
        raise ToolchainError(f"the plain build of {bound.kernel.name} fails: {plain.message}")
    again = compiler.compile(default)
    if again.binary is None or again.binary.digest != plain.binary.digest:
        raise InternalError("the default config does not give the plain build's machine code")
    bad = compiler.build(default, bound.known_bad)
    if bad.binary is not None and bad.binary.digest == plain.binary.digest:
        raise ToolchainError(
            f"{bound.known_bad.compiler} gives the same code with optimisation turned off: "
            "its options do not reach it; is a wrapper in the way?"
        )
    return again
