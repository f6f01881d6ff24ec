"""Places in machine code that name shared constant banks by an offset.

Bank 3 holds every ``__constant__`` of a module and bank 4 the address of every global that some
kernel of the module uses, so the offsets in a kernel's code depend on the other kernels. They
are read here, so that a digest can say *what* is meant instead of where it happens to be.

The tables are what ``cuobjdump -sass`` prints of kernels that were compiled for the purpose
(sm_80 to sm_120, ptxas 12.4 to 13.5); a test compares them with it. An opcode that they lack keeps
its offset, which can only make two digests differ that might have been equal.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Place", "places"]

_WORD = struct.Struct("<QQ")
_OPCODE = 0xFFF
_BANK_SHIFT, _BANK = 54, 31
_USER, _ADDRESSES = 3, 4
# Instructions with an operand c[bank][offset], by the twelve bits of the opcode.
_DIRECT = frozenset({
    0x616, 0x619, 0x621, 0x623, 0x624, 0x625, 0x62A, 0x62B, 0x630, 0x631, 0x634, 0xA02, 0xA07,
    0xA08, 0xA09, 0xA0B, 0xA0C, 0xA10, 0xA11, 0xA12, 0xA17, 0xA19, 0xA20, 0xA23, 0xA24, 0xA25,
    0xA26, 0xA28, 0xA32, 0xAB9, 0xABB, 0xB00, 0xB05, 0xB06, 0xB10, 0xB82,
})  # fmt: skip
_SHIFT = dict.fromkeys(_DIRECT, 38) | {0x7AC: 37}  # LDCU counts bytes one bit lower
_END = 54  # of the offset's field
_LDC = 0xB82
_MOVE_IMMEDIATE = 0x802
_ZERO_REGISTER = 255
_NEAR = 64  # instructions between an index and its use, at most


@dataclass(frozen=True, slots=True)
class Place:
    """An offset of a shared bank in an instruction.

    Attributes:
        word: Number of the instruction.
        mask: The bits of its low half that hold the offset.
        bank: 3 or 4.
        offset: In the bank, in bytes.
    """

    word: int
    mask: int
    bank: int
    offset: int


def places(code: bytes, is_address: Callable[[int], bool]) -> tuple[Place, ...]:
    """Find every offset of a shared bank.

    Args:
        code: Instructions of 16 bytes each.
        is_address: Whether bank 4 holds an address at an offset.
    """
    lows = [low for low, _ in _WORD.iter_unpack(code[: len(code) // _WORD.size * _WORD.size])]
    found: list[Place] = []
    for word, low in enumerate(lows):
        shift = _SHIFT.get(low & _OPCODE)
        bank = low >> _BANK_SHIFT & _BANK
        if shift is None or bank not in {_USER, _ADDRESSES}:
            continue
        if bank == _ADDRESSES and low & _OPCODE == _LDC and low >> 24 & 255 != _ZERO_REGISTER:
            found += _index(lows, word, is_address)
            continue
        mask = (1 << _END) - (1 << shift)
        found.append(Place(word, mask, bank, (low & mask) >> shift))
    return tuple(found)


def _index(lows: list[int], word: int, is_address: Callable[[int], bool]) -> list[Place]:
    """The instruction that sets the register by which an address is taken, where it is plain."""
    register = lows[word] >> 24 & 255
    for before in range(word - 1, max(-1, word - _NEAR), -1):
        low = lows[before]
        if low & _OPCODE == _MOVE_IMMEDIATE and low >> 16 & 255 == register:
            offset = low >> 32
            mask = 0xFFFFFFFF << 32
            return [Place(before, mask, _ADDRESSES, offset)] if is_address(offset) else []
    return []
