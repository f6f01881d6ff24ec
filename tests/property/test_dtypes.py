"""Conversions to the element types that numpy lacks, against slow and obvious ones."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.bundle.dtypes import DTYPES, decode, dtype, encode, pack
from burnish.errors import LaunchError

NARROW = ["f16", "bf16", "f8e4m3", "f8e5m2"]
floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


def every_finite(name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    kind = DTYPES[name]
    codes = np.arange(2 ** (8 * kind.size), dtype=np.uint32).astype(f"u{kind.size}")
    values = decode(codes.view(kind.stored), kind)
    return np.unique(values[np.isfinite(values)])


@pytest.fixture(scope="module")
def grids() -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    return {name: every_finite(name) for name in NARROW}


@pytest.mark.parametrize("name", NARROW)
def test_every_value_survives_the_way_there_and_back(name: str) -> None:
    kind = DTYPES[name]
    codes = np.arange(2 ** (8 * kind.size), dtype=np.uint32).astype(f"u{kind.size}")
    values = decode(codes.view(kind.stored), kind)
    with np.errstate(invalid="ignore"):
        again = encode(values.astype(np.float32), kind).view(f"u{kind.size}")
    is_number = ~np.isnan(values)
    assert np.array_equal(again[is_number], codes[is_number])
    assert np.isnan(decode(again[~is_number].view(kind.stored), kind)).all()


@pytest.mark.parametrize("name", NARROW)
@given(value=floats)
def test_rounding_goes_to_the_nearest_and_on_a_tie_to_the_even_pattern(
    grids: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]], name: str, value: float
) -> None:
    kind, grid = DTYPES[name], grids[name]
    stored = encode(np.array([value], np.float32), kind)
    got = float(decode(stored, kind)[0])
    distance = np.abs(grid - value)
    assert abs(got - value) == distance.min()
    if np.count_nonzero(distance == distance.min()) == 2 and abs(value) <= kind.largest:
        assert int(stored.view(f"u{kind.size}")[0]) % 2 == 0
    assert math.copysign(1, got) == math.copysign(1, value)


@pytest.mark.parametrize("name", NARROW)
def test_ties_go_to_even_between_all_neighbours(name: str) -> None:
    kind = DTYPES[name]
    grid = every_finite(name)
    middle = (grid[1:] + grid[:-1]) / 2
    stored = encode(middle.astype(np.float32), kind)
    exact = middle.astype(np.float32).astype(np.float64) == middle
    assert exact.any()
    assert not (stored.view(f"u{kind.size}")[exact] % 2).any()


@pytest.mark.parametrize("name", NARROW)
def test_out_of_range_saturates_and_infinity_stays_where_there_is_one(name: str) -> None:
    kind = DTYPES[name]
    values = np.array([3e38, -3e38, np.inf, -np.inf, np.nan], np.float32)
    if name == "bf16":
        values[:2] = [3.4e38, -3.4e38]
    got = decode(encode(values, kind), kind)
    assert got[0] == kind.largest
    assert got[1] == -kind.largest
    if name == "f8e4m3":
        assert np.isnan(got[2:4]).all()
    else:
        assert got[2] == np.inf
        assert got[3] == -np.inf
    assert np.isnan(got[4])


def test_known_patterns_of_the_published_formats() -> None:
    def code(name: str, value: float) -> int:
        return pack(value, DTYPES[name])[-1]

    assert code("f8e4m3", 448.0) == 0x7E
    assert code("f8e4m3", 2.0**-9) == 0x01
    assert code("f8e4m3", 1.0) == 0x38
    assert code("f8e5m2", 57344.0) == 0x7B
    assert code("f8e5m2", 2.0**-16) == 0x01
    assert code("f8e5m2", 1.0) == 0x3C
    assert pack(1.0, DTYPES["bf16"]) == b"\x80\x3f"


@given(value=st.floats(width=32))
def test_bfloat16_agrees_with_a_bitwise_reading_of_the_float(value: float) -> None:
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    got = int.from_bytes(pack(value, DTYPES["bf16"]), "little")
    if math.isnan(value):
        assert got & 0x7FFF > 0x7F80
    elif abs(value) >= DTYPES["bf16"].largest and not math.isinf(value):
        assert got & 0x7FFF == 0x7F7F
    else:
        low, rest = bits >> 16, bits & 0xFFFF
        up = rest > 0x8000 or (rest == 0x8000 and low & 1)
        assert got == low + up


@given(value=st.integers(-128, 127))
def test_whole_values_are_packed_little_endian(value: int) -> None:
    assert pack(value, DTYPES["i8"]) == struct.pack("<b", value)
    assert pack(value, DTYPES["i64"]) == struct.pack("<q", value)


def test_ranges_of_whole_types() -> None:
    assert (DTYPES["i8"].smallest, DTYPES["i8"].largest) == (-128, 127)
    assert (DTYPES["u16"].smallest, DTYPES["u16"].largest) == (0, 65535)
    assert (DTYPES["bool"].smallest, DTYPES["bool"].largest) == (0, 1)


def test_an_unknown_type_names_those_that_are_known() -> None:
    with pytest.raises(LaunchError, match="unknown element type 'float'; known are: f64, f32"):
        dtype("float")
