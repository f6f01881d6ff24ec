from collections.abc import Sequence

import numpy as np
import pytest

from burnish.measure.race import Racing, Screening, Standing, leavers, race, screen
from burnish.measure.simulate import Noise, Process
from burnish.measure.stats import Array

ONE = np.ones(1)


class Bench:
    """Times contenders exactly, or as a simulated process does; counts who ran how long."""

    def __init__(self, ratios: Sequence[float], noise: Noise | None = None, seed: int = 0) -> None:
        self.ratios = np.array(ratios)
        self.rounds = np.zeros(len(ratios), int)
        rng = np.random.default_rng(seed)
        gains = np.log(self.ratios)[:, None]
        self.process = Process(gains, noise, rng) if noise else None

    def __call__(self, contenders: Sequence[int], rounds: int) -> Array:
        self.rounds[list(contenders)] += rounds
        if self.process:
            return self.process.measure(contenders, rounds)
        figures = 100 / np.concatenate([[1.0], self.ratios[list(contenders)]])
        return np.tile(figures[None, :, None], (rounds, 1, 1))


def standings(ratios: Sequence[float]) -> list[Standing]:
    return [Standing(who, ratio, 6, stays=True) for who, ratio in enumerate(ratios)]


def test_what_is_hopeless_goes_after_a_glance() -> None:
    bench = Bench([1.0, 0.5, 1.1, 0.76])
    found = screen(bench, [0, 1, 2, 3], ONE, Screening())
    assert bench.rounds.tolist() == [6, 2, 6, 2]
    assert [one.stays for one in found] == [True, False, True, False]
    assert [one.ratio for one in found] == pytest.approx([1.0, 0.5, 1.1, 0.76])
    assert [one.rounds for one in found] == [6, 2, 6, 2]


def test_one_slow_sample_does_not_end_a_candidate() -> None:
    def measure(contenders: Sequence[int], rounds: int) -> Array:
        figures = np.full((rounds, 1 + len(contenders), 1), 100.0)
        if rounds == 2:
            figures[0, 1] = 1000.0
        return figures

    (found,) = screen(measure, [0], ONE, Screening())
    assert found.stays
    assert found.ratio == pytest.approx(1.0)


def test_a_candidate_without_a_time_goes_and_has_no_ratio() -> None:
    def measure(contenders: Sequence[int], rounds: int) -> Array:
        figures = np.full((rounds, 1 + len(contenders), 1), 100.0)
        figures[:, [1 + place for place, who in enumerate(contenders) if who == 1]] = np.nan
        return figures

    found = screen(measure, [0, 1], ONE, Screening())
    assert [one.stays for one in found] == [True, False]
    assert np.isnan(found[1].ratio)
    ended = race(measure, standings([1.0, 1.0]), ONE, Racing())
    assert ended.finalists == (0,)


def test_workloads_count_by_their_weights() -> None:
    def measure(contenders: Sequence[int], rounds: int) -> Array:
        assert contenders == [0]
        return np.tile(np.array([[100.0, 100.0], [50.0, 200.0]]), (rounds, 1, 1))

    for weights, ratio in (([1, 1], 1.0), ([3, 1], 2**0.5), ([1, 0], 2.0)):
        (found,) = screen(measure, [0], np.array(weights, float), Screening(worst_ratio=9))
        assert found.ratio == pytest.approx(ratio)


def test_the_surely_worse_leave_and_the_leader_and_its_equals_stay() -> None:
    rng = np.random.default_rng(0)
    ratios = rng.normal(0, 0.01, (24, 4)) + np.array([0.0, 0.03, 0.0295, -0.02])
    assert leavers(ratios, 0.01).tolist() == [True, False, False, True]
    assert not leavers(np.zeros((6, 3)), 0.01).any()


def test_as_good_ones_seldom_leave() -> None:
    left = 0
    for seed in range(400):
        ratios = np.random.default_rng(seed).normal(0, 0.01, (10, 2))
        left += int(leavers(ratios, 0.025).sum())
    # The leader is the better of two by luck, which doubles the level of a one-sided test.
    assert left / 400 <= 0.07


def test_one_outlier_decides_nothing() -> None:
    ratios = np.random.default_rng(1).normal(0, 0.01, (10, 3))
    ratios[3, 1] -= 5
    assert not leavers(ratios, 0.01).any()


def test_the_best_eight_are_the_finalists_and_the_inferior_cost_little() -> None:
    true = np.linspace(0.9, 1.1, 40)
    bench = Bench(true.tolist(), Noise(paired_share=0.005))
    ended = race(bench, standings(true.tolist()), ONE, Racing())
    assert set(ended.finalists) >= set(range(35, 40))
    assert len(ended.finalists) == 8
    assert ended.ratios.shape == (40, 8)
    assert bench.rounds[39] == 40
    assert bench.rounds[:20].max() == 10
    assert len(ended.standings) == 40
    best = [one.ratio for one in ended.standings if one.stays]
    assert best == sorted(best, reverse=True)


def test_only_so_many_start() -> None:
    bench = Bench([1.0] * 100)
    race(bench, standings(np.linspace(0.9, 1.1, 100).tolist()), ONE, Racing(entrants=20))
    assert (bench.rounds[:80] == 0).all()
    assert (bench.rounds[80:] > 0).all()


def test_the_incumbent_is_measured_as_often_as_its_challengers_and_stays() -> None:
    true = [0.95, *([1.05] * 30)]
    bench = Bench(true, Noise(paired_share=0.002))
    rule = Racing(entrants=20)
    ended = race(bench, standings(true), ONE, rule, incumbent=0)
    assert bench.rounds[0] == bench.rounds.max() == 40
    assert 0 in ended.finalists
    assert len(ended.finalists) == rule.keep


def test_those_that_went_before_do_not_start_but_the_incumbent_does() -> None:
    bench = Bench([1.0] * 3)
    out = [Standing(who, 1.0, 6, stays=False) for who in range(3)]
    assert race(bench, out, ONE, Racing(), incumbent=2).finalists == (2,)
    assert race(bench, out, ONE, Racing()).finalists == ()
    assert race(bench, [], ONE, Racing()).standings == ()


@pytest.mark.slow
def test_a_gain_of_one_percent_reaches_the_final_through_one_percent_of_noise() -> None:
    true = [1.0] * 128
    true[77] = 1.01
    lost = 0
    for seed in range(60):
        bench = Bench(true, Noise(), seed)
        found = screen(bench, range(128), ONE, Screening())
        lost += 77 not in race(bench, found, ONE, Racing()).finalists
    assert lost <= 3
