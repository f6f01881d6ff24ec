"""Paired rounds: every program once, in fresh random order, on every workload.

Drift of clocks and temperature meets all programs of a round alike, so what is compared is
always a program with the baseline (program 0) of the same round.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np
from numpy.typing import NDArray

from burnish.devices.port import DeviceState, Program, Session
from burnish.devices.worker import stage
from burnish.errors import DeviceError
from burnish.measure.clocks import Patience, spoiled_by
from burnish.measure.stats import Array
from burnish.measure.timing import Bounds, bounds_of, calls_for, refusal
from burnish.model.frozen import FrozenMap

__all__ = ["Plan", "Rounds", "Surroundings", "blamed", "heartbeat", "run_rounds", "warm_up"]

_STAGE = "program"


@dataclass(frozen=True, slots=True)
class Plan:
    """How rounds are run.

    Attributes:
        rounds: How many.
        calls: Launches in a sample, by workload; those it does not name are found by timing the
            baseline.
        bounds: Possible times, by workload; those it does not name follow from the baseline.
        least_sample_us: How long a sample lasts at least; the device's clock demands it.
        patience: What to do about rounds that the clock spoiled.
    """

    rounds: int
    calls: FrozenMap[int] = field(default_factory=FrozenMap)
    bounds: FrozenMap[Bounds] = field(default_factory=FrozenMap)
    least_sample_us: float = 100.0
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is round a measurement.

    Attributes:
        state: Says how the device is, after each round.
        watch: Told which program runs on which workload before each sample: a heartbeat.
            The usual one is heard by a worker's parent, and by nobody elsewhere.
        rest: Pauses for a number of seconds.
    """

    state: Callable[[], DeviceState] = DeviceState
    watch: Callable[[str], None] = stage
    rest: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """What rounds measured. Arrays have the axes ``[round, program, workload]``.

    Attributes:
        times_us: Time of a launch; NaN for a program with a fault.
        places: When in its round each sample was taken, from 0.
        workloads: Names along the last axis.
        calls: Launches in a sample, along the last axis.
        states: How the device was after each round.
        discarded: Why rounds were thrown away, one reason a round.
        faults: Why a program's times are void, one text a program; empty for none.
    """

    times_us: Array
    places: NDArray[np.int32]
    workloads: tuple[str, ...]
    calls: tuple[int, ...]
    states: tuple[DeviceState, ...]
    discarded: tuple[str, ...]
    faults: tuple[str, ...]

    @property
    def figures(self) -> Array:
        """What is judged."""
        return self.times_us


def run_rounds(
    sessions: Mapping[str, Session],
    programs: Sequence[Program],
    plan: Plan,
    rng: np.random.Generator,
    surroundings: Surroundings | None = None,
) -> Rounds:
    """Time programs in paired rounds; program 0 is the baseline.

    Every program is launched once untimed on each workload first. What a launch writes is
    brought back before each sample.

    Raises:
        DeviceError: A launch failed, or the baseline's time cannot be. `blamed` reads the
            program off the last heartbeat.
    """
    lane = _Lane(sessions, programs, plan, rng, surroundings or Surroundings())
    lane.prepare()
    spoiled_in_a_row = 0
    while len(lane.kept) < plan.rounds:
        times_us, places = lane.round()
        state = lane.surroundings.state()
        reason = spoiled_by(state)
        if reason and len(lane.discarded) < plan.patience.most_discards:
            spoiled_in_a_row += 1
            lane.discarded.append(reason)
            lane.surroundings.rest(plan.patience.pause_s(spoiled_in_a_row))
            continue
        spoiled_in_a_row = 0
        lane.kept.append((times_us, places, state))
    return lane.result()


class _Lane:
    """Programs side by side on one device, while their rounds are run."""

    def __init__(
        self,
        sessions: Mapping[str, Session],
        programs: Sequence[Program],
        plan: Plan,
        rng: np.random.Generator,
        surroundings: Surroundings,
    ) -> None:
        self.sessions = list(sessions.items())
        self.programs = programs
        self.plan = plan
        self.rng = rng
        self.surroundings = surroundings
        self.calls: list[int] = []
        self.bounds: list[Bounds] = []
        self.faults = [""] * len(programs)
        self.kept: list[tuple[Array, NDArray[np.int32], DeviceState]] = []
        self.discarded: list[str] = []

    def prepare(self) -> None:
        """Launch every program once untimed, and find how many calls make a sample."""
        for workload, session in self.sessions:
            for number, program in enumerate(self.programs):
                self.surroundings.watch(heartbeat(number, workload))
                session.restore()
                session.launch(program)
            calls, bounds = self._scale(workload, session)
            self.calls.append(calls)
            self.bounds.append(bounds)

    def _scale(self, workload: str, session: Session) -> tuple[int, Bounds]:
        known_calls = self.plan.calls.get(workload)
        known_bounds = self.plan.bounds.get(workload)
        if known_calls and known_bounds:
            return known_calls, known_bounds
        calls = known_calls or 1
        baseline_us = self._baseline_us(workload, session, calls)
        wanted = known_calls or calls_for(baseline_us, self.plan.least_sample_us)
        if wanted > calls:  # one launch alone seems long, as the way to it counts
            baseline_us = self._baseline_us(workload, session, wanted)
            wanted = calls_for(baseline_us, self.plan.least_sample_us)
        return wanted, known_bounds or bounds_of(baseline_us)

    def _baseline_us(self, workload: str, session: Session, calls: int) -> float:
        session.restore()
        baseline_us = session.time_us(self.programs[0], calls)
        _demand(baseline_us, self.plan.bounds.get(workload) or Bounds(), workload)
        return baseline_us

    def round(self) -> tuple[Array, NDArray[np.int32]]:
        """Time every sound program once on each workload, in fresh random order."""
        shape = len(self.programs), len(self.sessions)
        times_us = np.full(shape, nan)
        places = np.zeros(shape, np.int32)
        place = 0
        for column in self.rng.permutation(len(self.sessions)):
            for number in self.rng.permutation(len(self.programs)):
                if not self.faults[number]:
                    times_us[number, column] = self._sample(int(number), int(column))
                    places[number, column] = place
                    place += 1
        return times_us, places

    def _sample(self, number: int, column: int) -> float:
        workload, session = self.sessions[column]
        self.surroundings.watch(heartbeat(number, workload))
        session.restore()
        time_us = session.time_us(self.programs[number], self.calls[column])
        if number == 0:
            _demand(time_us, self.bounds[column], workload)
            return time_us
        reason = refusal(time_us, self.bounds[column])
        if reason:
            self.faults[number] = f"{workload}: {reason}"
            return nan
        return time_us

    def result(self) -> Rounds:
        """Freeze what was measured."""
        shape = len(self.kept), len(self.programs), len(self.sessions)
        times_us = np.reshape([times for times, _, _ in self.kept], shape)
        times_us[:, [bool(fault) for fault in self.faults]] = nan
        return Rounds(
            times_us=times_us,
            places=np.reshape([places for _, places, _ in self.kept], shape),
            workloads=tuple(workload for workload, _ in self.sessions),
            calls=tuple(self.calls),
            states=tuple(state for _, _, state in self.kept),
            discarded=tuple(self.discarded),
            faults=tuple(self.faults),
        )


def _demand(baseline_us: float, bounds: Bounds, workload: str) -> None:
    reason = refusal(baseline_us, bounds)
    if reason:
        raise DeviceError(f"the baseline on {workload}: {reason}")


def heartbeat(number: int, where: str) -> str:
    """Name a program and what it does, so that `blamed` can read it."""
    return f"{_STAGE} {number}: {where}"


def blamed(stage_name: str) -> int | None:
    """Return the program that a stage's name tells of; None where it tells of none."""
    number = stage_name.removeprefix(_STAGE).partition(":")[0].strip()
    return int(number) if stage_name.startswith(_STAGE) and number.isdigit() else None


def warm_up(sessions: Mapping[str, Session], program: Program, lasting_s: float = 0.3) -> None:
    """Keep a device busy until it has left its idle clocks: once a worker."""
    until = time.perf_counter() + lasting_s
    while time.perf_counter() < until:
        for session in sessions.values():
            session.restore()
            session.launch(program)
