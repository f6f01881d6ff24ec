"""What a study makes small."""

from dataclasses import dataclass

from burnish.errors import UsageError

__all__ = ["METRICS", "Limit", "Metric", "Objective"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure of a trial; all metrics are minimised.

    Attributes:
        name: As the command line says it.
        unit: Of its figures.
        static: Known without running the kernel.
        late: Takes seconds to measure, so only finalists have it.
    """

    name: str
    unit: str
    static: bool
    late: bool = False


METRICS = {
    metric.name: metric
    for metric in (
        Metric("runtime", "us", static=False),
        Metric("energy", "mJ", static=False, late=True),
        Metric("compile-time", "CPU ms", static=True),
        Metric("registers", "registers a thread", static=True),
        Metric("spills", "bytes a thread", static=True),
        Metric("instructions", "instructions", static=True),
        Metric("code-size", "bytes", static=True),
    )
}


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound on a metric: trials above it are not wanted."""

    metric: str
    most: float  # house: unit is the metric's own


@dataclass(frozen=True, slots=True)
class Objective:
    """The metrics to minimise, in order, and bounds on others."""

    minimize: tuple[str, ...]
    limits: tuple[Limit, ...] = ()

    def __post_init__(self) -> None:
        """Refuse an empty objective and a metric named twice."""
        if not self.minimize:
            raise UsageError("nothing to minimise; name a metric with --minimize")
        if len(set(self.minimize)) != len(self.minimize):
            raise UsageError(f"--minimize names a metric twice: {', '.join(self.minimize)}")

    @property
    def searched(self) -> tuple[str, ...]:
        """What every trial has a figure of, and the search goes by.

        For a metric that only finalists are measured in, that is the time of a launch.
        """
        names = ("runtime" if METRICS[name].late else name for name in self.minimize)
        return tuple(dict.fromkeys(names))

    @property
    def late(self) -> tuple[str, ...]:
        """What only finalists are measured in."""
        return tuple(name for name in self.minimize if METRICS[name].late)
