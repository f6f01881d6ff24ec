from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from burnish.errors import LaunchError, UsageError
from burnish.model.workload import Buffer, Bytes, Role, Scalar, Workload
from burnish.verify.cases import Case
from burnish.verify.inputs import make_inputs
from burnish.verify.oracle import Value, ask, load_reference, values_of

WORKLOAD = Workload(
    "w",
    (
        Buffer("x", "bf16", (3, 4), Role.IN, "normal", strides=(8, 1)),
        Buffer("flags", "bool", (4,), Role.IN, "ones"),
        Buffer("y", "f32", (6,), Role.INOUT, "arange"),
        Buffer("tail", "f32", (2,), Role.OUT, view_of="y", offset=4),
        Buffer("n", "i32", (2,), Role.OUT),
        Scalar("a", "f32", 0.1),
        Scalar("k", "i32", 3),
        Bytes("s", b"\1\2"),
    ),
)


def given() -> dict[str, Value]:
    return values_of(WORKLOAD, make_inputs(WORKLOAD, Case(0)))


def test_a_reference_gets_everything_that_has_contents_by_name() -> None:
    values = given()
    assert set(values) == {"x", "flags", "y", "a", "k", "s"}
    x, flags, y = values["x"], values["flags"], values["y"]
    assert isinstance(x, np.ndarray)
    assert isinstance(flags, np.ndarray)
    assert isinstance(y, np.ndarray)
    assert x.shape == (3, 4)
    assert x.dtype == np.float64
    assert 0 < np.abs(x).max() < 6
    assert flags.dtype == np.bool_
    assert (y == np.arange(6)).all()
    assert values["a"] == float(np.float32(0.1)), "rounded as the kernel gets it"
    assert values["k"] == 3
    assert values["s"] == b"\1\2"


def test_its_answer_is_asked_for_every_written_buffer() -> None:
    def reference(values: Mapping[str, Value]) -> object:
        y = values["y"]
        assert isinstance(y, np.ndarray)
        y[...] = np.arange(1, 7)  # its own copy: nothing else sees this
        return {"y": y, "tail": [4.0, 5.0], "n": 7, "more": None}

    values = given()
    answer = ask(reference, WORKLOAD, values)
    assert {name: one.tolist() for name, one in answer.items()} == {
        "y": [1, 2, 3, 4, 5, 6],
        "tail": [4, 5],
        "n": [7, 7],
    }
    assert (np.asarray(values["y"]) == np.arange(6)).all()


def test_one_array_is_no_answer_for_several_buffers() -> None:
    with pytest.raises(LaunchError, match="returned no mapping; needed are: y, tail, n"):
        ask(lambda _: np.ones(6), WORKLOAD, given())


def test_module_and_function_are_found_from_the_folder_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "burnish_test_reference.py").write_text(
        "def f(values):\n    return 1\nnumber = 3\n"
    )
    assert load_reference("burnish_test_reference:f", tmp_path)({}) == 1
    with pytest.raises(UsageError, match="has no function 'number'"):
        load_reference("burnish_test_reference:number", tmp_path)
    with pytest.raises(UsageError, match="No module named 'burnish_no_such'"):
        load_reference("burnish_no_such:f", tmp_path)
    with pytest.raises(UsageError, match="say MODULE:FUNCTION"):
        load_reference("f", tmp_path)
