"""What only real compilers can tell: the fakes and tables of other tests follow them."""

import shutil
from pathlib import Path

import pytest

from burnish.model.code import Code
from burnish.model.toolchain import Tool
from burnish.model.trial import Status
from burnish.settings import load
from burnish.toolchain.discover import architectures, find, ptxas_options
from burnish.toolchain.options import command_line, normal_form
from burnish.toolchain.process import run
from burnish.toolchain.ptxas import Assembled, Refusal, assemble
from burnish.toolchain.ptxas_options import PTXAS

pytestmark = pytest.mark.toolchain

LOADS = 60
PTX = "\n".join(
    [
        ".version 8.4",
        ".target sm_90",
        ".address_size 64",
        ".visible .entry wide(.param .u64 p) {",
        ".reg .b64 %rd<3>; .reg .f32 %f<200>;",
        "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;",
        *(f"ld.volatile.global.f32 %f{i}, [%rd2+{4 * i}];" for i in range(LOADS)),
        *(f"st.volatile.global.f32 [%rd2+{4 * (LOADS - i)}], %f{i};" for i in range(LOADS)),
        "ret; }",
        ".visible .entry empty() { ret; }",
    ]
)


@pytest.fixture(scope="module")
def tools() -> tuple[Tool, ...]:
    found = find(load()).all("ptxas")
    if not found:
        pytest.skip("no ptxas here")
    return found


@pytest.fixture(scope="module")
def tool(tools: tuple[Tool, ...]) -> Tool:
    return tools[0]


def code(*options: str) -> Code:
    return Code("ptxas", options)


def test_the_table_knows_every_option_of_every_ptxas_here(tools: tuple[Tool, ...]) -> None:
    known = {option.name for option in PTXAS}
    for one in tools:
        assert ptxas_options(one) <= known, one.name
        assert "sm_90a" in architectures(one)


def test_short_names_and_values_are_those_of_the_help(tool: Tool) -> None:
    text = run([str(tool.path), "--help"]).stdout.decode()
    heads = [line for line in text.splitlines() if line.startswith("--")]
    table = {option.name: option for option in PTXAS}
    for head in heads:
        name, short = head.split()[0].removeprefix("--"), head.split("(-")[1].split(")")[0]
        assert table[name].short == short
        takes_value = "<" in head or name in {
            *("apply-controls", "def-load-cache", "def-store-cache"),
            *("force-load-cache", "force-store-cache"),
        }
        assert (table[name].takes.value != "nothing") is takes_value, name


def test_spills_and_code_come_back(tool: Tool, tmp_path: Path) -> None:
    plain = assemble(tool, PTX, code(), "sm_90", folder=tmp_path)
    tight = assemble(tool, PTX, code("--maxrregcount=32"), "sm_90", folder=tmp_path)
    assert isinstance(plain, Assembled)
    assert isinstance(tight, Assembled)
    assert plain.spills == {"wide": 0, "empty": 0}
    assert tight.spills["wide"] > 100
    assert plain.cubin != tight.cubin
    assert list(tmp_path.iterdir()) == []


def test_the_same_input_gives_the_same_bytes_wherever_it_is_made(
    tool: Tool, tmp_path: Path
) -> None:
    made = [
        assemble(tool, PTX, code(), "sm_90", folder=tmp_path / name) for name in ("a", "longer/b")
    ]
    assert isinstance(made[0], Assembled)
    assert isinstance(made[1], Assembled)
    assert made[0].cubin == made[1].cubin


def test_refusals_are_short_and_name_no_folder(tool: Tool, tmp_path: Path) -> None:
    bad = PTX.replace("ret; }", "rett; }", 1)
    outcomes = [
        assemble(tool, bad, code(), "sm_90", folder=tmp_path),
        assemble(tool, PTX, code("--no-such-option"), "sm_90", folder=tmp_path),
        assemble(tool, PTX, code(), "sm_1", folder=tmp_path),
        assemble(tool, "", code(), "sm_90", folder=tmp_path),
    ]
    for outcome, word in zip(
        outcomes, ("line 127", "no-such-option", "sm_1", "line 1"), strict=True
    ):
        assert isinstance(outcome, Refusal)
        assert outcome.status is Status.REFUSED
        assert word in outcome.message
        assert str(tmp_path) not in outcome.message


def test_newer_ptx_is_lowered_to_what_the_tool_knows(tool: Tool, tmp_path: Path) -> None:
    newer = PTX.replace(".version 8.4", ".version 99.0")
    made = assemble(tool, newer, code(), "sm_90", folder=tmp_path)
    assert isinstance(made, Assembled)
    plain = assemble(tool, PTX, code(), "sm_90", folder=tmp_path)
    assert isinstance(plain, Assembled)
    assert made.spills == plain.spills


def resources(printed: bytes) -> set[bytes]:
    return {line for line in printed.splitlines() if b"spill" in line or b"Used" in line}


SPELLINGS = [
    ["-O1", "-maxrregcount=0x20"],
    ["--opt-level", "1", "--maxrregcount", "040", "-v", "-m64"],
    ["-maxrregcount=255", "-O=3", "--opt-level=0x1", "-maxrregcount", "32"],
]


def test_spellings_that_are_one_are_one_to_ptxas_too(tool: Tool, tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.ptx"
    kernel.write_text(PTX)
    used = set()
    for number, words in enumerate(SPELLINGS):
        normal = normal_form(words)
        assert normal.options == ("--maxrregcount=32", "--opt-level=1")
        argv = [str(tool.path), "-arch=sm_90", "-v", *words, "-o", "out.cubin", "kernel.ptx"]
        outcome = run(argv, cwd=tmp_path)
        assert outcome.ok, number
        used |= {
            line for line in outcome.stderr.splitlines() if b"spill" in line or b"Used" in line
        }
    again = normal_form([*SPELLINGS[0], "-arch=sm_90", "kernel.ptx", "-o", "again.cubin"])
    outcome = run([str(tool.path), *command_line(again), "--verbose"], cwd=tmp_path)
    assert outcome.ok
    assert resources(outcome.stderr) == used


def test_a_bare_level_takes_no_word(tool: Tool, tmp_path: Path) -> None:
    shutil.copy(__file__, tmp_path / "other")
    outcome = run([str(tool.path), "-O", "1", "other"], cwd=tmp_path)
    assert b"'1' could not be opened" in outcome.stderr
