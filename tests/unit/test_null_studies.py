"""The whole funnel on simulated times; `benchmarks/null_studies.py` runs thousands."""

import pytest
from benchmarks.null_studies import (
    FOUND_IN,
    KINDS,
    boundary_study,
    coverage_study,
    missed_bar,
    null_study,
    planted_study,
    rates,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", KINDS)
def test_of_equal_candidates_none_is_accepted(kind: str) -> None:
    assert not any(null_study((kind, seed))[1] for seed in range(45))


@pytest.mark.parametrize("kind", FOUND_IN)
def test_a_gain_of_one_percent_is_found_through_one_percent_of_noise(kind: str) -> None:
    found = [planted_study((kind, seed))[1] for seed in range(40)]
    assert sum(found) >= 0.9 * len(found)


@pytest.mark.parametrize("kind", ["usual", "placement"])
def test_finalists_just_as_good_as_is_demanded_are_hardly_ever_accepted(kind: str) -> None:
    accepted = [boundary_study((kind, seed))[1] for seed in range(80)]
    assert sum(accepted) <= 3  # 1 % is promised


def test_processes_that_lie_apart_are_seen_by_the_rule_and_not_by_a_bootstrap() -> None:
    missed = [coverage_study(("placement", seed))[1] for seed in range(60)]
    assert sum(both for both, _ in missed) <= 2
    assert sum(alone for _, alone in missed) >= 3


def test_the_bars_are_those_of_the_design() -> None:
    equal = "accepted of equal ones"
    assert not missed_bar(equal, {"a": (1, 200)})
    assert missed_bar(equal, {"a": (2, 200), "b": (0, 100)})
    found = "gain of 1 % found"
    assert not missed_bar(found, {"a": (9, 10), "b": (10, 10)})
    assert missed_bar(found, {"a": (8, 10), "b": (10, 10)})
    assert rates([("a", True), ("b", False), ("a", False)]) == {"a": (1, 2), "b": (0, 1)}
