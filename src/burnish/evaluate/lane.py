"""What a worker holds while candidates are looked at, and the jobs that it runs.

Everything here happens in the worker; jobs and answers are pickled. The parent's side is
`burnish.evaluate.bench`.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from burnish.devices.port import Device, Explained, Program, Regime, Roofed, Session, Shared
from burnish.devices.supervise import OPENING
from burnish.devices.worker import stage
from burnish.errors import LaunchError
from burnish.measure.race import Screening, Standing, screen
from burnish.measure.rounds import Plan as Rounding
from burnish.measure.rounds import Rounds, Surroundings, run_rounds, warm_up
from burnish.measure.sitting import Contender
from burnish.measure.stats import Array
from burnish.model.control import Risk
from burnish.model.frozen import FrozenMap
from burnish.model.workload import Workload
from burnish.verify.examiner import Examiner
from burnish.verify.judge import Finding
from burnish.verify.oracle import load_reference
from burnish.verify.paper import Plan as Checking

__all__ = ["Block", "Final", "Lane", "LaneSetup", "Look", "Looked", "Plain", "Scale"]

_SCALE_SAMPLES = 5
_OPEN_S = 60.0
_LAUNCH_S = 10.0  # a candidate is launched some ten times, and a study has hundreds of them
_PREPARING = "making inputs"


@dataclass(frozen=True)
class LaneSetup:
    """Makes a lane, in the worker.

    Attributes:
        open_device: Opens the device.
        baseline: The plain build.
        workloads: All of them, those that are held out included.
        regime: Under which is timed.
        seed: Of the inputs.
        reference: ``MODULE:FUNCTION`` of the user; empty for none.
        folder: Where the reference is looked for first.
        must_repeat: Whether the plain build's answers must repeat bit by bit.
    """

    open_device: Callable[[], Device]
    baseline: Contender
    workloads: tuple[Workload, ...]
    regime: Regime
    seed: int
    reference: str = ""
    folder: Path = Path()
    must_repeat: bool = False

    @property
    def checking(self) -> Checking:
        """How candidates are checked."""
        reference = load_reference(self.reference, self.folder) if self.reference else None
        return Checking(
            seed=self.seed,
            regime=self.regime,
            reference=reference,
            must_repeat=self.must_repeat,
        )

    def __call__(self) -> "Lane":
        """Open the device, load the plain build, and take its answers."""
        return Lane(self)


class Lane:
    """A device with the plain build on it, and a session a workload."""

    def __init__(self, setup: LaneSetup) -> None:
        self.setup = setup
        stage(OPENING, within_s=_OPEN_S)
        self.device = setup.open_device()
        stage("loading the plain build", within_s=_OPEN_S)
        self.baseline = self.device.load(setup.baseline.image, setup.baseline.entry)
        stage(_PREPARING)
        self.examiner = Examiner(self.device, self.baseline, setup.workloads, setup.checking)
        self.examiner.prepare(watched=_launching)
        self._timed = [workload.name for workload in setup.workloads if not workload.held_out]
        self._is_warm = False

    def sessions(self) -> dict[str, Session]:
        """A session a workload that is tuned on, set to what is timed."""
        sessions = {name: self.examiner.session(name) for name in self._timed}
        if not self._is_warm:
            warm_up(sessions, self.baseline)
            self._is_warm = True
        return sessions

    def rounds(self, programs: Sequence[Program], plan: Rounding, seed: Sequence[int]) -> Rounds:
        """Time programs beside the plain build in paired rounds."""
        return run_rounds(
            self.sessions(),
            [self.baseline, *programs],
            plan,
            np.random.default_rng(list(seed)),
            Surroundings(self.device.state),
        )


@contextmanager
def _launching(workload: str) -> Iterator[None]:
    """Say that the plain build is launched, which may hang, and when it has ended."""
    stage(f"running the plain build on workload {workload!r}", within_s=_LAUNCH_S)
    yield
    stage(_PREPARING)


@dataclass(frozen=True, slots=True)
class Scale:
    """How long the plain build takes.

    Attributes:
        times_us: Workload to the median time of a launch.
        calls: Workload to launches a sample.
        check_s: How long a check takes.
        notes: What people should know about the checks.
        methods: Workload to how its launches are timed, where there is more than one way.
        bandwidth_gbps: What a large copy on the device moves, where a workload says what it
            moves itself; else None.
    """

    times_us: FrozenMap[float]
    calls: FrozenMap[int]
    check_s: float
    notes: tuple[str, ...]
    methods: FrozenMap[str] = field(default_factory=FrozenMap)
    bandwidth_gbps: float | None = None


@dataclass(frozen=True, slots=True)
class Plain:
    """The job that proves a device well: the plain build passes its own check, and is timed."""

    def __call__(self, lane: Lane) -> Scale:
        """Run it.

        Raises:
            LaunchError: The plain build fails its own check.
        """
        started = time.perf_counter()
        stage("checking the plain build")
        finding = lane.examiner.examine(lane.baseline)
        if lane.setup.must_repeat and not finding.is_right:
            raise LaunchError(f"the baseline is not repeatable: {finding.message}")
        check_s = time.perf_counter() - started
        rounds = lane.rounds([], Rounding(_SCALE_SAMPLES), [0])
        medians = np.median(rounds.times_us[:, 0], axis=0)
        return Scale(
            times_us=FrozenMap(dict(zip(rounds.workloads, medians.tolist(), strict=True))),
            calls=FrozenMap(dict(zip(rounds.workloads, rounds.calls, strict=True))),
            check_s=check_s,
            notes=(*lane.examiner.notes, *_company(lane.device)),
            methods=_methods(lane.sessions()),
            bandwidth_gbps=_bandwidth_gbps(lane),
        )


def _methods(sessions: Mapping[str, Session]) -> FrozenMap[str]:
    return FrozenMap(
        {name: one.method for name, one in sessions.items() if isinstance(one, Explained)}
    )


def _bandwidth_gbps(lane: Lane) -> float | None:
    """What the memory moves at most, where anybody says what a launch has to move."""
    is_wanted = any(workload.moved_bytes for workload in lane.setup.workloads)
    if not isinstance(lane.device, Roofed) or not is_wanted:
        return None
    stage("measuring the memory")
    return lane.device.bandwidth_gbps()


def _company(device: Device) -> list[str]:
    """A note where other processes use the device: their work is in every time."""
    others = device.others() if isinstance(device, Shared) else ()
    listed = ", ".join(map(str, others))
    return [f"other processes use the device, too: {listed}"] if others else []


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look at a candidate brought.

    Attributes:
        finding: Whether its answers are right.
        standing: How it did in the screening; None where it was not timed.
        timer_fault: Why its time cannot be; empty where it can.
        seconds: Stage to seconds.
    """

    finding: Finding
    standing: Standing | None
    timer_fault: str
    seconds: FrozenMap[float]


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """Load a candidate, check its answers, and time it in a few paired rounds.

    Attributes:
        contender: The candidate.
        demand: What its answers must show.
        calls: Workload to launches a sample.
        weights: Of the workloads that are tuned on.
        screening: How many rounds, and how slow is hopeless.
        seed: Of the order.
    """

    contender: Contender
    demand: Risk
    calls: FrozenMap[int]
    weights: Array
    screening: Screening
    seed: tuple[int, ...]

    def __call__(self, lane: Lane) -> Looked:
        """Look at it."""
        started = time.perf_counter()
        stage("loading")
        with closing(lane.device.load(self.contender.image, self.contender.entry)) as program:
            stage("checking")
            finding = lane.examiner.examine(program, self.demand)
            checked = time.perf_counter()
            seconds = {"check": checked - started}
            if not finding.is_right:
                return Looked(finding, None, "", FrozenMap(seconds))
            stage("timing")
            faults: list[str] = []
            (standing,) = screen(
                lambda _who, rounds: self._measure(lane, program, rounds, faults),
                (0,),
                self.weights,
                self.screening,
            )
            seconds["screen"] = time.perf_counter() - checked
            return Looked(finding, standing, "".join(faults[:1]), FrozenMap(seconds))

    def _measure(self, lane: Lane, program: Program, rounds: int, faults: list[str]) -> Array:
        taken = lane.rounds([program], Rounding(rounds, self.calls), (*self.seed, rounds))
        faults += [fault for fault in taken.faults if fault]
        return taken.figures


@dataclass(frozen=True, slots=True)
class Block:
    """Time several candidates side by side in paired rounds: a block of a race."""

    contenders: tuple[Contender, ...]
    rounds: int
    calls: FrozenMap[int]
    seed: tuple[int, ...]

    def __call__(self, lane: Lane) -> Rounds:
        """Time them."""
        with ExitStack() as stack:
            programs = [
                stack.enter_context(closing(lane.device.load(one.image, one.entry)))
                for one in self.contenders
            ]
            return lane.rounds(programs, Rounding(self.rounds, self.calls), self.seed)


@dataclass(frozen=True, slots=True)
class Final:
    """The last check: held-out workloads, hidden inputs, more launches."""

    contender: Contender
    demand: Risk

    def __call__(self, lane: Lane) -> Finding:
        """Check it."""
        stage("final check")
        with closing(lane.device.load(self.contender.image, self.contender.entry)) as program:
            return lane.examiner.examine(program, self.demand, is_final=True)
