"""Bytes in a text file: base64, with zlib for PTX. Bounded both ways, strict."""

import binascii
import zlib

from burnish.errors import AcfError

__all__ = ["MOST_BYTES", "decode", "encode", "pack", "unpack"]

# Far above any PTX module that people compile, far below what a machine can hold.
MOST_BYTES = 64 << 20


def encode(data: bytes) -> str:
    """Bytes as base64, on one line."""
    return binascii.b2a_base64(data, newline=False).decode()


def decode(text: str) -> bytes:
    """Bytes of base64.

    Raises:
        AcfError: It is not exactly what `encode` writes.
    """
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except ValueError as error:
        raise AcfError(f"is no base64 ({str(error).lower()})") from None
    if encode(data) != text:
        raise AcfError("is no base64 (bits after its end)")
    if len(data) > MOST_BYTES:
        raise AcfError(f"is larger than {MOST_BYTES >> 20} MiB")
    return data


def pack(text: str) -> str:
    """PTX as zlib and base64."""
    return encode(zlib.compress(text.encode(), 9))


def unpack(packed: str) -> str:
    """PTX out of zlib and base64.

    Raises:
        AcfError: Damaged, cut short, followed by something else, too large or no UTF-8.
    """
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(decode(packed), MOST_BYTES)
    except zlib.error as error:
        raise AcfError(f"is no zlib data ({error})") from None
    if unpacker.unconsumed_tail:
        raise AcfError(f"unpacks to more than {MOST_BYTES >> 20} MiB")
    if not unpacker.eof or unpacker.unused_data:
        raise AcfError("is cut short, or has something after its end")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise AcfError("does not unpack to UTF-8 text") from None
