from math import inf, nan

import pytest

from burnish.measure.timing import Bounds, bounds_of, calls_for, refusal


@pytest.mark.parametrize(
    ("time_us", "reason"),
    [
        (0.0, "not above zero"),
        (-0.0, "not above zero"),
        (-12.5, "not above zero"),
        (nan, "no finite number"),
        (inf, "no finite number"),
        (-inf, "no finite number"),
        (1e-9, "no launch is that short"),
        (5e-324, "no launch is that short"),
    ],
)
def test_a_time_that_cannot_be_is_refused_with_the_reason(time_us: float, reason: str) -> None:
    assert reason in refusal(time_us, Bounds())
    assert refusal(time_us, bounds_of(100.0))


@pytest.mark.parametrize("time_us", [0.002, 1.0, 99.0, 5e6])
def test_a_time_that_can_be_is_not_refused(time_us: float) -> None:
    assert refusal(time_us, Bounds()) == ""


def test_a_time_under_the_clocks_tick_is_refused() -> None:
    bounds = bounds_of(100.0, tick_us=0.5)
    assert "the clock cannot tell it from zero" in refusal(0.4, bounds)
    assert refusal(0.6, bounds) == ""


def test_a_time_in_which_the_memory_cannot_move_the_bytes_is_refused() -> None:
    bounds = bounds_of(100.0, moved_bytes=200_000_000, peak_bytes_per_s=4.8e12)
    assert "cannot move the bytes" in refusal(40.0, bounds)
    assert refusal(43.0, bounds) == ""


def test_a_time_a_thousand_times_better_or_worse_than_the_baselines_is_refused() -> None:
    bounds = bounds_of(100.0)
    assert "thousandth" in refusal(0.09, bounds)
    assert refusal(0.11, bounds) == ""
    assert "over the limit" in refusal(1.1e5, bounds)


@pytest.mark.parametrize(
    ("time_us", "calls"), [(500.0, 1), (100.0, 1), (99.0, 2), (3.0, 34), (1e-6, 10_000)]
)
def test_a_sample_lasts_at_least_a_tenth_of_a_millisecond(time_us: float, calls: int) -> None:
    assert calls_for(time_us) == calls
