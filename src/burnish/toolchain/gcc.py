"""C to shared libraries by gcc, whatever gcc does.

A kernel is preprocessed once, with the plain build's options, and that text is what is tuned: it
depends on no other file, and no option that is tuned changes what it says. It is compiled to an
object file, whose digest tells whether the code is known already, and linked to a shared library
only to be run. The link gets none of the options: ``-ffast-math`` there would change the
floating-point mode of the process that loads the library.
"""

import hashlib
import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from burnish.errors import KernelError, ToolchainError
from burnish.model.binary import Binary, Facts
from burnish.model.toolchain import Tool
from burnish.model.trial import Status
from burnish.toolchain.folder import own_folder
from burnish.toolchain.gcc_object import code_bytes, functions, object_digest
from burnish.toolchain.process import STANDARD, End, Limits, Outcome, run
from burnish.toolchain.ptxas import Refusal

__all__ = ["Gcc", "Object", "option_help", "option_states", "source_key"]

_SOURCE, _OBJECT, _LIBRARY = "kernel.i", "kernel.o", "kernel.so"
_COMPILE = ("-fPIC", "-pipe", "-w", "-c", _SOURCE, "-o", _OBJECT)
# Symbolic: a kernel's own functions are its own, whatever the program around it has.
_LINK = ("-shared", "-fno-lto", "-Wl,-Bsymbolic", "-Wl,--build-id=none", "-o", _LIBRARY, _OBJECT)
_TOPICS = ("--help=optimizers", "--help=params", "--help=target")
_MOST_BYTES = 64 << 20  # of preprocessed text
_MESSAGE = 2000
_ERROR = re.compile(r"^(?:\S+?:(\d+):(?:\d+:)? |\S+: )?(?:fatal )?error: (.+)$", re.MULTILINE)
_CRASH = re.compile(r"internal compiler error|terminated program|[Cc]annot allocate|out of memory")
_FULL = re.compile(r"No space left on device")


@dataclass(frozen=True, slots=True)
class Object:
    """A compiled kernel, not linked yet.

    Attributes:
        data: The object file.
        digest: Of its code; see `gcc_object.object_digest`.
        facts: Its size; gcc says nothing of registers.
        functions: Names of the functions that it offers.
        cpu_ms: CPU time of the compile.
        wall_ms: Time of the compile.
    """

    data: bytes
    digest: str
    facts: Facts
    functions: tuple[str, ...]
    cpu_ms: float
    wall_ms: float


class Gcc:
    """A gcc that is ready to work. Safe to use from many threads.

    Args:
        tool: The gcc.
        folder: Holds a folder with a call's files for as long as the call takes.
        limits: What a call may use.
    """

    def __init__(self, tool: Tool, folder: Path, limits: Limits = STANDARD) -> None:
        self.tool = tool
        self._folder = folder
        self._limits = limits

    def within(self, wall_s: float) -> "Gcc":
        """The same gcc, with that much time for one call."""
        return Gcc(self.tool, self._folder, replace(self._limits, wall_s=wall_s))

    def preprocess(self, source: Path, options: Sequence[str]) -> str:
        """The text that the compiler proper sees, without file names and line numbers.

        Args:
            source: A C file.
            options: All of the plain build: they define macros, too.

        Raises:
            KernelError: gcc refuses it.
        """
        limits = Limits(self._limits.wall_s, self._limits.memory_bytes, _MOST_BYTES)
        with self._own_folder() as own:
            argv = [*_start(self.tool, own), "-E", "-P", *options, "-x", "c", str(source)]
            outcome = run(argv, limits=limits)
        refusal = _refusal(outcome, limits)
        if refusal:
            raise KernelError(f"{source}: {refusal.message}")
        return outcome.stdout.decode("utf-8", "surrogateescape")

    def compile(self, text: str, options: Sequence[str]) -> Object | Refusal:
        """Compile preprocessed text. The same text and options give the same object.

        Raises:
            ToolchainError: The folder cannot be written, or its disk is full.
        """
        with self._own_folder() as own:
            Path(own, _SOURCE).write_bytes(text.encode("utf-8", "surrogateescape"))
            argv = [*_start(self.tool, own), *options, *_COMPILE]
            outcome = run(argv, limits=self._limits, cwd=own)
            refusal = _refusal(outcome, self._limits)
            data = b"" if refusal else _read(own / _OBJECT)
        return refusal or _object(data, outcome)

    def link(self, compiled: Object, options: Sequence[str]) -> bytes | Refusal:
        """Link an object file to a shared library. Of the options, only libraries matter."""
        with self._own_folder() as own:
            Path(own, _OBJECT).write_bytes(compiled.data)
            libraries = [one for one in options if one.startswith("-fopenmp")]
            argv = [*_start(self.tool, own), *_LINK, *libraries, "-lm"]
            outcome = run(argv, limits=self._limits, cwd=own)
            refusal = _refusal(outcome, self._limits)
            data = b"" if refusal else _read(own / _LIBRARY)
        return refusal or data

    def build(self, text: str, options: Sequence[str]) -> Binary | Refusal:
        """Compile and link."""
        compiled = self.compile(text, options)
        if isinstance(compiled, Refusal):
            return compiled
        library = self.link(compiled, options)
        if isinstance(library, Refusal):
            return library
        return Binary(compiled.digest, compiled.facts, library)

    @contextmanager
    def _own_folder(self) -> Iterator[Path]:
        try:
            with own_folder(self._folder, parents=True) as own:
                yield own
        except OSError as error:
            raise ToolchainError(
                f"{self._folder}: {error.strerror}; compiling needs a folder to write in (TMPDIR)"
            ) from None


def source_key(text: str, entry: str) -> str:
    """What a controls file finds a C kernel by: ``c:`` and a digest of text and function.

    Args:
        text: Preprocessed text.
        entry: The function that was tuned.
    """
    whole = f"{entry}\0{text}".encode("utf-8", "surrogateescape")
    return f"c:{hashlib.sha256(whole).hexdigest()}"


@cache
def option_help(tool: Tool) -> str:
    """What gcc says about its optimisation, parameter and target options: their meanings."""
    return _ask(tool, _TOPICS)


@cache
def option_states(tool: Tool, options: tuple[str, ...]) -> str:
    """The same list, with the state of each option after some options."""
    return _ask(tool, (*options, "-Q", *_TOPICS))


def _ask(tool: Tool, argv: Sequence[str]) -> str:
    outcome = run([str(tool.path), *argv], limits=Limits(output_bytes=1 << 22))
    if not outcome.ok:
        said = outcome.stderr.decode(errors="replace").strip()
        raise ToolchainError(f"{tool.name} ({tool.path}) does not list its options: {said}")
    return outcome.stdout.decode(errors="replace")


def _start(tool: Tool, own: Path) -> list[str]:
    # Through env(1): gcc leaves files in TMPDIR when it is killed, and says errors in the
    # user's language.
    return ["/usr/bin/env", f"TMPDIR={own}", "LC_ALL=C", str(tool.path)]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _object(data: bytes, outcome: Outcome) -> Object | Refusal:
    try:
        facts = Facts(0, 0, 0, 0, code_bytes(data), 0)
        found = object_digest(data), facts, functions(data)
    except KernelError as error:
        return Refusal(Status.COMPILE_CRASH, f"half an output: {len(data)} bytes; {error}")
    return Object(data, *found, outcome.cpu_ms, outcome.wall_ms)


def _refusal(outcome: Outcome, limits: Limits) -> Refusal | None:
    if outcome.ok:
        return None
    said = outcome.stderr.decode(errors="replace")
    if _FULL.search(said):
        raise ToolchainError("gcc: no space left on the disk; make room there (TMPDIR)")
    if outcome.end is End.TIMEOUT:
        return Refusal(Status.COMPILE_TIMEOUT, f"no end after {limits.wall_s:g} s")
    if outcome.end is End.OUTPUT:
        words = f"stopped: it printed more than {limits.output_bytes} bytes"
        return Refusal(Status.COMPILE_CRASH, words)
    if outcome.end is End.SIGNALLED:
        return Refusal(Status.COMPILE_CRASH, f"ended by {signal.Signals(outcome.code).name}")
    if outcome.end is End.MISSING:
        return Refusal(Status.COMPILE_CRASH, f"could not be started: {said.strip()}"[:_MESSAGE])
    status = Status.COMPILE_CRASH if _CRASH.search(said) else Status.REFUSED
    return Refusal(status, _first_error(said) or f"exit code {outcome.code}, without a word")


def _first_error(said: str) -> str:
    found = _ERROR.search(said)
    if found:
        where = f"line {found[1]}: " if found[1] else ""
        return f"{where}{found[2].strip()}"[:_MESSAGE]
    return next((line.strip() for line in said.splitlines() if line.strip()), "")[:_MESSAGE]
