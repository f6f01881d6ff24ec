"""What a study found: what the command line prints and `--json` holds."""

from dataclasses import dataclass, field

from burnish.model.frozen import FrozenMap
from burnish.model.trial import Trial
from burnish.model.verdict import Outcome, Verdict

__all__ = ["Counts", "Result", "Winner", "WorkloadRatio"]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many configs came how far.

    Attributes:
        asked: Configs that the engine proposed.
        distinct: Configs whose binary no earlier one had.
        compiled: Configs that the compilers took, duplicates included.
        checked: Binaries whose answers were compared.
        screened: Binaries that were timed.
        confirmed: Finalists measured again on fresh data.
        failed: Status to number of trials.
    """

    asked: int = 0
    distinct: int = 0
    compiled: int = 0
    checked: int = 0
    screened: int = 0
    confirmed: int = 0
    failed: FrozenMap[int] = field(default_factory=FrozenMap)


@dataclass(frozen=True, slots=True)
class WorkloadRatio:
    """What was measured on one workload.

    Attributes:
        name: The workload's name.
        ratio: Baseline ÷ tuned.
        interval: Of the ratio.
        held_out: Whether the search never saw it.
        baseline: The baseline's figure, in the metric's unit.
        tuned: The candidate's figure, in the metric's unit.
        moved_bytes: Bytes that a launch must move at least, as its author says; None where not.
        operations: Arithmetic operations of a launch, as its author says; None where not.
    """

    name: str
    ratio: float
    interval: tuple[float, float]
    held_out: bool
    baseline: float  # house: unit is the metric's own
    tuned: float  # house: unit is the metric's own
    moved_bytes: int | None = None
    operations: int | None = None


@dataclass(frozen=True, slots=True)
class Winner:
    """A trial worth keeping: the best one, or a point of the front.

    Attributes:
        trial: The trial.
        verdict: What was decided about it.
        others: What was decided about it on other metrics that were measured.
        controls: What differs from the plain build and matters.
        workloads: What was measured on each workload.
        rounds: Paired rounds that the verdict rests on.
    """

    trial: Trial
    verdict: Verdict
    others: tuple[Verdict, ...] = ()
    controls: FrozenMap[bool | int | float | str] = field(default_factory=FrozenMap)
    workloads: tuple[WorkloadRatio, ...] = ()
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """A study's end.

    Attributes:
        study: Its name in the store.
        outcome: Of the best winner; SAME where nothing beat the plain build.
        baseline: Trial 0, the plain build.
        winners: Best first; several where several metrics were minimised.
        counts: How many configs came how far.
        seconds: Stage to seconds: ``compile``, ``check`` and ``screen`` added over all trials,
            which overlap; ``searching`` and ``confirming`` as a clock on the wall has them.
        toolchain: Names of the compilers that were a choice.
        device: What was measured on; empty where nothing was run.
        driver: Version of its driver.
        resolution: Interval of the plain build's ratio to its own copy, where it was measured:
            what is nearer to 1 cannot be told from it.
        methods: Workload to how its launches were timed, where there is more than one way.
        bandwidth_gbps: What a large copy on the device moves, where a workload says what its
            launch moves.
        remarks: What a reader should know of the measurement.
        interrupted: Whether the user stopped it.
    """

    study: str
    outcome: Outcome
    baseline: Trial
    winners: tuple[Winner, ...]
    counts: Counts
    seconds: FrozenMap[float]
    toolchain: tuple[str, ...] = ()
    device: str = ""
    driver: str = ""
    resolution: tuple[float, float] | None = None
    methods: FrozenMap[str] = field(default_factory=FrozenMap)
    bandwidth_gbps: float | None = None
    remarks: tuple[str, ...] = ()
    interrupted: bool = False
