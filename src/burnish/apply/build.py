"""Builds what was chosen: tuned PTX, the named compiler, and proof that the right code came out."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.apply.choose import Pick, Unit
from burnish.errors import BurnishError, ToolchainError
from burnish.model.toolchain import Tool
from burnish.toolchain.folder import own_folder
from burnish.toolchain.options import Normal, command_line
from burnish.toolchain.process import End, Limits, Outcome, run

__all__ = ["Built", "build"]

# The largest kernels take ptxas minutes; what takes longer than this will not end.
LIMITS = Limits(wall_s=900.0, output_bytes=64 << 20)

_OUTPUT = "burnish.out"
_OPAQUE = "burnish.acf"
_JOBSERVER = "--jobserver"  # of a make whose pipe the compiler does not get from us
_TOO_NEW = re.compile(rb"Unsupported \.version [\d.]+; current version is '(\d+\.\d+)'")


@dataclass(frozen=True, slots=True)
class Built:
    """What the compiler made and said."""

    image: bytes
    stdout: bytes
    stderr: bytes


def build(
    tool: Tool, normal: Normal, units: Sequence[Unit], picks: Sequence[Pick], temporary: Path
) -> Built:
    """Build the units with the blocks that were picked, and check that it is the proven code.

    Args:
        tool: The compiler that the blocks name.
        normal: The plain command line: architecture, messages and entries are taken from it.
        units: The PTX files, in the order of the command line.
        picks: The blocks, at least one; all of them take the same way.
        temporary: Folder for the files of the call.

    Raises:
        BurnishError: Something does not work, or comes out differently; says what.
        OSError: The temporary files cannot be written.
    """
    texts = [_tuned_text(unit, picks) for unit in units]
    with own_folder(temporary) as folder:
        call = _Call(tool, normal, picks[0].found.tuned.code.options, folder)
        outcome = call.run(texts, picks[0].found.tuned.code.opaque)
        newest = _TOO_NEW.search(outcome.stderr)
        if newest:
            from burnish.ptx.replace import lower_version  # rarely needed

            texts = [lower_version(text, newest[1].decode()) for text in texts]
            outcome = call.run(texts, picks[0].found.tuned.code.opaque)
        _refuse_failure(tool, outcome, units)
        image = _image(tool, folder)
    _check(image, picks)
    return Built(image, _renamed(outcome.stdout, units), _renamed(outcome.stderr, units))


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of the compiler in a folder of its own, so that no name of it gets into the code."""

    tool: Tool
    normal: Normal
    options: tuple[str, ...]
    folder: Path

    def run(self, texts: Sequence[str], opaque: bytes) -> Outcome:
        names = [_name(number) for number in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            (self.folder / name).write_bytes(text.encode(errors="surrogateescape"))
        if opaque:
            (self.folder / _OPAQUE).write_bytes(opaque)
        normal = replace(
            self.normal,
            options=self.options,
            messages=tuple(it for it in self.normal.messages if it != _JOBSERVER),
            inputs=tuple(names),
            output=_OUTPUT,
            controls=(_OPAQUE,) if opaque else (),
        )
        return run([str(self.tool.path), *command_line(normal)], limits=LIMITS, cwd=self.folder)


def _tuned_text(unit: Unit, picks: Sequence[Pick]) -> str:
    text = unit.module.text
    for pick in picks:
        payload = pick.found.tuned.code.ptx
        if pick.unit is unit and payload:
            from burnish.ptx.replace import apply_payload  # not where only options change

            try:
                text = apply_payload(text, payload, pick.entry)
            except BurnishError as error:
                message = f"{pick.found.path}: {pick.entry}: the tuned PTX does not fit: {error}"
                raise ToolchainError(message) from None
    return text


def _refuse_failure(tool: Tool, outcome: Outcome, units: Sequence[Unit]) -> None:
    if outcome.ok:
        return
    if outcome.end is End.TIMEOUT:
        raise ToolchainError(f"{tool.name} did not end within {LIMITS.wall_s:g} s")
    if outcome.end is End.OUTPUT:
        raise ToolchainError(f"{tool.name} printed more than {LIMITS.output_bytes >> 20} MiB")
    said = _renamed(outcome.stderr, units).decode(errors="replace").split("\n")
    why = next((line for line in said if line.strip()), f"code {outcome.code}, without a word")
    raise ToolchainError(f"{tool.name} failed on the tuned PTX ({why.strip()})")


def _image(tool: Tool, folder: Path) -> bytes:
    try:
        return (folder / _OUTPUT).read_bytes()
    except FileNotFoundError:
        raise ToolchainError(f"{tool.name} made no output") from None


def _check(image: bytes, picks: Sequence[Pick]) -> None:
    """Compare each entry's code with the code that was tuned, where the block says it."""
    from burnish.cubin.digest import binary_digest  # only where something was built

    for pick in picks:
        expected = pick.found.tuned.code.binary_sha256
        if expected and binary_digest(image, pick.entry) != expected:
            raise ToolchainError(
                f"{pick.found.path}: {pick.entry}: other code came out than was tuned"
            )


def _renamed(said: bytes, units: Sequence[Unit]) -> bytes:
    """Messages, with the files' own names in them."""
    for number, unit in enumerate(units):
        said = said.replace(_name(number).encode(), os.fsencode(unit.name))
    return said


def _name(number: int) -> str:
    return f"burnish.{number}.ptx"
