"""Reads the text of one entry into units: labels, statements and brace groups.

A tokenizer of its own: it shares nothing with the parser that the rewrites use, so that one
mistake cannot hide in both. Source of the grammar: PTX ISA, "Syntax" and "Statements".
A text is read line by line with a cache, since a rewritten text holds the lines of the plain one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from burnish.errors import RewriteError

__all__ = ["Kind", "Reader", "Reading", "Unit", "analyse", "fold", "operands", "split"]

POLICY_OPCODES = frozenset({"ld", "st", "cp"})
OPERATORS = frozenset({"ca", "cg", "cs", "lu", "cv", "wb", "wt"})
PREFETCHES = frozenset({"L2::64B", "L2::128B", "L2::256B"})
HINTS = re.compile(r'\.pragma "(?:nounroll|frequency \d+)";')

_LOC = (
    r"\.loc[ \t]+\d+[ \t]+\d+[ \t]+\d+"
    r"(?:[ \t]*,[ \t]*function_name[ \t]+[\w$+ \t]+,[ \t]*inlined_at(?:[ \t]+\d+){3})?"
    r"[ \t\r]*(?://[^\n]*)?(?:\n|\Z)"
)
_TRIVIA = re.compile(rf"(?:\s+|//[^\n]*(?:\n|\Z)|/\*(?:[^*]|\*(?!/))*\*/|{_LOC})+")
_LOC_LINE = re.compile(rf"(?<!\S){_LOC}")
_LABEL = re.compile(r"([A-Za-z_$%][\w$]*)\s*:(?!:)")
_PART = re.compile(r'//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|"[^"\n]*"|[;{}]|/\*')
_COMMENT = re.compile(r'("[^"\n]*")|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/')
_GUARD = re.compile(r"@\s*(!?)\s*([%\w$]+)\s+")
_OPCODE = re.compile(r"[A-Za-z]\w*(?:\.\w+(?:::\w+)*)*")
_SPACES = re.compile(r"\s+")
_TARGET_LIST = re.compile(r"\.(?:branchtargets|calltargets|callprototype)\b")


class Kind(IntEnum):
    """What a unit is to the checker."""

    INSTRUCTION = 0
    LABEL = 1
    GROUP = 2
    DECLARATION = 3
    HINT = 4
    JUMP = 5
    END = 6
    UNKNOWN = 7


JUMPS = frozenset({"bra", "brx", "ret", "exit", "trap"})


@dataclass(frozen=True, slots=False, eq=False)
class Unit:
    """One statement, compared by identity: a reader gives the same unit for the same text.

    Attributes:
        text: The statement without comments, white space folded.
        kind: What it is.
        guard: ``%p1``, ``!%p1`` or nothing.
        opcode: The first part of the instruction's name.
        modifiers: The other parts; ``L1::evict_last`` is one.
        operands: Its operands at the top level.
    """

    text: str
    kind: Kind
    guard: str = ""
    opcode: str = ""
    modifiers: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        """The text without what a policy rewrite may change: equal keys do the same work."""
        if self.opcode not in POLICY_OPCODES or self.kind is not Kind.INSTRUCTION:
            return self.text
        kept = [part for part in self.modifiers if not _is_policy(part)]
        return f"{self.guard} {self.opcode}.{'.'.join(kept)} {', '.join(self.operands)}"

    @cached_property
    def leaves(self) -> bool:
        """Whether a brace group jumps, or may jump, to a label outside of itself."""
        return self.kind is Kind.GROUP and _leaves(self.text, frozenset())


def _leaves(text: str, outer: frozenset[str]) -> bool:
    inner = [analyse(fold(span)) for span in split(text[1:-1]) or ()]
    labels = outer.union(unit.text for unit in inner if unit.kind is Kind.LABEL)
    return any(
        unit.opcode == "brx"
        or unit.kind is Kind.UNKNOWN
        or (unit.opcode == "bra" and not labels.issuperset(unit.operands))
        or (unit.kind is Kind.GROUP and _leaves(unit.text, labels))
        for unit in inner
    )


def _is_policy(modifier: str) -> bool:
    return (
        modifier in OPERATORS
        or modifier in PREFETCHES
        or modifier == "nc"
        or modifier.startswith("L1::")
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """One entry, read.

    Attributes:
        header: What stands before the body, without comments, white space folded.
        units: The body's units in the order of the text.
        marks: The places of those that are no plain instructions.
    """

    header: str
    units: Sequence[Unit]
    marks: Sequence[int]


class Reader:
    """Reads texts of one entry, remembering every line that it has understood."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[Unit, ...] | None] = {}
        self._units: dict[str, Unit] = {}
        self._headers: dict[str, str] = {}

    def read(self, text: str) -> Reading:
        """Read the text of an entry.

        Raises:
            RewriteError: The text is not one entry with one body.
        """
        start = _body_start(text)
        raw = text[:start]
        header = self._headers.get(raw)
        if header is None:
            header = self._headers[raw] = fold(raw)
        units = self._body(text[start + 1 :])
        return Reading(header, units, [at for at, unit in enumerate(units) if unit.kind])

    def _body(self, text: str) -> Sequence[Unit]:
        units: list[Unit] = []
        lines = self._lines
        held = ""
        for line in text.split("\n"):
            piece = f"{held}\n{line}" if held else line
            found = lines[piece] if piece in lines else self._learn(piece)
            if found is None:
                held = piece
            else:
                held = ""
                units += found
        if held or not units or units[-1].kind is not Kind.END:
            raise RewriteError(f"reading: the entry's body does not end: {held[:200]!r}")
        units.pop()
        if self._units["}"] in units:
            raise RewriteError("reading: something follows the end of the entry's body")
        return units

    def _learn(self, piece: str) -> tuple[Unit, ...] | None:
        spans = split(piece)
        found = None if spans is None else tuple(self.unit(span) for span in spans)
        self._lines[piece] = found
        return found

    def unit(self, span: str) -> Unit:
        """The unit of one statement's text, the same one for the same text.

        Raises:
            RewriteError: It has not the form of a statement.
        """
        text = fold(span)
        unit = self._units.get(text)
        if unit is None:
            unit = self._units[text] = analyse(text)
        if unit.kind is Kind.UNKNOWN:
            raise RewriteError(f"reading: not the form of a statement: {text[:200]!r}")
        return unit


def _body_start(text: str) -> int:
    for part in _PART.finditer(text):
        if part[0] == "{":
            return part.start()
    raise RewriteError("reading: the entry has no body")


def fold(text: str) -> str:
    """The text without comments and line marks, every run of white space as one blank."""
    if ".loc" in text:
        text = _LOC_LINE.sub(" ", text)
    if "/" in text:
        text = _COMMENT.sub(lambda match: match[1] or " ", text)
    return _SPACES.sub(" ", text).strip()


def split(piece: str) -> list[str] | None:
    """The statements of a piece of a body, or None where the last one goes on after it."""
    spans: list[str] = []
    at = 0
    while True:
        trivia = _TRIVIA.match(piece, at)
        at = trivia.end() if trivia else at
        if at == len(piece):
            return spans
        end = _statement_end(piece, at)
        if end is None:
            return None
        spans.append(piece[at:end])
        at = end


def _statement_end(piece: str, at: int) -> int | None:
    if piece[at] == "}":
        return at + 1
    label = _LABEL.match(piece, at)
    if label:
        rest = _TRIVIA.match(piece, label.end())
        after = rest.end() if rest else label.end()
        if not _TARGET_LIST.match(piece, after):
            return label.end()
    return _end_of_depth(piece, at, group=piece[at] == "{")


def _end_of_depth(piece: str, at: int, *, group: bool) -> int | None:
    depth = 0
    for part in _PART.finditer(piece, at):
        mark = part[0]
        if mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
        elif mark == "/*":
            return None
        if depth == 0 and mark == ("}" if group else ";"):
            return part.end()
    return None


def analyse(text: str) -> Unit:
    """What one folded statement is."""
    if text == "}":
        return Unit(text, Kind.END)
    if text.startswith("{"):
        return Unit(text, Kind.GROUP)
    if text.endswith(":"):
        return Unit(text[:-1].strip(), Kind.LABEL)
    if HINTS.fullmatch(text):
        return Unit(text, Kind.HINT)
    if text.startswith(".") or _LABEL.match(text):
        return Unit(text, Kind.DECLARATION)
    return _instruction(text)


def _instruction(text: str) -> Unit:
    guard, at = "", 0
    match = _GUARD.match(text)
    if match:
        guard, at = match[1] + match[2], match.end()
    name, _, rest = text[at:-1].strip().partition(" ")
    found = operands(rest)
    if not _OPCODE.fullmatch(name) or any(part.startswith((".", ":")) for part in found):
        return Unit(text, Kind.UNKNOWN)
    opcode, *modifiers = name.split(".")
    kind = Kind.JUMP if opcode in JUMPS else Kind.INSTRUCTION
    return Unit(text, kind, guard, opcode, tuple(modifiers), found)


def operands(text: str) -> tuple[str, ...]:
    """Split at the commas that no bracket or brace holds."""
    found: list[str] = []
    depth = start = 0
    for at, mark in enumerate(text):
        if mark in "[{(":
            depth += 1
        elif mark in "]})":
            depth -= 1
        elif mark == "," and depth == 0:
            found.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return (*found, last) if last else tuple(found)
