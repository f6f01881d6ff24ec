"""Draws the contents of one piece of a buffer: fast, and the same on every machine.

Numbers are made from random bits by tables and exact arithmetic. ``normal`` cuts the standard
normal distribution into bins of the same weight: some random bits choose the bin, and for f32
further ones the place in it. Types of sixteen bits and less get the middle of one of 65,536
bins, from a table that is already rounded to the type. f64 is left to numpy.
"""

from collections.abc import Callable
from functools import cache, partial
from statistics import NormalDist
from typing import TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from burnish.bundle.dtypes import Array, Dtype, encode

__all__ = ["Draw", "integers", "normal", "permuted", "uniform"]

Draw = Callable[[Generator, Array], None]
F = TypeVar("F", NDArray[np.float32], NDArray[np.float64])
Bits = NDArray[np.uint64]

_BITS = 16  # that choose a bin
_WIDE_BITS = 14  # the same for f32: its two tables stay in a core's own cache
_END = 5.0  # standard deviations: where the outermost bins end
_ALL = int(np.iinfo(np.uint64).max)
_ROUNDS = 4


def normal(kind: Dtype, scale: float) -> Draw:
    """What fills a piece from the normal distribution times a scale."""
    if kind.name == "f64":
        return partial(_drawn, scale)
    edges = _quantiles() * scale
    if kind.name != "f32":
        return partial(_looked_up, encode(((edges[1:] + edges[:-1]) / 2).astype(np.float32), kind))
    edges = edges[:: 1 << (_BITS - _WIDE_BITS)]
    widths = np.ldexp(np.diff(edges), _WIDE_BITS - 32)
    starts = edges[:-1] + widths / 2
    return partial(_placed, starts.astype(np.float32), widths.astype(np.float32))


def uniform(kind: Dtype, low: float, high: float) -> Draw:
    """What fills a piece evenly from [low, high)."""
    if kind.name in {"f64", "f32"}:
        return partial(_spread, kind.name == "f64", low, high)
    shares = np.arange(1 << _BITS, dtype=np.float32) / np.float32(1 << _BITS)
    return partial(_looked_up, encode(_between(shares, low, high), kind))


def integers(rng: Generator, low: int, high: int, count: int) -> Array:
    """Whole numbers from [low, high), in the type in which they are drawn fastest."""
    for kind in (np.int32, np.int64):
        if np.iinfo(kind).min <= low and high - 1 <= np.iinfo(kind).max:
            drawn: Array = rng.integers(low, high, count, kind)
            return drawn
    return rng.integers(low, high, count, np.uint64)


def permuted(rng: Generator, count: int) -> Callable[[int, int], Bits]:
    """What gives any stretch of one permutation of the numbers below ``count``.

    Numbers of as many bits as are needed are mixed by steps that can each be undone; what falls
    outside is mixed again until it falls inside. So each number comes up once, and none depends
    on the others.
    """
    bits = max(2, (count - 1).bit_length())
    mask, shift = np.uint64((1 << bits) - 1), np.uint64((bits + 1) // 2)
    factors = rng.integers(0, _ALL, _ROUNDS, np.uint64, endpoint=True) | np.uint64(1)
    terms = rng.integers(0, _ALL, _ROUNDS, np.uint64, endpoint=True)

    def mixed(numbers: Bits) -> Bits:
        for factor, term in zip(factors, terms, strict=True):
            numbers *= factor
            numbers += term
            numbers &= mask
            numbers ^= numbers >> shift
        return numbers

    def stretch(start: int, length: int) -> Bits:
        numbers = mixed(np.arange(start, start + length, dtype=np.uint64))
        outside = np.flatnonzero(numbers >= count)
        while outside.size:
            again = mixed(numbers[outside])
            numbers[outside] = again
            outside = outside[again >= count]
        return numbers

    return stretch


def _drawn(scale: float, rng: Generator, part: Array) -> None:
    wide = part.view(np.float64)
    rng.standard_normal(out=wide)
    wide *= scale


def _looked_up(table: Array, rng: Generator, part: Array) -> None:
    """Random bits choose an entry of a table."""
    words = _random(rng, 2 * part.size).view(np.uint16)[: part.size]
    np.take(table, words.astype(np.intp), out=part, mode="clip")


def _placed(
    starts: NDArray[np.float32], widths: NDArray[np.float32], rng: Generator, part: Array
) -> None:
    """The upper bits of a word choose a bin, the others the place in it."""
    short, rest = part.view(np.float32), np.uint32(32 - _WIDE_BITS)
    words = _random(rng, 4 * part.size).view(np.uint32)[: part.size]
    chosen = (words >> rest).astype(np.intp)
    words &= np.uint32((1 << rest) - 1)
    short[...] = words.view(np.int32)
    short *= np.take(widths, chosen, mode="clip")
    short += np.take(starts, chosen, mode="clip")


def _spread(is_wide: bool, low: float, high: float, rng: Generator, part: Array) -> None:  # noqa: FBT001 - bound by `partial`
    if is_wide:
        wide = part.view(np.float64)
        rng.random(out=wide)
        _between(wide, low, high)
    else:
        short = part.view(np.float32)
        rng.random(out=short, dtype=np.float32)
        _between(short, low, high)


def _random(rng: Generator, count_bytes: int) -> Bits:
    """That many random bytes, or a few more."""
    return rng.integers(0, _ALL, -(-count_bytes // 8), np.uint64, endpoint=True)


def _between(share: F, low: float, high: float) -> F:
    """Stretch what lies in [0, 1) to [low, high); rounding never reaches ``high``."""
    exact = share.dtype.type
    np.multiply(share, exact(high - low), out=share)
    np.add(share, exact(low), out=share)
    return np.minimum(share, np.nextafter(exact(high), exact(low)), out=share)


@cache
def _quantiles() -> NDArray[np.float64]:
    """The edges of the bins, from −5 to 5."""
    inverse = NormalDist().inv_cdf
    bins = 1 << _BITS
    half = np.array([inverse(0.5 + at / bins) for at in range(bins // 2)])
    return np.concatenate([[-_END], -half[:0:-1], half, [_END]])
