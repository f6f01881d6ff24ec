"""Confirmation: fresh rounds in fresh processes, for a few finalists and an A/A pair.

The figures of the search chose the finalists; here they count for nothing.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import ceil, log, sqrt
from typing import Protocol, TypeVar

import numpy as np

from burnish.devices.port import Device
from burnish.devices.worker import Fault, WorkerFailure
from burnish.errors import DeviceError, InternalError
from burnish.measure.clocks import remarks
from burnish.measure.evidence import FIRST, Evidence
from burnish.measure.rounds import blamed
from burnish.measure.sitting import Sat, Sitting, Taken
from burnish.measure.stats import Array, autocorrelation, freedom_of, middle_means, student_quantile
from burnish.measure.verdict import RULE, Rule
from burnish.model.workload import Workload

__all__ = ["Caller", "Confirmation", "Limits", "confirm", "planned_rounds"]

T = TypeVar("T")

_MOST_ROUNDS = 300
_FEW = 5  # rounds of a race that say nothing of its noise
_WANTED_RATIO = 1.01  # a gain that should be found
_REACH_SHARE = 0.4  # of the way from it to what is demanded, for the bound; luck gets the rest
_WASTE_RATIO = 1.1  # error of a mean of the middle half ÷ that of a mean, on normal noise


class Caller(Protocol):
    """A fresh worker; `burnish.devices.worker.Worker` is one."""

    def prepare(self) -> None:
        """Wait until it has started."""

    def call(self, job: Callable[[Device], T], limit_s: float, *, silence_s: float = ...) -> T:
        """Run a job. Raises WorkerFailure."""

    def close(self) -> None:
        """End it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a sitting may take, and how long nothing may be heard of it."""

    sitting_s: float
    silence_s: float = float("inf")


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The evidence, and what each process measured, raw."""

    evidence: Evidence
    taken: tuple[Taken, ...]


def planned_rounds(ratios: Array, rule: Rule = RULE, most: int = _MOST_ROUNDS) -> int:
    """Return how many rounds a process takes to find the gain that the race promises.

    The gain is that of the best finalist, less its error, and 1 % at least. The noise is that
    of the race, too, so what is planned does not depend on what is confirmed. At least as
    many as the rule demands; no more than that where the race leaves no hope.

    Args:
        ratios: Log ratios of the finalists in the race, ``[round, finalist]``.
        rule: What the verdict demands.
        most: Rounds at most.
    """
    rounds, finalists = ratios.shape
    if rounds < _FEW or not finalists:
        return rule.rounds
    centred = ratios - np.median(ratios, axis=0)
    noise_share = 1.4826 * float(np.median(np.abs(centred)))
    memory = autocorrelation(ratios[None, :, :, None])
    error_share = noise_share * _WASTE_RATIO * sqrt((1 + memory) / (1 - memory))
    best = float(middle_means(ratios[None]).max())
    doubt = 3 * error_share / sqrt(rounds)
    floor = log(rule.better_ratio)
    if best + doubt <= floor:
        return rule.rounds
    margin = max(best - doubt, log(_WANTED_RATIO)) - floor
    freedom = freedom_of(rule.processes, finalists + 1)
    surely = student_quantile(1 - rule.alpha / finalists, freedom)
    needed = ceil((surely * error_share / (margin * _REACH_SHARE)) ** 2 / rule.processes)
    return max(rule.rounds, min(most, needed))


def confirm(
    sitting: Sitting,
    workloads: Sequence[Workload],
    fresh: Callable[[], Caller],
    limits: Limits,
    processes: int = RULE.processes,
) -> Confirmation:
    """Run a sitting in several fresh processes, one after the other.

    They are started together, which takes no longer than to start one, and each opens its device
    when its turn comes. A finalist that ends its worker twice is out; the others are measured
    again.

    Args:
        sitting: The job of one process, with the seed of the whole.
        workloads: What the sessions run, in their order.
        fresh: Starts a worker with a device of its own.
        limits: Of time.
        processes: How many.

    Raises:
        DeviceError: The baseline fails, hangs or has times that cannot be.
    """
    course = _Course(sitting, fresh, limits)
    try:
        course.prepare(processes)
        for process in range(processes):
            course.sit(process)
    finally:
        course.close()
    return course.confirmation(tuple(workloads))


@dataclass(slots=True)
class _Course:
    """A confirmation on its way: what sat, and who is out."""

    sitting: Sitting
    fresh: Callable[[], Caller]
    limits: Limits
    sats: list[tuple[Sat, list[int]]] = field(default_factory=list)
    out: dict[int, str] = field(default_factory=dict)
    failures: Counter[int] = field(default_factory=Counter)
    waiting: list[Caller] = field(default_factory=list)

    def prepare(self, processes: int) -> None:
        """Start workers; one that cannot be started says so when it is called."""
        self.waiting += [self.fresh() for _ in range(processes)]
        for worker in self.waiting:
            with suppress(WorkerFailure):
                worker.prepare()

    def close(self) -> None:
        """End the workers whose turn did not come."""
        while self.waiting:
            self.waiting.pop().close()

    def sit(self, process: int) -> None:
        """Run one process's part, without whoever keeps ending it."""
        while True:
            running = [n for n in range(len(self.sitting.contenders)) if n not in self.out]
            job = replace(
                self.sitting,
                contenders=tuple(self.sitting.contenders[number] for number in running),
                seed=(*self.sitting.seed, process),
            )
            worker = self.waiting.pop(0) if self.waiting else self.fresh()
            try:
                sat = worker.call(job, self.limits.sitting_s, silence_s=self.limits.silence_s)
            except WorkerFailure as failure:
                self._blame(failure, running)
            else:
                self.sats.append((sat, running))
                return
            finally:
                worker.close()

    def _blame(self, failure: WorkerFailure, running: Sequence[int]) -> None:
        if failure.kind is Fault.ERROR and not isinstance(failure.error, DeviceError):
            raise failure.error or InternalError(f"confirming failed: {failure}") from failure
        place = blamed(failure.stage)
        number = running[place] if place is not None and place < len(running) else 0
        self.failures[number] += 1
        if self.failures[number] == 1:
            return  # it may have been poisoned by another one
        if number < FIRST:
            raise DeviceError(f"the plain build fails in a fresh worker: {failure}") from failure
        self.out[number] = f"it failed while it was confirmed: {failure}"

    def confirmation(self, workloads: tuple[Workload, ...]) -> Confirmation:
        """Put together what the processes brought."""
        rounds = min(len(sat.taken.figures) for sat, _ in self.sats)
        shape = len(self.sats), rounds, len(self.sitting.contenders), len(workloads)
        figures = np.full(shape, np.nan)
        faults = [self.out.get(number, "") for number in range(len(self.sitting.contenders))]
        for process, (sat, running) in enumerate(self.sats):
            figures[process][:, running] = sat.taken.figures[:rounds]
            for number, fault, wrong in zip(running, sat.taken.faults, sat.wrong, strict=True):
                after = f"wrong after it was timed: {wrong}" if wrong else ""
                faults[number] = faults[number] or fault or after
        for fault in filter(None, faults[:FIRST]):
            raise DeviceError(f"the plain build fails while finalists are confirmed: {fault}")
        taken = tuple(sat.taken for sat, _ in self.sats)
        metric = self.sitting.take.metric
        evidence = Evidence(metric, figures, workloads, tuple(faults), _remarks(taken))
        return Confirmation(evidence, taken)


def _remarks(taken: Sequence[Taken]) -> tuple[str, ...]:
    said = list(remarks([state for one in taken for state in one.states]))
    discarded = Counter(reason for one in taken for reason in one.discarded)
    said += [f"{count} rounds were repeated because of {why}" for why, count in discarded.items()]
    return tuple(said)
