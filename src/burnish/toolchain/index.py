"""What is known of the programs on this machine, so that none is asked twice.

A text file in the cache: one program a line, found again by path, size, time of change and
inode. It can be deleted at any time.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Index", "Known"]

_HEAD = "burnish-programs/1"
_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class Known:
    """What a program said of itself.

    Attributes:
        version: Empty where it is no such compiler.
        sha256: Digest of the program that runs.
        path: The program itself, where the file is a link to it.
    """

    version: str
    sha256: str
    path: str


class Index:
    """Programs by kind and file. Many processes may use one file; the last writer wins."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._news: dict[str, str] = {}
        self._known = _read(path)

    def get(self, kind: str, path: Path) -> Known | None:
        """What is known of a file as it is now."""
        key = _key(kind, path)
        values = self._known.get(key, "").split("\t") if key else []
        return Known(*values) if len(values) == len(Known.__slots__) else None

    def put(self, kind: str, path: Path, known: Known) -> None:
        """Remember; `save` makes it last."""
        key = _key(kind, path)
        if key and _fits(known.path):
            self._news[key] = f"{known.version}\t{known.sha256}\t{known.path}"

    def save(self) -> None:
        """Write what is new, in one step; a cache that cannot be written is no error."""
        if not self._news:
            return
        self._known = _read(self._path) | self._news
        self._news = {}
        lines = [_HEAD, *(f"{key}\t{values}" for key, values in sorted(self._known.items()))]
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}-{id(self)}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text("\n".join(lines) + "\n")
            beside.replace(self._path)
        except OSError:
            with suppress(OSError):
                beside.unlink()


def _read(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    if lines[:1] != [_HEAD]:
        return {}
    known = {}
    for line in lines[1:]:
        columns = line.split("\t")
        if len(columns) == _COLUMNS:
            known["\t".join(columns[:5])] = "\t".join(columns[5:])
    return known


def _key(kind: str, path: Path) -> str:
    """The file as it is now; empty where it is gone or its name does not fit in a line."""
    try:
        status = path.stat()
    except OSError:
        return ""
    if not _fits(str(path)):
        return ""
    return f"{kind}\t{path}\t{status.st_size}\t{status.st_mtime_ns}\t{status.st_ino}"


def _fits(path: str) -> bool:
    """Whether a name can be a column of the file."""
    return path.isprintable() and path.isascii()
