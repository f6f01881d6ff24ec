"""Results of compilers by content, on disk: shared by many processes, bounded in size.

An entry is written beside its place and moved there in one step, and carries a checksum: whatever
happens to a process or a disk, a reader gets what was put, or nothing. Nothing here raises for
what a disk does: a cache that cannot be used is an empty one.
"""

import hashlib
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

__all__ = ["CompileCache"]

_MAGIC = b"burnish1"
_CHECK_BYTES = 16
_HEAD_BYTES = len(_MAGIC) + _CHECK_BYTES
_TEMPORARY = ".new-"
_STALE_S = 3600  # a temporary file this old belongs to nobody
_KEPT_SHARE = 0.8  # of the bound, after old entries were dropped
_LOOKS = 16  # a process looks at the true size after it wrote this part of the bound

_numbers = count()


class CompileCache:
    """Bytes by key; the least recently used go first once the folder holds too much.

    Many processes may share a folder, and many threads an instance. For moments the folder may
    hold a sixteenth of the bound more for every process that writes.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._unseen_bytes = max_bytes  # written since the last look: look at the first put

    def get(self, key: str) -> bytes | None:
        """Return what was put under a key (hex digits), or None."""
        path = self._path(key)
        try:
            entry = path.read_bytes()
        except OSError:
            return None
        payload = entry[_HEAD_BYTES:]
        if entry[:_HEAD_BYTES] != _head(payload):
            _remove(path)
            return None
        try:
            os.utime(path)
        except OSError:  # dropped by another process just now, or not ours
            return payload
        return payload

    def put(self, key: str, payload: bytes) -> None:
        """Keep bytes under a key, as long as there is room."""
        if len(payload) > self._max_bytes // _LOOKS:
            return  # one entry would push out too many others
        path = self._path(key)
        beside = path.with_name(f"{_TEMPORARY}{os.getpid()}-{next(_numbers)}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(_head(payload) + payload)
            beside.replace(path)
        except OSError:
            _remove(beside)
            return
        self._account(_HEAD_BYTES + len(payload))

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key[2:]

    def _account(self, size: int) -> None:
        with self._lock:
            self._unseen_bytes += size
            if self._unseen_bytes * _LOOKS < self._max_bytes:
                return
            self._unseen_bytes = 0
        self._trim()

    def _trim(self) -> None:
        entries = sorted(self._entries(), key=lambda entry: entry.used_ns)
        held = sum(entry.size for entry in entries)
        if held <= self._max_bytes:
            return
        for entry in entries:
            if held <= self._max_bytes * _KEPT_SHARE:
                return
            _remove(entry.path)
            held -= entry.size

    def _entries(self) -> Iterator["_Entry"]:
        stale_ns = time.time_ns() - _STALE_S * 1_000_000_000
        for folder in _list(self._folder):
            for file in _list(folder.path):
                entry = _look(file)
                if entry is None:
                    continue
                if not file.name.startswith(_TEMPORARY):
                    yield entry
                elif entry.used_ns < stale_ns:
                    _remove(entry.path)


@dataclass(frozen=True, slots=True)
class _Entry:
    path: Path
    size: int
    used_ns: int


def _head(payload: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(payload).digest()[:_CHECK_BYTES]


def _list(folder: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _look(file: os.DirEntry[str]) -> _Entry | None:
    try:
        status = file.stat(follow_symlinks=False)
    except OSError:
        return None
    return _Entry(Path(file.path), status.st_size, status.st_mtime_ns)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
