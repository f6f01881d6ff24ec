"""PTX to machine code by ptxas, whatever ptxas does: the hot path of a search."""

import os
import re
import signal
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from burnish.errors import ToolchainError
from burnish.model.code import Code
from burnish.model.toolchain import Tool
from burnish.toolchain.folder import own_folder
from burnish.toolchain.process import STANDARD, End, Limits, Outcome, run

if TYPE_CHECKING:
    # Not loaded with this module: a build that applies a result must start fast, and what a
    # trial is made of takes a third of its imports. It is loaded with the first refusal.
    from burnish.model.trial import Status

__all__ = ["Assembled", "Refusal", "assemble"]

_MESSAGE = 2000  # characters of a message that are kept
_NOT_FULL_BLOCKS = 1
# Patterns are text: re compiles one when it is first used, which most processes never do.
_ADVISORY = r"\(C75\d\d\).*"
_ERROR = r"(?m)^ptxas\b(?:.*?, (line \d+);)?.*?\b(?:error|fatal)\s*:\s*(.+)$"
_OF_MACHINE = r"could not be opened|[Ff]ailed to write|[Oo]ut of memory|bad_alloc"
_TOO_NEW = r"Unsupported \.version [\d.]+; current version is '(\d+)\.(\d+)'"
_VERSION = r"(?m)^(\s*\.version\s+)(\d+)\.(\d+)"
_TIMING = r"(?m)^ptxas info\s*: Compile time = .*\n?"

_newest: dict[str, tuple[int, int]] = {}  # PTX version that a ptxas, by digest, ends at


@dataclass(frozen=True, slots=True)
class Assembled:
    """What ptxas made.

    Attributes:
        cubin: The whole output file.
        spills: Function to bytes that a thread stores to and loads from spill slots.
        messages: What ptxas printed, its own timing left out.
        advisories: Advisories C75xx: an optimisation that ptxas gave up.
        cpu_ms: CPU time of ptxas.
        wall_ms: Time from start to end.
    """

    cubin: bytes
    spills: Mapping[str, int]
    messages: str
    advisories: tuple[str, ...]
    cpu_ms: float
    wall_ms: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no machine code.

    Attributes:
        status: REFUSED (it will say so again), COMPILE_TIMEOUT or COMPILE_CRASH.
        message: The first thing that matters of what it said, on one line.
    """

    status: "Status"
    message: str


def assemble(  # noqa: PLR0913 - a compile has six parts, and all of them vary
    tool: Tool, ptx: str, code: Code, arch: str, *, folder: Path, limits: Limits = STANDARD
) -> Assembled | Refusal:
    """Assemble PTX. Safe to call from many threads; the same input gives the same bytes.

    PTX that is newer than the tool gets the tool's newest ``.version``; it may still be refused.

    Args:
        tool: The ptxas.
        ptx: The module. ``code.ptx`` is not looked at.
        code: Options, and NVIDIA's own controls file where there is one.
        arch: Such as ``sm_90a``.
        folder: Holds a folder with this call's files for as long as the call takes.
        limits: What ptxas may use.

    Raises:
        ToolchainError: The folder cannot be written, or its disk is full.
    """
    argv = [str(tool.path), f"--gpu-name={arch}", *code.options, "--verbose"]
    if code.opaque:
        argv.append(f"--apply-controls={_CONTROLS}")
    argv += ["--output-file", _OUTPUT, _INPUT]
    work = _Work(tool, argv, code.opaque, folder, limits)
    text = _lowered(ptx, _newest.get(tool.sha256))
    outcome, cubin = work.run(text)
    too_new = None if outcome.ok else re.search(_TOO_NEW, _text(outcome.stderr))
    if too_new:
        _newest[tool.sha256] = (int(too_new[1]), int(too_new[2]))
        text = _lowered(ptx, _newest[tool.sha256])
        outcome, cubin = work.run(text)
    result = _judge(outcome, cubin, limits)
    if isinstance(result, Refusal) and text is not ptx:
        return Refusal(result.status, f"{result.message} (PTX version lowered for {tool.name})")
    return result


# Names without a folder: ptxas writes its command line into some cubins, and file names into
# its messages, and neither may differ from run to run.
_INPUT = "kernel.ptx"
_OUTPUT = "kernel.cubin"
_CONTROLS = "controls.acf"


@dataclass(frozen=True, slots=True)
class _Work:
    tool: Tool
    argv: list[str]
    opaque: bytes
    folder: Path
    limits: Limits

    def run(self, text: str) -> tuple[Outcome, bytes]:
        """Run ptxas in a folder of its own; return what it wrote, if anything."""
        try:
            with own_folder(self.folder, parents=True) as own:
                Path(own, _INPUT).write_bytes(text.encode("utf-8", "surrogateescape"))
                if self.opaque:
                    Path(own, _CONTROLS).write_bytes(self.opaque)
                outcome = run(self.argv, limits=self.limits, cwd=own)
                cubin = _read(own / _OUTPUT) if outcome.ok else b""
        except OSError as error:
            raise ToolchainError(
                f"{self.folder}: {error.strerror}; compiling needs a folder to write in (TMPDIR)"
            ) from None
        if not cubin and _is_full(self.folder):
            raise ToolchainError(f"{self.folder}: no space left on its disk; make room there")
        return outcome, cubin


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        return b""


def _is_full(folder: Path) -> bool:
    return os.statvfs(folder).f_bavail < _NOT_FULL_BLOCKS


def _judge(outcome: Outcome, cubin: bytes, limits: Limits) -> Assembled | Refusal:
    said = _text(outcome.stdout) + _text(outcome.stderr)
    if "Compile time" in said:
        said = re.sub(_TIMING, "", said)
    if not outcome.ok or not _is_whole(cubin):
        return _refusal(outcome, said, len(cubin), limits)
    return Assembled(
        cubin=cubin,
        spills=dict(_spills(said)),
        messages=said,
        advisories=tuple(re.findall(_ADVISORY, said)) if "(C75" in said else (),
        cpu_ms=outcome.cpu_ms,
        wall_ms=outcome.wall_ms,
    )


def _spills(said: str) -> Iterator[tuple[str, int]]:
    """Read lines such as ``8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads``."""
    name = ""
    for line in said.splitlines():
        _, marked, function = line.partition("Function properties for ")
        if marked:
            name = function.strip()
        elif name and "bytes spill stores" in line:
            words = line.split()
            yield name, int(words[words.index("stores,") - 3]) + int(words[-4])


def _refusal(outcome: Outcome, said: str, written_bytes: int, limits: Limits) -> Refusal:
    from burnish.model.trial import Status

    crash = Status.COMPILE_CRASH
    if outcome.ok:
        return Refusal(crash, f"half an output: {written_bytes} bytes, not an ELF file")
    if outcome.end is End.TIMEOUT:
        return Refusal(Status.COMPILE_TIMEOUT, f"no end after {limits.wall_s:g} s")
    if outcome.end is End.OUTPUT:
        return Refusal(crash, f"stopped: it printed more than {limits.output_bytes} bytes")
    if outcome.end is End.SIGNALLED:
        return Refusal(crash, _bounded(f"ended by {_signal(outcome.code)}", said))
    if outcome.end is End.MISSING:
        return Refusal(crash, _bounded("could not be started", said))
    message = _first_error(said) or f"exit code {outcome.code}, without a word"
    return Refusal(crash if re.search(_OF_MACHINE, said) else Status.REFUSED, message)


def _bounded(how: str, said: str) -> str:
    why = _first_error(said)
    return f"{how}: {why}"[:_MESSAGE] if why else how


def _first_error(said: str) -> str:
    """The first error, or else the first line, without the compiler's name and file."""
    found = re.search(_ERROR, said)
    if found:
        where = f"{found[1]}: " if found[1] else ""
        return f"{where}{found[2].strip()}"[:_MESSAGE]
    return next((line.strip() for line in said.splitlines() if line.strip()), "")[:_MESSAGE]


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", "replace")


def _lowered(ptx: str, newest: tuple[int, int] | None) -> str:
    """The text itself, or with its version lowered to the newest that is understood."""
    found = re.search(_VERSION, ptx) if newest else None
    if newest is None or not found or (int(found[2]), int(found[3])) <= newest:
        return ptx
    return f"{ptx[: found.start()]}{found[1]}{newest[0]}.{newest[1]}{ptx[found.end() :]}"


_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")  # ELF64, little endian
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NOBITS = 8


def _is_whole(data: bytes) -> bool:
    """Whether an ELF file is there to its end: nothing that it names lies outside."""
    if len(data) < _HEADER.size or data[:6] != b"\x7fELF\x02\x01":
        return False
    *_, programs, sections, _, _, size, number, section_size, section_number, _ = (
        _HEADER.unpack_from(data)
    )
    if section_size != _SECTION.size or sections + section_number * section_size > len(data):
        return False
    if not section_number or programs + number * size > len(data):
        return False
    table = data[sections : sections + section_number * section_size]
    return all(
        kind == _NOBITS or offset + length <= len(data)
        for _, kind, _, _, offset, length, *_ in _SECTION.iter_unpack(table)
    )
