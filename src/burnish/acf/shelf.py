"""The shelf: a folder of ACFs in which builds and programs look tuned results up."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from burnish.acf.model import Acf, Tuned
from burnish.acf.read import MOST_FILE_BYTES, load_bytes
from burnish.errors import AcfError

__all__ = ["Found", "Shelf"]

_SUFFIX = ".acf"
_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Found:
    """A tuned block and the file that it comes from."""

    path: Path
    tuned: Tuned


@dataclass(slots=True)
class _Volume:
    """What is known of one file.

    Attributes:
        stamp: Inode, size and time of what was read.
        names: Keys and entries in it; empty where it must be parsed to know.
        data: Its bytes, until it is parsed.
        acf: What it says, once it was parsed; None where it is bad.
    """

    stamp: _Stamp
    names: frozenset[str]
    data: bytes | None
    acf: Acf | None = None


class Shelf:
    """A folder of ACFs. Files may come, go and change at any time; the index is in memory only.

    Files count in the order of their names, blocks in the order of the file. A bad file is
    as good as none, and warned about once.
    """

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        self._folder = folder
        self._warn = warn
        self._volumes: dict[str, _Volume] = {}
        self._warned: set[str] = set()

    def find(self, key: str, arch: str, compiler: str, options: tuple[str, ...]) -> Tuned | None:
        """The first block for that plain build that is for every shape of launch."""
        matches = [
            found for found in self.variants(key, arch, compiler, options) if not found.tuned.shapes
        ]
        for other in matches[1:]:
            if other.tuned.code != matches[0].tuned.code:
                first = matches[0].path.name
                self._once(f"{other.path}: {other.tuned.entry}: {first} has it too, and is taken")
        return matches[0].tuned if matches else None

    def variants(
        self, key: str, arch: str, compiler: str, options: tuple[str, ...]
    ) -> tuple[Found, ...]:
        """Every block for that plain build, whatever its shapes, the first to be preferred."""
        wanted = (key, arch, compiler, options)
        return tuple(found for found in self.about(key) if _plain_build(found.tuned) == wanted)

    def about(self, *names: str) -> tuple[Found, ...]:
        """Every block with one of these keys or entries."""
        wanted = set(names)
        found: list[Found] = []
        for path, volume in self._current():
            if volume.names and not volume.names & wanted:
                continue
            acf = self._parsed(path, volume)
            blocks = acf.tuned if acf else ()
            found += [Found(path, tuned) for tuned in blocks if wanted & {tuned.key, tuned.entry}]
        return tuple(found)

    def digest(self) -> str:
        """SHA-256 over the names and contents of all files."""
        import hashlib

        total = hashlib.sha256()
        for name, _ in self._files():
            data = _bytes_of(self._folder / name) or b""
            total.update(f"{name}\0{hashlib.sha256(data).hexdigest()}\n".encode())
        return total.hexdigest()

    def _current(self) -> Iterator[tuple[Path, _Volume]]:
        files = self._files()
        for gone in self._volumes.keys() - dict(files).keys():
            del self._volumes[gone]
        for name, stamp in files:
            path = self._folder / name
            volume = self._volumes.get(name)
            if volume is None or volume.stamp != stamp:
                data = _bytes_of(path)
                if data is None:  # gone again, or not ours to read
                    continue
                volume = self._volumes[name] = _Volume(stamp, _names_in(data), data)
            yield path, volume

    def _files(self) -> list[tuple[str, _Stamp]]:
        try:
            with os.scandir(self._folder) as entries:
                return sorted(
                    (entry.name, _stamp(entry)) for entry in entries if entry.name.endswith(_SUFFIX)
                )
        except FileNotFoundError:
            self._once(f"{self._folder}: there is no such shelf (BURNISH_SHELF)")
            return []
        except OSError as error:
            self._once(f"{self._folder}: the shelf cannot be read: {error.strerror}")
            return []

    def _parsed(self, path: Path, volume: _Volume) -> Acf | None:
        data, volume.data = volume.data, None
        if data is None:
            return volume.acf
        try:
            acf = load_bytes(data, str(path))
        except AcfError as error:
            self._once(str(error))
            return None
        if acf.strict:
            self._once(f"{path}: strict files are for objectives, not for a shelf")
            return None
        volume.acf = acf
        return acf

    def _once(self, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            self._warn(message)


def _plain_build(tuned: Tuned) -> tuple[str, str, str, tuple[str, ...]]:
    return tuned.key, tuned.arch, tuned.baseline_compiler, tuned.baseline_options


def _stamp(entry: os.DirEntry[str]) -> _Stamp:
    try:
        status = entry.stat()
    except OSError:  # it went while it was looked at, or is a link to nothing
        return 0, 0, 0
    return status.st_ino, status.st_size, status.st_mtime_ns


def _bytes_of(path: Path) -> bytes | None:
    try:
        if not path.is_file():  # opening a pipe could wait for ever
            return None
        with path.open("rb") as stream:
            return stream.read(MOST_FILE_BYTES + 1)
    except OSError:
        return None


def _names_in(data: bytes) -> frozenset[str]:
    """Keys and entries as they are usually written; a cheap look, so that most need no parser."""
    names: set[str] = set()
    for line in data.splitlines():
        word, _, value = line.partition(b"=")
        if len(word) < len(line) and word.strip() in {b"key", b"entry"}:
            names.add(value.strip().strip(b"\"'").decode(errors="replace"))
    return frozenset(names)
