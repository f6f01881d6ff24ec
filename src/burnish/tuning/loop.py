"""The loop: ask, compile, judge, record, tell. Resumes; repeats bit for bit with one seed.

Results are told in the order of asking, and ask *i* sees exactly the trials below *i* - jobs,
however long each compile takes: so the seed and the number of jobs fix a static study.
A study is resumed by running the same loop with the recorded trials in place of the work.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Protocol

from burnish.errors import StoreError
from burnish.evaluate.compiled import Compiled
from burnish.execute.local import LocalPool
from burnish.model.frozen import FrozenMap
from burnish.model.result import Counts
from burnish.model.space import Config
from burnish.model.trial import Status, Trial
from burnish.search.engine import Engine

__all__ = ["Budget", "Judge", "Loop", "count", "settled", "stage_seconds"]

# A space whose last thousand proposals brought no new machine code is taken as exhausted.
_PATIENCE = 1000


@dataclass(frozen=True, slots=True)
class Budget:
    """When a search ends: at the first of these.

    Attributes:
        evaluations: Distinct binaries.
        wall_s: Seconds of this run.
    """

    evaluations: int | None = None
    wall_s: float | None = None


class Judge(Protocol):
    """Turns what was compiled into a trial, in the order of asking."""

    def __call__(self, number: int, compiled: Compiled, known: Mapping[str, Trial], /) -> Trial:
        """Judge one config; ``known`` maps binary digests to the trial that had them first."""


@dataclass
class Loop:
    """One run of a search.

    Attributes:
        engine: Who proposes.
        compile: What makes machine code of a config; called on several threads.
        judge: What makes a trial of it; called on this thread, in order.
        record: Stores a trial before it is told.
        observe: Told of every trial, for progress.
        trials: What is done so far, in order.
        overlap: Whether configs may be compiled while one is judged; where the host itself is
            timed, they may not.
        interrupted: Whether the user stopped the run.
        wall_s: How long the run took.
    """

    engine: Engine
    compile: Callable[[Config], Compiled]
    judge: Judge
    record: Callable[[Trial], None]
    observe: Callable[[Trial], None] = lambda _trial: None
    trials: list[Trial] = field(default_factory=list)
    overlap: bool = True
    interrupted: bool = False
    wall_s: float = 0.0
    _known: dict[str, Trial] = field(default_factory=dict)
    _idle: int = 0

    def run(self, budget: Budget, jobs: int, recorded: Iterable[Trial] = ()) -> None:
        """Search until the budget ends, the space is exhausted or the user interrupts.

        Args:
            budget: When to end.
            jobs: Configs compiled at a time.
            recorded: Trials of an earlier run of this very study.

        Raises:
            StoreError: The recorded trials are not those of this study.
        """
        past = {trial.number: trial for trial in recorded}
        started = time.monotonic()
        deadline = started + (budget.wall_s or float("inf"))
        try:
            with LocalPool(jobs) as pool:
                self._search(pool, past, budget, deadline)
        except KeyboardInterrupt:
            self.interrupted = True
        self.wall_s = time.monotonic() - started

    def _search(
        self, pool: LocalPool, past: Mapping[int, Trial], budget: Budget, deadline: float
    ) -> None:
        pending: deque[tuple[Config, Future[Compiled] | None]] = deque()
        while not self._is_spent(budget, deadline):
            if self.overlap or not pending:
                self._fill(pending, pool, past, deadline)
            if not pending:
                return
            if not self.overlap:
                wait([work for _, work in pending if work is not None])
            self._finish(*pending.popleft(), past)

    def _fill(
        self,
        pending: "deque[tuple[Config, Future[Compiled] | None]]",
        pool: LocalPool,
        past: Mapping[int, Trial],
        deadline: float,
    ) -> None:
        while len(pending) < pool.jobs and time.monotonic() < deadline:
            config = self.engine.ask()
            if config is None:
                return
            number = len(self.trials) + len(pending)
            work = None if number in past else pool.submit(self.compile, config)
            pending.append((config, work))

    def _finish(
        self, config: Config, work: Future[Compiled] | None, past: Mapping[int, Trial]
    ) -> None:
        number = len(self.trials)
        if work is None:
            trial = past[number]
            if trial.config != config:
                raise StoreError(
                    f"trial {number} of the stored study has another config than this search "
                    "proposes: it was made by another version of Burnish; start a new study"
                )
        else:
            trial = self.judge(number, work.result(), self._known)
            self.record(trial)
        self._keep(trial)

    def _keep(self, trial: Trial) -> None:
        self.trials.append(trial)
        fresh = bool(trial.binary) and trial.binary not in self._known
        if fresh:
            self._known[trial.binary] = trial
        self._idle = 0 if fresh else self._idle + 1
        self.engine.tell(trial)
        self.observe(trial)

    def _is_spent(self, budget: Budget, deadline: float) -> bool:
        enough = budget.evaluations is not None and len(self._known) >= budget.evaluations
        return enough or time.monotonic() >= deadline or self._idle >= _PATIENCE


def count(trials: Iterable[Trial]) -> Counts:
    """How many configs came how far, up to the end of the search."""
    listed = list(trials)
    failed: dict[str, int] = {}
    for trial in listed:
        if trial.status.failed:
            failed[trial.status.value] = failed.get(trial.status.value, 0) + 1
    return Counts(
        asked=len(listed),
        distinct=len({trial.binary for trial in listed if trial.binary}),
        compiled=sum(1 for trial in listed if trial.binary),
        checked=sum(1 for trial in listed if trial.seconds.get("check", 0.0) > 0),
        screened=sum(1 for trial in listed if trial.rounds > 0),
        failed=FrozenMap(failed),
    )


def stage_seconds(trials: Iterable[Trial]) -> FrozenMap[float]:
    """Seconds by stage, added over trials."""
    total: dict[str, float] = {}
    for trial in trials:
        for stage, seconds in trial.seconds.items():
            total[stage] = total.get(stage, 0.0) + seconds
    return FrozenMap(total)


def settled(trials: Iterable[Trial]) -> list[Trial]:
    """Trials that can win: right ones, each binary once."""
    return [trial for trial in trials if trial.status is Status.OK]
