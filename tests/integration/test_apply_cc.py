"""`burnish cc` with the real gcc: what is built with tuned options, and what stays plain."""

import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.apply import SOURCE, Bench
from tests.helpers.c_acf import FASTER, NBODY, PROGRAM, block, write

from burnish.acf.model import Shape, Tuned
from burnish.cubin.elf import Elf
from burnish.toolchain.gcc_object import functions

START = f"""\
import sys
sys.path.append({str(SOURCE)!r})
from burnish.apply.cc import main
sys.exit(main(sys.argv[1:]))
"""
CALL = "sqrtf"  # for the sake of errno: only in the plain code
PLAIN = ("-O3", "-c", "nbody.c", "-o", "n.o")
Change = Callable[[Tuned], Tuned]


@pytest.fixture(scope="module")
def tuned() -> Tuned:
    return block(NBODY, FASTER)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench.make(tmp_path, LC_ALL="C")  # else Python makes it UTF-8, also for gcc
    (made.folder / "nbody.c").write_text(NBODY.read_text())
    (made.folder / "main.c").write_text(PROGRAM)
    return made


def cc(bench: Bench, *argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = bench.run(sys.executable, "-I", "-S", "-c", START, *argv, **environment)
    assert bench.leftovers() == []
    return done


def right_answers(bench: Bench) -> str:
    bench.run("gcc", "-O3", "main.c", "nbody.c", "-lm", "-o", "plain").check_returncode()
    return bench.run("./plain").stdout


def is_tuned(bench: Bench, name: str = "n.o") -> bool:
    data = (bench.folder / name).read_bytes()
    if not data.startswith(b"\x7fELF"):
        return CALL.encode() not in data
    return not any(symbol.name.startswith(CALL) for symbol in Elf(data).symbols)


def test_a_program_is_built_in_one_go_with_tuned_code_for_its_kernel(
    bench: Bench, tuned: Tuned
) -> None:
    write(bench.folder / "k.acf", tuned)
    argv = ["-O3", "main.c", "nbody.c", "-lm", "-o", "prog", "--apply-controls", "k.acf"]
    done = cc(bench, *argv, "--strict-controls")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert bench.run("./prog").stdout == right_answers(bench)
    assert is_tuned(bench, "prog")
    assert not is_tuned(bench, "plain")


def test_output_messages_and_debug_information_are_as_gcc_makes_them(
    bench: Bench, tuned: Tuned
) -> None:
    write(bench.folder / "k.acf", tuned)
    warned = NBODY.read_text().replace("int bodies) {", "int bodies) { int unused;")
    (bench.folder / "nbody.c").write_text(warned)
    write(bench.folder / "k.acf", block(bench.folder / "nbody.c", FASTER))
    argv = ["-O3", "-g", "-fPIC", "-Wall", "-MMD", "-MF", "n.d", "-c", "nbody.c", "-o", "n.o"]
    done = cc(bench, *argv, "--apply-controls=k.acf")
    assert is_tuned(bench)
    files = [(bench.folder / name).read_bytes() for name in ("n.o", "n.d")]
    plain = bench.run("gcc", *argv)
    assert "unused" in plain.stderr
    assert (done.returncode, done.stdout, done.stderr) == (0, "", plain.stderr)
    assert b".debug_info" in files[0]
    assert files[1] == (bench.folder / "n.d").read_bytes()


@pytest.mark.parametrize("way", ["apart", "assembler", "shelf", "response file"])
def test_every_way_to_build_is_served(bench: Bench, tuned: Tuned, way: str) -> None:
    write(bench.folder / "k.acf", tuned)
    given = ["--apply-controls", "k.acf"]
    if way == "apart":
        done = cc(bench, "-O3", "-c", "nbody.c", "main.c", *given)
        assert functions((bench.folder / "main.o").read_bytes()) == ("main",)
        bench.run("mv", "nbody.o", "n.o")
    elif way == "assembler":
        done = cc(bench, "-O3", "-S", "nbody.c", "-o", "n.o", *given)
    elif way == "shelf":
        done = cc(bench, *PLAIN, BURNISH_SHELF=str(bench.folder))
    else:
        (bench.folder / "words").write_text("-O3 -c nbody.c\n")
        done = cc(bench, "@words", "-o", "n.o", *given)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert is_tuned(bench)


def with_options(*options: str) -> Change:
    return lambda tuned: replace(tuned, code=replace(tuned.code, options=options))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda tuned: replace(tuned, key="c:" + "0" * 64), "not the one that was tuned"),
        (lambda tuned: replace(tuned, baseline_options=("-O2",)), "tuned for builds with -O2"),
        (lambda tuned: replace(tuned, baseline_compiler="gcc 3.4"), "tuned for gcc 3.4"),
        (lambda tuned: replace(tuned, shapes=(Shape(((1, 2), None, None)),)), "certain launches"),
        (with_options("-O2", "-fno-math-errno"), "other code came out"),
        (with_options("-O3", "-fno-such-thing"), "refuses the tuned options"),
        (with_options("-O3", "-fplugin=evil.so"), "-fplugin=evil.so does more"),
        (
            lambda tuned: replace(tuned, code=replace(tuned.code, binary_sha256="0" * 64)),
            "other code came out",
        ),
        (
            lambda tuned: replace(tuned, code=replace(tuned.code, compiler="gcc 3.4")),
            "gcc 3.4 is not installed",
        ),
    ],
)
def test_what_does_not_fit_changes_nothing_but_a_line(
    bench: Bench, tuned: Tuned, change: Change, says: str
) -> None:
    write(bench.folder / "k.acf", change(tuned))
    done = cc(bench, *PLAIN, "--apply-controls", "k.acf")
    assert done.returncode == 0
    [line] = done.stderr.splitlines()
    assert line.startswith("burnish: k.acf: nbody: ")
    assert says in line
    assert line.endswith("building plain")
    made = (bench.folder / "n.o").read_bytes()
    bench.run("gcc", *PLAIN).check_returncode()
    assert made == (bench.folder / "n.o").read_bytes()
    (bench.folder / "n.o").unlink()
    strict = cc(bench, *PLAIN, "--apply-controls", "k.acf", "--strict-controls")
    assert strict.returncode == 1
    assert says in strict.stderr
    assert strict.stderr.count("\n") == 1
    assert not (bench.folder / "n.o").exists()


def test_the_answers_of_a_program_are_right_where_the_options_are_others(
    bench: Bench, tuned: Tuned
) -> None:
    write(bench.folder / "k.acf", tuned)
    argv = ["-O2", "main.c", "nbody.c", "-lm", "-o", "prog", "--apply-controls", "k.acf"]
    done = cc(bench, *argv)
    assert done.returncode == 0
    assert "was tuned for builds with -O3, and this one has -O2" in done.stderr
    assert bench.run("./prog").stdout == right_answers(bench)


def test_of_another_kernel_is_a_warning_and_an_error_where_that_is_asked_for(
    bench: Bench, tuned: Tuned
) -> None:
    write(bench.folder / "k.acf", tuned)
    # It calls nbody, but does not hold it.
    argv = ["-O3", "-c", "main.c", "--apply-controls", "k.acf"]
    done = cc(bench, *argv)
    assert done.returncode == 0
    assert done.stderr == "burnish: k.acf: no block is for main.c; building plain\n"
    (bench.folder / "main.o").unlink()
    for asked in (cc(bench, *argv, "--strict-controls"), cc(bench, *argv, BURNISH_STRICT="1")):
        assert asked.returncode == 1
        words = "not built, as strict controls were asked for"
        assert asked.stderr == f"burnish: k.acf: no block is for main.c; {words}\n"
        assert not (bench.folder / "main.o").exists()


def test_a_shelf_that_has_nothing_for_a_source_fails_nothing(bench: Bench, tuned: Tuned) -> None:
    write(bench.folder / "k.acf", tuned)
    said = {"BURNISH_SHELF": str(bench.folder), "BURNISH_STRICT": "1"}
    done = cc(bench, "-O3", "-c", "main.c", **said)
    assert (done.returncode, done.stderr) == (0, "")


def test_linking_and_what_gcc_refuses_are_left_to_gcc_where_a_file_must_be_applied(
    bench: Bench, tuned: Tuned
) -> None:
    write(bench.folder / "k.acf", tuned)
    strict = ["--apply-controls", "k.acf", "--strict-controls"]
    bench.run("gcc", "-O3", "-c", "main.c", "nbody.c").check_returncode()
    done = cc(bench, "main.o", "nbody.o", "-lm", "-o", "prog", *strict)
    assert (done.returncode, done.stderr) == (0, "")
    (bench.folder / "broken.c").write_text("#include <none.h>\n")
    done = cc(bench, "-O3", "-c", "broken.c", *strict)
    assert done.returncode == 1
    assert "none.h: No such file" in done.stderr


def test_every_file_that_is_named_must_be_applied_to_some_source(
    bench: Bench, tuned: Tuned
) -> None:
    write(bench.folder / "k.acf", tuned)
    write(bench.folder / "l.acf", replace(tuned, entry="other"))
    given = ["--apply-controls", "k.acf", "--strict-controls"]
    argv = ["-O3", "-c", "nbody.c", "main.c", *given]
    assert cc(bench, *argv).returncode == 0
    (bench.folder / "nbody.o").unlink()
    done = cc(bench, *argv, "--apply-controls", "l.acf")
    assert done.returncode == 1
    assert "l.acf: none of its blocks is applied; not built" in done.stderr
    assert not (bench.folder / "nbody.o").exists()


def test_a_strict_file_of_which_nothing_applies_is_an_error(bench: Bench, tuned: Tuned) -> None:
    write(bench.folder / "k.acf", tuned, strict=True)
    assert cc(bench, *PLAIN, "--apply-controls", "k.acf").returncode == 0
    assert is_tuned(bench)
    done = cc(bench, "-O3", "-c", "main.c", "--apply-controls", "k.acf")
    assert done.returncode == 1
    assert "none of its blocks is applied" in done.stderr
    assert not (bench.folder / "main.o").exists()


def test_functions_that_were_not_tuned_keep_their_options(bench: Bench) -> None:
    both = bench.folder / "both.c"
    both.write_text(
        "#include <math.h>\nfloat f(float x) { return sqrtf(x); }\nint g(void) { return 1; }\n"
    )
    first, second = (block(both, FASTER, entry=name) for name in "fg")
    argv = ["-O3", "-c", "both.c", "-o", "n.o", "--apply-controls", "k.acf"]
    write(bench.folder / "k.acf", first)
    done = cc(bench, *argv)
    assert "would change functions that were not tuned, too: g; building plain" in done.stderr
    assert not is_tuned(bench)
    write(bench.folder / "k.acf", first, second)
    assert cc(bench, *argv).stderr == ""
    assert is_tuned(bench)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the options are those of x86-64")
def test_a_source_says_the_same_when_options_define_macros(bench: Bench) -> None:
    source = bench.folder / "k.c"
    source.write_text(
        "#ifdef __AVX2__\n#error other text\n#endif\n"
        "void k(int *x, int n) { for (int i = 0; i < n; i++) x[i] += i; }\n"
    )
    write(bench.folder / "k.acf", block(source, ("-O3", "-mavx2")))
    argv = ["-O3", "-c", "k.c", "-o", "k.o"]
    done = cc(bench, *argv, "--apply-controls", "k.acf", "--strict-controls")
    assert (done.returncode, done.stderr) == (0, "")
    made = (bench.folder / "k.o").read_bytes()
    bench.run("gcc", *argv).check_returncode()
    assert made != (bench.folder / "k.o").read_bytes()


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["-O3", "-MMD", "main.c", "nbody.c", "-lm"], "-MMD needs a compile of its own"),
        (["-O3", "-c", "-xc", "-"], "standard input cannot be looked up"),
    ],
)
def test_what_cannot_be_served_is_built_plain(
    bench: Bench, tuned: Tuned, argv: list[str], says: str
) -> None:
    write(bench.folder / "k.acf", tuned)
    done = cc(bench, *argv, "-o", "out", "--apply-controls", "k.acf")
    assert done.returncode == 0
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "argv",
    [
        ["-O3", "-c", "broken.c"],
        ["-O3", "-c", "missing.c"],
        ["--no-such-option"],
        ["--version"],
        ["-O3", "nbody.c"],
    ],
)
def test_exit_code_and_messages_of_gcc_are_passed_on(
    bench: Bench, tuned: Tuned, argv: list[str]
) -> None:
    (bench.folder / "broken.c").write_text("int f( { nbody(1); }\n")
    write(bench.folder / "k.acf", tuned)
    real = bench.run("sh", "-c", "readlink -f $(command -v gcc)").stdout.strip()
    wanted = bench.run(real, *argv)
    done = cc(bench, *argv, BURNISH_SHELF=str(bench.folder))
    assert done.returncode == wanted.returncode
    assert done.stdout == wanted.stdout
    if "nbody.c" not in argv:  # the linker names temporary files
        assert done.stderr == wanted.stderr
    assert "burnish" not in done.stderr.replace("/burnish.", "")


@pytest.mark.parametrize("data", ["format = 1\n", None])
def test_a_file_that_cannot_be_used_is_one_line(bench: Bench, data: str | None) -> None:
    if data:
        (bench.folder / "k.acf").write_text(data)
    done = cc(bench, *PLAIN, "--apply-controls", "k.acf")
    assert done.returncode == 0
    assert done.stderr.startswith("burnish: k.acf")
    assert done.stderr.count("\n") == 1
    assert not is_tuned(bench)


def test_where_the_output_cannot_be_written_gcc_says_so(bench: Bench, tuned: Tuned) -> None:
    write(bench.folder / "k.acf", tuned)
    argv = ["-O3", "-c", "nbody.c", "-o", "nowhere/n.o", "--apply-controls", "k.acf"]
    done = cc(bench, *argv)
    assert done.returncode == 1
    ours, *theirs = done.stderr.splitlines()
    assert ours.startswith("burnish: nbody.c: gcc")
    assert ours.endswith("building plain")
    assert any("nowhere/n.o" in line for line in theirs)
