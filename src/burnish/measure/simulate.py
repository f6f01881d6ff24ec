"""The whole funnel on simulated times: does the rule keep its word?

The noise is what is met in practice: clocks that drift for all programs alike, noise with memory,
samples that an interrupt made long, and luck of placement that a program keeps for as long as
its process lives. `benchmarks/null_studies.py` runs thousands of such studies.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from burnish.measure.confirm import planned_rounds
from burnish.measure.evidence import Evidence
from burnish.measure.race import Racing, Screening, race, screen
from burnish.measure.stats import Array
from burnish.measure.verdict import RULE, Judgement, judge
from burnish.model.workload import Workload

__all__ = ["Found", "Noise", "Process", "simulated_evidence", "simulated_study"]

_BASELINE_US = 100.0


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise of a simulated device.

    Attributes:
        paired_share: Standard deviation of a log ratio of one round, without outliers.
        slow_share: Part of that variance that has memory.
        memory: Correlation of the slow part from round to round.
        drift_share: Step of the drift that all programs have in common, a round.
        outlier_probability: Chance that a sample is long.
        outlier_share: By how much, on average.
        placement_share: Standard deviation of a program's luck in a process.
    """

    paired_share: float = 0.01
    slow_share: float = 0.2
    memory: float = 0.5  # house: unit is a correlation
    drift_share: float = 0.002
    outlier_probability: float = 0.02
    outlier_share: float = 0.3
    placement_share: float = 0.0005


class Process:
    """A simulated process that times contenders; program 0 of its figures is the baseline.

    Args:
        gains: ln(baseline ÷ contender), truly: ``[contender, workload]``.
        noise: Of its device.
        rng: Of everything.
    """

    def __init__(self, gains: Array, noise: Noise, rng: np.random.Generator) -> None:
        self.noise = noise
        self.rng = rng
        placed = rng.normal(0, noise.placement_share, (1 + len(gains), gains.shape[1]))
        placed[1:] -= gains
        self._logs = placed + np.log(_BASELINE_US)
        self._slow = rng.normal(size=self._logs.shape)
        self._drift_share = 0.0

    def measure(self, contenders: Sequence[int], rounds: int) -> Array:
        """Time contenders in paired rounds: a `burnish.measure.race.Measure`."""
        programs = [0, *(1 + who for who in contenders)]
        own = self.noise.paired_share / np.sqrt(2)
        shape = rounds, len(programs), self._logs.shape[1]
        quick = self.rng.normal(0, own * np.sqrt(1 - self.noise.slow_share), shape)
        slow = own * np.sqrt(self.noise.slow_share) * self._remembered(programs, shape)
        steps = self.rng.normal(0, self.noise.drift_share, (rounds, 1, 1))
        drift = self._drift_share + steps.cumsum(axis=0)
        self._drift_share = float(drift[-1, 0, 0])
        late = self.rng.random(shape) < self.noise.outlier_probability
        long = np.zeros(shape)
        long[late] = self.rng.exponential(self.noise.outlier_share, int(late.sum()))
        return np.asarray(np.exp(self._logs[programs] + quick + slow + drift + long), np.float64)

    def _remembered(self, programs: list[int], shape: tuple[int, ...]) -> Array:
        """Continue the slow noise of these programs: variance 1, memory as the noise has."""
        rounds = shape[0]
        fresh = self.rng.normal(size=shape)
        forgets, decays = _memory(rounds, self.noise.memory)
        slow = np.tensordot(forgets, fresh, axes=1) + decays[:, None, None] * self._slow[programs]
        self._slow[programs] = slow[-1]
        return np.asarray(slow, np.float64)


@lru_cache(maxsize=64)
def _memory(rounds: int, memory: float) -> tuple[Array, Array]:
    """Return what fresh noise and the last state give to each round."""
    age = np.arange(rounds)[:, None] - np.arange(rounds)[None, :]
    forgets = np.where(age >= 0, memory ** np.abs(age), 0.0) * np.sqrt(1 - memory**2)
    return forgets, memory ** np.arange(1.0, rounds + 1)


@dataclass(frozen=True, slots=True)
class Found:
    """What a simulated study ended with.

    Attributes:
        chosen: The contender that was judged BETTER; None for no win.
        finalists: Who was confirmed.
        rounds: Rounds of the confirmation, in each process.
        judgement: The verdicts.
    """

    chosen: int | None
    finalists: tuple[int, ...]
    rounds: int
    judgement: Judgement


def simulated_study(gains: Array, noise: Noise, seed: Sequence[int]) -> Found:
    """Run the whole funnel over contenders with these true gains, ``[contender, workload]``."""
    rng = np.random.default_rng(seed)
    weights = np.ones(gains.shape[1])
    everyone = range(len(gains))
    searching = Process(gains, noise, rng)
    standings = screen(searching.measure, everyone, weights, Screening())
    ended = race(searching.measure, standings, weights, Racing())
    rounds = planned_rounds(ended.ratios)
    evidence = simulated_evidence(gains[list(ended.finalists)], noise, rounds, rng)
    judgement = judge(evidence)
    chosen = judgement.chosen
    who = None if chosen is None else ended.finalists[chosen]
    return Found(who, ended.finalists, rounds, judgement)


def simulated_evidence(
    gains: Array, noise: Noise, rounds: int, rng: np.random.Generator
) -> Evidence:
    """Confirm finalists with these true gains in fresh simulated processes."""
    with_copy = np.concatenate([np.zeros((1, gains.shape[1])), gains])
    programs = range(len(with_copy))
    figures = [
        Process(with_copy, noise, rng).measure(programs, rounds) for _ in range(RULE.processes)
    ]
    named = tuple(Workload(str(number), ()) for number in range(gains.shape[1]))
    return Evidence("runtime", np.stack(figures), named, ("",) * (1 + len(with_copy)))
