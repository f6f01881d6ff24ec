"""The attributes of ``.nv.info`` sections, by what ``cuobjdump -elf`` prints of them.

A section is a row of attributes: a byte of form, a byte of kind, then two bytes of value, or, in
the form with a size, two bytes of size and as many bytes.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum

from burnish.cubin.elf import Elf, Section
from burnish.errors import KernelError

__all__ = ["Attribute", "Kind", "attributes", "of_function"]

_HEAD = struct.Struct("<BBH")
_WITH_SIZE = 4
_WORD_BYTES = 4
_PAIR_BYTES = 8


class Kind(IntEnum):
    """Kinds of attributes that Burnish looks into, by ``cuobjdump``'s names."""

    MAX_THREADS = 0x05
    PARAM_CBANK = 0x0A
    EXTERNS = 0x0F
    FRAME_SIZE = 0x11
    MIN_STACK_SIZE = 0x12
    MAX_STACK_SIZE = 0x23
    REGCOUNT = 0x2F
    CUDA_API_VERSION = 0x37
    NUM_BARRIERS = 0x4C
    UNNAMED_SINCE_13_0 = 0x5F
    LANGUAGE = 0x66
    NVSAL_SW_WAR = 0x6B
    PREEXIT_USED = 0x6D


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute: its kind as in the file, and its value without the size."""

    kind: int
    value: bytes

    def words(self) -> tuple[int, ...]:
        """The value as 32-bit words, an incomplete last one left out."""
        count = len(self.value) // _WORD_BYTES
        return struct.unpack_from(f"<{count}I", self.value)


def attributes(elf: Elf, section: Section) -> tuple[Attribute, ...]:
    """Read the attributes of a section.

    Raises:
        KernelError: It is cut off.
    """
    data, at, found = elf.contents(section), 0, []
    while at < len(data):
        if at + _HEAD.size > len(data):
            raise KernelError(f"{section.name} is cut off; the cubin is damaged")
        form, kind, number = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        value = data[at - 2 : at]
        if form == _WITH_SIZE:
            if at + number > len(data):
                raise KernelError(f"{section.name} is cut off; the cubin is damaged")
            value, at = data[at : at + number], at + number
        found.append(Attribute(kind, value))
    return tuple(found)


def of_function(elf: Elf, symbol: int) -> dict[int, int]:
    """What the module's attributes say of a function, by kind; it is named by its symbol."""
    section = elf.by_name.get(".nv.info")
    found = {}
    for attribute in attributes(elf, section) if section else ():
        if len(attribute.value) == _PAIR_BYTES:
            function, value = attribute.words()
            if function == symbol:
                found[attribute.kind] = value
    return found
