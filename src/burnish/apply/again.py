"""The first thing that a shim starts: a build that was done before is done again from memory.

To load all that a new build needs takes Python longer than ptxas needs for a small kernel. So what
came of a build is kept (in the compile cache's form, under ``applied``) by all that it depends on:
the command line, the contents of the files on it, the shelf, the real ptxas, what the user allows.
A build that anything was wrong with is never kept: it is thought through, and warned about, again.
"""

# ruff: noqa: PTH113, PTH116, PTH118, PTH123
# This loads little more than Python has loaded anyway; pathlib alone would cost 8 ms.

import hashlib
import os

from burnish import __version__
from burnish.apply.deliver import deliver, print_messages

__all__ = ["FOLDER", "Memory", "main"]

FOLDER = "applied"

_MAGIC = b"burnish1"  # as burnish.toolchain.cache writes it, which is too much to load
_CHECK_BYTES = 16
_MOST_BYTES = 256 << 20
_OUTPUT = ("-o", "--output-file")
_OPTIONS_FILE = ("-optf", "--options-file")
_FIELDS = 3
_STANDARD_OUTPUT = "elf.o"  # ptxas's own


class Memory:
    """What is known of builds like this one.

    The names of files do not count, only what is in them: nvcc and Triton call theirs otherwise
    every time.

    Attributes:
        output: The file to write.
    """

    def __init__(self, depends_on: list[str], argv: list[str]) -> None:
        """Take what a shim says: the real ptxas, shelf, allowed risks, strictness, cache."""
        self.output = _STANDARD_OUTPUT
        self._depends_on = depends_on
        self._argv = argv
        self._inputs: list[str] = []
        self._key = self._digest()

    def recall(self) -> tuple[bytes, bytes, bytes] | None:
        """Standard output, errors and image; an empty image where the plain build is to be done.

        None where nothing is known.
        """
        if not self._key:
            return None
        try:
            with open(self._path(), "rb") as stream:
                entry = stream.read()
        except OSError:
            return None
        head, record = entry[: len(_MAGIC) + _CHECK_BYTES], entry[len(_MAGIC) + _CHECK_BYTES :]
        if head != _MAGIC + hashlib.sha256(record).digest()[:_CHECK_BYTES]:
            return None
        parts = _parts(record)
        if parts is None:
            return None
        stdout, stderr, image = parts
        return self._named(stdout, back=True), self._named(stderr, back=True), image

    def keep(self, stdout: bytes, stderr: bytes, image: bytes) -> None:
        """Remember, unless something was changed since the build began."""
        if not self._key or self._key != self._digest():
            return
        from pathlib import Path

        from burnish.toolchain.cache import CompileCache

        parts = (self._named(stdout), self._named(stderr), image)
        head = " ".join(str(len(part)) for part in parts)
        cache = CompileCache(Path(self._depends_on[-1], FOLDER), _MOST_BYTES)
        cache.put(self._key, b"\n".join([head.encode(), b"".join(parts)]))

    def _path(self) -> str:
        return os.path.join(self._depends_on[-1], FOLDER, self._key[:2], self._key[2:])

    def _named(self, said: bytes, *, back: bool = False) -> bytes:
        """Messages with numbers for the names of files, or the other way round."""
        for number, name in enumerate(self._inputs):
            pair = b"ptxas %b, line" % os.fsencode(name), b"ptxas \0%d, line" % number
            said = said.replace(*(reversed(pair) if back else pair))
        return said

    def _digest(self) -> str:
        """All that the build depends on; empty where that cannot be told."""
        real, shelf, *others = self._depends_on
        try:
            said = repr((__version__, _program(real), shelf, _shelf(shelf), others[:-1]))
            return hashlib.sha256((said + repr(self._words())).encode()).hexdigest()
        except (OSError, ValueError):
            return ""

    def _words(self) -> list[tuple[str, str]]:
        """The command line: of a file its content, of the output nothing.

        Raises:
            OSError: A file cannot be read.
            ValueError: Not all files that the build reads can be known.
        """
        self._inputs = []
        found: list[tuple[str, str]] = []
        words = iter(self._argv)
        for word in words:
            name, equals, value = word.partition("=")
            if word == "-" or name in _OPTIONS_FILE:
                raise ValueError(word)
            if name in _OUTPUT:
                self.output = value if equals else next(words, "")
            elif os.path.isfile(word):
                self._inputs.append(word)
                found.append(("", _content(word)))
            else:
                found.append((name + equals, _content(value) if os.path.isfile(value) else value))
        return found


def main(argv: list[str]) -> int:
    """Build from memory, or think; ``argv``: what `Memory` takes, ``--``, the command line."""
    split = argv.index("--")
    rest = argv[split + 1 :]
    memory = Memory(argv[:split], rest)
    known = memory.recall()
    if known is not None:
        stdout, stderr, image = known
        try:
            if not image:
                _become([argv[0], *rest])
            deliver(image, memory.output)
        except OSError:
            pass  # the long way ends in what there is to say of it
        else:
            print_messages(stdout, stderr)
            return 0
    from burnish.apply import ptxas

    return ptxas.main(rest, memory.keep)


def _become(argv: list[str]) -> None:
    """Become the real ptxas; process.replace does the same, but takes 30 ms to load."""
    import signal

    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python; a program must not inherit it
        signal.signal(ignored, signal.SIG_DFL)
    os.execv(argv[0], list(argv))  # noqa: S606 - no shell is what we want


def _parts(record: bytes) -> tuple[bytes, bytes, bytes] | None:
    head, _, rest = record.partition(b"\n")
    sizes = [int(size) for size in head.split()]
    if len(sizes) != _FIELDS or sum(sizes) != len(rest):
        return None
    ends = [sum(sizes[: number + 1]) for number in range(_FIELDS)]
    stdout, stderr, image = (rest[end - size : end] for size, end in zip(sizes, ends, strict=True))
    return stdout, stderr, image


def _content(name: str) -> str:
    with open(name, "rb") as stream:
        return hashlib.sha256(stream.read()).hexdigest()


def _program(path: str) -> tuple[str, int, int, int]:
    """A program as it is now; of a script nobody knows what it starts."""
    with open(path, "rb") as stream:
        if stream.read(4) != b"\x7fELF":
            raise ValueError(path)
        status = os.stat(stream.fileno())
    return path, status.st_size, status.st_mtime_ns, status.st_ino


def _shelf(folder: str) -> list[tuple[str, int, int, int]]:
    if not folder:
        return []
    with os.scandir(folder) as entries:
        files = [(entry.name, entry.stat()) for entry in entries if entry.name.endswith(".acf")]
    return sorted((name, it.st_size, it.st_mtime_ns, it.st_ino) for name, it in files)
