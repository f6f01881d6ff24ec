"""After a search on a device: race, check harder, confirm on fresh data, decide."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import exp

import numpy as np

from burnish.evaluate.bench import Bench, Candidate
from burnish.evaluate.compiled import Compiled, Compiler
from burnish.measure.compared import Compared, compare
from burnish.measure.confirm import Confirmation
from burnish.measure.energy import ENERGY_RULE
from burnish.measure.evidence import FIRST, Evidence
from burnish.measure.stats import Array
from burnish.measure.verdict import RULE, Judgement, judge
from burnish.model.control import Value
from burnish.model.frozen import FrozenMap
from burnish.model.objective import METRICS, Objective
from burnish.model.result import Winner, WorkloadRatio
from burnish.model.trial import Trial
from burnish.model.verdict import Outcome
from burnish.search.pareto import front
from burnish.tuning.conclude import best_trials, decided
from burnish.tuning.loop import settled

__all__ = ["Confirmed", "Shortlist", "conclude_measured", "winner_of"]

_KEPT = 128
_METERED = 2  # finalists whose energy is measured: minutes each
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
        confirmations: The evidence, by metric; empty where there was no finalist.
        resolution: Interval of the plain build against its own copy.
        remarks: What is to be said of all winners together.
    """

    winners: tuple[Winner, ...] = ()
    wrong: tuple[tuple[int, str], ...] = ()
    confirmations: tuple[Confirmation, ...] = ()
    resolution: tuple[float, float] | None = None
    remarks: tuple[str, ...] = ()


def conclude_measured(
    trials: Sequence[Trial],
    objective: Objective,
    bench: Bench,
    compiler: Compiler,
    shortlist: Shortlist,
) -> Confirmed:
    """Find the finalists of a search, measure them again, and decide."""
    entrants = _entrants(trials, replace(objective, minimize=objective.searched), bench)
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
    ranked = [right[place] for place in judgement.ranking]
    confirmed = Confirmed(
        tuple(
            winner_of(right[place].trial, place, confirmation, judgement)
            for place in judgement.ranking
        ),
        tuple(wrong),
        (confirmation,),
        judgement.resolution,
    )
    if objective.late:
        confirmed = _metered(confirmed, ranked, objective, bench)
    kept = confirmed.winners[:1]
    if len(objective.minimize) > 1:
        confirmed = _front(confirmed, trials[0], objective)
        kept = confirmed.winners
    winners = tuple(replace(one, controls=_controls(one, compiler)) for one in kept)
    return replace(confirmed, winners=winners)


def _metered(
    timed: Confirmed, ranked: Sequence[Candidate], objective: Objective, bench: Bench
) -> Confirmed:
    """The fastest finalists with their energy, in the order of the metric that comes first."""
    able = [
        (one, winner)
        for one, winner in zip(ranked, timed.winners, strict=True)
        if winner.verdict.outcome is not Outcome.WRONG
    ][:_METERED]
    if not able:
        return timed
    confirmation = bench.confirm_energy([one for one, _ in able])
    judgement = judge(confirmation.evidence, ENERGY_RULE)
    pairs = [
        (by_time, winner_of(one.trial, place, confirmation, judgement))
        for place in judgement.ranking
        for one, by_time in [able[place]]
    ]
    found = replace(timed, confirmations=(*timed.confirmations, confirmation))
    if objective.minimize[0] == "runtime":
        pairs.sort(key=lambda pair: pair[0].verdict.tuned)
        return replace(found, winners=tuple(_beside(*pair) for pair in pairs))
    winners = tuple(_beside(by_energy, by_time) for by_time, by_energy in pairs)
    return replace(found, winners=winners, resolution=judgement.resolution)


def _beside(first: Winner, second: Winner) -> Winner:
    """One winner with what was decided about it on two metrics."""
    return replace(first, others=(second.verdict,))


def _front(found: Confirmed, baseline: Trial, objective: Objective) -> Confirmed:
    """The winners that no other one dominates, each judged on all that is minimised."""
    winners = [_point(winner, baseline, objective) for winner in found.winners]
    able = [one for one in winners if one.verdict.outcome is not Outcome.WRONG]
    if not able:
        return replace(found, winners=tuple(winners))
    points = np.array([[_figure(one, name) for name in objective.minimize] for one in able])
    kept = tuple(able[place] for place in sorted(front(points)))
    remarks = found.remarks
    if len(kept) == 1 and len(able) > 1:
        listed = " and ".join(objective.minimize)
        remarks = (*remarks, f"one point dominates: trial {kept[0].trial.number} in {listed}")
    return replace(found, winners=kept, remarks=remarks)


def _figure(winner: Winner, name: str) -> float:
    """A winner's figure: confirmed where it was measured, else that of its trial."""
    for verdict in (winner.verdict, *winner.others):
        if verdict.metric == name:
            return verdict.tuned
    return winner.trial.figures[name]


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
    """A point of a front is BETTER where any metric of it is: surely, or strictly if static."""
    verdict = winner.verdict
    if verdict.outcome in {Outcome.BETTER, Outcome.WRONG}:
        return winner
    for other in winner.others:
        if other.outcome is Outcome.BETTER:
            rest = tuple(one for one in (verdict, *winner.others) if one is not other)
            return replace(winner, verdict=other, others=rest)
    for name in objective.minimize:
        if not METRICS[name].static:
            continue
        before, after = baseline.figures[name], winner.trial.figures[name]
        if after < before:
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
    columns = {workload.name: column for column, workload in enumerate(evidence.workloads)}
    medians = np.median(evidence.figures, axis=(0, 1))
    return tuple(
        _workload(evidence, columns[name], part, medians[[0, FIRST + place], columns[name]])
        for name, part in parts
    )


def _workload(evidence: Evidence, column: int, part: Compared, medians: Array) -> WorkloadRatio:
    """What was measured on one workload; bytes and operations only go with times."""
    workload = evidence.workloads[column]
    is_time = evidence.metric == "runtime"
    return WorkloadRatio(
        workload.name,
        exp(part.ratio),
        _interval(part),
        workload.held_out,
        baseline=float(medians[0]),
        tuned=float(medians[1]),
        moved_bytes=workload.moved_bytes if is_time else None,
        operations=workload.operations if is_time else None,
    )


def _interval(part: Compared) -> tuple[float, float]:
    return exp(part.low(RULE.alpha)), exp(part.high(RULE.alpha))
