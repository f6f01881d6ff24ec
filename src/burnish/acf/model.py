"""What an ACF says: tuned blocks, each with what it is for, what to do and on what evidence."""

from dataclasses import dataclass, field

from burnish.model.control import Value
from burnish.model.frozen import FrozenMap
from burnish.model.verdict import Outcome

__all__ = [
    "FORMAT",
    "Acf",
    "Evidence",
    "Launch",
    "Shape",
    "Span",
    "Tuned",
    "TunedCode",
    "WorkloadEvidence",
]

FORMAT = "burnish-acf/1"

# An inclusive range of whole numbers.
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Shape:
    """Launches that a variant is for: all of its ranges hold.

    Attributes:
        grid: An inclusive range of blocks for each of x, y and z; None where any number will do.
        scalars: Inclusive ranges of scalar parameters, by position from 0, in that order.
    """

    grid: tuple[Span | None, Span | None, Span | None] = (None, None, None)
    scalars: tuple[tuple[int, Span], ...] = ()

    def holds(self, grid: tuple[int, int, int], scalars: dict[int, int]) -> bool:
        """Whether a launch with that grid and those scalar parameters is meant."""
        wanted = [(axis, span) for axis, span in zip(grid, self.grid, strict=True) if span]
        wanted += [(scalars[place], span) for place, span in self.scalars if place in scalars]
        complete = all(place in scalars for place, _ in self.scalars)
        return complete and all(low <= value <= high for value, (low, high) in wanted)


@dataclass(frozen=True, slots=True)
class Launch:
    """What changes about the launch; None where it stays.

    Attributes:
        warps: Warps a block.
        shared_bytes: Dynamic shared memory a block.
        cluster: Blocks a cluster, along x, y and z.
        scratch: Bytes of global scratch memory a block, and their alignment.
    """

    warps: int | None = None
    shared_bytes: int | None = None
    cluster: tuple[int, int, int] | None = None
    scratch: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class TunedCode:
    """All that applying reads.

    Attributes:
        compiler: Kind and version of the compiler to call, such as ``ptxas 13.3.73``.
        options: Its complete options in normal form; they replace the plain ones.
        binary_sha256: Binary digest of the entry that must come out; empty only in a strict
            file.
        ptx: The tuned entry with what it needs, decoded; empty where the PTX is the plain one.
        opaque: NVIDIA's own controls file; empty where none was chosen.
    """

    compiler: str
    options: tuple[str, ...]
    binary_sha256: str
    ptx: str = ""
    opaque: bytes = b""


@dataclass(frozen=True, slots=True)
class WorkloadEvidence:
    """What was measured on one workload.

    Attributes:
        name: The workload's name.
        ratio: Baseline ÷ tuned: above 1 is better.
        interval: Confidence interval of the ratio.
        held_out: Whether the search never saw this workload.
    """

    name: str
    ratio: float
    interval: tuple[float, float]
    held_out: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why the block is there: shown, never applied.

    Attributes:
        verdict: What was decided; never WRONG.
        metric: The metric that the verdict speaks of.
        baseline: The plain build's figure, in the metric's unit.
        tuned: The tuned build's figure, in the metric's unit.
        ratio: Baseline ÷ tuned, where it was measured; together with ``interval``.
        interval: Confidence interval of the ratio.
        reason: Why, in a sentence.
        figures: Other metrics' figures: name to baseline and tuned.
        workloads: What was measured on each workload.
        rounds: Paired rounds that the ratio rests on; 0 where nothing was measured.
        regime: ``cold`` or ``warm`` L2; empty where nothing was measured.
        device: The device's model; empty where nothing was run.
        driver: Its driver's version.
        date: Such as ``2026-11-30`` or ``2026-11-30T09:30:00Z``.
        study: The study's name.
        burnish: The version of Burnish that wrote the block.
    """

    verdict: Outcome
    metric: str
    baseline: float  # house: unit is the metric's own
    tuned: float  # house: unit is the metric's own
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    reason: str = ""
    figures: FrozenMap[tuple[float, float]] = field(default_factory=FrozenMap)
    workloads: tuple[WorkloadEvidence, ...] = ()
    rounds: int = 0
    regime: str = ""
    device: str = ""
    driver: str = ""
    date: str = ""
    study: str = ""
    burnish: str = ""


@dataclass(frozen=True, slots=True)
class Tuned:
    """One tuned entry: what it is for, what to do, why.

    Attributes:
        key: ``ptx:…`` (PTX digest of the plain entry) or ``c:…`` (of the preprocessed source).
        entry: The entry's name.
        arch: What the plain build compiles for, such as ``sm_90a``.
        baseline_compiler: Kind and version of the plain build's compiler.
        baseline_options: Options of the plain build in normal form.
        code: What to do.
        controls: What was decided otherwise than by default: shown, never applied.
        evidence: Why; None only in a strict file.
        disjoint: Pairs of parameter positions whose buffers must not overlap.
        shapes: Launches that this variant is for: any of them; all launches where empty.
        launch: What changes about the launch.
    """

    key: str
    entry: str
    arch: str
    baseline_compiler: str
    baseline_options: tuple[str, ...]
    code: TunedCode
    controls: FrozenMap[Value] = field(default_factory=FrozenMap)
    evidence: Evidence | None = None
    disjoint: tuple[tuple[int, int], ...] = ()
    shapes: tuple[Shape, ...] = ()
    launch: Launch | None = None


@dataclass(frozen=True, slots=True)
class Acf:
    """An advanced controls file.

    Attributes:
        tuned: Its blocks, in the file's order; at least one.
        strict: Whether a build must fail where no block is applied.
    """

    tuned: tuple[Tuned, ...]
    strict: bool = False
