"""After a search on a device: race, check harder, confirm on fresh data, decide."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import exp

from burnish.evaluate.bench import Bench, Candidate
from burnish.evaluate.compiled import Compiled, Compiler
from burnish.measure.compared import Compared, compare
from burnish.measure.confirm import Confirmation
from burnish.measure.evidence import FIRST
from burnish.measure.verdict import RULE, Judgement, judge
from burnish.model.control import Value
from burnish.model.frozen import FrozenMap
from burnish.model.objective import Objective
from burnish.model.result import Winner, WorkloadRatio
from burnish.model.trial import Trial
from burnish.model.verdict import Outcome
from burnish.tuning.conclude import best_trials, decided
from burnish.tuning.loop import settled

__all__ = ["Confirmed", "Shortlist", "conclude_measured", "winner_of"]

_KEPT = 128
_HOPE_RATIO = 0.995  # a candidate that looks slower than that is not raced


@dataclass
class Shortlist:
    """The binaries of the fastest trials so far, so that they need not be built again."""

    _binaries: dict[int, tuple[float, Compiled]] = field(default_factory=dict)

    def keep(self, trial: Trial, compiled: Compiled) -> None:
        """Remember a trial's binary while it is among the fastest."""
        runtime_us = trial.figures.get("runtime")
        if runtime_us is None or trial.status.failed or trial.duplicate_of is not None:
            return
        self._binaries[trial.number] = runtime_us, compiled
        if len(self._binaries) > _KEPT:
            slowest = max(self._binaries, key=lambda number: self._binaries[number][0])
            del self._binaries[slowest]

    def candidate(self, trial: Trial, compiler: Compiler) -> Candidate | None:
        """The trial with its binary; built again where it is not remembered."""
        known = self._binaries.get(trial.number)
        compiled = known[1] if known else compiler.compile(trial.config)
        binary = compiled.binary
        if binary is None or binary.digest != trial.binary:
            return None
        return Candidate(trial, binary, compiled.demand)


@dataclass(frozen=True)
class Confirmed:
    """What came of it.

    Attributes:
        winners: Best first; empty where nobody came that far.
        wrong: Trial number to what the final check found.
        confirmation: The evidence; None where there was no finalist.
        resolution: Interval of the plain build against its own copy.
    """

    winners: tuple[Winner, ...] = ()
    wrong: tuple[tuple[int, str], ...] = ()
    confirmation: Confirmation | None = None
    resolution: tuple[float, float] | None = None


def conclude_measured(
    trials: Sequence[Trial],
    objective: Objective,
    bench: Bench,
    compiler: Compiler,
    shortlist: Shortlist,
) -> Confirmed:
    """Find the finalists of a search, measure them again, and decide."""
    entrants = _entrants(trials, objective, bench)
    able = [
        found for trial in entrants if (found := shortlist.candidate(trial, compiler)) is not None
    ]
    if not able:
        return Confirmed()
    finalists, ran = bench.finalists(able)
    right, wrong = _checked(finalists, bench)
    if not right:
        return Confirmed(wrong=tuple(wrong))
    confirmation = bench.confirm(right, ran)
    judgement = judge(confirmation.evidence)
    ranking = judgement.ranking if len(objective.minimize) > 1 else judgement.ranking[:1]
    winners = [winner_of(right[place].trial, place, confirmation, judgement) for place in ranking]
    if len(objective.minimize) > 1:
        winners = [_point(winner, trials[0], objective) for winner in winners]
    winners = [replace(one, controls=_controls(one, compiler)) for one in winners]
    return Confirmed(tuple(winners), tuple(wrong), confirmation, judgement.resolution)


def _controls(winner: Winner, compiler: Compiler) -> FrozenMap[Value]:
    """What a winner decides; only for one that is kept is it worth the builds to find out."""
    if winner.verdict.outcome is Outcome.BETTER:
        return decided(winner.trial, compiler)
    return FrozenMap(compiler.bound.space.changes(winner.trial.config))


def _entrants(trials: Sequence[Trial], objective: Objective, bench: Bench) -> list[Trial]:
    """Who may race: whoever looked no slower than the plain build, or lies on the front."""
    if len(objective.minimize) > 1:
        return [trial for trial in best_trials(trials, objective) if trial.number]
    hopeful = [
        trial
        for trial in settled(trials)
        if trial.number and trial.figures["runtime"] * _HOPE_RATIO <= bench.baseline_us
    ]
    return sorted(hopeful, key=lambda trial: trial.figures["runtime"])


def _checked(
    finalists: Sequence[Candidate], bench: Bench
) -> tuple[list[Candidate], list[tuple[int, str]]]:
    right, wrong = [], []
    for candidate in finalists:
        finding = bench.final_check(candidate)
        if finding.is_right:
            right.append(candidate)
        else:
            wrong.append((candidate.trial.number, f"{finding.status}: {finding.message}"))
    return right, wrong


def winner_of(trial: Trial, place: int, confirmation: Confirmation, judgement: Judgement) -> Winner:
    """What was decided about the finalist in a place, and what was measured of it."""
    processes, rounds = confirmation.evidence.figures.shape[:2]
    return Winner(
        trial=trial,
        verdict=judgement.verdicts[place],
        workloads=_workloads(confirmation, judgement, place),
        rounds=processes * rounds,
    )


def _point(winner: Winner, baseline: Trial, objective: Objective) -> Winner:
    """A point of a front is BETTER, too, where another figure of it is strictly smaller."""
    verdict = winner.verdict
    if verdict.outcome in {Outcome.BETTER, Outcome.WRONG}:
        return winner
    for name in objective.minimize:
        before, after = baseline.figures[name], winner.trial.figures[name]
        if name != verdict.metric and after < before:
            reason = f"{name} {before:g} → {after:g}; {verdict.metric}: {verdict.reason}"
            better = replace(verdict, outcome=Outcome.BETTER, reason=reason)
            return replace(winner, verdict=better)
    return winner


def _workloads(
    confirmation: Confirmation, judgement: Judgement, place: int
) -> tuple[WorkloadRatio, ...]:
    """What was measured on each workload, at the same level as the verdict's interval."""
    evidence = confirmation.evidence
    if judgement.verdicts[place].outcome is Outcome.WRONG:
        return ()
    _, one = compare(evidence, [FIRST + place])
    parts = one.parts or ((evidence.workloads[0].name, one),)
    held_out = {workload.name: workload.held_out for workload in evidence.workloads}
    return tuple(
        WorkloadRatio(name, exp(part.ratio), _interval(part), held_out[name])
        for name, part in parts
    )


def _interval(part: Compared) -> tuple[float, float]:
    return exp(part.low(RULE.alpha)), exp(part.high(RULE.alpha))
