"""Compilers that the user added: other versions, side by side, out of the package index.

Each has a folder ``KIND-VERSION`` in the cache, with the program and its licence and nothing
else of its package. A folder appears whole or not at all.
"""

import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from burnish.errors import ToolchainError, UsageError
from burnish.model.toolchain import Tool
from burnish.settings import Settings
from burnish.toolchain.discover import identify
from burnish.toolchain.places import Place, added_folder
from burnish.toolchain.process import End, Limits, Outcome, run

__all__ = ["add", "added", "remove"]

_REQUIREMENT = re.compile(r"\s*([a-z]+)\s*==\s*((\d+)(?:\.\d+)+)\s*")
_NAME = re.compile(r"\s*([a-z]+)\s*(?:==|-|\s)\s*(\d+(?:\.\d+)+)\s*")
_VERSIONS = re.compile(r"\(from versions: (\d[^()]*)\)")
_NO_INDEX = re.compile(r"WARNING: Retrying|ConnectionError|Temporary failure|timed out")
_RELEASE = re.compile(r"[1-9][\d.]*")
_LIMITS = Limits(wall_s=900.0)
_TEMPORARY = ".new-"
_STALE_S = 3600
_OLDEST_MAJOR = 12


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a kind of compiler comes from.

    Attributes:
        packages: Package by major version; the key 0 stands for every other one.
        program: What to keep, by the end of its path in the package.
    """

    packages: dict[int, str]
    program: str


_SOURCES = {
    "ptxas": _Source({12: "nvidia-cuda-nvcc-cu12", 0: "nvidia-cuda-nvcc"}, "/bin/ptxas"),
}


def add(requirement: str, settings: Settings) -> Tool:
    """Put a version of a compiler beside the others, through pip.

    Args:
        requirement: Such as ``ptxas==13.3.73``.
        settings: Says where the cache is.

    Raises:
        UsageError: The requirement is not of that form, or of an unknown kind.
        ToolchainError: pip, the index or the disk did not do it; the message says which.
    """
    kind, version, major = _parse(requirement)
    source = _SOURCES[kind]
    folder = added_folder(settings) / f"{kind}-{version}"
    there = _identify(settings, folder)
    if there:
        return there
    package = source.packages.get(major, source.packages[0])
    try:
        with _workplace(added_folder(settings)) as work:
            wheel = _download(f"{package}=={version}", work / "wheel")
            ready = work / folder.name
            _keep(wheel, ready, source.program)
            _move(ready, folder, settings)
    except OSError as error:
        raise ToolchainError(f"{added_folder(settings)}: {error.strerror or error}") from None
    tool = _identify(settings, folder)
    if tool is None or tool.version != version:
        _discard(folder)
        got = tool.name if tool else "a program that does not run here"
        raise ToolchainError(f"{package}=={version} holds {got}, not {kind} {version}")
    return tool


def added(settings: Settings) -> tuple[Tool, ...]:
    """Every compiler that was added and still works."""
    try:
        folders = sorted(added_folder(settings).iterdir())
    except OSError:
        return ()
    tools = [_identify(settings, folder) for folder in folders if _NAME.fullmatch(folder.name)]
    return tuple(tool for tool in tools if tool)


def remove(name: str, settings: Settings) -> None:
    """Remove a compiler that was added, by a name such as ``ptxas==13.3.73``.

    Raises:
        UsageError: No such compiler was added.
        ToolchainError: It cannot be removed.
    """
    found = _NAME.fullmatch(name)
    folder = added_folder(settings) / (f"{found[1]}-{found[2]}" if found else "")
    if not found or not folder.is_dir():
        names = ", ".join(f"{tool.kind}=={tool.version}" for tool in added(settings)) or "none"
        raise UsageError(f"{name!r} was not added (added: {names})")
    try:
        _discard(folder)
    except OSError as error:
        raise ToolchainError(f"{folder}: {error.strerror or error}") from None


def _parse(requirement: str) -> tuple[str, str, int]:
    found = _REQUIREMENT.fullmatch(requirement)
    if not found:
        raise UsageError(f"{requirement!r} is no requirement such as ptxas==13.3.73")
    kind, version, major = found[1], found[2], int(found[3])
    if kind not in _SOURCES:
        raise UsageError(f"{kind} cannot be added; these can: {', '.join(sorted(_SOURCES))}")
    if major < _OLDEST_MAJOR:
        raise UsageError(f"{kind} {version} is too old; Burnish works with 12.4 and later")
    return kind, version, major


def _identify(settings: Settings, folder: Path) -> Tool | None:
    kind = folder.name.partition("-")[0]
    return identify(settings, Place(kind, folder / kind, "added"))


def _download(requirement: str, into: Path) -> Path:
    options = ["--no-deps", "--only-binary=:all:", "--retries=2", "--timeout=20", "--no-input"]
    quiet = ["--disable-pip-version-check", "--progress-bar=off"]
    argv = [sys.executable, "-P", "-m", "pip", "download", *options, *quiet]
    outcome = run([*argv, "--dest", str(into), requirement], limits=_LIMITS)
    wheels = sorted(into.glob("*.whl")) if outcome.ok else []
    if not wheels:
        raise ToolchainError(_why(requirement, outcome))
    return wheels[0]


def _why(requirement: str, outcome: Outcome) -> str:
    """Say in one line why pip got nothing."""
    said = (outcome.stdout + outcome.stderr).decode(errors="replace")
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if outcome.end is End.TIMEOUT:
        return f"{requirement}: pip did not end within {_LIMITS.wall_s:g} s; try again"
    if "No module named pip" in said or outcome.end is End.MISSING:
        return f"{requirement}: {sys.executable} has no pip; try: {sys.executable} -m ensurepip"
    last = lines[-1] if lines else f"pip ended with code {outcome.code}"
    if _NO_INDEX.search(said):
        return f"{requirement}: the package index cannot be reached ({last})"
    versions = _VERSIONS.search(said)
    if versions:
        releases = filter(_RELEASE.fullmatch, versions[1].replace(" ", "").split(","))
        return f"{requirement} does not exist; there are: {', '.join(releases)}"
    return f"{requirement}: pip says: {last}"


def _keep(wheel: Path, into: Path, program: str) -> None:
    """Take the program and the licence out of a wheel."""
    from zipfile import BadZipFile, ZipFile

    into.mkdir()
    try:
        with ZipFile(wheel) as archive:
            for name in filter(partial(_is_kept, program), archive.namelist()):
                target = into / PurePosixPath(name).name
                target.write_bytes(archive.read(name))
                target.chmod(0o755 if f"/{name}".endswith(program) else 0o644)
    except BadZipFile:
        raise ToolchainError(f"{wheel.name} is damaged; try again") from None
    if not (into / PurePosixPath(program).name).exists():
        raise ToolchainError(f"{wheel.name} holds no {program.lstrip('/')}")


def _is_kept(program: str, name: str) -> bool:
    is_licence = PurePosixPath(name).stem.lower() in {"licence", "license"}
    return f"/{name}".endswith(program) or (".dist-info/" in name and is_licence)


def _move(ready: Path, folder: Path, settings: Settings) -> None:
    """Put a folder in place in one step; another process may have been first."""
    try:
        ready.rename(folder)
    except OSError:
        if _identify(settings, folder):
            return
        if folder.exists():  # a broken one
            _discard(folder)
        ready.rename(folder)


@contextmanager
def _workplace(parent: Path) -> Iterator[Path]:
    """A folder of our own beside the place, gone afterwards; clears what killed ones left."""
    parent.mkdir(parents=True, exist_ok=True)
    stale_ns = time.time_ns() - _STALE_S * 1_000_000_000
    for left in parent.glob(f"{_TEMPORARY}*"):
        if left.stat().st_mtime_ns < stale_ns:
            _discard(left)
    work = parent / f"{_TEMPORARY}{os.getpid()}-{time.time_ns()}"
    work.mkdir()
    try:
        yield work
    finally:
        _discard(work)


def _discard(folder: Path) -> None:
    """Remove a folder; it is out of its place in one step."""
    import shutil

    aside = folder.with_name(f"{_TEMPORARY}gone-{os.getpid()}-{time.time_ns()}")
    folder.rename(aside)
    shutil.rmtree(aside)
