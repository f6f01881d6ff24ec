"""The Triton example: its PTX names no machine, and its launch file fits it."""

from pathlib import Path

from burnish.bundle.launch import read_launch
from burnish.bundle.parameters import check_arguments, ptx_parameter
from burnish.ptx.module import parse

FOLDER = Path(__file__).parents[2] / "examples" / "kernels"


def test_the_launch_file_fits_the_ptx() -> None:
    (entry,) = parse((FOLDER / "attention.ptx").read_text()).entries
    file = read_launch(FOLDER / "attention.toml")
    parameters = [ptx_parameter(one.name, one.type, one.size_bytes) for one in entry.parameters]
    assert file.entry == entry.name
    for work in file.workloads:
        check_arguments(work.arguments, parameters)
    assert [work.held_out for work in file.workloads] == [False, True, True]


def test_the_ptx_names_no_file() -> None:
    text = (FOLDER / "attention.ptx").read_text()
    assert ".file" not in text
    assert ".loc" not in text
