"""The rule that says what is better: one for every device, and for simulation.

A ratio is baseline ÷ finalist, over the weighted geometric mean of the workloads that are judged.

BETTER  all of it: its lower bound is above 1.005, where Holm's correction holds the chance of any
        false BETTER among the finalists under 1 %; in every process the median ratio is above
        1; no workload's lower bound is under 0.995; the answers were right after the timing; the
        interval of the baseline against its own copy holds 1.
WORSE   its upper bound is under 0.995, overall or on one workload.
SAME    its interval lies between 0.995 and 1.005: no difference worth having.
UNSURE  anything else; and every finalist where the A/A interval does not hold 1, or where there
        were fewer processes or rounds than the rule demands.
WRONG   its answers differed, or it failed, while it was measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, log

import numpy as np

from burnish.measure.compared import Compared, compare
from burnish.measure.evidence import FIRST, Evidence
from burnish.measure.stats import holm_levels
from burnish.model.verdict import Outcome, Verdict

__all__ = ["RULE", "Judgement", "Rule", "judge"]

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Rule:
    """What is demanded.

    Attributes:
        alpha: Chance of any false BETTER among the finalists, at most.
        better_ratio: What the lower bound has to pass.
        worse_ratio: What no workload's lower bound may be under.
        processes: Fresh processes, at least.
        rounds: Rounds in each, at least.
    """

    alpha: float = 0.01
    better_ratio: float = 1.005
    worse_ratio: float = 0.995
    processes: int = 3
    rounds: int = 60


RULE = Rule()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was decided about all finalists.

    Attributes:
        verdicts: One a finalist, in their order.
        ranking: Finalists from the one to keep to the last; the first is BETTER if any is.
        resolution: A/A interval: the ratio of the baseline to its own copy.
    """

    verdicts: tuple[Verdict, ...]
    ranking: tuple[int, ...]
    resolution: Interval

    @property
    def chosen(self) -> int | None:
        """The finalist to keep; None for no win."""
        first = self.ranking[0] if self.ranking else None
        if first is None or self.verdicts[first].outcome is not Outcome.BETTER:
            return None
        return first

    @property
    def verdict(self) -> Verdict:
        """The verdict on the study: that of the first in the ranking."""
        return self.verdicts[self.ranking[0]]


def judge(evidence: Evidence, rule: Rule = RULE) -> Judgement:
    """Apply the rule; the same evidence gives the same verdicts, always."""
    shown = [number for number in range(FIRST, len(evidence.faults)) if not evidence.faults[number]]
    copy, *finalists = compare(evidence, shown)
    resolution = _interval(copy, rule.alpha / 2)
    objections = _objections(evidence, resolution, rule)
    levels = _levels(finalists, rule)
    drawn = {
        number: _verdict(evidence, number, _Case(one, level, objections, rule))
        for number, one, level in zip(shown, finalists, levels, strict=True)
    }
    everyone = range(FIRST, len(evidence.faults))
    verdicts = tuple(drawn.get(number) or _wrong(evidence, number) for number in everyone)
    ranking = sorted(range(len(verdicts)), key=lambda place: _merit(verdicts[place]), reverse=True)
    return Judgement(verdicts, tuple(ranking), resolution)


def _merit(verdict: Verdict) -> tuple[bool, bool, float]:
    low = verdict.interval[0] if verdict.interval else 0.0
    return verdict.outcome is Outcome.BETTER, verdict.outcome is not Outcome.WRONG, low


def _interval(one: Compared, level: float) -> Interval:
    return exp(one.low(level)), exp(one.high(level))


def _levels(finalists: Sequence[Compared], rule: Rule) -> list[float]:
    """Return the level at which each finalist's bounds are drawn: Holm's step-down."""
    floor = log(rule.better_ratio)
    doubts = [one.doubt(floor) for one in finalists]
    levels = [rule.alpha] * len(finalists)
    held: float | None = None
    for who, level in holm_levels(doubts, rule.alpha):
        levels[who] = held or level
        if held is None and finalists[who].low(level) <= floor:
            held = level
    return levels


def _objections(evidence: Evidence, resolution: Interval, rule: Rule) -> tuple[str, ...]:
    """Say what stands against any verdict but UNSURE, for all finalists."""
    said = []
    processes, rounds = evidence.figures.shape[:2]
    if processes < rule.processes or rounds < rule.rounds:
        said.append(
            f"{rounds} rounds in each of {processes} processes are too few: the rule demands "
            f"{rule.rounds} in each of {rule.processes}"
        )
    if not resolution[0] <= 1 <= resolution[1]:
        said.append(
            f"the baseline differs from its own copy (ratio {_span(resolution)}), so nothing "
            "that was measured here can be trusted"
        )
    return tuple(said)


@dataclass(frozen=True, slots=True)
class _Case:
    """One finalist before the rule."""

    one: Compared
    level: float
    objections: tuple[str, ...]
    rule: Rule

    def decide(self) -> tuple[Outcome, str]:
        """Return the outcome and why."""
        if self.objections:
            return Outcome.UNSURE, "; ".join(self.objections)
        low, high = _interval(self.one, self.level)
        worse, better = self.rule.worse_ratio, self.rule.better_ratio
        losses = self._losses()
        if losses:
            return Outcome.WORSE, losses
        if low > worse and high < better:
            return Outcome.SAME, f"no difference worth having: the ratio is {_span((low, high))}"
        doubts = self._doubts(low)
        if doubts:
            return Outcome.UNSURE, "; ".join(doubts)
        return Outcome.BETTER, f"the ratio is {exp(self.one.ratio):.4f}, surely above {low:.4f}"

    def _losses(self) -> str:
        worse = self.rule.worse_ratio
        high = exp(self.one.high(self.level))
        if high < worse:
            return f"surely worse: the ratio is at most {high:.4f}"
        for name, part in self.one.parts:
            high = exp(part.high(self.level))
            if high < worse:
                return f"surely worse on workload {name}: the ratio there is at most {high:.4f}"
        return ""

    def _doubts(self, low: float) -> list[str]:
        said = []
        if low <= self.rule.better_ratio:
            said.append(
                f"the ratio may be as low as {low:.4f}, and more than {self.rule.better_ratio} "
                "is demanded"
            )
        against = [place for place, median in enumerate(self.one.medians, 1) if median <= 0]
        if against:
            said.append(f"no gain in process {', '.join(map(str, against))}")
        for name, part in self.one.parts:
            floor = exp(part.low(self.level))
            if floor < self.rule.worse_ratio:
                said.append(f"on workload {name} the ratio may be as low as {floor:.4f}")
        return said


def _verdict(evidence: Evidence, number: int, case: _Case) -> Verdict:
    outcome, reason = case.decide()
    figure = partial(_figure, evidence)
    return Verdict(
        outcome,
        evidence.metric,
        baseline=figure(0),
        tuned=figure(number),
        ratio=exp(case.one.ratio),
        interval=_interval(case.one, case.level),
        reason=reason,
    )


def _wrong(evidence: Evidence, number: int) -> Verdict:
    nothing = float("nan")
    reason = evidence.faults[number]
    return Verdict(Outcome.WRONG, evidence.metric, _figure(evidence, 0), nothing, reason=reason)


def _figure(evidence: Evidence, number: int) -> float:
    """Return a program's figure: medians, and the weighted geometric mean over workloads."""
    medians = np.median(evidence.figures[:, :, number], axis=(0, 1))
    return float(np.exp(np.log(medians) @ evidence.weights))


def _span(interval: Interval) -> str:
    return f"between {interval[0]:.4f} and {interval[1]:.4f}"
