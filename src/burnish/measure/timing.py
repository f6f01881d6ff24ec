"""Times that cannot be, and how many launches make a sample."""

from dataclasses import dataclass
from math import ceil, isfinite

__all__ = ["Bounds", "bounds_of", "calls_for", "refusal"]

_LEAST_US = 1e-3  # a nanosecond: a call and a return take longer on any machine
_MOST_GAIN_RATIO = 1_000.0
_MOST_LOSS_RATIO = 1_000.0
_LEAST_SAMPLE_US = 100.0  # event clocks tick every half microsecond: half a percent of it
_MOST_CALLS = 10_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between what a time must lie, and why.

    Attributes:
        least_us: A shorter time is refused.
        most_us: A longer time is refused.
        why_least: What makes a shorter time impossible, for the message.
    """

    least_us: float = _LEAST_US
    most_us: float = float("inf")
    why_least: str = "no launch is that short"


def bounds_of(
    baseline_us: float,
    *,
    tick_us: float = 0.0,
    moved_bytes: int = 0,
    peak_bytes_per_s: float = 0.0,
) -> Bounds:
    """Say what times are possible for candidates of a baseline.

    Args:
        baseline_us: The baseline's own time.
        tick_us: Resolution of the clock, for one launch of a sample.
        moved_bytes: Bytes that a launch must read or write at least, where they are known.
        peak_bytes_per_s: What the memory gives at best; 0 where it is not known.
    """
    floors = [
        (_LEAST_US, "no launch is that short"),
        (tick_us, "the clock cannot tell it from zero"),
        (baseline_us / _MOST_GAIN_RATIO, "it is less than a thousandth of the baseline's"),
    ]
    if peak_bytes_per_s > 0:
        floors.append(
            (moved_bytes / peak_bytes_per_s * 1e6, "the memory cannot move the bytes in that time")
        )
    least_us, why = max(floors)
    return Bounds(least_us, baseline_us * _MOST_LOSS_RATIO, why)


def refusal(time_us: float, bounds: Bounds) -> str:
    """Say why a time cannot be; empty where it can.

    A time of zero, a negative one and one that is no finite number are refused always.
    """
    if not isfinite(time_us):
        return f"the timer says {time_us} µs, which is no finite number"
    if time_us <= 0:
        return f"the timer says {time_us:g} µs, which is not above zero"
    if time_us < bounds.least_us:
        return f"the timer says {time_us:g} µs, under {bounds.least_us:g} µs: {bounds.why_least}"
    if time_us > bounds.most_us:
        return f"the timer says {time_us:g} µs, over the limit of {bounds.most_us:g} µs"
    return ""


def calls_for(time_us: float, least_sample_us: float = _LEAST_SAMPLE_US) -> int:
    """Return how many launches in a row make a sample long enough for the clock."""
    return max(1, min(_MOST_CALLS, ceil(least_sample_us / time_us)))
