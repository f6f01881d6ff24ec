"""gcc as Burnish uses it: which code is the same, what is refused, what is left behind."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.host_jobs import run_twice_plus_one

from burnish.devices.host import HostDevice
from burnish.errors import KernelError, ToolchainError
from burnish.model.toolchain import Tool
from burnish.model.trial import Status
from burnish.toolchain.gcc import Gcc, Object, option_help, option_states, source_key
from burnish.toolchain.gcc_object import code_bytes, functions, object_digest
from burnish.toolchain.process import Limits
from burnish.toolchain.ptxas import Refusal

GCC = Path(shutil.which("gcc") or "gcc").resolve()
TOOL = Tool("gcc", "0", GCC, "", "PATH")

SOURCE = """
static const float table[4] = {1, 2, 3, 4};
static int calls;
static float helper(float x) { return x * table[calls & 3]; }
float other(float x) { calls++; return x + 1; }
void kernel(const float *in, float *out, int n) {
    for (int i = 0; i < n; i++) out[i] = helper(in[i]) + other(in[i]);
}
"""


@pytest.fixture
def gcc(tmp_path: Path) -> Gcc:
    return Gcc(TOOL, tmp_path / "work")


def compiled(gcc: Gcc, text: str, *options: str) -> Object:
    made = gcc.compile(text, options)
    assert isinstance(made, Object), made
    return made


def refused(outcome: object) -> Refusal:
    assert isinstance(outcome, Refusal)
    return outcome


@pytest.mark.parametrize("options", [["-g"], ["-g3", "-Wall"], ["-fverbose-asm"], ["-O2"]])
def test_what_is_not_code_changes_no_digest(gcc: Gcc, options: list[str]) -> None:
    plain = compiled(gcc, SOURCE, "-O2")
    assert compiled(gcc, SOURCE, "-O2", *options).digest == plain.digest


@pytest.mark.parametrize(
    "text",
    [
        SOURCE.replace("helper", "renamed"),
        SOURCE.replace("table", "renamed"),
        "/* comment */" + SOURCE + "\n\n\n",
        '# 1 "/some/where/else.c"\n' + SOURCE,
    ],
)
def test_local_names_and_places_change_no_digest(gcc: Gcc, text: str) -> None:
    options = ("-O2", "-fno-inline")
    assert compiled(gcc, text, *options).digest == compiled(gcc, SOURCE, *options).digest


@pytest.mark.parametrize(
    "text",
    [
        SOURCE.replace("x * table", "x + table"),
        SOURCE.replace("3, 4", "3, 5"),
        SOURCE.replace("static int calls", "static int calls = 1"),
        SOURCE.replace("float other(", "float another(").replace(" other(", " another("),
        SOURCE.replace("calls & 3", "calls & 1"),
    ],
)
def test_code_data_and_offered_names_change_the_digest(gcc: Gcc, text: str) -> None:
    options = ("-O2", "-fno-inline")
    assert compiled(gcc, text, *options).digest != compiled(gcc, SOURCE, *options).digest


def test_options_that_matter_change_the_digest(gcc: Gcc) -> None:
    text = (
        "void k(float *a, float b, int n) { for (int i = 0; i < n; i++) a[i] = a[i] * b + a[0]; }"
    )
    digests = {
        compiled(gcc, text, *options).digest
        for options in (["-O0"], ["-O2"], ["-O3"], ["-O3", "-funroll-loops"], ["-Os"])
    }
    assert len(digests) == 5


def test_two_calls_of_an_outside_function_are_told_apart(gcc: Gcc) -> None:
    text = "double sin(double), cos(double); double f(double x) { return sin(x); }"
    swapped = text.replace("return sin", "return cos")
    assert compiled(gcc, text).digest != compiled(gcc, swapped).digest


def test_the_size_of_the_code_is_that_of_its_sections(gcc: Gcc) -> None:
    made = compiled(gcc, SOURCE, "-O2")
    assert made.facts.code_bytes == code_bytes(made.data) > 20
    assert compiled(gcc, SOURCE, "-O3", "-funroll-loops").facts.code_bytes > code_bytes(made.data)


def test_only_functions_that_can_be_called_are_offered(gcc: Gcc) -> None:
    assert compiled(gcc, SOURCE, "-O1", "-fno-inline").functions == ("other", "kernel")


@pytest.mark.parametrize("cut", [0, 10, 100, 700])
def test_half_an_object_is_an_error(gcc: Gcc, cut: int) -> None:
    data = compiled(gcc, SOURCE).data[:cut]
    for read in (object_digest, code_bytes, functions):
        with pytest.raises(KernelError):
            read(data)


def test_what_gcc_refuses_says_why_on_one_line(gcc: Gcc) -> None:
    refusal = refused(gcc.compile("int k() { return x; }", ["-O2"]))
    assert refusal.status is Status.REFUSED
    assert refusal.message.startswith("line 1: ")
    assert "'x' undeclared" in refusal.message
    refusal = refused(gcc.compile("int k;", ["-fno-such-option"]))
    assert "no-such-option" in refusal.message
    assert "\n" not in refusal.message


@pytest.mark.parametrize(
    ("script", "status", "words"),
    [
        ("sleep 1000", Status.COMPILE_TIMEOUT, "0.5 s"),
        ("kill -SEGV $$", Status.COMPILE_CRASH, "SIGSEGV"),
        ("echo 'k.c:1: internal compiler error: x' >&2; exit 1", Status.COMPILE_CRASH, "x"),
        ("exit 3", Status.REFUSED, "exit code 3"),
        ("printf half > kernel.o", Status.COMPILE_CRASH, "half an output: 4 bytes"),
        ("true", Status.COMPILE_CRASH, "half an output: 0 bytes"),
        ("yes | head -c 9000000", Status.COMPILE_CRASH, "it printed more than"),
    ],
)
def test_whatever_a_compiler_does_is_a_result(
    tmp_path: Path, script: str, status: Status, words: str
) -> None:
    fake = tmp_path / "gcc"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    folder = tmp_path / "work"
    gcc = Gcc(Tool("gcc", "0", fake, "", ""), folder, Limits(wall_s=0.5))
    refusal = refused(gcc.compile("int k;", []))
    assert refusal.status is status
    assert words in refusal.message
    assert not list(folder.iterdir())


def test_a_compiler_that_is_gone_is_a_result(tmp_path: Path) -> None:
    gcc = Gcc(Tool("gcc", "0", tmp_path / "gone", "", ""), tmp_path)
    assert "No such file" in refused(gcc.compile("int k;", [])).message


def test_a_full_disk_is_an_error_that_says_so(tmp_path: Path) -> None:
    fake = tmp_path / "gcc"
    fake.write_text("#!/bin/sh\necho 'fatal error: x: No space left on device' >&2\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(ToolchainError, match="no space left"):
        Gcc(Tool("gcc", "0", fake, "", ""), tmp_path).compile("int k;", [])


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ToolchainError, match="folder to write in"):
        Gcc(TOOL, tmp_path / "file").compile("int k;", [])


def test_nothing_is_left_in_the_folder(gcc: Gcc, tmp_path: Path) -> None:
    assert not isinstance(gcc.build(SOURCE, ["-O2"]), Refusal)
    assert not list((tmp_path / "work").iterdir())


def test_a_library_of_fast_math_leaves_the_floating_point_mode_alone(gcc: Gcc) -> None:
    text = "void kernel(const float *i, float *o, int n) { while (n--) o[n] = 2 * i[n] + 1; }"
    library = gcc.build(text, ["-Ofast"])
    assert not isinstance(library, Refusal)
    assert run_twice_plus_one(HostDevice(0), library.image) == (True, True)
    tiny = np.array([5e-324])
    assert (tiny * 1.0)[0] != 0


def test_functions_of_a_kernel_are_not_taken_for_those_of_the_program_around_it(
    gcc: Gcc,
) -> None:
    text = """
        int isalpha(int c) { return 2 * c + 1; }
        void kernel(const float *in, float *out, int n) {
            for (int i = 0; i < n; i++) out[i] = 2 * in[i] + (isalpha(n) == 2 * n + 1);
        }
    """
    library = gcc.build(text, ["-O1", "-fno-builtin", "-fno-inline"])
    assert not isinstance(library, Refusal)
    assert run_twice_plus_one(HostDevice(0), library.image) == (True, True)


def test_preprocessed_text_stands_alone(gcc: Gcc, tmp_path: Path) -> None:
    (tmp_path / "size.h").write_text("#define N 17\n")
    (tmp_path / "k.c").write_text('#include "size.h"\n// note\nint k(void) { return N + M; }\n')
    text = gcc.preprocess(tmp_path / "k.c", ["-DM=2"])
    assert text.strip() == "int k(void) { return 17 + 2; }"
    (tmp_path / "there").mkdir()
    for name in ("size.h", "k.c"):
        (tmp_path / name).rename(tmp_path / "there" / name)
    assert gcc.preprocess(tmp_path / "there" / "k.c", ["-DM=2"]) == text


def test_what_cannot_be_preprocessed_is_an_error(gcc: Gcc, tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text('#include "nowhere.h"\n')
    with pytest.raises(KernelError, match=r"k\.c: line 1: nowhere\.h"):
        gcc.preprocess(tmp_path / "k.c", [])


def test_the_key_is_that_of_text_and_function() -> None:
    assert source_key("a", "b").startswith("c:")
    assert len({source_key("a", "b"), source_key("b", "a"), source_key("a", "c")}) == 3


def test_gcc_lists_its_options_with_states() -> None:
    assert "-funroll-loops" in option_help(TOOL)
    states = option_states(TOOL, ("-O3", "-funroll-loops"))
    line = next(line for line in states.splitlines() if "-funroll-loops" in line)
    assert "[enabled]" in line


def test_a_killed_link_leaves_nothing_in_tmp(tmp_path: Path) -> None:
    """gcc's own temporary files lie in our folder, which is removed."""
    source = tmp_path / "k.c"
    source.write_text("int k;")
    slow = tmp_path / "gcc"
    slow.write_text('#!/bin/sh\ntouch "$TMPDIR/left"\nsleep 100\n')
    slow.chmod(0o755)
    folder = tmp_path / "work"
    gcc = Gcc(Tool("gcc", "0", slow, "", ""), folder, Limits(wall_s=0.3))
    made = compiled(Gcc(TOOL, folder), "int k;")
    assert refused(gcc.link(made, [])).status is Status.COMPILE_TIMEOUT
    assert not list(folder.iterdir())


def test_both_words_of_the_machine_agree(gcc: Gcc, tmp_path: Path) -> None:
    """The size of the code is what size(1) shows."""
    made = compiled(gcc, SOURCE, "-O2")
    (tmp_path / "k.o").write_bytes(made.data)
    argv = ["size", "-A", str(tmp_path / "k.o")]
    shown = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    sizes = {line.split()[0]: int(line.split()[1]) for line in shown.splitlines()[2:] if line}
    assert made.facts.code_bytes == sum(
        size for name, size in sizes.items() if name.startswith(".text")
    )
