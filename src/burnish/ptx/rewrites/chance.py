"""Chance that a seed decides, the same on every machine and with every version of Python.

The words come from SHAKE128 (FIPS 202): one call of C for all statements of a block, and no
state between blocks.
"""

import struct
from collections.abc import Sequence
from hashlib import shake_128

__all__ = ["STRENGTHS_PERCENT", "noise", "shuffled"]

STRENGTHS_PERCENT = (5, 20, 50, 100)
"""How many of the statements get a place by chance, by the seed modulo 4."""

_MASK = 0xFFFFFFFF


def noise(seed: int, salt: int, size: int, free: Sequence[int]) -> list[int] | None:
    """A random number of 32 bits for some of the statements of a block, -1 for the others.

    At least one gets a number, so that a seed has a chance to change small blocks, too.

    Args:
        seed: 0 for no chance at all; also says how strong it is.
        salt: Tells blocks apart.
        size: How many statements there are.
        free: The numbers of those that may get one.

    Returns:
        A number for each statement; None for no noise.
    """
    if seed == 0:
        return None
    data = shake_128(f"{seed}/{salt}".encode()).digest(8 * (len(free) + 1))
    *words, last = struct.unpack(f"<{len(free) + 1}Q", data)
    below = (STRENGTHS_PERCENT[seed % len(STRENGTHS_PERCENT)] << 32) // 100
    found = [-1] * size
    for number, word in zip(free, words, strict=True):
        if word & _MASK < below:
            found[number] = word >> 32
    chosen = last % len(free)
    found[free[chosen]] = words[chosen] >> 32
    return found


def shuffled(values: Sequence[int], seed: int) -> list[int]:
    """The same values in an order by chance."""
    data = shake_128(f"{seed}/shuffle".encode()).digest(8 * len(values))
    words = struct.unpack(f"<{len(values)}Q", data)
    return [value for _, value in sorted(zip(words, values, strict=True))]
