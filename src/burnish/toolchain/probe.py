"""What a program is: the file that really runs, its version and its digest."""

import re
from dataclasses import dataclass
from pathlib import Path

from burnish.toolchain.process import Limits, run

__all__ = ["SHIM_MARK", "Program", "digest", "follow", "version"]

SHIM_MARK = b"# burnish shim"

_SCRIPT_BYTES = 1 << 16
_SHIM_LINES = 20
_LINKS = 5  # wrappers that start wrappers
_LIMITS = Limits(wall_s=20.0)
_EXEC = rb"exec\s+(\"[^\"$`]+\"|'[^']+'|[^\s\"'$`;&|]+)\s+(?:\"\$@\"|\$\{1\+\"\$@\"\})\s*"
_NVIDIA = r"release [\d.]+, V(\d+(?:\.\d+)+)"
_PLAIN = r"\s*(\d+(?:\.\d+)*)\s*"
_LLVM = r"(?:clang|LLVM) version (\d+(?:\.\d+)+)"
_ASKING = {
    "gcc": (("-dumpfullversion", "-dumpversion"), _PLAIN),
    "clang": (("--version",), _LLVM),
    "llc": (("--version",), _LLVM),
    "opt": (("--version",), _LLVM),
}


@dataclass(frozen=True, slots=True)
class Program:
    """A program that can be started.

    Attributes:
        path: What to start.
        image: The ELF program that then runs; None where a script hides it.
    """

    path: Path
    image: Path | None


def follow(path: Path, kind: str) -> Program | None:
    """Find the real program behind links and wrappers.

    A script that does nothing but ``exec PROGRAM "$@"`` is passed over. One that does more is
    started as it is. None: no such program, a shim of ours, or another program under this
    name (a compiler cache).
    """
    for _ in range(_LINKS):
        try:
            real = path.resolve(strict=True)
            with real.open("rb") as file:
                head = file.read(4)
                text = head + file.read(_SCRIPT_BYTES) if head.startswith(b"#!") else b""
        except OSError:
            return None
        if head == b"\x7fELF":
            return Program(real, real) if kind in real.name else None
        if not text or SHIM_MARK in b"\n".join(text.splitlines()[:_SHIM_LINES]):
            return None
        target = _exec_target(text)
        if target is None:
            return Program(real, None)
        path = target
    return None


def _exec_target(script: bytes) -> Path | None:
    lines = [line.strip() for line in script.splitlines()]
    does = [line for line in lines if line and not line.startswith(b"#")]
    found = re.fullmatch(_EXEC, does[0]) if len(does) == 1 else None
    if not found:
        return None
    target = Path(found[1].strip(b"\"'").decode(errors="surrogateescape"))
    return target if target.is_absolute() else None


def version(program: Program, kind: str) -> str:
    """Ask a program for its version; empty where it does not say one."""
    questions, pattern = _ASKING.get(kind, (("--version",), _NVIDIA))
    outcome = run([str(program.path), *questions], limits=_LIMITS)
    found = re.search(pattern, outcome.stdout.decode(errors="replace")) if outcome.ok else None
    return found[1] if found else ""


def digest(program: Program) -> str:
    """SHA-256 of the program that runs, or of the script where that hides it."""
    import hashlib  # 2 ms that a build with a remembered compiler does not need

    with (program.image or program.path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
