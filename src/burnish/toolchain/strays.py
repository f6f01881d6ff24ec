"""Find and end processes that left their process group but still belong to one of our children.

Every child carries a token in an environment variable, and holds the write end of a pipe. What a
child starts inherits both; a process that keeps either is found through ``/proc``.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["MARK", "end", "end_orphans", "find"]

MARK = "BURNISH_PROCESS"

_PAUSE_S = 0.005


def find(token: bytes, pipes: frozenset[int] = frozenset()) -> list[int]:
    """Return the pids that carry the token, or hold one of the pipes (inode numbers)."""
    mine = os.getpid()
    return [pid for pid in _pids() if pid != mine and (_marked(pid, token) or _holds(pid, pipes))]


def end(token: bytes, pipes: frozenset[int], within_s: float) -> bool:
    """Kill what `find` finds, again and again until nothing is found or time is up.

    Returns:
        Whether nothing is left.
    """
    deadline = time.perf_counter() + within_s
    while found := find(token, pipes):
        for pid in found:
            _kill(pid)
        if time.perf_counter() > deadline:
            return False
        time.sleep(_PAUSE_S)
    return True


def end_orphans() -> int:
    """Kill what was started by a process that is gone: one that was killed in mid-study.

    Returns:
        How many processes were killed.
    """
    orphans = [pid for pid in _pids() if _is_orphan(pid)]
    for pid in orphans:
        _kill(pid)
    return len(orphans)


def _is_orphan(pid: int) -> bool:
    owner = _owner(pid)
    if not owner or Path("/proc", owner).exists():
        return False
    # Pids mean something else in a container, whose processes its host sees too.
    return _target(Path(f"/proc/{pid}/ns/pid")) == _target(Path("/proc/self/ns/pid"))


def _pids() -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            yield int(folder.name)


def _tokens(pid: int) -> list[bytes]:
    """The tokens of a process, the outermost first; a zombie has none."""
    try:
        said = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # gone, or another user's
        return []
    mark = MARK.encode() + b"="
    values = said.split(b"\0") if mark in said else []
    marked = [value.removeprefix(mark) for value in values if value.startswith(mark)]
    return [token for value in marked for token in value.split(b":") if token]


def _marked(pid: int, token: bytes) -> bool:
    return token in _tokens(pid)


def _owner(pid: int) -> str:
    """Pid of the process that started a process through us; empty where none did."""
    tokens = _tokens(pid)
    owner = tokens[-1].partition(b".")[0].decode("ascii", "replace") if tokens else ""
    return owner if owner.isdigit() else ""


def _holds(pid: int, pipes: frozenset[int]) -> bool:
    if not pipes:
        return False
    names = {f"pipe:[{inode}]" for inode in pipes}
    try:
        return any(_target(link) in names for link in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return
