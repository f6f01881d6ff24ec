from pathlib import Path

import numpy as np
import pytest

from burnish.bundle.contents import checked_buffer
from burnish.bundle.dtypes import DTYPES, Array, decode
from burnish.bundle.layout import shaped
from burnish.bundle.schema import BufferEntry
from burnish.model.workload import Buffer, Role, Workload
from burnish.verify.cases import Case, extra_cases, search_cases
from burnish.verify.inputs import make_inputs

FLOATS = [name for name, kind in DTYPES.items() if kind.kind == "float"]
USUAL = Case(0)
WHOLE = [name for name, kind in DTYPES.items() if kind.kind != "float"]


def made(buffer: Buffer, case: Case = USUAL, workload: str = "w") -> Array:
    return make_inputs(Workload(workload, (buffer,)), case)[buffer.name]


def values(buffer: Buffer, case: Case = USUAL) -> Array:
    kind = DTYPES[buffer.dtype]
    stored = made(buffer, case)
    return decode(stored, kind) if kind.kind == "float" else stored.astype(np.int64)


@pytest.mark.parametrize("dtype", FLOATS)
def test_normal_is_normal_in_every_float_type(dtype: str) -> None:
    got = values(Buffer("x", dtype, (200, 500), fill="normal")).astype(np.float64)
    assert abs(got.mean()) < 0.02
    assert abs(got.std() - 1) < 0.02


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_scale_multiplies_normal_numbers(dtype: str) -> None:
    buffer = Buffer("x", dtype, (100_000,), fill="normal")
    spread = values(buffer, Case(0, 10.0)).astype(np.float64).std()
    assert abs(spread - 10) < 0.2


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_uniform_never_leaves_the_range_that_the_user_wrote(dtype: str, scale: float) -> None:
    buffer = Buffer("x", dtype, (100_000,), fill="uniform(0.5, 2)")
    got = values(buffer, Case(0, scale)).astype(np.float64)
    assert got.min() >= 0.5
    assert got.max() < 2
    assert abs(got.max() - got.min() - 1.5 * min(scale, 1)) < 1e-3


def test_uniform_shrinks_towards_zero_where_the_range_holds_it() -> None:
    buffer = Buffer("x", "f32", (1000,), fill="uniform(-1, 3)")
    got = values(buffer, Case(0, 1e-3)).astype(np.float64)
    assert -0.001 <= got.min() < 0 < got.max() < 0.003


@pytest.mark.parametrize("dtype", [*FLOATS, *WHOLE])
def test_fixed_fills_and_integers_exist_in_every_type(dtype: str) -> None:
    shape = (2, 3)
    assert (values(Buffer("x", dtype, shape, fill="zeros")) == 0).all()
    assert (values(Buffer("x", dtype, shape, fill="ones")) == 1).all()
    some = values(Buffer("x", dtype, (5000,), fill="integers(0, 2)"))
    assert set(np.unique(some)) == {0, 1}


@pytest.mark.parametrize("dtype", ["i32", "u8", "f32", "f16"])
def test_counting_fills(dtype: str) -> None:
    up = values(Buffer("x", dtype, (4, 50), fill="arange"))
    mixed = values(Buffer("x", dtype, (4, 50), fill="permutation"))
    assert (up == np.arange(200)).all()
    assert (np.sort(mixed) == np.arange(200)).all()
    assert (mixed != up).any()


def test_integers_reach_the_ends_of_their_range_and_not_beyond() -> None:
    got = values(Buffer("x", "i64", (10_000,), fill="integers(-3, 4)"))
    assert (got.min(), got.max()) == (-3, 3)
    wide = made(Buffer("x", "u64", (1000,), fill=f"integers(0, {2**64})"))
    assert wide.max() > np.uint64(2**63)


def test_offsets_are_sorted_from_0_to_the_total() -> None:
    got = values(Buffer("rows", "i32", (1001,), fill="offsets(5000)"))
    assert (got[0], got[-1]) == (0, 5000)
    assert (np.diff(got) >= 0).all()
    assert len(np.unique(np.diff(got))) > 5


def test_contents_depend_on_seed_buffer_and_workload_only() -> None:
    buffer = Buffer("x", "f32", (100,), fill="normal")
    first = made(buffer)
    assert np.array_equal(first, made(buffer))
    assert not np.array_equal(first, made(buffer, Case(1)))
    assert not np.array_equal(first, made(buffer, workload="other"))
    assert not np.array_equal(first, made(Buffer("y", "f32", (100,), fill="normal")))


def test_a_file_gives_its_contents(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    entry = BufferEntry(name="x", buffer="f32", shape=[2, 3], fill="file(x.npy)")
    assert np.array_equal(made(checked_buffer(entry, tmp_path)), np.arange(6))


def test_strides_leave_gaps_and_hold_the_same_numbers() -> None:
    dense = Buffer("x", "f32", (3, 4), fill="normal")
    rows = Buffer("x", "f32", (3, 4), fill="normal", strides=(8, 1))
    turned = Buffer("x", "f32", (3, 4), fill="normal", strides=(1, 3))
    memory = made(rows)
    assert memory.size == 20
    for buffer in (rows, turned):
        assert np.array_equal(shaped(made(buffer), buffer), shaped(made(dense), dense))
    assert (memory[4:8] == 0).all()


def test_a_broadcast_buffer_is_filled_once() -> None:
    buffer = Buffer("x", "f32", (1000, 4), fill="normal", strides=(0, 1))
    assert made(buffer).size == 4


def test_outputs_and_views_have_no_contents_of_their_own() -> None:
    x = Buffer("x", "f32", (4,), Role.INOUT, "normal")
    view = Buffer("v", "f32", (2,), Role.OUT, view_of="x", offset=2)
    out = Buffer("out", "f32", (4,), Role.OUT)
    assert set(make_inputs(Workload("w", (x, view, out)), Case(0))) == {"x"}


def test_cases_have_seeds_and_scales_of_their_own_and_one_is_hidden() -> None:
    workload = Workload("w", (Buffer("x", "f32", (4,), fill="normal"),))
    cases = search_cases(workload, 3)
    assert [case.scale for case in cases] == [1.0, 1e-3, 1e3, 1.0]
    assert [case.is_hidden for case in cases] == [False, False, False, True]
    seeds = [case.seed for case in (*cases, *extra_cases(workload, 3), *search_cases(workload, 4))]
    assert len(set(seeds)) == len(seeds)


def test_cases_that_would_repeat_others_are_left_out() -> None:
    fixed = Workload("w", (Buffer("x", "f32", (4,), fill="arange"),))
    index = Workload("w", (Buffer("x", "i32", (4,), fill="permutation"),))
    assert search_cases(fixed, 0) == (Case(0),)
    assert extra_cases(fixed, 0) == ()
    assert [case.scale for case in search_cases(index, 0)] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("dtype", "fill"),
    [
        ("f64", "normal"),
        ("f32", "normal"),
        ("bf16", "normal"),
        ("f8e5m2", "uniform(-1, 2)"),
        ("f32", "uniform(-1, 2)"),
        ("i32", "integers(0, 1000)"),
        ("i32", "arange"),
        ("i32", "permutation"),
        ("f16", "ones"),
    ],
)
def test_contents_are_the_same_with_any_number_of_threads(
    dtype: str, fill: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    buffer = Buffer("x", dtype, (3 * 2**19 + 77,), fill=fill)
    made_by = []
    for cores in (1, 3):
        monkeypatch.setattr("os.sched_getaffinity", lambda _pid, cores=cores: set(range(cores)))
        made_by.append(made(buffer).tobytes())
    assert made_by[0] == made_by[1]


def test_chunks_do_not_repeat_each_other() -> None:
    length = 2**19
    got = made(Buffer("x", "f32", (2 * length,), fill="normal"))
    assert np.count_nonzero(got[:length] == got[length:]) < 100


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_normal_numbers_have_the_shares_of_the_normal_distribution(dtype: str) -> None:
    got = values(Buffer("x", dtype, (1_000_000,), fill="normal")).astype(np.float64)
    for edge, share in ((0.0, 0.5), (1.0, 0.841345), (2.0, 0.977250), (3.0, 0.998650)):
        error = 5 * (share * (1 - share) / got.size) ** 0.5
        assert abs((got < edge).mean() - share) < error + 2e-3 * (dtype == "f16")
        assert abs((got > -edge).mean() - share) < error + 2e-3 * (dtype == "f16")
    assert np.unique(got).size > (900_000 if dtype == "f32" else 10_000)


@pytest.mark.parametrize("count", [1, 2, 65_537, 131_073, 300_000])
def test_a_permutation_holds_every_number_once_in_no_order(count: int) -> None:
    got = values(Buffer("x", "i64", (count,), fill="permutation")).astype(np.int64)
    assert np.array_equal(np.sort(got), np.arange(count))
    if count > 2:
        steps, nothing = np.diff(got), got - np.arange(count)
        assert np.count_nonzero(nothing == 0) < 20
        assert np.unique(steps).size > count / 4
        assert abs(np.corrcoef(got[:-1], got[1:])[0, 1]) < 0.02
        assert abs(np.corrcoef(got, np.arange(count))[0, 1]) < 0.02
