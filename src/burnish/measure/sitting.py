"""One process's part of a confirmation: a job for a fresh worker."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from burnish.devices.port import Device, DeviceState, Program, Session
from burnish.devices.worker import stage
from burnish.measure.rounds import Plan, Rounds, Surroundings, heartbeat, run_rounds, warm_up
from burnish.measure.stats import Array

__all__ = ["Contender", "Sat", "Sitting", "Take", "Taken", "Timed"]


class Taken(Protocol):
    """What was measured in a process: `Rounds`, or `burnish.measure.energy.Power`."""

    @property
    def figures(self) -> Array:
        """``[round, program, workload]``; NaN for a program with a fault."""

    @property
    def faults(self) -> tuple[str, ...]:
        """Why a program's figures are void, one text a program; empty for none."""

    @property
    def states(self) -> tuple[DeviceState, ...]:
        """How the device was after each round."""

    @property
    def discarded(self) -> tuple[str, ...]:
        """Why rounds were thrown away."""


class Take(Protocol):
    """How figures are taken. It can be pickled."""

    @property
    def metric(self) -> str:
        """What the figures are of."""

    def __call__(
        self,
        device: Device,
        sessions: Mapping[str, Session],
        programs: Sequence[Program],
        rng: np.random.Generator,
        /,
    ) -> Taken:
        """Measure programs; program 0 is the baseline."""


@dataclass(frozen=True, slots=True)
class Timed:
    """Takes times, in paired rounds."""

    plan: Plan
    metric: ClassVar[str] = "runtime"

    def __call__(
        self,
        device: Device,
        sessions: Mapping[str, Session],
        programs: Sequence[Program],
        rng: np.random.Generator,
        /,
    ) -> Rounds:
        """Run the rounds."""
        return run_rounds(sessions, programs, self.plan, rng, Surroundings(device.state))


@dataclass(frozen=True, slots=True)
class Contender:
    """A binary that takes part, and the entry that is launched."""

    image: bytes
    entry: str


@dataclass(frozen=True, slots=True, eq=False)
class Sat:
    """What a sitting brought.

    Attributes:
        taken: The figures.
        wrong: What was wrong with a program's answers after the timing, one text a program;
            empty for right ones.
    """

    taken: Taken
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sitting:
    """The job. Everything in it can be pickled.

    Attributes:
        contenders: The baseline, the baseline again, then the finalists.
        open: Makes the sessions, by workload, with fresh inputs uploaded.
        recheck: Says what is wrong with the answers that lie in a workload's session after
            one launch on what was uploaded; empty for right ones.
        take: How figures are taken.
        seed: Of the orders, of rounds and of loading; another one for each process.
        warm_up_s: How long the device is kept busy first, to leave its idle clocks.
    """

    contenders: tuple[Contender, ...]
    open: Callable[[Device], Mapping[str, Session]]
    recheck: Callable[[str, Session], str]
    take: Take
    seed: tuple[int, ...] = (0,)
    warm_up_s: float = 0.3

    def __call__(self, device: Device) -> Sat:
        """Load, warm up, measure, check the answers again."""
        rng = np.random.default_rng(self.seed)
        programs = self._load(device, rng)
        stage("opening sessions")
        sessions = self.open(device)
        stage(heartbeat(0, "warming up"))
        warm_up(sessions, programs[0], self.warm_up_s)
        taken = self.take(device, sessions, programs, rng)
        checks = [self._check(sessions, *numbered) for numbered in enumerate(programs)]
        return Sat(taken, tuple(checks))

    def _load(self, device: Device, rng: np.random.Generator) -> list[Program]:
        """Load in random order: where a program lies in memory is luck, and must differ."""
        loaded: dict[int, Program] = {}
        for number in rng.permutation(len(self.contenders)).tolist():
            stage(heartbeat(number, "loading"))
            contender = self.contenders[number]
            loaded[number] = device.load(contender.image, contender.entry)
        return [loaded[number] for number in range(len(self.contenders))]

    def _check(self, sessions: Mapping[str, Session], number: int, program: Program) -> str:
        """Check what a timed launch leaves behind."""
        said = []
        for name, session in sessions.items():
            stage(heartbeat(number, f"{name}, checking"))
            session.restore()
            session.time_us(program, 1)
            reason = self.recheck(name, session)
            said += [f"{name}: {reason}"] if reason else []
        return "; ".join(said)
