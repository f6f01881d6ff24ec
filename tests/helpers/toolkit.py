"""Real compilers for tests: found as Burnish finds them, skipped where there are none."""

from functools import cache
from pathlib import Path

import pytest

from burnish.ptx.replace import lower_version
from burnish.settings import load
from burnish.toolchain.discover import find_one
from burnish.toolchain.process import Limits, run

LIMITS = Limits(wall_s=300, output_bytes=64 << 20)


@cache
def program(kind: str) -> Path:
    """A compiler or tool of a kind."""
    found = find_one(load(), kind)
    if found is None:
        pytest.skip(f"no {kind} here")
    return found.path


def said(kind: str, *arguments: str, folder: Path | None = None) -> str:
    """Run a tool that must work; what it printed."""
    path = program(kind)
    environment = {"PATH": f"{path.parent}:/usr/local/bin:/usr/bin:/bin"}
    outcome = run([str(path), *arguments], limits=LIMITS, cwd=folder, environment=environment)
    assert outcome.code == 0, (outcome.stdout + outcome.stderr).decode(errors="replace")
    return outcome.stdout.decode(errors="replace")


def compiled(source: str, place: Path, *options: str) -> str:
    """The PTX that nvcc makes of CUDA C++ in a file of that path."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(source)
    out = place.with_suffix(".ptx")
    said("nvcc", "-ptx", *options, str(place), "-o", str(out), folder=place.parent)
    return out.read_text()


def assembled(ptx: str, arch: str, folder: Path, *options: str) -> bytes:
    """What ptxas makes of PTX that may be of a newer version than it."""
    source, out = folder / "in.ptx", folder / "out.cubin"
    source.write_text(lower_version(ptx, newest()))
    said("ptxas", f"-arch={arch}", *options, str(source), "-o", str(out))
    return out.read_bytes()


@cache
def newest() -> str:
    """The newest PTX version that the present ptxas takes, from its own."""
    found = find_one(load(), "ptxas")
    if found is None:
        pytest.skip("no ptxas here")
    major, minor = (int(part) for part in found.version.split(".")[:2])
    return f"{major - 4}.{minor}" if major > 12 else "8.4"


def retargeted(ptx: str, arch: str) -> str:
    """The same PTX for another target."""
    lines = [f".target {arch}" if line.startswith(".target") else line for line in ptx.splitlines()]
    return "\n".join([*lines, ""])
