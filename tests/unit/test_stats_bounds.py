from math import inf

import numpy as np
import pytest

from burnish.measure.stats import (
    Spread,
    freedom_of,
    holm_levels,
    quantile,
    student_quantile,
    student_tail,
)


@pytest.mark.parametrize(
    ("freedom", "value", "probability"),
    [
        (1, 63.657, 0.995),  # from printed tables
        (2, 9.925, 0.995),
        (3, 4.541, 0.99),
        (4, 3.747, 0.99),
        (6, 4.317, 0.9975),
        (18, 2.87844, 0.995),
        (60, 2.66028, 0.995),
    ],
)
def test_student_quantiles_are_those_of_the_tables(
    freedom: int, value: float, probability: float
) -> None:
    assert student_quantile(probability, freedom) == pytest.approx(value, abs=6e-4)
    assert student_quantile(1 - probability, freedom) == pytest.approx(-value, abs=6e-4)
    assert student_tail(value, freedom) == pytest.approx(1 - probability, rel=1e-3)


def test_nothing_lies_above_infinity() -> None:
    assert student_tail(inf, 4) == pytest.approx(0, abs=1e-12)
    assert student_tail(-inf, 5) == pytest.approx(1, abs=1e-12)
    assert student_tail(0.0, 3) == 0.5


def test_a_quantile_is_rounded_outwards() -> None:
    ascending = np.arange(1.0, 1000.0)
    assert quantile(ascending, 0.01) == 10
    assert quantile(ascending, 0.0109) == 10
    assert quantile(ascending, 0.99) == 990
    assert quantile(ascending, 0.9899) == 990
    assert quantile(ascending, 1e-9) == 1
    assert quantile(ascending, 1 - 1e-9) == 999


def test_holm_tests_the_surest_at_the_strictest_level() -> None:
    levels = holm_levels([(0.3, 0.3), (0.001, 1e-5), (0.02, 0.0), (0.001, 1e-4)], 0.01)
    assert [who for who, _ in levels] == [1, 3, 2, 0]
    assert [level for _, level in levels] == pytest.approx([0.0025, 0.01 / 3, 0.005, 0.01])


def test_spread_pools_contenders_around_their_own_means() -> None:
    means = np.array([[0.0, 1.0], [0.3, 1.0], [-0.3, 1.0]])
    spread = Spread.of(means)
    assert spread.error_share == pytest.approx((0.18 / 4 / 3) ** 0.5)
    assert spread.reach(0.01) == pytest.approx(4.541 * spread.error_share, rel=1e-3)


def test_contenders_that_share_a_baseline_count_for_less_than_their_number() -> None:
    assert [freedom_of(3, contenders) for contenders in (1, 2, 5, 9)] == [2, 3, 6, 9]


def test_one_process_alone_says_nothing_about_spread() -> None:
    assert Spread.of(np.array([[0.1, 0.2]])).reach(0.01) == inf
