"""Element types: their sizes, and what numpy lacks: bfloat16 and the two fp8 formats.

Values of these three are kept as bit patterns in unsigned integers. Rounding to them goes
to the nearest, ties to even, and saturates at the largest finite value, as CUDA's
conversions do by default. Formats: bfloat16 is the upper half of a float32; ``f8e4m3`` and
``f8e5m2`` are those of the OCP 8-bit floating point specification (``f8e4m3`` has no
infinity, and NaN at S.1111.111 only).
"""

import math
import sys
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from burnish.errors import LaunchError

__all__ = ["DTYPES", "Array", "Dtype", "Floats", "decode", "dtype", "encode", "pack"]

Array: TypeAlias = "NDArray[np.generic[object]]"
Floats: TypeAlias = "NDArray[np.float32] | NDArray[np.float64]"

_CHUNK = 1 << 14  # elements: the temporaries of a conversion stay in the cache
_INFINITE = 0x7F800000  # pattern of a float32
_BFLOAT_PAST = 0x7F7F8000  # of the least float32 that rounds past the largest bfloat16


@dataclass(frozen=True, slots=True)
class Dtype:
    """An element type.

    Attributes:
        name: As launch files say it.
        size: Bytes of an element.
        kind: ``float``, ``int``, ``uint`` or ``bool``.
        stored: The numpy type that holds it; for bfloat16 and fp8 that of its bit pattern.
        digits: Bits of precision of a float, the hidden one included; else 0.
        largest: Largest finite value.
    """

    name: str
    size: int
    kind: str
    stored: "np.dtype[np.generic[object]]"
    digits: int
    largest: float  # house: unit is the element's own

    @property
    def is_pattern(self) -> bool:
        """Whether its values are kept as bit patterns that numpy cannot read."""
        return self.kind == "float" and self.stored.kind == "u"

    @property
    def smallest(self) -> int:
        """Smallest value of a whole type."""
        return -int(self.largest) - 1 if self.kind == "int" else 0


def _float(name: str, stored: str, digits: int, largest: float) -> Dtype:
    kept = np.dtype(stored)
    return Dtype(name, kept.itemsize, "float", kept, digits, largest)


def _whole(name: str, kind: str) -> Dtype:
    kept = np.dtype("u1" if kind == "bool" else f"{name[0]}{int(name[1:]) // 8}")
    bits = {"bool": 1, "uint": 8 * kept.itemsize, "int": 8 * kept.itemsize - 1}[kind]
    return Dtype(name, kept.itemsize, kind, kept, 0, 2**bits - 1)


DTYPES: dict[str, Dtype] = {
    one.name: one
    for one in (
        _float("f64", "f8", 53, sys.float_info.max),
        _float("f32", "f4", 24, float(np.finfo(np.float32).max)),
        _float("f16", "f2", 11, 65504.0),
        _float("bf16", "u2", 8, float.fromhex("0x1.fep127")),
        _float("f8e4m3", "u1", 4, 448.0),
        _float("f8e5m2", "u1", 3, 57344.0),
        *(_whole(f"i{bits}", "int") for bits in (8, 16, 32, 64)),
        *(_whole(f"u{bits}", "uint") for bits in (8, 16, 32, 64)),
        _whole("bool", "bool"),
    )
}


def dtype(name: str) -> Dtype:
    """The element type of that name.

    Raises:
        LaunchError: There is none.
    """
    if name not in DTYPES:
        raise LaunchError(f"unknown element type {name!r}; known are: {', '.join(DTYPES)}")
    return DTYPES[name]


def encode(values: Floats, kind: Dtype) -> Array:
    """Round floats to a float type, as stored: to nearest, ties to even, saturating.

    Args:
        values: float32, or float64 for ``f64``; finite values out of range become the
            largest finite one, infinities stay where the type has them (else NaN).
        kind: The float type.
    """
    if not kind.is_pattern and kind.name != "f16":
        return values.astype(kind.stored, copy=False)
    flat = np.ascontiguousarray(values, dtype=np.float32).reshape(-1)
    result = np.empty(flat.size, kind.stored)
    narrow = {"f16": _to_half, "bf16": _to_bfloat}.get(kind.name)
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK]
        done = _to_fp8(part, kind.name) if narrow is None else narrow(part)
        result[start : start + _CHUNK] = done
    return result.reshape(values.shape)


def decode(stored: Array, kind: Dtype) -> NDArray[np.float64]:
    """The exact values of stored floats, as float64."""
    with np.errstate(invalid="ignore"):  # a signalling NaN is a value like any other here
        if kind.name == "bf16":
            wide: NDArray[np.uint32] = stored.astype(np.uint32) << np.uint32(16)
            return wide.view(np.float32).astype(np.float64)
        if kind.is_pattern:
            return _TABLES[kind.name][stored.astype(np.uint8, copy=False)]
        return stored.astype(np.float64)


def pack(value: float, kind: Dtype) -> bytes:
    """The bytes of one value, little endian. The caller has checked that it fits."""
    if kind.kind == "float":
        exact = np.array([value], np.float64)
        with np.errstate(over="ignore"):
            return encode(exact if kind.name == "f64" else exact.astype(np.float32), kind).tobytes()
    return np.array([int(value)]).astype(kind.stored).tobytes()


def _to_half(values: NDArray[np.float32]) -> NDArray[np.float16]:
    with np.errstate(invalid="ignore", over="ignore"):
        half = values.astype(np.float16)
    past = np.isinf(half)
    if past.any():
        past &= np.isfinite(values)
        half[past] = np.copysign(np.float16(DTYPES["f16"].largest), half[past])
    return half


def _to_bfloat(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    bits = values.view(np.uint32)
    sizes = bits & np.uint32(0x7FFFFFFF)
    rounded = bits >> np.uint32(16)
    rounded &= np.uint32(1)
    rounded += np.uint32(0x7FFF)
    rounded += bits
    rounded >>= np.uint32(16)
    result = rounded.astype(np.uint16)
    if not sizes.size or sizes.max() < _BFLOAT_PAST:
        return result
    sign = (bits >> np.uint32(16)).astype(np.uint16) & np.uint16(0x8000)
    past = (sizes >= _BFLOAT_PAST) & (sizes < _INFINITE)
    result = np.where(past, sign | np.uint16(0x7F7F), result)
    return np.where(sizes > _INFINITE, sign | np.uint16(0x7FC0), result)


def _to_fp8(values: NDArray[np.float32], name: str) -> NDArray[np.uint8]:
    # The upper half of a float32 holds four bits more than fp8 keeps; whether anything is
    # left below goes into its last bit. So a table of 65,536 roundings is exact.
    bits = values.view(np.uint32)
    rest = (bits & np.uint32(0xFFFF)) != 0
    upper: NDArray[np.uint32] = (bits >> np.uint32(16)) | rest
    return _codes(name)[upper]


@cache
def _codes(name: str) -> NDArray[np.uint8]:
    """The fp8 pattern for every upper half of a float32, ties to even, saturating."""
    halves = np.arange(1 << 15, dtype=np.uint32) << np.uint32(16)
    values = decode(halves.view(np.float32), DTYPES["f32"])
    finite = _TABLES[name][:0x7F]
    finite = finite[np.isfinite(finite)]
    above = np.searchsorted(finite, values).clip(1, len(finite) - 1)
    down, up = values - finite[above - 1], finite[above] - values
    is_up = (up < down) | ((up == down) & (above % 2 == 0))
    codes = np.where(is_up, above, above - 1)
    codes[np.isinf(values)] = 0x7C if name == "f8e5m2" else 0x7F
    codes[np.isnan(values)] = 0x7F
    return np.concatenate([codes, codes | 0x80]).astype(np.uint8)


def _fp8_value(code: int, fraction: int) -> float:
    bias = (1 << (6 - fraction)) - 1
    exponent, rest = divmod(code & 0x7F, 1 << fraction)
    sign = -1.0 if code & 0x80 else 1.0
    if fraction == 2 and exponent == 31:  # noqa: PLR2004 - e5m2 keeps IEEE 754's top exponent
        return sign * float("nan" if rest else "inf")
    if fraction == 3 and code & 0x7F == 0x7F:  # noqa: PLR2004 - e4m3's one pattern for NaN
        return float("nan")
    if exponent == 0:
        return math.ldexp(sign * rest, 1 - bias - fraction)
    return math.ldexp(sign * (rest + (1 << fraction)), exponent - bias - fraction)


_TABLES = {
    name: np.array([_fp8_value(code, fraction) for code in range(256)])
    for name, fraction in (("f8e4m3", 3), ("f8e5m2", 2))
}
