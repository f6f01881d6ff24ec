"""Compares memory bit by bit, and says in words where it differs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from burnish.bundle.dtypes import Array, Dtype, decode
from burnish.devices.port import Image
from burnish.verify.regions import Region

__all__ = ["Mismatch", "bits", "differing", "same", "show"]

_CHUNK = 1 << 19  # bytes: two of them and the result stay in the cache
_SHORT_SHARE = 0.001
_DIGITS = {"f64": 17, "f32": 9}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where two pieces of memory differ.

    Attributes:
        name: The buffer.
        count: How many elements differ.
        total: Of how many.
        where: Indices of the first one.
        got: Its value.
        wanted: The value that it should have.
    """

    name: str
    count: int
    total: int
    where: str
    got: str
    wanted: str

    def __str__(self) -> str:
        """Such as ``out: 0.7 % of elements differ, first at [3, 17]: 1.25 instead of 1.5``."""
        share = self.count / self.total
        if share >= _SHORT_SHARE:
            many = f"{100 * share:.3g} % of elements differ"
        else:
            many = f"{self.count} of {self.total} elements differ{'s' * (self.count == 1)}"
        return f"{self.name}: {many}, first {self.where}: {self.got} instead of {self.wanted}"


def same(one: Image, other: Image) -> bool:
    """Whether two images hold the same bytes. Leaves at the first difference."""
    if one is other or one.size != other.size:
        return one is other
    for start in range(0, one.size, _CHUNK):
        mine, yours = one[start : start + _CHUNK], other[start : start + _CHUNK]
        if not np.array_equal(_words(mine), _words(yours)):
            return False
    return True


def differing(one: Array, other: Array) -> NDArray[np.bool_]:
    """Which elements differ in any bit."""
    whole = f"u{one.dtype.itemsize}"
    changed: NDArray[np.bool_] = np.not_equal(one.view(whole), other.view(whole))
    return changed


def bits(actual: Array, expected: Array, region: Region) -> Mismatch | None:
    """Compare the elements of a region bit by bit.

    Args:
        actual: What the launch left, as stored.
        expected: What it should have left.
        region: Where they lie, for the message.

    Returns:
        The first difference and how many there are, or None.
    """
    changed = differing(actual, expected)
    count = int(np.count_nonzero(changed))
    if not count:
        return None
    first = int(changed.argmax())
    got, wanted = show(actual[first : first + 1], expected[first : first + 1], region.kind)
    return Mismatch(region.buffer.name, count, actual.size, region.where(first), got, wanted)


def show(got: Array, wanted: Array, kind: Dtype) -> tuple[str, str]:
    """Two values as text; with their bits where the text alone would be the same."""
    texts = _text(got, kind), _text(wanted, kind)
    if texts[0] != texts[1]:
        return texts
    return f"{texts[0]} (0x{_hex(got)})", f"{texts[1]} (0x{_hex(wanted)})"


def _text(value: Array, kind: Dtype) -> str:
    if kind.kind == "float":
        return f"{float(decode(value, kind)[0]):.{_DIGITS.get(kind.name, 6)}g}"
    return str(int(value.item()))  # type: ignore[call-overload]  # a whole number


def _hex(value: Array) -> str:
    return value.tobytes()[::-1].hex()


def _words(image: Image) -> Array:
    """The same bytes in words of eight, where their number allows that."""
    return image.view(np.uint64) if image.size % np.dtype(np.uint64).itemsize == 0 else image
