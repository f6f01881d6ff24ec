"""Cutting a body into its statements, before any of them is understood."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from burnish.errors import KernelError
from burnish.ptx.text import DEBUG_LABEL, LINE_MARK, closing, skeleton

__all__ = ["Piece", "pieces"]

# What stands between statements: blanks, empty statements, line marks, labels that only debug
# sections use, and what is said of the next statement alone.
_LEAD = (
    rf"(?P<lead>(?:[\s;]++|{LINE_MARK}"
    r'|\.pragma\s*"used_bytes_mask[^";]*"\s*;'
    rf"|{DEBUG_LABEL})*+)"
)
_LISTED = r"(?:\s*\.(?:branchtargets|callprototype|calltargets)\b[^;]*;)?"
_PIECE = re.compile(
    rf"{_LEAD}(?:(?P<end>\}}|$)|(?P<group>\{{)"
    rf"|(?P<label>[A-Za-z_$%][\w$%]*\s*:(?!:){_LISTED})|(?P<declaration>\.[^;]*;)|[^;]*;)"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement by its place in the text.

    Attributes:
        kind: ``label``, ``declaration``, ``group`` or ``instruction``; ``end`` for what is left.
        lead: Where what stands before it begins.
        start: Where it begins.
        end: Where it ends.
    """

    kind: str
    lead: int
    start: int
    end: int


def pieces(code: str, after: int) -> Iterator[Piece]:
    """Cut up what stands in braces; the last piece is their end.

    Args:
        code: Text without comments.
        after: Where the opening brace ends.

    Raises:
        KernelError: A statement or a group does not end.
    """
    mask = skeleton(code)
    at = after
    while True:
        match = _PIECE.match(mask, at)
        if match is None:
            raise KernelError(f"this statement does not end: {code[at:].strip()[:60]!r}")
        kind, start, end = match.lastgroup or "", match.end("lead"), match.end()
        if kind == "lead":
            kind = "instruction"
        elif kind == "group":
            end = closing(mask, start)
            if end < 0:
                raise KernelError(f"this group does not end: {mask[start : start + 60]!r}")
        elif kind == "label" and mask[end - 1] == ";":
            kind = "declaration"
        yield Piece(kind, at, start, end)
        if kind == "end":
            return
        at = end
