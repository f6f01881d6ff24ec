"""`burnish.Search`: Burnish's search with the user's own objective.

    def objective(config_blob: str) -> float: ...  # bytes.fromhex(config_blob) is an ACF

    result = burnish.Search(objective, burnish.space("kernel.ptx", arch="sm_90a")).run()
    result.best.save("kernel.acf")

The blob is a strict ACF: a build that gets it and cannot apply it fails, so that nobody
measures the plain build unawares. A config whose machine code is known is a duplicate, and the
objective is not called for it.
"""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from burnish import __version__
from burnish.acf.model import Acf, Evidence
from burnish.acf.write import dump, save
from burnish.devices.worker import check_sendable
from burnish.errors import ObjectiveError, UsageError
from burnish.evaluate.compiled import Compiled, Compiler, check_canary
from burnish.model.control import Layer, Risk
from burnish.model.frozen import FrozenMap
from burnish.model.space import Config
from burnish.model.trial import Status, Trial
from burnish.model.verdict import Outcome
from burnish.own.answers import Answers, Objective
from burnish.search.engine import make
from burnish.search.late import LateEngine
from burnish.search.pareto import front
from burnish.settings import load
from burnish.spaces.ptx import PtxSpace
from burnish.tuning.artefact import block_of
from burnish.tuning.loop import Budget, Loop, settled
from burnish.tuning.prepare import compiler_of, open_space
from burnish.tuning.task import Task

__all__ = ["Found", "Search", "SearchResult", "space"]


def space(  # noqa: PLR0913 - the contract of the command line, as keywords
    kernel: str | Path,
    *,
    arch: str = "",
    entry: str = "",
    options: Sequence[str] = (),
    allow: Sequence[str] = (),
    layers: Sequence[str] = (),
) -> PtxSpace:
    """Everything that can be decided about a kernel.

    Args:
        kernel: A ``.ptx`` file.
        arch: Such as ``sm_90a``; by default the kernel's own.
        entry: The entry, where the file has several.
        options: Options of the plain build.
        allow: Risks to take: ``conditional``, ``rounding``, ``unproven``.
        layers: Layers to search; all that apply by default.

    Raises:
        BurnishError: The kernel, its compilers or these choices cannot be used.
    """
    task = Task(
        kernel=Path(kernel),
        arch=arch,
        entry=entry,
        options=tuple(options),
        allow=frozenset(Risk(name) for name in allow),
        layers=frozenset(Layer(name) for name in layers) or None,
        device="none",
    )
    with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
        bound = open_space(task, Path(folder))
    if not isinstance(bound, PtxSpace):
        raise UsageError(f"{kernel}: an objective of your own takes .ptx kernels")
    return bound


@dataclass(frozen=True)
class Found:
    """A trial, and the ACF that makes a build of it.

    Attributes:
        trial: The trial: config, status, figures.
        acf: The ACF; not strict.
    """

    trial: Trial
    acf: Acf

    @property
    def figures(self) -> FrozenMap[float]:
        """What the objective answered, by name."""
        return self.trial.figures

    @property
    def config(self) -> Config:
        """What was decided."""
        return self.trial.config

    def save(self, path: str | Path) -> None:
        """Write the ACF.

        Raises:
            UsageError: The file cannot be written.
        """
        try:
            save(self.acf, Path(path))
        except OSError as error:
            raise UsageError(f"{path}: cannot be written ({error.strerror})") from None


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes:
        trials: All of them, in the order of asking; the first is the plain build.
        metrics: Names of the figures, as the objective gave them.
    """

    trials: tuple[Trial, ...]
    metrics: tuple[str, ...]
    _bound: PtxSpace = field(repr=False)

    @property
    def best(self) -> Found:
        """The trial with the smallest first figure; the earliest in a tie."""
        first = self.metrics[0]
        return self._found(min(settled(self.trials), key=lambda trial: trial.figures[first]))

    def pareto_front(self) -> list[Found]:
        """The trials that no other one dominates, the smallest first figure first."""
        able = settled(self.trials)
        points = [[trial.figures[name] for name in self.metrics] for trial in able]
        chosen = {tuple(points[number]): able[number] for number in reversed(front(points))}
        return [self._found(chosen[point]) for point in sorted(chosen)]

    def _found(self, trial: Trial) -> Found:
        acf = _acf_of(self._bound, trial.config, trial.binary, strict=False)
        block = replace(acf.tuned[0], evidence=self._evidence(trial))
        return Found(trial, Acf((block,)))

    def _evidence(self, trial: Trial) -> Evidence:
        """What the objective answered; of the plain build too, where it answered there."""
        first = self.metrics[0]
        tuned = trial.figures[first]
        plain = self.trials[0].figures.get(first, tuned)
        return Evidence(
            verdict=Outcome.BETTER if tuned < plain else Outcome.SAME,
            metric=first,
            baseline=plain,
            tuned=tuned,
            reason="the user's own objective; not measured or checked by Burnish",
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
            burnish=__version__,
        )


class Search:
    """A search with the user's own objective.

    Args:
        objective: Called with a blob: hex of a strict ACF. Returns a float, a tuple, or a mapping
            of named figures, all minimised; or raises, or returns `burnish.INVALID`.
        space: What to search, from `burnish.space`.
        generations: Times ``population`` is the number of distinct binaries to look at.
        population: See ``generations``.
        seed: Of every random choice.
        workers: Processes that call the objective side by side; 0: one call at a time in this
            process and folder.
        limit_s: Time limit of one call; only with ``workers``.
    """

    def __init__(  # noqa: PLR0913 - keywords of a public call
        self,
        objective: Objective,
        space: PtxSpace,
        *,
        generations: int = 10,
        population: int = 15,
        seed: int = 0,
        workers: int = 0,
        limit_s: float | None = None,
    ) -> None:
        if generations < 1 or population < 1:
            raise UsageError(f"generations={generations}, population={population}: both above 0")
        if workers < 0:
            raise UsageError(f"workers={workers}: 0 for calls in this process, or more")
        if limit_s is not None and not limit_s > 0:
            raise UsageError(f"limit_s={limit_s:g}: seconds, above 0")
        if limit_s is not None and not workers:
            raise UsageError("limit_s needs workers=N: a call in this process cannot be ended")
        self._space = space
        self._evaluations = generations * population
        self._seed = seed
        self._jobs = max(1, workers)
        if workers:
            check_sendable(objective)
        self._answers = Answers(objective, workers, limit_s)

    def run(self) -> SearchResult:
        """Search.

        Raises:
            ObjectiveError: The objective failed for every config.
        """
        bound = self._space
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="burnish-"))
            answers = stack.enter_context(self._answers)
            compiler = compiler_of(bound, Path(folder), load())
            plain = check_canary(compiler)
            loop = Loop(
                engine=LateEngine(lambda names: make("evolution", bound.space, self._seed, names)),
                compile=_both(compiler, answers, bound),
                judge=lambda number, compiled, known: answers.judge(
                    number, compiled, known, plain, lambda: _blob(bound, compiled)
                ),
                record=lambda _trial: None,
            )
            loop.run(Budget(self._evaluations), self._jobs)
        if loop.interrupted and not settled(loop.trials):
            raise KeyboardInterrupt
        _refuse_all_failed(loop.trials)
        return SearchResult(tuple(loop.trials), answers.names, bound)


def _both(compiler: Compiler, answers: Answers, bound: PtxSpace) -> Callable[[Config], Compiled]:
    def compile_and_call(config: Config) -> Compiled:
        compiled = compiler.compile(config)
        if compiled.binary is not None:
            answers.call_early(compiled.binary.digest, lambda: _blob(bound, compiled))
        return compiled

    return compile_and_call


def _blob(bound: PtxSpace, compiled: Compiled) -> str:
    digest = compiled.binary.digest if compiled.binary else ""
    return dump(_acf_of(bound, compiled.config, digest, strict=True)).encode().hex()


def _acf_of(bound: PtxSpace, config: Config, digest: str, *, strict: bool) -> Acf:
    block = block_of(bound, bound.code_of(config), digest)
    return Acf((replace(block, controls=FrozenMap(bound.space.changes(config))),), strict)


def _refuse_all_failed(trials: Sequence[Trial]) -> None:
    if settled(trials):
        return
    reasons: dict[str, int] = {}
    for trial in trials:
        if trial.status is not Status.DUPLICATE:
            reason = f"{trial.status}: {trial.message}"
            reasons[reason] = reasons.get(reason, 0) + 1
    shown = "; ".join(f"{number} × {reason}" for reason, number in list(reasons.items())[:3])
    raise ObjectiveError(f"the objective failed for all {len(trials)} configs ({shown})")
