"""Candidates on a device, seen from the parent: check, screen, race, confirm.

The device lives in a worker (`burnish.evaluate.lane`); whatever a candidate does to it is a
trial here. `burnish.devices.supervise` replaces workers and keeps quarantine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

import numpy as np

from burnish.devices.peer import Start
from burnish.devices.port import Device, Regime
from burnish.devices.supervise import Supervisor, run_limit
from burnish.devices.worker import Fault, Worker, WorkerFailure
from burnish.errors import BurnishError, DeviceError, LaunchError
from burnish.evaluate.compiled import Compiled, trial_of
from burnish.evaluate.lane import Block, Final, Lane, LaneSetup, Look, Looked, Plain, Scale
from burnish.evaluate.stand import ConfirmingStand
from burnish.measure.confirm import Confirmation, Limits, confirm, planned_rounds
from burnish.measure.energy import Metered, window_s
from burnish.measure.race import Race, Racing, Screening, Standing, race
from burnish.measure.rounds import Plan, blamed
from burnish.measure.sitting import Contender, Sitting, Take, Timed
from burnish.measure.stats import Array
from burnish.model.binary import Binary
from burnish.model.control import Risk
from burnish.model.frozen import FrozenMap
from burnish.model.trial import Status, Trial
from burnish.verify.judge import Finding

__all__ = ["Bench", "Candidate", "Rules"]

_SETUP_S = 300.0
_SITTING_LEAST_S = 60.0
_SLOWER = 16.0  # a held-out workload may take so many times as long as what is tuned on


@dataclass(frozen=True, slots=True)
class Rules:
    """How candidates are screened and raced."""

    screening: Screening = field(default_factory=Screening)
    racing: Racing = field(default_factory=Racing)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A binary with what its answers must show.

    Attributes:
        trial: Its trial.
        binary: Its machine code.
        demand: What its answers must show.
    """

    trial: Trial
    binary: Binary
    demand: Risk


@dataclass
class Bench:
    """A device and the plain build on it.

    Attributes:
        setup: Makes the worker's side.
        seed: Of all orders.
        rules: How candidates are screened and raced.
        scale: How long the plain build takes; known once the bench is entered.
        confirmed: How many finalists were confirmed.
    """

    setup: LaneSetup
    seed: int
    rules: Rules = field(default_factory=Rules)
    confirmed: int = 0

    def __enter__(self) -> Self:
        self._supervisor: Supervisor[Lane] = Supervisor(self.setup)
        try:
            self.scale: Scale = self._supervisor.prove_with(Plain(), _SETUP_S)
        except BurnishError:
            self._supervisor.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._supervisor.close()

    @property
    def weights(self) -> Array:
        """Of the workloads that are tuned on, in the order in which they are timed."""
        tuned = [one.weight for one in self.setup.workloads if not one.held_out]
        return np.array(tuned) / sum(tuned)

    @property
    def baseline_us(self) -> float:
        """The plain build's time: weighted geometric mean over the workloads that are tuned on."""
        return float(np.exp(np.log(list(self.scale.times_us.values())) @ self.weights))

    def judge(
        self, number: int, compiled: Compiled, known: Mapping[str, Trial], plain: Compiled
    ) -> Trial:
        """The trial of a compiled config: checked and timed, unless its binary is known."""
        trial = trial_of(number, compiled, known, plain)
        if trial.status is not Status.OK or compiled.binary is None:
            return trial
        answer = self._supervisor.attempt(
            trial.binary,
            Look(
                Contender(compiled.binary.image, self.setup.baseline.entry),
                compiled.demand,
                self.scale.calls,
                self.weights,
                self.rules.screening,
                (self.seed, number),
            ),
            self._limit_s(self.rules.screening.rounds),
            silence_s=self._limit_s(self.rules.screening.rounds),
        )
        return self._seen(trial, answer)

    def _seen(self, trial: Trial, answer: Looked | WorkerFailure) -> Trial:
        if isinstance(answer, WorkerFailure):
            return replace(trial, status=_status(answer), message=str(answer), figures=FrozenMap())
        seconds = FrozenMap({**trial.seconds, **answer.seconds})
        trial = replace(trial, seconds=seconds)
        if not answer.finding.is_right:
            finding = answer.finding
            return replace(
                trial, status=finding.status, message=finding.message, figures=FrozenMap()
            )
        standing = answer.standing
        if answer.timer_fault or standing is None or not standing.ratio > 0:
            why = answer.timer_fault or "its time cannot be"
            return replace(trial, status=Status.TIMER, message=why, figures=FrozenMap())
        runtime_us = self.baseline_us / standing.ratio
        figures = FrozenMap({"runtime": runtime_us, **trial.figures})
        return replace(trial, figures=figures, rounds=standing.rounds)

    def finalists(self, candidates: Sequence[Candidate]) -> tuple[list[Candidate], Race]:
        """Race candidates in blocks of paired rounds; who stays is checked once more, harder.

        Returns:
            The finalists, best first, and the race.
        """
        standings = [
            Standing(
                place,
                self.baseline_us / one.trial.figures["runtime"],
                one.trial.rounds,
                stays=True,
            )
            for place, one in enumerate(candidates)
        ]
        blocks = iter(range(self.rules.racing.looks + 1))
        ran = race(
            lambda who, rounds: self._block([candidates[n] for n in who], rounds, next(blocks)),
            standings,
            self.weights,
            self.rules.racing,
        )
        return [candidates[place] for place in ran.finalists], ran

    def final_check(self, candidate: Candidate) -> Finding:
        """Check a finalist on held-out workloads and hidden inputs."""
        answer = self._supervisor.attempt(
            candidate.binary.digest, Final(self._contender(candidate), candidate.demand), _SETUP_S
        )
        if isinstance(answer, WorkerFailure):
            return Finding(_status(answer), str(answer))
        return answer

    def confirm(self, finalists: Sequence[Candidate], ran: Race) -> Confirmation:
        """Measure finalists again in fresh processes; pauses the search's worker."""
        self.confirmed = len(finalists)
        rounds = planned_rounds(ran.ratios)
        sitting = self._sitting(self.setup, finalists, Timed(Plan(rounds)))
        limit_s = self._limit_s(rounds * len(sitting.contenders), _SITTING_LEAST_S) + _SETUP_S
        return confirm(sitting, self.setup.workloads, self._fresh, Limits(limit_s))

    def confirm_energy(self, finalists: Sequence[Candidate]) -> Confirmation:
        """Measure the energy of finalists in fresh processes, on the workloads that are judged.

        Caches are as launches in a row leave them: flushing them would use energy of its own.

        Raises:
            DeviceError: The device counts no energy.
        """
        held_out = tuple(one for one in self.setup.workloads if one.held_out)
        judged = held_out or self.setup.workloads
        setup = replace(self.setup, regime=Regime.WARM, workloads=judged)
        take = Metered()
        sitting = self._sitting(setup, finalists, take)
        longest_s = 2 * window_s(_SLOWER * max(self.scale.times_us.values()))
        windows = take.rounds * len(sitting.contenders) * len(judged)
        return confirm(sitting, judged, self._fresh, Limits(windows * longest_s + _SETUP_S))

    def _sitting(self, setup: LaneSetup, finalists: Sequence[Candidate], take: Take) -> Sitting:
        demand = max((one.demand for one in finalists), key=list(Risk).index)
        stand = ConfirmingStand(setup, demand)
        return Sitting(
            contenders=(setup.baseline, setup.baseline, *map(self._contender, finalists)),
            open=stand.open,
            recheck=stand.recheck,
            take=take,
            seed=(self.seed,),
        )

    def _fresh(self) -> Worker[Device]:
        return Worker(self.setup.open_device, Start(quiet=True))

    def _block(self, contenders: Sequence[Candidate], rounds: int, number: int) -> Array:
        """Time contenders together; one that ends the worker twice gets no time."""
        out: set[int] = set()
        failed: dict[int, int] = {}
        while True:
            running = [place for place in range(len(contenders)) if place not in out]
            job = Block(
                tuple(self._contender(contenders[place]) for place in running),
                rounds,
                self.scale.calls,
                (self.seed, number),
            )
            answer = self._supervisor.attempt(
                f"race {number} {len(out)} {sum(failed.values())}",
                job,
                self._limit_s(rounds * (len(running) + 1), _SITTING_LEAST_S),
            )
            if not isinstance(answer, WorkerFailure):
                figures = np.full((rounds, 1 + len(contenders), len(answer.workloads)), np.nan)
                figures[:, [0, *(1 + place for place in running)]] = answer.times_us
                return figures
            place = blamed(answer.stage)
            if not place:  # nobody, or the baseline
                raise DeviceError(f"racing failed: {answer}") from answer
            who = running[place - 1]
            failed[who] = failed.get(who, 0) + 1
            out.update(who for who, times in failed.items() if times > 1)

    def _contender(self, candidate: Candidate) -> Contender:
        return Contender(candidate.binary.image, self.setup.baseline.entry)

    def _limit_s(self, rounds: int, least_s: float = 2.0) -> float:
        """Time for a candidate's job: fifty times what the plain build would take for it."""
        samples_s = sum(
            time_us * self.scale.calls[name] * 1e-6 for name, time_us in self.scale.times_us.items()
        )
        return run_limit(self.scale.check_s + samples_s * 2 * (rounds + 2), least_s)


def _status(failure: WorkerFailure) -> Status:
    """What a failure makes of a candidate.

    Raises:
        LaunchError: It was the plain build's: nothing can be held against that.
    """
    if isinstance(failure.error, LaunchError):
        raise failure.error
    return Status.HANG if failure.kind is Fault.HANG else Status.FAULT
