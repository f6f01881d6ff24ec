"""One program against the baseline: estimate, bounds, and how sure it is to pass a floor.

Everything is a log ratio, ln(baseline ÷ program). A bound is the outer of two: that of the
bootstrap, and that of a Student interval on the spread of the processes. The bootstrap knows
outliers and memory between rounds; three processes are too few for it to know how far they lie
apart. With 0.3 % between processes its 99 % interval for equal programs misses 1 in every tenth
study (`benchmarks/null_studies.py --coverage`); the outer of both keeps its word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from burnish.measure.evidence import COPY, Evidence
from burnish.measure.stats import (
    Array,
    Doubt,
    Spread,
    bootstrap,
    log_ratios,
    middle_means,
    quantile,
    student_tail,
)

__all__ = ["Compared", "compare"]

_SEED = 20_260_101  # resampling is part of the rule: the same evidence, the same verdict


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """One program against the baseline.

    Attributes:
        ratio: The estimate: mean over processes (of a log ratio).
        resampled: What the bootstrap made of it, sorted.
        spread: How far processes lie apart.
        medians: Median over rounds, a process each.
        parts: The same for each workload, by name, where there are several.
    """

    ratio: float
    resampled: Array
    spread: Spread
    medians: tuple[float, ...] = ()
    parts: tuple[tuple[str, "Compared"], ...] = ()

    def low(self, level: float) -> float:
        """Lower bound at a one-sided level."""
        return min(quantile(self.resampled, level), self.ratio - self.spread.reach(level))

    def high(self, level: float) -> float:
        """Upper bound at a one-sided level."""
        return max(quantile(self.resampled, 1 - level), self.ratio + self.spread.reach(level))

    def doubt(self, floor: float) -> Doubt:
        """Probability of such figures if the true log ratio were no more than ``floor``.

        It is under a level exactly where the lower bound at that level is above the floor.
        """
        below = int(np.searchsorted(self.resampled, floor, side="right"))
        error = self.spread.error_share
        gap = self.ratio - floor
        distance = gap / error if error else inf if gap > 0 else -inf
        tail = student_tail(distance, self.spread.freedom)
        return max((below + 1) / (len(self.resampled) + 1), tail), tail


def compare(evidence: Evidence, finalists: Sequence[int]) -> list[Compared]:
    """Compare the baseline's copy, then the finalists, with the baseline."""
    figures = evidence.figures[:, :, [0, COPY, *finalists]]
    ratios = log_ratios(figures)
    weights = evidence.weights
    resampled = bootstrap(ratios, np.random.default_rng(_SEED))
    medians = np.median(ratios @ weights, axis=1)
    whole = _series(middle_means(ratios) @ weights, resampled @ weights)
    names = [workload.name for workload in evidence.workloads]
    parts: list[list[Compared]] = []
    if len(names) > 1:
        means = middle_means(ratios)
        parts = [_series(means[..., k], resampled[..., k]) for k in range(len(names))]
    return [
        Compared(
            one.ratio,
            one.resampled,
            one.spread,
            medians=tuple(medians[:, place].tolist()),
            parts=tuple((name, part[place]) for name, part in zip(names, parts, strict=False)),
        )
        for place, one in enumerate(whole)
    ]


def _series(means: Array, resampled: Array) -> list[Compared]:
    """Make a comparison of each contender: ``[process, contender]``, ``[resample, contender]``."""
    spread = Spread.of(means)
    resampled = np.sort(resampled, axis=0)
    return [
        Compared(float(means[:, place].mean()), resampled[:, place], spread)
        for place in range(means.shape[1])
    ]
