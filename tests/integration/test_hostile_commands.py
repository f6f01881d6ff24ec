"""What a shell, a disk or a user may do to a command: still one line, and nothing half-done."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Shell = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    environment = {
        **os.environ,
        "BURNISH_STORE": f"sqlite:///{tmp_path}/studies.sqlite",
        "BURNISH_CACHE": str(tmp_path / "cache"),
    }

    def run(line: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["/bin/sh", "-c", line.replace("burnish", f"{sys.executable} -m burnish", 1)],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
            timeout=60,
        )

    return run


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
@pytest.mark.parametrize("words", ["studies", "studies --json -", "--help"])
def test_a_full_disk_behind_stdout_is_one_line(shell: Shell, words: str) -> None:
    done = shell(f"burnish {words} >/dev/full")
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["burnish: No space left on device"]


def test_a_closed_stdout_is_no_fault(shell: Shell) -> None:
    done = shell("burnish studies >&-")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_line_to_paste_is_quoted(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "my kernel[b].c").write_text("void f(float *a) { a[0] = 1; }\n")
    done = shell("burnish init 'my kernel[b].c'")
    assert done.returncode == 0, done.stderr
    line = done.stdout.splitlines()[-1]
    assert line == "burnish tune 'my kernel[b].c' --launch 'my kernel[b].toml'"


@pytest.mark.parametrize("encoding", ["utf-8:strict", "latin-1", "ascii"])
def test_stdout_takes_whatever_is_said(shell: Shell, tmp_path: Path, encoding: str) -> None:
    """An ellipsis, an arrow, and names of files that are no text."""
    loop = "void f(float *a, int n) { for (int i = 0; i < n; i++) a[i] = a[i] * 2 + 1; }\n"
    (tmp_path / "k\udcff.c").write_text(loop)
    tune = "tune k*.c --device none --minimize code-size --evaluations 8 --jobs 2"
    output = "-o \"$(printf 'o\\377.acf')\""
    done = shell(f"PYTHONIOENCODING={encoding} burnish {tune} {output}")
    assert done.returncode == 0, done.stderr
    assert "study k_-f-1" in done.stdout
    assert b"wrote o\xff.acf" in os.fsencode(done.stdout)
    done = shell(f"PYTHONIOENCODING={encoding} burnish controls k*.c")
    assert done.returncode == 0, done.stderr


def test_a_study_of_a_kernel_with_any_name_gets_a_name(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "a\nb\x1b.c").write_text("void f(float *a) { a[0] = 1; }\n")
    done = shell("burnish tune a*.c --device none --minimize code-size --evaluations 3")
    assert done.returncode in {0, 3}, done.stderr
    assert "study a_b_-f-1" in done.stdout
    done = shell("burnish studies")
    assert len(done.stdout.splitlines()) == 2
