from pathlib import Path

import pytest

from burnish.toolchain.options import Normal, command_line, normal_form, without_value
from burnish.toolchain.ptxas_options import PTXAS, Takes


def of(*words: str) -> Normal:
    return normal_form(words)


def test_a_command_line_is_taken_apart() -> None:
    line = "-arch=sm_90a -v -O1 -lineinfo --entry b,a -o out.cubin in.ptx --maxrregcount 32 -c"
    assert of(*line.split()) == Normal(
        options=("--compile-only", "--maxrregcount=32", "--opt-level=1"),
        inputs=("in.ptx",),
        output="out.cubin",
        arch="sm_90a",
        entries=("a", "b"),
        messages=("--generate-line-info", "--verbose"),
    )


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("-O3 -arch", "-arch"),
        ("--gpu-name", "--gpu-name"),
        ("-maxrregcount= -O3", "-maxrregcount="),
        ("-O", "-O"),
        ("-o", "-o"),
        ("-v -arch sm_90 -O3 -m64 --unknown in.ptx -warning-as-error", ""),
        ("", ""),
    ],
)
def test_an_option_without_its_value_is_found(line: str, word: str) -> None:
    assert without_value(line.split()) == word


@pytest.mark.parametrize(
    "words",
    [
        ["-O3"],
        ["-O=3"],
        ["--opt-level=3"],
        ["--opt-level", "3"],
        ["--opt-level", "0x3"],
        ["-O1", "-O3"],
        ["-m64", "--machine", "64"],
        ["--fmad", "true"],
        ["-fmad=true"],
        ["-regUsageLevel=5"],
        ["-Ofc", "0"],
        ["--device-stack-protector=false"],
        ["-v", "-w", "-lineinfo", "-Werror", "--warn-on-spills", "-suppress-debug-info"],
        ["-arch", "sm_90"],
        ["-o", "x"],
        ["-e", "k"],
    ],
)
def test_what_says_nothing_new_is_dropped(words: list[str]) -> None:
    assert of(*words).options == ()


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["-maxrregcount=32"], ["--maxrregcount=32"]),
        (["--maxrregcount", "0x20"], ["--maxrregcount=32"]),
        (["-maxrregcount=040"], ["--maxrregcount=32"]),  # octal, as ptxas reads it
        (["-maxrregcount=archmax"], ["--maxrregcount=archmax"]),
        (["-maxrregcount=8", "-maxrregcount=16"], ["--maxrregcount=16"]),
        (["--maxntid=128,0x2", "-maxntid", "1"], ["--maxntid=128,2,1"]),
        (["-pic", "false"], ["--position-independent-code=false"]),  # no default: changes code
        (["-g"], ["--device-debug"]),
        (["--new-thing", "--other=3"], ["--new-thing", "--other=3"]),
        (["-dlcm=cg", "-dscm", "wt"], ["--def-load-cache=cg", "--def-store-cache=wt"]),
        (["-opt-level=2"], ["-opt-level=2"]),  # a long name takes two dashes
        (["--fmad"], ["--fmad"]),  # its value is missing
        (["--verbose=true"], ["--verbose=true"]),  # takes no value
        (["-oo2"], ["-oo2"]),  # only -O and -m take a value attached
    ],
)
def test_what_counts_is_kept(words: list[str], options: list[str]) -> None:
    assert of(*words).options == tuple(options)


def test_ptxas_does_not_look_past_a_bare_level() -> None:
    normal = of("-O", "1")
    assert (normal.options, normal.inputs) == (("-O",), ("1",))


def test_unknown_options_are_named() -> None:
    assert of("--new=1", "-c").unknown == ("--new=1",)


def test_standard_input_is_an_input() -> None:
    assert of("-", "-arch=sm_90").inputs == ("-",)


@pytest.mark.parametrize("word", ["--help", "-h", "--version", "-V", "--list-arch"])
def test_a_question_compiles_nothing(word: str) -> None:
    assert of(word).asks
    assert not of("in.ptx").asks


def test_controls_files_are_found() -> None:
    assert of("--apply-controls", "a b.acf", "in.ptx").controls == ("a b.acf",)
    assert of("-apply-controls=x").controls == ("x",)


def test_options_files_are_read_as_ptxas_reads_them(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.write_text('"--maxrregcount"=32\n\t-arch=sm_90 my\\ kernel.ptx "-o" "a b"')
    outer = tmp_path / "outer"
    outer.write_text(f"-optf {inner} -c")
    assert of("-O1", "--options-file", str(outer)) == Normal(
        options=("--compile-only", "--maxrregcount=32", "--opt-level=1"),
        inputs=("my kernel.ptx",),
        output="a b",
        arch="sm_90",
    )
    other = tmp_path / "other"
    other.write_text("-g")
    both = of(f"-optf={inner},{other}")
    assert both.options == ("--device-debug", "--maxrregcount=32")


def test_an_options_file_that_cannot_be_read_counts_as_it_is(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert of("-optf", str(missing)).unknown == (f"--options-file={missing}",)


def test_an_options_file_that_includes_itself_ends(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.write_text(f"-c -optf {loop}")
    normal = of("-optf", str(loop))
    assert normal.options == ("--compile-only", f"--options-file={loop}")


def test_a_command_line_can_be_made_again() -> None:
    normal = Normal(
        options=("--compile-only",),
        inputs=("in.ptx",),
        output="out",
        arch="sm_80",
        entries=("a", "b"),
        controls=("x.acf",),
        messages=("--verbose",),
    )
    words = command_line(normal)
    assert words[-1] == "in.ptx"
    assert normal_form(words) == normal


def test_names_in_the_table_are_used_once() -> None:
    names = [f"--{option.name}" for option in PTXAS] + [f"-{option.short}" for option in PTXAS]
    assert len(names) == len(set(names))
    attached = {option.name for option in PTXAS if option.takes is Takes.ATTACHED}
    assert attached == {"opt-level", "machine"}
