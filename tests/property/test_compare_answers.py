"""Mutated answers are caught in every type; right ones are never refused."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.bundle.dtypes import DTYPES, Array, decode, encode
from burnish.model.workload import Buffer, Role, Workload
from burnish.verify.compare import bits, same
from burnish.verify.regions import Region, regions
from burnish.verify.rounding import Yardstick, by_reference, by_tolerance, judge, without_reference

FLOATS = [name for name, kind in DTYPES.items() if kind.kind == "float"]
SHAPE = (60, 50)


def region_of(buffer: Buffer) -> Region:
    (region,) = regions(Workload("w", (buffer,)))
    return region


def out(dtype: str, shape: tuple[int, ...] = SHAPE) -> Region:
    return region_of(Buffer("out", dtype, shape, Role.OUT))


def zeros(values: Array) -> None:
    values[...] = 0


def flip_signs(values: Array) -> None:
    high = np.array([1 << (8 * values.itemsize - 1)], np.uint64).astype(f"u{values.itemsize}")
    values.view(high.dtype)[...] ^= high[0]


def swap_rows(values: Array) -> None:
    rows = values.reshape(SHAPE)
    rows[[3, 4]] = rows[[4, 3]]


def one_element(values: Array) -> None:
    values.view(f"u{values.itemsize}")[1234] ^= 1 << (8 * values.itemsize - 2)


def drop_a_row(values: Array) -> None:
    values.reshape(SHAPE)[7] = 0


MUTATIONS = [zeros, flip_signs, swap_rows, one_element, drop_a_row]


@pytest.mark.parametrize("mutate", MUTATIONS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_mutations_are_caught_in_every_float_type_by_every_rule(
    dtype: str, mutate: Callable[[Array], None]
) -> None:
    kind, region = DTYPES[dtype], out(dtype)
    truth = np.random.default_rng(0).standard_normal(SHAPE[0] * SHAPE[1])
    expected = encode(truth if dtype == "f64" else truth.astype(np.float32), kind)
    actual = expected.copy()
    mutate(actual)
    assert bits(actual, expected, region) is not None
    exact = by_reference(np.asarray(truth), [expected], kind)
    for stick in (exact, without_reference(decode(expected, kind), kind)):
        assert judge(expected, expected, region, stick) == ""
        assert judge(actual, expected, region, stick) != ""


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name not in FLOATS])
def test_mutations_are_caught_in_every_whole_type(dtype: str) -> None:
    kind, region = DTYPES[dtype], out(dtype)
    rng = np.random.default_rng(0)
    expected = rng.integers(0, 2, SHAPE[0] * SHAPE[1]).astype(kind.stored)
    for mutate in (zeros, swap_rows):
        actual = expected.copy()
        mutate(actual)
        assert bits(actual, expected, region) is not None


def test_one_wrong_element_in_ten_million_is_found_and_named() -> None:
    region = out("f32", (10_000_000,))
    expected = np.random.default_rng(0).standard_normal(10_000_000, np.float32)
    expected[7_654_321] = 1.5
    actual = expected.copy()
    actual[7_654_321] = 1.25
    words = "out: 1 of 10000000 elements differs, first at [7654321]: 1.25 instead of 1.5"
    assert str(bits(actual, expected, region)) == words
    truth = expected.astype(np.float64)
    for stick in (
        by_reference(truth, [expected], region.kind),
        without_reference(truth, region.kind),
    ):
        assert "1 of 10000000 elements is too far off" in judge(actual, expected, region, stick)


def sticks(expected: Array, region: Region) -> list[Yardstick]:
    truth = expected.astype(np.float64)
    return [
        by_reference(truth, [expected], region.kind),
        without_reference(truth, region.kind),
        by_tolerance(truth, 0.1),
    ]


@pytest.mark.parametrize("wrong", [np.nan, -np.inf, 3e38, 0.0])
def test_infinities_and_nan_stay_where_they_are(wrong: float) -> None:
    region = out("f32", (100,))
    expected = np.linspace(1, 2, 100, dtype=np.float32)
    expected[[5, 6]] = np.inf, np.nan
    for stick in sticks(expected, region):
        assert judge(expected, expected, region, stick) == ""
        for place in (5, 6, 7):
            actual = expected.copy()
            actual[place] = wrong
            if not (place == 6 and np.isnan(wrong)):
                assert judge(actual, expected, region, stick) != ""


def test_another_nan_is_a_nan_where_rounding_may_differ_but_not_the_same_bits() -> None:
    region = out("f32", (4,))
    expected = np.array([1, 2, np.nan, 4], np.float32)
    actual = expected.copy()
    actual.view(np.uint32)[2] ^= 1
    assert str(bits(actual, expected, region)) == (
        "out: 25 % of elements differ, first at [2]: nan (0x7fc00001) instead of nan (0x7fc00000)"
    )
    for stick in sticks(expected, region):
        assert judge(actual, expected, region, stick) == ""


def test_fp8_of_nothing_but_zeros_is_caught() -> None:
    for dtype in ("f8e4m3", "f8e5m2"):
        region = out(dtype)
        values = np.random.default_rng(0).standard_normal(3000).astype(np.float32)
        expected = encode(values, region.kind)
        actual = np.zeros_like(expected)
        assert bits(actual, expected, region) is not None
        for stick in (
            by_reference(values.astype(np.float64), [expected], region.kind),
            without_reference(decode(expected, region.kind), region.kind),
        ):
            assert "too far off" in judge(actual, expected, region, stick)


def test_a_tolerance_of_the_user_is_relative() -> None:
    region = out("i32", (3,))
    expected = np.array([100, 200, 300], np.int32)
    stick = by_tolerance(expected.astype(np.float64), 0.01)
    assert judge(np.array([101, 203, 305], np.int32), expected, region, stick) == ""
    message = judge(np.array([101, 205, 300], np.int32), expected, region, stick)
    assert "first at [1]: 205 where the baseline has 200, error 5, allowed 4.16" in message
    assert "the launch file's tolerance of 0.01" in message


@given(st.binary(max_size=64), st.binary(max_size=64))
def test_same_means_the_same_bytes(one: bytes, other: bytes) -> None:
    images = np.frombuffer(one, np.uint8), np.frombuffer(other, np.uint8)
    assert same(*images) == (one == other)
    assert same(images[0], images[0].copy())


@pytest.mark.parametrize("size", [1, 8, 1 << 19, (1 << 19) + 8, (1 << 20) + 3])
def test_a_difference_in_the_last_byte_is_seen(size: int) -> None:
    one = np.zeros(size, np.uint8)
    other = one.copy()
    other[-1] = 1
    assert same(one, one.copy())
    assert not same(one, other)


@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple),
    data=st.data(),
)
def test_an_element_is_named_by_its_indices(shape: tuple[int, ...], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(shape))))
    gap = data.draw(st.integers(0, 3))
    strides, step = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = step
        step = step * shape[axis] + gap
    index = tuple(data.draw(st.integers(0, length - 1)) for length in shape)
    place = sum(one * stride for one, stride in zip(index, strides, strict=True))
    region = region_of(Buffer("out", "f32", shape, Role.OUT, strides=tuple(strides)))
    assert region.where(place) == f"at {list(index)}"


def test_an_element_between_the_rows_is_named_so() -> None:
    region = region_of(Buffer("out", "f32", (3, 4), Role.OUT, strides=(8, 1)))
    assert region.where(6) == "between its rows, 6 elements from its start"
