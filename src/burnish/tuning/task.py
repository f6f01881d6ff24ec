"""What the user wants tuned, and how: the options of `burnish tune` as a value."""

import math
import re
from dataclasses import dataclass
from pathlib import Path

from burnish.devices.port import Regime
from burnish.errors import UsageError
from burnish.execute.local import usable_cores
from burnish.model.control import Layer, Risk
from burnish.model.objective import METRICS, Limit, Objective

__all__ = ["Task", "parse_duration", "parse_limit"]

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DEFAULT_EVALUATIONS = 500
_MOST_JOBS = 1024


@dataclass(frozen=True)
class Task:
    """One tuning of one kernel.

    Attributes:
        kernel: A ``.ptx``, ``.cu`` or ``.c`` file, or a captured bundle.
        entry: The entry to tune; may be empty where there is one.
        arch: The architecture; empty for the kernel's own.
        options: Options of the plain build.
        device: ``auto``, ``cuda``, ``cuda:N``, ``host`` or ``none``.
        launch: The launch file; None with device ``none``.
        reference: ``MODULE:FUNCTION`` that computes the answers in float64; may be empty.
        regime: ``cold`` or ``warm`` caches when a timed launch starts; empty for the device's
            usual one.
        minimize: Metrics, the first one first.
        limits: Bounds on metrics.
        allow: Risks taken beside exact ones.
        layers: Layers to search; empty for all that apply.
        opaque: Folder of NVIDIA's own controls files.
        start_from: ACFs whose controls are tried first.
        evaluations: Distinct binaries to look at; None for a default, or no bound with wall_s.
        wall_s: Seconds to search; None for no bound.
        seed: Of every random choice.
        jobs: Compiles at a time; 0 for all usable cores.
        engine: Name of the search engine.
        store: Address of the database; empty for the default one.
        study: Name of the study; empty to make one up.
        resume: Whether to go on with the stored study.
        output: Where the ACF goes; None for none, a folder with several metrics.
    """

    kernel: Path
    entry: str = ""
    arch: str = ""
    options: tuple[str, ...] = ()
    device: str = "auto"
    launch: Path | None = None
    reference: str = ""
    regime: str = ""
    minimize: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    allow: frozenset[Risk] = frozenset()
    layers: frozenset[Layer] | None = None
    opaque: Path | None = None
    start_from: tuple[Path, ...] = ()
    evaluations: int | None = None
    wall_s: float | None = None
    seed: int = 0
    jobs: int = 0
    engine: str = "evolution"
    store: str = ""
    study: str = ""
    resume: bool = False
    output: Path | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be."""
        for name in ("evaluations", "wall_s"):
            value = getattr(self, name)
            if value is not None and not (0 < value < math.inf):
                raise UsageError(f"{name.replace('wall_s', '--budget')}: {value} is not above 0")
        if self.jobs < 0:
            raise UsageError(f"--jobs: {self.jobs} is below 1")
        if self.jobs > _MOST_JOBS:
            raise UsageError(f"--jobs: {self.jobs} is above {_MOST_JOBS}; 0 takes all cores")
        if self.regime not in {"", *Regime}:
            raise UsageError(f"--regime {self.regime!r}: choose {' or '.join(Regime)}")
        for metric in (*self.minimize, *(limit.metric for limit in self.limits)):
            if metric not in METRICS:
                raise UsageError(f"unknown metric {metric!r}; known: {', '.join(METRICS)}")

    @property
    def workers(self) -> int:
        """Compiles at a time."""
        return self.jobs or usable_cores()

    @property
    def most_evaluations(self) -> int | None:
        """The bound on evaluations; None where only time bounds the search."""
        if self.evaluations is None and self.wall_s is None:
            return _DEFAULT_EVALUATIONS
        return self.evaluations

    @property
    def objective(self) -> Objective:
        """What to make small; without a device a static metric must be named."""
        if self.device == "none":
            timed = [name for name in self.minimize if not METRICS[name].static]
            if timed or not self.minimize:
                static = ", ".join(name for name, metric in METRICS.items() if metric.static)
                what = f"{timed[0]} is measured on a device" if timed else "nothing is measured"
                raise UsageError(f"--device none: {what}; name one of --minimize {static}")
            for limit in self.limits:
                if not METRICS[limit.metric].static:
                    raise UsageError(f"--limit {limit.metric}: needs a device that measures it")
            return Objective(self.minimize, self.limits)
        for limit in self.limits:
            if METRICS[limit.metric].late:
                raise UsageError(f"--limit {limit.metric}: only finalists are measured in it")
        return Objective(self.minimize or ("runtime",), self.limits)


def parse_duration(text: str) -> float:
    """Seconds of ``90``, ``90s``, ``2m``, ``1.5h`` or ``500ms``.

    Raises:
        UsageError: It is none of these.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"--budget {text!r}: write a duration such as 90s, 2m or 1h")
    return float(match[1]) * _SECONDS[match[2] or "s"]


def parse_limit(text: str) -> Limit:
    """A bound written as ``METRIC=VALUE``.

    Raises:
        UsageError: It is none.
    """
    metric, mark, value = text.partition("=")
    try:
        most = float(value)
    except ValueError:
        most = math.nan
    if not mark or math.isnan(most):
        raise UsageError(f"--limit {text!r}: write METRIC=VALUE, such as registers=64")
    return Limit(metric.strip(), most)
