"""The binary digest of an entry: what makes two cubins the same machine code.

It covers the entry's code with its relocations, its constant banks, the size of its shared and
local memory, what of ``.nv.info`` a launch depends on, and all that these refer to: globals with
their initial values, constants, functions in sections of their own. Symbols count by name, without
what only says where a name comes from.

It does not see notes (ptxas writes its command line into one), debug sections, the order and
layout of tables, other kernels, or what a compiler says of itself. The sections by which newer
drivers re-target a cubin to other chips (``.nv.merc…``, ``.nv.capmerc…``) repeat the code in
another form and are left out.
"""

import hashlib
import re
from functools import cached_property

from burnish.cubin.constants import places
from burnish.cubin.elf import Elf, Relocation, Section, Symbol
from burnish.cubin.facts import entry_section
from burnish.cubin.info import Attribute, Kind, attributes
from burnish.model.names import bind, neutral

__all__ = ["binary_digest"]

_DATA, _FUNCTION, _SECTION_SYMBOL = 1, 2, 3
_BANKS = {3: ".nv.constant3", 4: ".nv.constant4"}
_BARRIER_SHIFT, _BARRIER_BITS = 20, 0x7F
_POINTER_BYTES = 8
# What travelled with a tuned entry is the same thing under its private name.
_PRIVATE = re.compile(r"\$burnish_[0-9a-f]{8}(?![\w$])")
# What the compiler says of itself, or repeats of the code.
_NOT_OF_THE_LAUNCH = {
    Kind.CUDA_API_VERSION,
    Kind.LANGUAGE,
    Kind.NUM_BARRIERS,  # said apart: older compilers have it in the section's flags
    Kind.NVSAL_SW_WAR,
    Kind.UNNAMED_SINCE_13_0,
}
_OF_A_FUNCTION = {Kind.FRAME_SIZE, Kind.MAX_STACK_SIZE, Kind.MIN_STACK_SIZE, Kind.REGCOUNT}


def binary_digest(cubin: bytes, entry: str) -> str:
    """The digest of one entry, in hex.

    Raises:
        KernelError: It is no cubin, a damaged one, or it has no such entry.
    """
    elf = Elf(cubin)
    text = "\n".join(_Description(elf).of(entry_section(elf, entry)))
    text = _PRIVATE.sub("", text)
    return hashlib.sha256(neutral(text, bind(text)).encode(errors="surrogateescape")).hexdigest()


class _Description:
    """All that a section of code is and refers to, as lines."""

    def __init__(self, elf: Elf) -> None:
        self.elf = elf
        self._known: dict[tuple[int, int], int] = {}
        self._waiting: list[Symbol] = []

    def of(self, section: Section) -> list[str]:
        lines = ["burnish-binary/1", *self._function(section)]
        for symbol in self._waiting:  # grows while it is read
            lines += self._referred(symbol)
        return lines

    def _function(self, section: Section) -> list[str]:
        name = section.name.removeprefix(".text.")
        lines = [f"function {name}", *self._code(section), *self._launch(section, name)]
        for other in sorted(self.elf.sections, key=lambda found: found.name):
            kind, _, owner = other.name.removeprefix(".nv.").partition(".")
            if owner != name or not other.name.startswith(".nv."):
                continue
            if kind in {"shared", "local"}:
                lines.append(f"{kind} {other.size} {other.align}")
            elif kind.startswith("constant"):
                lines += [f"{kind} {_hash(self.elf.contents(other))}", *self._relocations(other)]
        return lines

    def _code(self, section: Section) -> list[str]:
        code = bytearray(self.elf.contents(section))
        lines = []
        for place in places(bytes(code), lambda offset: offset in self._addresses):
            meant = self._meant(place.bank, place.offset)
            if meant:
                at = place.word * 16
                low = int.from_bytes(code[at : at + 8], "little") & ~place.mask
                code[at : at + 8] = low.to_bytes(8, "little")
                lines.append(f"{place.word} {place.mask:x} {meant}")
        return [f"code {_hash(code)}", *lines, *self._relocations(section)]

    def _meant(self, bank: int, offset: int) -> str:
        """What is at an offset of a shared bank, empty where that is unknown."""
        if bank in _BANKS and bank != max(_BANKS):
            section = self.elf.by_name.get(_BANKS[bank])
            return self._at(section, offset) if section else ""
        address = self._addresses.get(offset // _POINTER_BYTES * _POINTER_BYTES)
        return f"{self._target(address)} half {offset % _POINTER_BYTES}" if address else ""

    @cached_property
    def _addresses(self) -> dict[int, Relocation]:
        """What bank 4 holds at an offset."""
        bank = self.elf.by_name.get(_BANKS[4])
        rows = self.elf.relocations.get(bank.index, ()) if bank else ()
        return {row.offset: row for row in rows}

    def _at(self, section: Section, offset: int) -> str:
        """The data symbol that covers an offset of a section."""
        for symbol in self.elf.symbols:
            inside = symbol.value <= offset < symbol.value + symbol.size
            if symbol.section == section.index and symbol.kind == _DATA and inside:
                return f"{self._name(symbol)}+{offset - symbol.value}"
        return ""

    def _relocations(self, section: Section, start: int = 0, size: int | None = None) -> list[str]:
        end = section.size if size is None else start + size
        return [
            f"relocation {row.offset - start} {row.type} {self._target(row)}"
            for row in self.elf.relocations.get(section.index, ())
            if start <= row.offset < end
        ]

    def _target(self, row: Relocation) -> str:
        symbol = self.elf.symbol(row.symbol)
        if symbol.kind == _SECTION_SYMBOL:
            section = self.elf.section(symbol.section)
            meant = self._at(section, symbol.value + row.addend)
            return meant or f"{section.name}+{row.addend}"
        if symbol.kind == _FUNCTION and symbol.value:  # one of several functions in a section
            return f"{self.elf.section(symbol.section).name}+{symbol.value + row.addend}"
        return f"{self._name(symbol)}+{row.addend}"

    def _name(self, symbol: Symbol) -> str:
        """A symbol's name; what it stands for is described later, once."""
        place = (symbol.section, symbol.value)
        if symbol.section and symbol.kind in {_DATA, _FUNCTION} and place not in self._known:
            self._known[place] = len(self._known)
            self._waiting.append(symbol)
        return symbol.name

    def _referred(self, symbol: Symbol) -> list[str]:
        section = self.elf.section(symbol.section)
        if symbol.kind == _FUNCTION:
            return self._function(section)
        data = self.elf.contents(section)[symbol.value : symbol.value + symbol.size]
        lines = [f"data {symbol.name} {symbol.size} {_hash(data)}"]
        return lines + self._relocations(section, symbol.value, symbol.size)

    def _launch(self, section: Section, name: str) -> list[str]:
        """What a launch depends on; the order in the file does not count."""
        own = self.elf.by_name.get(f".nv.info.{name}")
        whole = self.elf.by_name.get(".nv.info")
        found = attributes(self.elf, own) if own else ()
        lines = [line for attribute in found if (line := self._attribute(attribute))]
        for attribute in attributes(self.elf, whole) if whole else ():
            lines += self._of_a_function(attribute, section)
        barriers = next((row.value[0] for row in found if row.kind == Kind.NUM_BARRIERS), None)
        if barriers is None:
            barriers = section.flags >> _BARRIER_SHIFT & _BARRIER_BITS
        return [*sorted(lines), f"barriers {barriers}"]

    def _attribute(self, attribute: Attribute) -> str:
        kind, value = attribute.kind, attribute.value
        if kind in _NOT_OF_THE_LAUNCH or (kind == Kind.PREEXIT_USED and not any(value)):
            return ""
        if kind == Kind.EXTERNS:
            names = sorted(self.elf.symbol(word).name for word in attribute.words())
            return f"{kind} {' '.join(names)}"
        if kind == Kind.PARAM_CBANK:
            value = value[4:]  # the first word is the number of a symbol
        return f"{kind} {value.hex()}"

    def _of_a_function(self, attribute: Attribute, section: Section) -> list[str]:
        words = attribute.words()
        if attribute.kind not in _OF_A_FUNCTION or len(words) < 2:  # noqa: PLR2004
            return []
        symbol = self.elf.symbol(words[0])
        if symbol.section != section.index:
            return []
        return [f"{attribute.kind} at {symbol.value} {words[1]}"]


def _hash(data: bytes | bytearray) -> str:
    return hashlib.sha256(data).hexdigest()
