"""An ELF file of 64 bits, little endian: sections, symbols, relocations. A reader, no more.

Every offset and length is checked before it is used: a damaged file is a `KernelError`.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from burnish.errors import KernelError

__all__ = ["Elf", "Relocation", "Section", "Symbol"]

_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_REL = struct.Struct("<QQ")
_RELA = struct.Struct("<QQq")
_MAGIC = b"\x7fELF\x02\x01\x01"
_SYMTAB, _TYPE_RELA, _NOBITS, _TYPE_REL = 2, 4, 8, 9
_HAS_BYTES = {1, _SYMTAB, 3, _TYPE_RELA, 7, _TYPE_REL, 0x70000000}  # the last: .nv.info


@dataclass(frozen=True, slots=True)
class Section:
    """A section header.

    Attributes:
        index: Its number.
        name: As in the file.
        type: ELF section type.
        flags: ELF section flags.
        offset: Where its bytes are in the file.
        size: Bytes; those of a section without bytes in the file too.
        link: Number of another section; of which, the type says.
        info: More, by type: for relocations the section that they change.
        align: Alignment.
    """

    index: int
    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int

    @property
    def is_empty_in_file(self) -> bool:
        """Whether it has a size but no bytes, as zeroed memory has."""
        return self.type == _NOBITS


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol.

    Attributes:
        name: As in the file; a section's symbol may have none.
        value: Offset in its section.
        size: Bytes.
        section: Number of its section; 0 where it is undefined.
        kind: ELF symbol type: 1 data, 2 function, 3 section.
        binding: 0 local, 1 global, 2 weak.
    """

    name: str
    value: int
    size: int
    section: int
    kind: int
    binding: int


@dataclass(frozen=True, slots=True)
class Relocation:
    """A place that the loader or linker fills in."""

    offset: int
    type: int
    symbol: int
    addend: int


class Elf:
    """An ELF file in memory.

    Args:
        data: The whole file.

    Raises:
        KernelError: It is no such file, or cut off. Later accesses may find it damaged.
    """

    def __init__(self, data: bytes) -> None:
        if data[: len(_MAGIC)] != _MAGIC:
            raise KernelError("this is no 64-bit ELF file, so it is no cubin")
        self.data = data
        header = self._unpack(_HEADER, 0)
        table, size, count, names = header[5], header[10], header[11], header[12]
        if count and size != _SECTION.size:
            raise KernelError(f"a section header of {size} bytes is not understood")
        self._check(table, count * _SECTION.size, "section table")
        self._check(header[4], header[8] * header[9], "program header table")
        self.sections = self._sections(table, count, names)
        for section in self.sections:
            if section.type in _HAS_BYTES:
                self._check(section.offset, section.size, section.name or "section")

    @cached_property
    def by_name(self) -> Mapping[str, Section]:
        """Sections by name; of several, the first."""
        return {section.name: section for section in reversed(self.sections)}

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbol table, empty where there is none."""
        table = next((found for found in self.sections if found.type == _SYMTAB), None)
        if table is None:
            return ()
        names = self.contents(self.section(table.link))
        return tuple(
            Symbol(_text(names, name), value, size, section, info & 15, info >> 4)
            for name, info, _, section, value, size in self._rows(_SYMBOL, table)
        )

    @cached_property
    def relocations(self) -> Mapping[int, tuple[Relocation, ...]]:
        """Relocations by the number of the section that they change, by offset."""
        found: dict[int, list[Relocation]] = {}
        for section in self.sections:
            if section.type == _TYPE_RELA:
                rows = self._rows(_RELA, section)
                found.setdefault(section.info, []).extend(
                    Relocation(at, info & 0xFFFFFFFF, info >> 32, addend)
                    for at, info, addend in rows
                )
            elif section.type == _TYPE_REL:
                found.setdefault(section.info, []).extend(
                    Relocation(at, info & 0xFFFFFFFF, info >> 32, 0)
                    for at, info in self._rows(_REL, section)
                )
        return {
            index: tuple(sorted(rows, key=lambda row: (row.offset, row.type)))
            for index, rows in found.items()
        }

    def section(self, index: int) -> Section:
        """The section of a number."""
        if not 0 <= index < len(self.sections):
            raise KernelError(f"the ELF file has no section {index}; it is damaged")
        return self.sections[index]

    def symbol(self, index: int) -> Symbol:
        """The symbol of a number."""
        if not 0 <= index < len(self.symbols):
            raise KernelError(f"the ELF file has no symbol {index}; it is damaged")
        return self.symbols[index]

    def contents(self, section: Section) -> bytes:
        """The bytes of a section; none where it has none in the file."""
        if section.is_empty_in_file:
            return b""
        self._check(section.offset, section.size, section.name or "section")
        return self.data[section.offset : section.offset + section.size]

    def _sections(self, table: int, count: int, names: int) -> tuple[Section, ...]:
        rows = list(_SECTION.iter_unpack(self.data[table : table + count * _SECTION.size]))
        if not rows:
            return ()
        if names >= len(rows):
            raise KernelError("the ELF file has no table of section names; it is damaged")
        offset, size = rows[names][4], rows[names][5]
        self._check(offset, size, "table of section names")
        text = self.data[offset : offset + size]
        return tuple(
            Section(index, _text(text, name), kind, flags, offset, size, link, info, align)
            for index, (name, kind, flags, _, offset, size, link, info, align, _) in enumerate(rows)
        )

    def _rows(self, row: struct.Struct, section: Section) -> Iterator[tuple[int, ...]]:
        data = self.contents(section)
        if len(data) % row.size:
            raise KernelError(f"{section.name} is cut off; the ELF file is damaged")
        return row.iter_unpack(data)

    def _unpack(self, row: struct.Struct, offset: int) -> tuple[int, ...]:
        self._check(offset, row.size, "ELF header")
        return row.unpack_from(self.data, offset)

    def _check(self, offset: int, size: int, what: str) -> None:
        end, last = offset + size, len(self.data)
        if end > last:
            raise KernelError(f"the {what} ends at byte {end}, the file at {last}; it is cut off")


def _text(names: bytes, offset: int) -> str:
    end = names.find(b"\0", offset)
    if end < 0:
        raise KernelError("a name in the ELF file does not end; it is damaged")
    return names[offset:end].decode("utf-8", "surrogateescape")
