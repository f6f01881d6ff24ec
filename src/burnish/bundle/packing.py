"""Numbers, bytes and structs as a kernel gets them by value: packed as C lays them out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.bundle.dtypes import Dtype, dtype, pack
from burnish.bundle.files import read_file
from burnish.bundle.schema import BytesEntry, PieceEntry, PointerEntry, ScalarEntry, StructEntry
from burnish.errors import LaunchError

__all__ = ["Packed", "Piece", "checked_value", "packed"]

_POINTER_BYTES = 8

Piece = ScalarEntry | PointerEntry | BytesEntry | StructEntry


@dataclass(frozen=True, slots=True)
class Packed:
    """A value in memory.

    Attributes:
        data: Its bytes, padding included.
        align: Its alignment in bytes.
        pointers: Byte offset and buffer name of each pointer in it.
    """

    data: bytes
    align: int = 1
    pointers: tuple[tuple[int, str], ...] = ()


def packed(piece: PieceEntry, folder: Path) -> Packed:
    """Lay a value out.

    Args:
        piece: What the launch file says.
        folder: Where the paths in it start.

    Raises:
        LaunchError: A number does not fit its type, or bytes cannot be read.
    """
    if isinstance(piece, StructEntry):
        return _struct(piece, folder)
    if isinstance(piece, PointerEntry):
        return Packed(bytes(_POINTER_BYTES), _POINTER_BYTES, ((0, piece.pointer),))
    if isinstance(piece, BytesEntry):
        places = tuple((one.at, one.buffer) for one in piece.pointers)
        return _aligned(Packed(_raw(piece.bytes, folder), 1, places), piece.align)
    kind = dtype(piece.scalar)
    values = piece.value if isinstance(piece.value, list) else [piece.value]
    data = b"".join(pack(checked_value(value, kind), kind) for value in values)
    return _aligned(Packed(data, kind.size), piece.align)


def checked_value(value: float, kind: Dtype) -> bool | int | float:
    """A value, if it is one of that type.

    Raises:
        LaunchError: It is not.
    """
    if kind.kind == "bool":
        fits = isinstance(value, bool)
    elif kind.kind == "float":
        fits = not isinstance(value, bool)
    else:
        fits = isinstance(value, int) and not isinstance(value, bool)
        fits = fits and kind.smallest <= value <= kind.largest
    if not fits:
        raise LaunchError(f"the value {value!r} is no {_range(kind)}")
    return value


def _range(kind: Dtype) -> str:
    if kind.kind in {"int", "uint"}:
        return f"{kind.name}, which goes from {kind.smallest} to {kind.largest}"
    return f"{kind.name} (true or false)" if kind.kind == "bool" else f"{kind.name}"


def _raw(text: str, folder: Path) -> bytes:
    if text.startswith("file(") and text.endswith(")"):
        return read_file(folder / text[5:-1].strip().strip("\"'"))
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise LaunchError(
            f"bytes {text[:40]!r} are neither hexadecimal digits nor file(PATH)"
        ) from None


def _struct(struct: StructEntry, folder: Path) -> Packed:
    pieces = [packed(piece, folder) for piece in struct.struct]
    data, pointers = bytearray(), list[tuple[int, str]]()
    for piece in pieces:
        data += bytes(-len(data) % piece.align)
        pointers += [(len(data) + at, name) for at, name in piece.pointers]
        data += piece.data
    whole = Packed(bytes(data), _largest(pieces), tuple(pointers))
    return _padded(_aligned(whole, struct.align))


def _largest(pieces: Sequence[Packed]) -> int:
    return max(piece.align for piece in pieces)


def _aligned(value: Packed, align: int | None) -> Packed:
    if align is None:
        return value
    if align & (align - 1):
        raise LaunchError(f"align = {align} is no power of two")
    return replace(value, align=max(value.align, align))


def _padded(value: Packed) -> Packed:
    return replace(value, data=value.data + bytes(-len(value.data) % value.align))
