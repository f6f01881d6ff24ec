"""Who stays: screening, then a race in blocks of paired rounds.

What decides is apart from what measures: a `Measure` is a function, run by a worker on a
device or by a simulation. Search data chooses finalists and nothing else: what is reported is
measured again (`burnish.measure.confirm`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan, log, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from burnish.measure.stats import Array, autocorrelation, log_ratios, middle_means, student_quantile

__all__ = [
    "Measure",
    "Race",
    "Racing",
    "Screening",
    "Standing",
    "leavers",
    "race",
    "scores",
    "screen",
]

Measure = Callable[[Sequence[int], int], Array]
"""Times contenders in so many paired rounds: ``[round, 1 + contender, workload]``.

The baseline comes first. A contender whose time cannot be has NaN.
"""


@dataclass(frozen=True, slots=True)
class Screening:
    """How candidates are looked at first.

    Attributes:
        glance_rounds: Rounds after which what is hopeless goes.
        rounds: Rounds for the others, those of the glance included.
        worst_ratio: Times the baseline's time that a candidate may take; slower ones go.
    """

    glance_rounds: int = 2
    rounds: int = 6
    worst_ratio: float = 1.3


@dataclass(frozen=True, slots=True)
class Racing:
    """How a race is run.

    Attributes:
        entrants: How many start, the best of the screening.
        block_rounds: Rounds between two looks.
        looks: How many blocks at most.
        alpha: Chance that one that is as good as the leader leaves, over all looks: half of it is
            spent at the first, half of the rest at the next.
        keep: How many finalists there are at most; nobody leaves while no more run.
    """

    entrants: int = 64
    block_rounds: int = 10
    looks: int = 4
    alpha: float = 0.05
    keep: int = 8


@dataclass(frozen=True, slots=True)
class Standing:
    """How a contender did.

    Attributes:
        contender: Its number.
        ratio: Baseline ÷ contender; NaN where its time cannot be.
        rounds: Rounds it rests on.
        stays: Whether it was still in at the end.
    """

    contender: int
    ratio: float
    rounds: int
    stays: bool


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """What came of a race.

    Attributes:
        standings: All that started, the finalists first, best first.
        ratios: Log ratios of the finalists, ``[round, finalist]``: they tell how many rounds
            it takes to confirm them.
    """

    standings: tuple[Standing, ...]
    ratios: Array

    @property
    def finalists(self) -> tuple[int, ...]:
        """Who stayed to the end, best first."""
        return tuple(one.contender for one in self.standings if one.stays)


def scores(figures: Array, weights: Array) -> Array:
    """Return the log ratio of each round, over the workloads: ``[round, contender]``."""
    return np.asarray(log_ratios(figures) @ (weights / weights.sum()), np.float64)


def screen(
    measure: Measure, contenders: Sequence[int], weights: Array, rule: Screening
) -> tuple[Standing, ...]:
    """Look at contenders in few rounds; the slow ones get fewer."""
    first = scores(measure(contenders, rule.glance_rounds), weights)
    is_slow = ~(np.max(first, axis=0) >= -log(rule.worst_ratio))  # NaN counts as slow
    going_on = [who for who, slow in zip(contenders, is_slow, strict=True) if not slow]
    more = rule.rounds - rule.glance_rounds
    both = first[:, ~is_slow]
    if going_on and more > 0:
        both = np.concatenate([both, scores(measure(going_on, more), weights)])
    limit = 1 / rule.worst_ratio
    seen = {
        one.contender: one for one in (*_standings(contenders, first), *_standings(going_on, both))
    }
    return tuple(
        replace(seen[who], stays=not slow and seen[who].ratio >= limit)
        for who, slow in zip(contenders, is_slow, strict=True)
    )


def leavers(ratios: Array, alpha: float) -> NDArray[np.bool_]:
    """Say which contenders are surely worse than the leader: a paired, one-sided test.

    Args:
        ratios: Log ratio ``[round, contender]``, all of the same rounds.
        alpha: Level of one test.
    """
    rounds = len(ratios)
    leader = int(np.argmax(middle_means(ratios[None])[0]))
    behind = ratios[:, [leader]] - ratios
    centre = np.median(behind, axis=0)
    reach = 3 * 1.4826 * np.median(np.abs(behind - centre), axis=0)
    behind = np.clip(behind, centre - reach, centre + reach)  # one outlier decides nothing
    mean = behind.mean(axis=0)
    memory = autocorrelation(behind[None, :, :, None])
    error = behind.std(axis=0, ddof=1) / sqrt(rounds) * sqrt((1 + memory) / (1 - memory))
    return np.asarray(mean > student_quantile(1 - alpha, rounds - 1) * error, np.bool_)


def race(
    measure: Measure,
    standings: Sequence[Standing],
    weights: Array,
    rule: Racing,
    incumbent: int | None = None,
) -> Race:
    """Run a race; the finalists are those that stay.

    Args:
        measure: Times contenders.
        standings: How they did before; the best start, and they start from nothing.
        weights: Of the workloads.
        rule: How the race is run.
        incumbent: A contender that never leaves, so that a lucky newcomer is compared with it
            over all of its own rounds.
    """
    running = _entrants(standings, rule, incumbent)
    heard = np.empty((0, len(running)))
    ended: list[Standing] = []
    for look in range(1, rule.looks + 1):
        if not running:
            break
        heard = np.concatenate([heard, scores(measure(running, rule.block_rounds), weights)])
        standings = _standings(running, heard)
        going_on = set(_stayers(standings, heard, rule.keep, rule.alpha / 2.0**look, incumbent))
        ended += [one for one in standings if one.contender not in going_on]
        heard = heard[:, [who in going_on for who in running]]
        running = [who for who in running if who in going_on]
    last = _standings(running, heard)
    best = _best(last, rule.keep, incumbent)
    ended = [replace(one, stays=False) for one in ended]
    ended += [replace(one, stays=one.contender in best) for one in last]
    ended.sort(key=lambda one: (one.stays, _merit(one)), reverse=True)
    return Race(tuple(ended), heard[:, [running.index(who) for who in best]])


def _entrants(standings: Sequence[Standing], rule: Racing, incumbent: int | None) -> list[int]:
    able = [replace(one, stays=one.stays or one.contender == incumbent) for one in standings]
    return _best(able, rule.entrants, incumbent)


def _stayers(
    standings: Sequence[Standing], heard: Array, keep: int, alpha: float, incumbent: int | None
) -> list[int]:
    """Return who goes on after a look."""
    able = [one.stays for one in standings]
    sound = [one for one in standings if one.stays]
    if len(sound) <= keep:
        return [one.contender for one in sound]
    gone = leavers(heard[:, able], alpha)
    needed = _best(sound, keep, incumbent)
    return [
        one.contender
        for one, leaves in zip(sound, gone, strict=True)
        if not leaves or one.contender in needed
    ]


def _best(standings: Sequence[Standing], count: int, incumbent: int | None) -> list[int]:
    """Return so many contenders, the best first; the incumbent is one of them."""
    able = sorted((one for one in standings if one.stays), key=_merit, reverse=True)
    order = [one.contender for one in able]
    best = order[:count]
    if incumbent is not None and incumbent in order and incumbent not in best:
        best[-1] = incumbent
    return best


def _merit(standing: Standing) -> float:
    return standing.ratio if standing.ratio > 0 else 0.0  # NaN comes last


def _standings(contenders: Sequence[int], ratios: Array) -> list[Standing]:
    """Say how contenders did, ``[round, contender]``; all that have a time stay."""
    rounds = len(ratios)
    if not rounds:
        return [Standing(who, nan, 0, stays=False) for who in contenders]
    found = np.exp(middle_means(ratios[None])[0]).tolist()
    return [
        Standing(who, ratio, rounds, stays=not isnan(ratio))
        for who, ratio in zip(contenders, found, strict=True)
    ]
