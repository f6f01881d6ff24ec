from pathlib import Path

import numpy as np
import pytest

from burnish.bundle.dtypes import DTYPES
from burnish.bundle.launch import LaunchFile, read_launch
from burnish.bundle.schema import BufferEntry, WorkloadEntry
from burnish.errors import LaunchError
from burnish.model.workload import Buffer, Bytes, Role, Scalar

STENCIL = """
entry = "stencil"
[[workload]]
name = "512"
grid = [16, 64, 1]
block = [32, 8, 1]
dynamic_shared_bytes = 0
arguments = [
  { name = "in",  buffer = "f32", shape = [4, 5, 6], fill = "normal" },
  { name = "out", buffer = "f32", shape = [4, 5, 6], role = "out" },
  { name = "nx",  scalar = "i32", value = 512 },
]
"""


def read(folder: Path, text: str) -> LaunchFile:
    path = folder / "k.toml"
    path.write_text(text)
    return read_launch(path)


def one(arguments: str, more: str = "") -> str:
    return f'entry = "k"\n[[workload]]\nname = "w"\n{more}\narguments = [{arguments}]\n'


def refused(folder: Path, text: str) -> str:
    with pytest.raises(LaunchError) as caught:
        read(folder, text)
    return str(caught.value)


def test_the_example_of_the_docs_is_read(tmp_path: Path) -> None:
    launch = read(tmp_path, STENCIL)
    (workload,) = launch.workloads
    assert launch.entry == "stencil"
    assert (workload.grid, workload.block, workload.cluster) == ((16, 64, 1), (32, 8, 1), (1, 1, 1))
    assert workload.weight == 1.0
    assert workload.arguments == (
        Buffer("in", "f32", (4, 5, 6), Role.IN, "normal"),
        Buffer("out", "f32", (4, 5, 6), Role.OUT),
        Scalar("nx", "i32", 512),
    )


def test_workloads_have_weights_and_may_be_held_out(tmp_path: Path) -> None:
    text = STENCIL + '[[workload]]\nname = "odd"\nweight = 3\nheld_out = true\narguments = []\n'
    first, second = read(tmp_path, text + "moved_bytes = 96\noperations = 7\n").workloads
    assert (first.weight, first.held_out, first.moved_bytes) == (1.0, False, None)
    assert (second.weight, second.held_out) == (3.0, True)
    assert (second.moved_bytes, second.operations) == (96, 7)


def test_a_float_buffer_is_normal_where_nothing_is_said(tmp_path: Path) -> None:
    text = one('{ name = "x", buffer = "bf16", shape = [8] }')
    (buffer,) = read(tmp_path, text).workloads[0].arguments
    assert isinstance(buffer, Buffer)
    assert buffer.fill == "normal"


@pytest.mark.parametrize("dtype", ["i32", "u8", "i64", "bool"])
def test_whole_numbers_need_a_fill_and_the_message_says_which(tmp_path: Path, dtype: str) -> None:
    said = refused(tmp_path, one(f'{{ name = "ix", buffer = "{dtype}", shape = [8] }}'))
    assert said == (
        f'{tmp_path}/k.toml: workload[0] "w": arguments[0] "ix": fill: a buffer of {dtype} needs '
        "one. Say what the numbers are: integers(0, N) for an index into N elements, "
        "offsets(TOTAL) for row pointers, arange, permutation, zeros, ones or file(PATH.npy)"
    )


def test_random_indices_are_refused_with_the_reason(tmp_path: Path) -> None:
    said = refused(tmp_path, one('{ name = "ix", buffer = "i32", shape = [8], fill = "normal" }'))
    assert "used as an index they read out of bounds or collapse the work" in said


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ('{ name = "x", buffer = "f32", shape = [8], fil = "ones" }', "fil: unknown key; known"),
        ('{ name = "x", buffer = "f32" }', "shape: missing; add it"),
        ('{ name = "x", buffer = "float", shape = [8] }', "unknown element type 'float'"),
        ('{ name = "x", buffer = "f32", shape = [0] }', "shape[0]: must be greater than 0, not 0"),
        ('{ name = "x", buffer = "f32", shape = "8" }', "shape: must be a valid list, not '8'"),
        ('{ name = "x", buffer = "f32", shape = [8], role = "io" }', "not 'io'"),
        ('{ name = "x", buffer = "f32", shape = [8], fill = "gauss" }', "unknown fill 'gauss'"),
        ('{ name = "x", buffer = "f32", shape = [8], fill = "uniform(1)" }', "has 1 numbers"),
        ('{ name = "x", buffer = "f32", shape = [8], fill = "uniform(2, 1)" }', "is empty"),
        ('{ name = "x", buffer = "f32", shape = [8], fill = "uniform(a, 1)" }', "is no number"),
        ('{ name = "x", buffer = "i32", shape = [8], fill = "integers(0, 1.5)" }', "whole number"),
        ('{ name = "x", buffer = "u8", shape = [8], fill = "integers(0, 257)" }', "ends at 255"),
        ('{ name = "x", buffer = "u8", shape = [300], fill = "arange" }', "goes from 0 to 299"),
        ('{ name = "x", buffer = "i32", shape = [1], fill = "offsets(9)" }', "two elements"),
        ('{ name = "x", buffer = "i32", shape = [4], fill = "offsets(-1)" }', "negative"),
        ('{ name = "x", buffer = "f32", shape = [8], role = "out", fill = "ones" }', "not used"),
        ('{ name = "x", buffer = "f32", shape = [8], offset = 2 }', "needs view_of"),
        ('{ name = "x", buffer = "f32", shape = [8, 2], strides = [1] }', "1 axes"),
        (
            '{ name = "x", buffer = "f32", shape = [8, 2], strides = [1, 1], role = "out" }',
            "elements share memory",
        ),
        ('{ name = "x", buffer = "f32", shape = [8], tolerance = -1.0 }', "greater than or equal"),
        ('{ name = "n", scalar = "i8", value = 128 }', "is no i8, which goes from -128 to 127"),
        ('{ name = "n", scalar = "i32", value = 1.5 }', "the value 1.5 is no i32"),
        ('{ name = "n", scalar = "f32", value = true }', "the value True is no f32"),
        ('{ name = "n", scalar = "bool", value = 1 }', "is no bool (true or false)"),
        ('{ name = "n", value = 1 }', "says nothing of its kind"),
        ('{ name = "p", pointer = "x" }', "a <pointer> cannot stand here"),
        ('{ name = "b", bytes = "0g" }', "neither hexadecimal digits nor file(PATH)"),
        ('{ name = "b", bytes = "file(none.bin)" }', "none.bin cannot be read"),
        ('{ name = "s", struct = [ { pointer = "x" } ] }', 'points to "x", which is no buffer'),
        ('{ name = "s", struct = [ { scalar = "i32", value = 1 } ], align = 3 }', "power of two"),
    ],
)
def test_what_cannot_be_is_refused_with_place_and_reason(
    tmp_path: Path, argument: str, why: str
) -> None:
    said = refused(tmp_path, one(argument))
    assert said.startswith(f'{tmp_path}/k.toml: workload[0] "w": ')
    assert why in said


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("block = [32, 33]", "1056 threads; a block has 1024 at most"),
        ("grid = [3]\ncluster = [2]", "grid: [3] is no whole number of clusters [2]"),
        ("cluster = [4, 8]", "32 blocks; a cluster has 16 at most"),
        ("grid = [1, 2, 3, 4]", "grid: List should have at most 3 items"),
        ("weight = 0", "weight: must be greater than 0"),
        ("held_out = true", "every workload is held out"),
        ("hold_out = true", "hold_out: unknown key; known here are: name, arguments, weight"),
        ('globals = { c = { pointer = "x" } }', "cannot hold the address of a buffer"),
        ("moved_bytes = 1.5", "moved_bytes: must be a valid integer"),
    ],
)
def test_a_launch_that_cannot_be_is_refused(tmp_path: Path, more: str, why: str) -> None:
    assert why in refused(tmp_path, one("", more))


HUGE = "0x" + "f" * 5000  # Python reads it, and does not print it


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        (
            'name = "x", buffer = "f32", shape = [99999999999999]',
            'arguments[0] "x": shape: [99999999999999] of f32 takes 399,999,999,999,996 bytes',
        ),
        ('name = "x", buffer = "f32", shape = [4000000000, 4000000000, 8]', 'x": shape: [4000'),
        (
            'name = "x", buffer = "f32", shape = [8, 2], strides = [99999999999999, 1]',
            "strides: [99999999999999, 1] of f32 takes",
        ),
        (f'name = "x", buffer = "u8", shape = {[1] * 33}', "shape: List should have at most 32"),
        (f'name = "x", buffer = "u8", shape = [{HUGE}]', "shape[0]: a number of more than 64 bits"),
        (f'name = "n", scalar = "u64", value = {HUGE}', "value: a number of more than 64 bits"),
        ('name = "n", scalar = "u64", value = 18446744073709551616', "more than 64 bits"),
        ('name = "n", scalar = "i64", value = -9223372036854775809', "is no i64, which goes from"),
        (
            f'name = "x", buffer = "i32", shape = [8], fill = "integers(0, {HUGE})"',
            "has more than 64 bits",
        ),
        (
            'name = "s", struct = [{ scalar = "i32", value = 1 }], align = 1099511627776',
            "align: must be less than or equal to 4096",
        ),
    ],
)
def test_numbers_that_no_machine_holds_are_refused_with_place_and_value(
    tmp_path: Path, argument: str, why: str
) -> None:
    said = refused(tmp_path, one(f"{{ {argument} }}"))
    assert said.startswith(f'{tmp_path}/k.toml: workload[0] "w": arguments[0] ')
    assert why in said
    assert "\n" not in said
    assert len(said) < 400


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("grid = [2147483648]", "grid: [2147483648] has more blocks along x than 2147483647"),
        ("grid = [1, 65536]", "grid: [1, 65536] has more blocks along y than 65535"),
        ("grid = [1, 1, 65536]", "has more blocks along z than 65535"),
        ("block = [1, 1, 65]", "block: [1, 1, 65] has more threads along z than 64"),
        ("dynamic_shared_bytes = 2147483648", "dynamic_shared_bytes: must be less than 2147483648"),
        (f"moved_bytes = {10**19}", "moved_bytes: must be less than 9223372036854775808"),
        (f"operations = 1{'0' * 400}", "operations: a number of more than 64 bits"),
        ("weight = 1e300", "weight: must be less than or equal to"),
        (f"grid = [{'9' * 400}]", "grid[0]: a number of more than 64 bits"),
    ],
)
def test_launches_of_sizes_that_no_card_takes_are_refused(
    tmp_path: Path, more: str, why: str
) -> None:
    assert why in refused(tmp_path, one("", more))


def test_names_are_unique(tmp_path: Path) -> None:
    twice = '{ name = "n", scalar = "i32", value = 1 },' * 2
    assert "more than one argument is named 'n'" in refused(tmp_path, one(twice))
    text = STENCIL + STENCIL.replace('entry = "stencil"', "")
    assert "more than one workload is named '512'" in refused(tmp_path, text)


def test_a_blank_of_the_template_is_named_by_its_line(tmp_path: Path) -> None:
    said = refused(tmp_path, STENCIL.replace("value = 512", "value = ?  # fill in"))
    assert "line 11: a blank is still to be filled in" in said


def test_other_broken_toml_says_where(tmp_path: Path) -> None:
    assert "this is no TOML" in refused(tmp_path, "entry = = 1\n# why?\n")


def test_a_missing_or_binary_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=r"k.toml cannot be read: No such file"):
        read_launch(tmp_path / "k.toml")
    (tmp_path / "k.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(LaunchError, match="is no text"):
        read_launch(tmp_path / "k.toml")


def test_structs_are_laid_out_as_c_does(tmp_path: Path) -> None:
    (_, struct) = (
        read(
            tmp_path,
            one(
                '{ name = "x", buffer = "f32", shape = [8] },'
                '{ name = "s", struct = ['
                '{ name = "flag", scalar = "bool", value = true },'
                '{ name = "n", scalar = "i32", value = -2 },'
                '{ name = "h", scalar = "f16", value = 1.0 },'
                '{ pointer = "x" },'
                '{ name = "inner", struct = [ { scalar = "u8", value = [1, 2, 3] },'
                '{ scalar = "u16", value = 4 } ] },'
                '{ name = "raw", bytes = "aabb" } ] }',
            ),
        )
        .workloads[0]
        .arguments
    )
    assert isinstance(struct, Bytes)
    assert struct.data == bytes.fromhex(
        "01000000 feffffff 003c0000 00000000 0000000000000000 010203000400 aabb"
    )
    assert struct.pointers == ((16, "x"),)


def test_raw_bytes_may_hold_pointers_and_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "descriptor.bin").write_bytes(bytes(range(128)))
    text = one(
        '{ name = "x", buffer = "f32", shape = [8] },'
        '{ name = "d", bytes = "file(descriptor.bin)", pointers = [{ at = 0, buffer = "x" }] }'
    )
    (_, raw) = read(tmp_path, text).workloads[0].arguments
    assert raw == Bytes("d", bytes(range(128)), ((0, "x"),))
    said = refused(tmp_path, text.replace("at = 0", "at = 121"))
    assert "a pointer at byte 121 does not fit into 128 bytes" in said


def test_module_globals_have_initial_values(tmp_path: Path) -> None:
    text = one("", 'globals = { c = { scalar = "f32", value = [1.0, 2] }, t = { bytes = "00ff" } }')
    values = read(tmp_path, text).workloads[0].globals
    assert values["c"] == bytes.fromhex("0000803f00000040")
    assert values["t"] == b"\x00\xff"


def test_views_share_memory_and_must_lie_inside(tmp_path: Path) -> None:
    root = '{ name = "x", buffer = "f32", shape = [8], role = "inout" },'
    view = '{ name = "y", buffer = "f16", shape = [4], view_of = "x", offset = 12, role = "out" }'
    (_, got) = read(tmp_path, one(root + view)).workloads[0].arguments
    assert got == Buffer("y", "f16", (4,), Role.OUT, view_of="x", offset=12)
    assert "ends at byte 34" in refused(tmp_path, one(root + view.replace("12", "13")))
    said = refused(tmp_path, one(root + view.replace('"x"', '"z"')))
    assert '"y" views "z", which is no buffer with memory of its own; there are: x' in said
    said = refused(tmp_path, one(root.replace("inout", "out") + view.replace('"out"', '"in"')))
    assert 'has role "out" and no contents' in said


def test_files_are_found_beside_the_launch_file_and_checked(tmp_path: Path) -> None:
    text = one('{ name = "x", buffer = "f32", shape = [2, 3], fill = "file(x.npy)" }')
    assert "x.npy cannot be read: No such file" in refused(tmp_path, text)
    np.save(tmp_path / "x.npy", np.zeros((3, 2), np.float32))
    assert "holds the shape [3, 2], not [2, 3]" in refused(tmp_path, text)
    np.save(tmp_path / "x.npy", np.zeros((2, 3), np.float64))
    assert "holds float64; f32 as float32 are needed" in refused(tmp_path, text)
    np.save(tmp_path / "x.npy", np.zeros((2, 3), np.float32))
    (buffer,) = read(tmp_path, text).workloads[0].arguments
    assert isinstance(buffer, Buffer)
    assert buffer.fill == f"file({tmp_path}/x.npy)"
    (tmp_path / "x.npy").write_bytes(b"no array")
    assert "is no array written by numpy.save" in refused(tmp_path, text)


def test_patterns_of_fp8_are_read_as_bytes(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(4, np.uint8))
    text = one('{ name = "x", buffer = "f8e4m3", shape = [4], fill = "file(x.npy)" }')
    assert read(tmp_path, text).workloads
    said = refused(tmp_path, text.replace("f8e4m3", "bf16"))
    assert "holds uint8; the 16-bit patterns as uint16 are needed" in said


def test_the_digest_follows_the_contents_of_files(tmp_path: Path) -> None:
    text = one('{ name = "x", buffer = "f32", shape = [4], fill = "file(x.npy)" }')
    np.save(tmp_path / "x.npy", np.zeros(4, np.float32))
    first = read(tmp_path, text).digest
    assert read(tmp_path, text).digest == first
    np.save(tmp_path / "x.npy", np.ones(4, np.float32))
    assert read(tmp_path, text).digest != first


def test_dense_strides_say_nothing(tmp_path: Path) -> None:
    text = one('{ name = "x", buffer = "f32", shape = [4, 3], strides = [3, 1] }')
    (buffer,) = read(tmp_path, text).workloads[0].arguments
    assert isinstance(buffer, Buffer)
    assert buffer.strides == ()


def test_a_broadcast_input_may_have_a_stride_of_0(tmp_path: Path) -> None:
    text = one('{ name = "x", buffer = "f32", shape = [4, 3], strides = [0, 1] }')
    assert read(tmp_path, text).workloads
    said = refused(tmp_path, text.replace("[0, 1]", '[0, 1], fill = "arange"'))
    assert "ambiguous where elements share memory" in said


DOCS = Path(__file__).parents[2] / "docs" / "launch-files.md"


def test_the_example_of_the_page_and_its_struct_are_read(tmp_path: Path) -> None:
    whole, struct = (block.split("```")[0] for block in DOCS.read_text().split("```toml\n")[1:])
    assert [workload.held_out for workload in read(tmp_path, whole).workloads] == [False, True]
    inside = " ".join(line.split("#")[0] for line in struct.splitlines())
    text = one(f'{{ name = "in", buffer = "f32", shape = [1] }}, {inside}')
    (_, value) = read(tmp_path, text).workloads[0].arguments
    assert isinstance(value, Bytes)
    assert (len(value.data), value.pointers) == (48, ((0, "in"),))


def test_every_key_and_fill_stands_on_the_page() -> None:
    text = DOCS.read_text()
    known = [*WorkloadEntry.model_fields, *BufferEntry.model_fields, *DTYPES]
    fills = [
        "zeros",
        "ones",
        "normal",
        "uniform",
        "integers",
        "arange",
        "permutation",
        "offsets",
        "file",
    ]
    assert [key for key in known if f"`{key}" not in text and f" {key}" not in text] == []
    assert [fill for fill in fills if f"`{fill}" not in text] == []
