"""Whether answers differ from launch to launch by chance alone, as sums in another order do."""

import numpy as np
from numpy.typing import NDArray

from burnish.bundle.dtypes import Array, Dtype, decode
from burnish.verify.rounding import root_mean_square

__all__ = ["is_chance"]

# Sums of n terms in any order differ by about √n units of roundoff: this is for n = 2²⁴.
_UNITS = 4096.0
_MOST_SHARE = 0.05  # for short types: what differs by more cannot be held against anything
# Of a few answers all may be small by luck, such as the one sum of terms of both signs.
_FEW, _FEW_TIMES = 16, 100.0


def is_chance(one: Array, other: Array, kept: NDArray[np.bool_], kind: Dtype) -> bool:
    """Whether two answers of a kernel to the same inputs differ by no more than rounding.

    Args:
        one: An answer, as stored.
        other: The answer of another launch.
        kept: Which elements count.
        kind: Their element type; numbers that are whole differ by more than rounding.
    """
    if kind.kind != "float":
        return False
    first, second = (decode(stored[kept], kind) for stored in (one, other))
    if not np.array_equal(np.isfinite(first), np.isfinite(second)):
        return False
    times = _FEW_TIMES if first.size < _FEW else 1.0
    share = min(_MOST_SHARE, times * _UNITS * 2.0**-kind.digits)
    with np.errstate(invalid="ignore"):
        return root_mean_square(first - second) <= share * root_mean_square(second)
