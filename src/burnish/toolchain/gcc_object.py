"""What an object file of gcc says: which code it is, how large, which functions it has."""

import hashlib
import json

from burnish.cubin.elf import Elf, Relocation, Section

__all__ = ["code_bytes", "functions", "object_digest"]

_ALLOCATED, _EXECUTABLE = 2, 4
_FUNCTION, _FILE, _LOCAL = 2, 4, 0
# Notes, and tables for unwinders and debuggers: they follow the code.
_LEFT_OUT = (".note", ".eh_frame", ".gcc_except_table")
_KIND = 0xFFF  # of the flags: what is common to all systems


def object_digest(data: bytes) -> str:
    """SHA-256 over code, constants and initial values, with the places that a link fills in.

    Names of files, of local symbols and of the compiler are no part of it, nor is anything for
    debuggers.

    Raises:
        KernelError: It is no object file, or damaged.
    """
    elf = Elf(data)
    rows = [_row(elf, section) for section in elf.sections if _matters(section)]
    defined = sorted(
        [symbol.name, _name(elf, symbol.section), symbol.value, symbol.size, symbol.kind]
        for symbol in elf.symbols
        if symbol.binding != _LOCAL and symbol.section
    )
    return hashlib.sha256(json.dumps([rows, defined]).encode()).hexdigest()


def code_bytes(data: bytes) -> int:
    """Size of all code in an object file."""
    sections = Elf(data).sections
    return sum(section.size for section in sections if section.flags & _EXECUTABLE)


def functions(data: bytes) -> tuple[str, ...]:
    """Names of the functions that an object file offers, in the order of the source."""
    elf = Elf(data)
    offered = [
        symbol
        for symbol in elf.symbols
        if symbol.kind == _FUNCTION and symbol.section and symbol.binding != _LOCAL
    ]
    return tuple(symbol.name for symbol in sorted(offered, key=lambda one: one.value))


def _matters(section: Section) -> bool:
    return bool(section.flags & _ALLOCATED) and not section.name.startswith(_LEFT_OUT)


def _row(elf: Elf, section: Section) -> list[object]:
    contents = hashlib.sha256(elf.contents(section)).hexdigest()
    relocations = [_target(elf, one) for one in elf.relocations.get(section.index, ())]
    shape = [section.name, section.type, section.flags & _KIND, section.size, section.align]
    return [*shape, contents, relocations]


def _target(elf: Elf, relocation: Relocation) -> list[object]:
    symbol = elf.symbol(relocation.symbol)
    known = symbol.binding == _LOCAL and symbol.section
    # A local symbol's name may hold a number that counts passes; its place says what it is.
    name = f"{_name(elf, symbol.section)}+{symbol.value}" if known else symbol.name
    return [relocation.offset, relocation.type, name, relocation.addend]


def _name(elf: Elf, index: int) -> str:
    common = 0xFF00  # numbers from here on stand for no section: absolute, common
    return elf.section(index).name if index < common else f"#{index:x}"
