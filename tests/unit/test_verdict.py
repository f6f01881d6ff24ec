import numpy as np
import pytest

from burnish.measure.evidence import Evidence
from burnish.measure.verdict import RULE, Judgement, Rule, judge
from burnish.model.verdict import Outcome
from burnish.model.workload import Workload


def evidence(
    ratios: list[list[float]],
    noise: float = 0.002,
    *,
    workloads: tuple[Workload, ...] = (),
    copy: float = 1.0,
    shape: tuple[int, ...] = (3, 60),
) -> Evidence:
    """Finalists with these ratios on these workloads; white noise of a log ratio."""
    true = np.array([[1.0] * len(ratios[0]), [copy] * len(ratios[0]), *ratios])
    rng = np.random.default_rng([len(ratios), *shape])
    own = rng.normal(0, noise / 2**0.5, (*shape, *true.shape))
    drift = rng.normal(0, 0.03, (*shape, 1, 1))
    named = workloads or tuple(Workload(f"w{number}", ()) for number in range(true.shape[1]))
    figures = 100 / true * np.exp(own + drift)
    return Evidence("runtime", figures, named, ("",) * len(true))


def outcomes(judgement: Judgement) -> list[str]:
    return [one.outcome.value for one in judgement.verdicts]


@pytest.mark.parametrize(
    ("ratio", "outcome"),
    [
        (1.5, Outcome.BETTER),
        (1.01, Outcome.BETTER),
        (1.0075, Outcome.BETTER),
        (1.005, Outcome.UNSURE),
        (1.003, Outcome.SAME),
        (1.0, Outcome.SAME),
        (0.997, Outcome.SAME),
        (0.995, Outcome.UNSURE),
        (0.99, Outcome.WORSE),
        (0.5, Outcome.WORSE),
    ],
)
def test_a_ratio_has_its_outcome(ratio: float, outcome: Outcome) -> None:
    verdict = judge(evidence([[ratio]])).verdict
    assert verdict.outcome is outcome
    assert verdict.ratio == pytest.approx(ratio, abs=0.001)
    assert verdict.interval is not None
    assert verdict.interval[0] < ratio < verdict.interval[1]
    assert verdict.baseline == pytest.approx(100, rel=0.02)
    assert verdict.tuned == pytest.approx(verdict.baseline / ratio, rel=0.002)
    assert verdict.metric == "runtime"
    assert verdict.reason


def test_noise_makes_unsure() -> None:
    verdict = judge(evidence([[1.02]], noise=0.2)).verdict
    assert verdict.outcome is Outcome.UNSURE
    assert "may be as low as" in verdict.reason


def test_the_best_of_several_better_ones_is_chosen_and_the_others_are_listed() -> None:
    judgement = judge(evidence([[1.02], [1.08], [1.0], [0.9], [1.05]]))
    assert outcomes(judgement) == ["BETTER", "BETTER", "SAME", "WORSE", "BETTER"]
    assert judgement.chosen == 1
    assert judgement.ranking == (1, 4, 0, 2, 3)
    assert judgement.verdict is judgement.verdicts[1]


def test_no_win_is_an_answer() -> None:
    judgement = judge(evidence([[1.0], [0.99]]))
    assert judgement.chosen is None
    assert judgement.verdict.outcome is Outcome.SAME


def test_a_gain_in_two_of_three_processes_is_no_win() -> None:
    found = evidence([[1.02]])
    found.figures[2, :, 2] *= 1.0211
    verdict = judge(found).verdict
    assert verdict.outcome is Outcome.UNSURE
    assert "no gain in process 3" in verdict.reason


def test_luck_of_placement_in_three_processes_is_no_win() -> None:
    found = evidence([[1.0], [1.0], [1.0]])
    for number, luck in ((2, [1.0, 1.9, 2.8]), (3, [2.0, -1.0, 0.5]), (4, [-2.0, 1.5, 0.1])):
        found.figures[:, :, number] *= np.exp(-0.01 * np.array(luck))[:, None, None]
    assert judge(found).verdicts[0].outcome is Outcome.UNSURE


def test_a_loss_on_one_workload_is_no_win() -> None:
    judgement = judge(evidence([[1.2, 0.98], [1.2, 0.998], [1.2, 0.9955]], noise=0.004))
    assert outcomes(judgement) == ["WORSE", "BETTER", "UNSURE"]
    assert "surely worse on workload w1" in judgement.verdicts[0].reason
    assert "on workload w1 the ratio may be as low as" in judgement.verdicts[2].reason
    assert judgement.chosen == 1


def test_the_ratio_is_the_weighted_geometric_mean_over_workloads() -> None:
    named = Workload("a", (), weight=3.0), Workload("b", (), weight=1.0)
    verdict = judge(evidence([[1.10, 1.02]], workloads=named)).verdict
    assert verdict.ratio == pytest.approx(1.10**0.75 * 1.02**0.25, abs=0.001)


def test_held_out_workloads_are_what_is_judged_and_published() -> None:
    named = Workload("tuned on", ()), Workload("held out", (), held_out=True)
    judgement = judge(evidence([[1.2, 1.0], [1.1, 1.05]], workloads=named))
    assert outcomes(judgement) == ["SAME", "BETTER"]
    assert judgement.verdicts[1].ratio == pytest.approx(1.05, abs=0.001)
    lost = judge(evidence([[0.9, 1.05]], workloads=named)).verdict
    assert lost.outcome is Outcome.WORSE
    assert "tuned on" in lost.reason


def test_a_baseline_that_differs_from_its_own_copy_makes_everything_unsure() -> None:
    judgement = judge(evidence([[1.2], [0.8]], copy=1.01))
    assert outcomes(judgement) == ["UNSURE", "UNSURE"]
    assert "the baseline differs from its own copy" in judgement.verdict.reason
    assert judgement.resolution == pytest.approx((1.01, 1.01), abs=0.002)


def test_wrong_answers_after_the_timing_lose_whatever_the_ratio() -> None:
    found = evidence([[1.5], [1.1]])
    found.figures[1:, :, 2] = np.nan
    faults = ("", "", "w0: 3 of 64 elements differ", "")
    judgement = judge(Evidence("runtime", found.figures, found.workloads, faults))
    assert outcomes(judgement) == ["WRONG", "BETTER"]
    assert judgement.verdicts[0].reason == "w0: 3 of 64 elements differ"
    assert judgement.verdicts[0].ratio is None
    assert judgement.chosen == 1
    assert judgement.ranking == (1, 0)


def test_the_verdict_is_wrong_where_all_finalists_are() -> None:
    found = evidence([[1.5]])
    faults = ("", "", "it hung")
    judgement = judge(Evidence("runtime", found.figures, found.workloads, faults))
    assert judgement.verdict.outcome is Outcome.WRONG
    assert judgement.chosen is None


@pytest.mark.parametrize("shape", [(2, 60), (3, 59), (1, 500)])
def test_too_few_processes_or_rounds_are_unsure(shape: tuple[int, int]) -> None:
    verdict = judge(evidence([[1.5]], shape=shape)).verdict
    assert verdict.outcome is Outcome.UNSURE
    assert "too few" in verdict.reason


def test_a_rule_may_demand_less_for_windows_of_seconds() -> None:
    verdict = judge(evidence([[1.5]], shape=(3, 5)), Rule(rounds=5)).verdict
    assert verdict.outcome is Outcome.BETTER


def test_the_same_evidence_gives_the_same_verdict() -> None:
    found = evidence([[1.006], [1.004]], noise=0.01)
    assert judge(found).verdicts == judge(found).verdicts


def test_figures_without_noise_are_judged_too() -> None:
    judgement = judge(evidence([[1.0], [1.02], [0.98]], noise=0.0))
    assert outcomes(judgement) == ["SAME", "BETTER", "WORSE"]


def test_the_rule_is_that_of_the_design() -> None:
    assert Rule(0.01, 1.005, 0.995, 3, 60) == RULE
