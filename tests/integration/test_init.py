"""`burnish init`: a launch file for every kind of kernel, that fits once it is filled in."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.bundle.launch import read_launch
from burnish.bundle.parameters import c_parameters, check_arguments
from burnish.cli.app import run
from burnish.errors import LaunchError

EXAMPLES = Path(__file__).parents[2] / "examples"
FILL = {"role": '"out"', "value": "256", "shape": "256", "fill": '"arange"'}


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BURNISH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def filled(text: str) -> str:
    return re.sub(
        r"(\w+) = (\[?)\?", lambda found: f"{found[1]} = {found[2]}{FILL[found[1]]}", text
    )


@pytest.mark.parametrize("name", ["nbody", "matmul", "chase"])
def test_a_c_kernels_file_fits_once_it_is_filled_in(tmp_path: Path, name: str) -> None:
    kernel = tmp_path / f"{name}.c"
    kernel.write_text((EXAMPLES / kernel.name).read_text())
    assert run(["init", str(kernel)]) == 0
    made = tmp_path / f"{name}.toml"
    with pytest.raises(LaunchError, match=made.name):
        read_launch(made)
    assert "grid" not in made.read_text()
    made.write_text(filled(made.read_text()))
    (workload,) = read_launch(made).workloads
    check_arguments(workload.arguments, c_parameters(kernel.read_text(), name))


@pytest.mark.toolchain
def test_a_ptx_kernel_has_a_grid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", str(EXAMPLES / "lattice_boltzmann.ptx"), "-o", "lb.toml"]) == 0
    text = (tmp_path / "lb.toml").read_text()
    assert 'entry = "lattice_boltzmann"' in text
    assert "grid = [?, 1, 1]" in text
    assert "--launch lb.toml" in capsys.readouterr().out


def test_of_several_functions_one_is_to_be_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "two.c").write_text(
        "int f(int x) { return x; }\nint g(float y) { return y > 0; }\n"
    )
    assert run(["init", "two.c"]) == 1
    assert "2 entries (f, g)" in capsys.readouterr().err
    assert run(["init", "two.c", "--entry", "g"]) == 0
    assert 'name = "y", scalar = "f32"' in (tmp_path / "two.toml").read_text()


def test_a_file_that_is_there_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.c").write_text("int k(int x) { return x; }\n")
    (tmp_path / "k.toml").write_text("mine\n")
    assert run(["init", "k.c"]) == 2
    said = capsys.readouterr()
    assert said.err == "burnish: k.toml: is there already; name another file with -o\n"
    assert said.out == ""
    assert (tmp_path / "k.toml").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["init", "missing.c"], 2, "missing.c: no such file"),
        (["init", "notes.txt"], 1, "kernels are .ptx, .cu or .c files"),
        (["init", "k.c", "-o", "nowhere/k.toml"], 2, "nowhere/k.toml: cannot be written"),
        (["init"], 2, "burnish init --help"),
    ],
)
def test_what_cannot_be_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, says: str
) -> None:
    (tmp_path / "notes.txt").write_text("x\n")
    (tmp_path / "k.c").write_text("int k(int x) { return x; }\n")
    assert run(words) == code
    said = capsys.readouterr().err
    assert says in said
    assert len(said.splitlines()) == 1
