"""What is wrong with a C kernel or its launch file is one line that says what to do."""

import time
from pathlib import Path

import pytest

from burnish.cli.app import run

pytestmark = pytest.mark.toolchain

KERNEL = "void k(float *a, int n) { for (int i = 0; i < n; i++) a[i] = a[i] * 2 + 1; }\n"
LAUNCH = """\
entry = "k"
[[workload]]
name = "w"
arguments = [
  { name = "a", buffer = "f32", shape = [64], role = "inout" },
  { name = "n", scalar = "i32", value = 64 },
]
"""


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BURNISH_STORE", f"sqlite:///{tmp_path}/studies.sqlite")
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("k.c").write_text(KERNEL)
    Path("k.toml").write_text(LAUNCH)


def refused(capsys: pytest.CaptureFixture[str], *words: str, code: int = 1) -> str:
    """The one line that tuning the kernel ends in."""
    assert run(["tune", "k.c", "--launch", "k.toml", "--evaluations", "3", *words]) == code
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    return lines[0].removeprefix("burnish: ")


def test_buffers_that_memory_cannot_hold_are_refused_before_anything_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("k.toml").write_text(LAUNCH.replace("[64]", "[9999999999999]"))
    said = refused(capsys)
    assert said.startswith("k.toml: workload 'w': its buffers are 39,999,999,999,996 bytes, and ")
    assert said.endswith("make the shapes smaller")


@pytest.mark.slow
def test_a_plain_build_that_hangs_is_told_soon(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.c").write_text("void k(float *a, int n) { for (;;) *(volatile float *)a = n; }\n")
    started = time.perf_counter()
    said = refused(capsys)
    assert time.perf_counter() - started < 30
    assert said == (
        "running the plain build on workload 'w' takes longer than 10 s: it hangs, or has too much "
        "to do for a kernel that is launched hundreds of times; make the workload smaller"
    )


HIDDEN = {
    "a static variable": "static int calls;\nvoid k(float *a, int n) {\n  calls++;\n",
    "a static variable that shows rarely": (
        "static int calls;\nvoid k(float *a, int n) {\n  n -= ++calls % 30 == 0;\n"
    ),
    "a clock": "#include <time.h>\nvoid k(float *a, int n) {\n  float calls = clock();\n",
}


@pytest.mark.parametrize("head", HIDDEN.values(), ids=HIDDEN)
def test_a_plain_build_with_hidden_state_is_refused(
    capsys: pytest.CaptureFixture[str], head: str
) -> None:
    added = "calls" if "rarely" not in head and "% 30" not in head else "1"
    body = f"  for (int i = 0; i < n; i++) a[i] = a[i] * 2 + {added};\n}}\n"
    Path("k.c").write_text(head + body)
    said = refused(capsys)
    assert said.startswith("workload 'w': the baseline is not repeatable: launched again on the ")
    assert "a: " in said
    assert said.endswith("or give what is no answer a tolerance")


@pytest.mark.parametrize("declared", ["float *a", "real *a", "REAL a[]"])
def test_a_buffer_of_another_type_than_the_function_declares_is_refused(
    capsys: pytest.CaptureFixture[str], declared: str
) -> None:
    Path("k.c").write_text(
        "#define REAL float\ntypedef REAL real;\n" + KERNEL.replace("float *a", declared)
    )
    Path("k.toml").write_text(LAUNCH.replace("f32", "f64"))
    said = refused(capsys)
    assert said.startswith('k.toml: workload \'w\': argument 0 "a": parameter "a" needs a buffer')
    assert said.endswith(" of f32 (or a 64-bit number such as 0 for none), not a buffer of f64")
