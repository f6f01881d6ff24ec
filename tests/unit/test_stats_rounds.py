import time

import numpy as np
import pytest

from burnish.measure.stats import (
    Array,
    autocorrelation,
    block_length,
    bootstrap,
    log_ratios,
    middle_means,
)


def with_memory(memory: float, shape: tuple[int, ...], seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    series = rng.normal(size=shape)
    for turn in range(1, shape[1]):
        series[:, turn] = memory * series[:, turn - 1] + (1 - memory**2) ** 0.5 * series[:, turn]
    return series


def test_a_log_ratio_is_above_zero_where_the_program_is_faster() -> None:
    figures = np.array([[[100.0], [100.0], [50.0], [200.0]]])
    assert log_ratios(figures)[0, :, 0] == pytest.approx([0, np.log(2), -np.log(2)])


def test_the_mean_of_the_middle_half_is_deaf_to_outliers() -> None:
    values = np.concatenate([np.linspace(0.9, 1.1, 50), [1e9] * 8, [-1e9] * 8])[None, :, None]
    assert middle_means(values)[0, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 5, 7, 60, 61])
def test_the_mean_of_the_middle_half_takes_its_share_of_edge_rounds(rounds: int) -> None:
    values = np.random.default_rng(rounds).normal(size=rounds)
    fine = np.repeat(np.sort(values), 4)[rounds : 3 * rounds]
    assert middle_means(values[None, :, None])[0, 0] == pytest.approx(fine.mean())


def test_the_middle_half_sees_between_the_ticks_of_a_clock() -> None:
    rng = np.random.default_rng(1)
    ticks = np.round(rng.normal(100.37, 0.8, (200, 180)))
    medians = np.median(ticks, axis=1)
    middles = middle_means(ticks[:, :, None])[:, 0]
    assert np.abs(middles - 100.37).mean() < 0.5 * np.abs(medians - 100.37).mean()


@pytest.mark.parametrize("memory", [0.0, 0.3, 0.6, 0.9])
def test_memory_between_rounds_is_seen_through_outliers(memory: float) -> None:
    series = with_memory(memory, (3, 60, 8, 2))
    late = np.random.default_rng(1).random(series.shape) < 0.02
    series[late] += 50
    assert autocorrelation(series) == pytest.approx(memory, abs=0.12)


def test_blocks_are_longer_where_rounds_remember_more() -> None:
    lengths = [block_length(with_memory(memory, (3, 60, 8, 1))) for memory in (0, 0.3, 0.6, 0.9)]
    assert lengths == sorted(lengths)
    assert lengths[0] <= 2
    assert lengths[-1] == 15  # never more than a quarter of the rounds


def test_constant_rounds_have_no_memory() -> None:
    assert autocorrelation(np.ones((3, 10, 2, 1))) == 0
    assert block_length(np.ones((3, 10, 2, 1))) == 1


def test_resamples_of_constant_rounds_are_that_constant() -> None:
    resampled = bootstrap(np.full((3, 60, 2, 1), 0.0125), np.random.default_rng(0))
    assert resampled == pytest.approx(np.full(resampled.shape, 0.0125), abs=1e-12)


def test_the_bootstrap_knows_the_error_of_the_mean_of_the_middle_half() -> None:
    rng = np.random.default_rng(2)
    estimates = [middle_means(rng.normal(size=(3, 60, 1, 1))).mean() for _ in range(3000)]
    spreads = [bootstrap(rng.normal(size=(3, 60, 1, 1)), rng).std() for _ in range(40)]
    # Resampling processes, too, counts the noise of rounds 5/3 times where processes are alike.
    assert np.mean(spreads) == pytest.approx(np.std(estimates) * (5 / 3) ** 0.5, rel=0.1)


def test_resamples_are_drawn_alike_for_all_contenders_and_workloads() -> None:
    one = np.random.default_rng(3).normal(size=(3, 60, 1, 1))
    resampled = bootstrap(np.tile(one, (1, 1, 3, 2)), np.random.default_rng(4))
    assert np.ptp(resampled.reshape(len(resampled), -1), axis=1).max() < 1e-6


def test_eight_finalists_on_four_workloads_take_a_fifth_of_a_second() -> None:
    ratios = np.random.default_rng(5).normal(0, 0.01, (3, 60, 9, 4))
    spent_s = []
    for seed in range(5):
        started_s = time.process_time()
        assert len(bootstrap(ratios, np.random.default_rng(seed))) >= 2000
        spent_s.append(time.process_time() - started_s)
    assert min(spent_s) < 0.2
