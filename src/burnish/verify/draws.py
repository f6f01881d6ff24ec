"""Draws the contents of one chunk of a buffer, in few and long steps.

Threads that draw meet only between the steps, in the interpreter: what takes many short ones
does not get faster with more cores. numpy draws the types that it knows. Types of sixteen bits
and less are looked up: sixteen random bits choose one of 65,536 values, such as the middles of
bins of the same weight under the normal distribution, already rounded to the type.
"""

import threading
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
_END = 5.0  # standard deviations: where the outermost bins end
_ALL = int(np.iinfo(np.uint64).max)
_ROUNDS = 4

_own = threading.local()


def normal(kind: Dtype, scale: float) -> Draw:
    """What fills a chunk from the normal distribution times a scale."""
    if kind.name in {"f64", "f32"}:
        return partial(_bell, kind.name == "f64", scale)
    return partial(_looked_up, encode((_middles() * scale).astype(np.float32), kind))


def uniform(kind: Dtype, low: float, high: float) -> Draw:
    """What fills a chunk evenly from [low, high)."""
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


def _looked_up(table: Array, rng: Generator, part: Array) -> None:
    """Random bits choose an entry of a table."""
    words = rng.integers(0, _ALL, -(-part.size // 4), np.uint64, endpoint=True).view(np.uint16)
    places = _places(part.size)
    places[...] = words[: part.size]
    np.take(table, places, out=part, mode="clip")


def _places(count: int) -> NDArray[np.intp]:
    """Room for places in a table, which a thread uses again and again: new pages are slow."""
    room: NDArray[np.intp] | None = getattr(_own, "room", None)
    if room is None or room.size < count:
        room = _own.room = np.empty(count, np.intp)
    return room[:count]


def _bell(is_wide: bool, scale: float, rng: Generator, part: Array) -> None:  # noqa: FBT001 - bound by `partial`
    if is_wide:
        wide = part.view(np.float64)
        rng.standard_normal(out=wide)
        np.multiply(wide, scale, out=wide)
    else:
        short = part.view(np.float32)
        rng.standard_normal(out=short, dtype=np.float32)
        np.multiply(short, np.float32(scale), out=short)


def _spread(is_wide: bool, low: float, high: float, rng: Generator, part: Array) -> None:  # noqa: FBT001 - bound by `partial`
    if is_wide:
        wide = part.view(np.float64)
        rng.random(out=wide)
        _between(wide, low, high)
    else:
        short = part.view(np.float32)
        rng.random(out=short, dtype=np.float32)
        _between(short, low, high)


def _between(share: F, low: float, high: float) -> F:
    """Stretch what lies in [0, 1) to [low, high); rounding never reaches ``high``."""
    exact = share.dtype.type
    np.multiply(share, exact(high - low), out=share)
    np.add(share, exact(low), out=share)
    return np.minimum(share, np.nextafter(exact(high), exact(low)), out=share)


@cache
def _middles() -> NDArray[np.float64]:
    """The middles of the bins, from −5 to 5."""
    inverse, bins = NormalDist().inv_cdf, 1 << _BITS
    edges = np.array([*(inverse(0.5 + at / bins) for at in range(bins // 2)), _END])
    half = (edges[1:] + edges[:-1]) / 2
    return np.concatenate([-half[::-1], half])
