from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.measure.compared import compare
from burnish.measure.evidence import COPY, FIRST, Evidence
from burnish.measure.simulate import Noise, simulated_evidence
from burnish.measure.stats import middle_means
from burnish.measure.verdict import judge
from burnish.model.verdict import Outcome
from burnish.model.workload import Workload

NOISE = Noise()
SEEDS = st.integers(0, 10**6)
GAINS = st.lists(st.floats(-0.02, 0.03), min_size=1, max_size=4)


def evidence_of(gains: list[float], seed: int, workloads: int = 1) -> Evidence:
    true = np.repeat(np.array(gains)[:, None], workloads, axis=1)
    return simulated_evidence(true, NOISE, 60, np.random.default_rng(seed))


def changed(evidence: Evidence, figures: np.ndarray) -> Evidence:
    return Evidence(evidence.metric, figures, evidence.workloads, evidence.faults, evidence.remarks)


@settings(max_examples=15, deadline=None)
@given(GAINS, SEEDS, st.floats(1e-3, 1e6))
def test_a_verdict_does_not_know_the_unit(gains: list[float], seed: int, factor: float) -> None:
    evidence = evidence_of(gains, seed)
    plain, scaled = judge(evidence), judge(changed(evidence, evidence.figures * factor))
    assert [one.outcome for one in plain.verdicts] == [one.outcome for one in scaled.verdicts]
    for one, other in zip(plain.verdicts, scaled.verdicts, strict=True):
        assert one.interval == pytest.approx(other.interval, abs=1e-9)
        assert other.baseline == pytest.approx(one.baseline * factor)


@settings(max_examples=15, deadline=None)
@given(GAINS, SEEDS, st.randoms(use_true_random=False))
def test_the_order_of_finalists_does_not_matter(
    gains: list[float],
    seed: int,
    shuffler: Random,
) -> None:
    evidence = evidence_of(gains, seed)
    order = list(range(len(gains)))
    shuffler.shuffle(order)
    programs = [0, COPY, *(FIRST + place for place in order)]
    shuffled = judge(changed(evidence, evidence.figures[:, :, programs]))
    plain = judge(evidence)
    for place, who in enumerate(order):
        assert shuffled.verdicts[place].outcome == plain.verdicts[who].outcome
        assert shuffled.verdicts[place].interval == pytest.approx(
            plain.verdicts[who].interval, abs=1e-9
        )


@settings(max_examples=15, deadline=None)
@given(GAINS, SEEDS, st.floats(0.9, 1.0))
def test_a_faster_finalist_is_never_judged_worse(
    gains: list[float], seed: int, factor: float
) -> None:
    evidence = evidence_of(gains, seed)
    figures = evidence.figures.copy()
    figures[:, :, FIRST] *= factor
    before, after = judge(evidence), judge(changed(evidence, figures))
    rank = [Outcome.WORSE, Outcome.SAME, Outcome.UNSURE, Outcome.BETTER]
    if before.verdicts[0].outcome is Outcome.BETTER:
        assert after.verdicts[0].outcome is Outcome.BETTER
    if after.verdicts[0].outcome is Outcome.WORSE:
        assert rank.index(before.verdicts[0].outcome) == 0


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.integers(2, 4))
def test_a_workload_that_is_there_twice_changes_nothing(seed: int, copies: int) -> None:
    evidence = evidence_of([0.01, 0.0], seed)
    names = tuple(Workload(str(number), ()) for number in range(copies))
    many = Evidence("runtime", np.repeat(evidence.figures, copies, axis=3), names, evidence.faults)
    plain, repeated = judge(evidence), judge(many)
    for one, other in zip(plain.verdicts, repeated.verdicts, strict=True):
        assert one.interval == pytest.approx(other.interval, abs=1e-7)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=50))
def test_the_mean_of_the_middle_half_lies_in_the_middle_half(values: list[float]) -> None:
    ascending = np.sort(values)
    middle = middle_means(np.array(values)[None, :, None])[0, 0]
    low, high = ascending[len(values) // 4], ascending[-1 - len(values) // 4]
    assert low - 1e-9 <= middle <= high + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    "noise",
    [
        Noise(placement_share=0),
        Noise(slow_share=0.5),
        Noise(placement_share=0.003),
        Noise(paired_share=0.001, placement_share=0.003),
    ],
    ids=["quiet", "memory", "placement", "placement only"],
)
def test_bounds_keep_their_word_on_noise_of_many_kinds(noise: Noise) -> None:
    true, level, studies = np.log(1.01), 0.02, 60
    missed = 0
    for seed in range(studies):
        gains = np.full((8, 1), true)
        evidence = simulated_evidence(gains, noise, 60, np.random.default_rng([7, seed]))
        finalists = compare(evidence, range(FIRST, FIRST + 8))[1:]
        missed += sum(one.low(level) > true for one in finalists)
    # Finalists share a baseline, so misses come in clumps: 2 % are promised, 4 % would be a fault.
    assert missed / (8 * studies) <= 2 * level
