"""Static facts of an entry, read off its cubin without a disassembler."""

import struct

from burnish.cubin.elf import Elf, Section
from burnish.cubin.info import Kind, of_function
from burnish.errors import KernelError
from burnish.model.binary import Facts

__all__ = ["entries", "entry_section", "facts", "instruction_count"]

_TEXT = ".text."
_WORD = struct.Struct("<QQ")
_NOP = 0x0000000000007918
# A branch to itself: -16 in the form up to sm_89, and in the one from sm_90 on.
_BRANCH_TO_ITSELF = {0xFFFFFFF000007947, 0xFFFFFFFC00FC7947}
_FUNCTION = 2
_REGISTERS_SHIFT = 24


def entries(cubin: bytes) -> tuple[str, ...]:
    """Names of the functions that have a section of code of their own, in the file's order.

    Raises:
        KernelError: It is no cubin, or a damaged one.
    """
    elf = Elf(cubin)
    return tuple(
        section.name.removeprefix(_TEXT)
        for section in elf.sections
        if section.name.startswith(_TEXT)
    )


def entry_section(elf: Elf, entry: str) -> Section:
    """The section of an entry's code.

    Raises:
        KernelError: There is none; the message lists those that there are.
    """
    section = elf.by_name.get(_TEXT + entry)
    if section is None or section.is_empty_in_file:
        known = [found.name for found in elf.sections if found.name.startswith(_TEXT)]
        listed = ", ".join(name.removeprefix(_TEXT) for name in known) or "none"
        raise KernelError(f"no entry {entry!r} in this cubin; it has: {listed}")
    return section


def facts(cubin: bytes, entry: str, spill_bytes: int) -> Facts:
    """Read the facts of an entry.

    Args:
        cubin: The whole file.
        entry: Name of the function.
        spill_bytes: What ptxas said of it with ``-v``; a cubin does not tell.

    Returns:
        The facts. ``shared_bytes`` is what ``cuobjdump -res-usage`` prints: from sm_90 on it
        includes the 1,024 bytes that the system keeps for itself.

    Raises:
        KernelError: It is no cubin, a damaged one, or it has no such entry.
    """
    elf = Elf(cubin)
    section = entry_section(elf, entry)
    code = elf.contents(section)
    said = _said(elf, entry)
    shared = elf.by_name.get(f".nv.shared.{entry}")
    return Facts(
        registers=said.get(Kind.REGCOUNT) or section.info >> _REGISTERS_SHIFT,
        spill_bytes=spill_bytes,
        stack_bytes=said.get(Kind.MIN_STACK_SIZE) or said.get(Kind.FRAME_SIZE, 0),
        instructions=instruction_count(code),
        code_bytes=len(code),
        shared_bytes=shared.size if shared else 0,
    )


def instruction_count(code: bytes) -> int:
    """Count 16-byte words without the padding that ends a section.

    Padding is every NOP at the end and one branch to itself before them. Those between functions
    that share a section count, as they cannot be told from code without decoding it.
    """
    count = len(code) // _WORD.size
    while count and _WORD.unpack_from(code, (count - 1) * _WORD.size)[0] == _NOP:
        count -= 1
    if count and _WORD.unpack_from(code, (count - 1) * _WORD.size)[0] in _BRANCH_TO_ITSELF:
        count -= 1
    return count


def _said(elf: Elf, entry: str) -> dict[int, int]:
    for index, symbol in enumerate(elf.symbols):
        if symbol.name == entry and symbol.kind == _FUNCTION:
            return of_function(elf, index)
    return {}
