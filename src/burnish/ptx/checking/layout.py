"""Checks control flow: the same pieces of code lead to the same pieces, wherever they stand.

Falling through and an unconditional branch are the same; a label that nobody branches to means
nothing. So both texts become graphs of pieces joined by real choices, and those must agree.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from burnish.errors import RewriteError
from burnish.ptx.checking.reader import Kind, Reading, Unit

__all__ = ["Graph", "Piece", "graph", "loop_heads", "twins"]

_END = -1
_KEPT = frozenset({Kind.GROUP, Kind.DECLARATION})


@dataclass(slots=True)
class Piece:
    """Straight-line code with one way in, at its start.

    Attributes:
        units: Its statements, without labels, hints and unconditional branches.
        jump: What it ends with, less the target: a choice, a return, or nothing.
        successors: Pieces by number: a branch's targets, then the next one; -1 is the end.
    """

    units: list[Unit] = field(default_factory=list)
    jump: str = ""
    successors: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Graph:
    """The pieces that can be reached, from `first`, and the statements that cannot."""

    pieces: dict[int, Piece]
    first: int
    dead: Counter[str]


def graph(reading: Reading) -> Graph:
    """The control flow of a body.

    Raises:
        RewriteError: A branch to a label that is not there, or a label twice.
    """
    pieces, ends, labels = _cut(reading)
    _connect(pieces, ends, labels, _tables(reading))
    first = _skip(pieces, 0)
    for piece in pieces:
        piece.successors = [_skip(pieces, to) for to in piece.successors]
    reached = _reach(pieces, first)
    dead = Counter(
        unit.key for at, piece in enumerate(pieces) if at not in reached for unit in piece.units
    )
    return Graph(_join({at: pieces[at] for at in reached}, first), first, dead)


def twins(plain: Graph, rewritten: Graph) -> Iterator[tuple[int, Piece]]:
    """Each piece of the plain text by number, with the one that stands for it now.

    Raises:
        RewriteError: The two graphs are not one.
    """
    found = {_END: _END}
    taken = {_END}
    waiting = [(plain.first, rewritten.first)]
    while waiting:
        one, two = waiting.pop()
        if found.get(one, two) != two or (one not in found and two in taken):
            raise RewriteError("layout: a branch goes elsewhere")
        if one in found:
            continue
        found[one] = two
        taken.add(two)
        before, after = plain.pieces[one], rewritten.pieces[two]
        if before.jump != after.jump or len(before.successors) != len(after.successors):
            raise RewriteError(f"layout: {before.jump!r} became {after.jump!r}")
        yield one, after
        waiting += zip(before.successors, after.successors, strict=True)


def loop_heads(reading: Reading) -> frozenset[str]:
    """The labels where a loop begins: a walk from the start comes back to them on its own way."""
    pieces, ends, labels = _cut(reading)
    _connect(pieces, ends, labels, _tables(reading))
    heads = {_skip(pieces, head) for head in _revisited(pieces)}
    return frozenset(label for label, at in labels.items() if _skip(pieces, at) in heads)


def _revisited(pieces: Sequence[Piece]) -> set[int]:
    """Where edges lead to that go back to a piece on the way to them, depth first."""
    found: set[int] = set()
    seen, way = {0}, {0}
    stack = [(0, iter(pieces[0].successors))]
    while stack:
        at, ahead = stack[-1]
        to = next(ahead, None)
        if to is None:
            way.discard(at)
            stack.pop()
        elif to in way:
            found.add(to)
        elif to != _END and to not in seen:
            seen.add(to)
            way.add(to)
            stack.append((to, iter(pieces[to].successors)))
    return found


def _cut(reading: Reading) -> tuple[list[Piece], list[Unit | None], dict[str, int]]:
    """The body cut at labels and jumps: pieces, what each ends with, pieces of labels."""
    units = reading.units
    pieces, labels = [Piece()], dict[str, int]()
    ends: list[Unit | None] = []
    start = 0
    for at in reading.marks:
        unit = units[at]
        if unit.leaves:
            raise RewriteError(f"layout: a group jumps out of itself: {unit.text[:200]!r}")
        if unit.kind in _KEPT:
            continue
        pieces[-1].units += units[start:at]
        start = at + 1
        if unit.kind is Kind.HINT:
            continue
        if unit.kind is Kind.LABEL:
            if unit.text in labels:
                raise RewriteError(f"layout: label {unit.text} stands twice")
            labels[unit.text] = len(pieces)
        ends.append(unit if unit.kind is Kind.JUMP else None)
        pieces.append(Piece())
    pieces[-1].units += units[start:]
    ends.append(None)
    return pieces, ends, labels


def _tables(reading: Reading) -> dict[str, list[str]]:
    """The targets of each table of branches."""
    found: dict[str, list[str]] = {}
    for at in reading.marks:
        unit = reading.units[at]
        # The name stands before the list or, as LLVM writes it, on a line of its own.
        name, mark, listed = unit.text.partition(".branchtargets ")
        if mark and unit.kind is Kind.DECLARATION:
            before = reading.units[at - 1]
            label = before.text if at and before.kind is Kind.LABEL else ""
            found[name.rstrip(" :") or label] = [part.strip() for part in listed[:-1].split(",")]
    return found


def _connect(
    pieces: list[Piece],
    ends: list[Unit | None],
    labels: dict[str, int],
    tables: dict[str, list[str]],
) -> None:
    for at, (piece, end) in enumerate(zip(pieces, ends, strict=True)):
        following = at + 1 if at + 1 < len(pieces) else _END
        if end is None:
            piece.successors = [following]
            continue
        piece.successors = [_find(target, labels, end) for target in _targets(end, tables)]
        if end.guard:
            piece.successors.append(following)
        if end.opcode != "bra":
            piece.jump = end.text
        elif end.guard:
            piece.jump = f"{end.guard} bra.{'.'.join(end.modifiers)}"


def _targets(end: Unit, tables: dict[str, list[str]]) -> list[str]:
    if end.opcode == "bra":
        return list(end.operands)
    if end.opcode != "brx":
        return []
    listed = tables.get(end.operands[-1]) if end.operands else None
    if listed is None:
        raise RewriteError(f"layout: the table of {end.text!r} is not known")
    return listed


def _find(target: str, labels: dict[str, int], end: Unit) -> int:
    if target not in labels:
        raise RewriteError(f"layout: {end.text!r} goes to no label of this entry")
    return labels[target]


def _skip(pieces: list[Piece], at: int) -> int:
    """The piece that control comes to first which does something."""
    seen: set[int] = set()
    while at != _END and at not in seen:
        piece = pieces[at]
        if piece.units or piece.jump or len(piece.successors) != 1:
            return at
        seen.add(at)
        at = piece.successors[0]
    return at


def _reach(pieces: list[Piece], first: int) -> set[int]:
    reached: set[int] = set()
    waiting = [first]
    while waiting:
        at = waiting.pop()
        if at != _END and at not in reached:
            reached.add(at)
            waiting += pieces[at].successors
    return reached


def _join(pieces: dict[int, Piece], first: int) -> dict[int, Piece]:
    """Join each piece with the only one that it leads to and that only it leads to."""
    ways = Counter(to for piece in pieces.values() for to in piece.successors)
    ways[first] += 1
    for at in sorted(pieces):
        if at not in pieces:
            continue
        piece = pieces[at]
        while not piece.jump and len(piece.successors) == 1:
            to = piece.successors[0]
            if to in {_END, at} or ways[to] != 1:
                break
            tail = pieces.pop(to)
            piece.units += tail.units
            piece.jump, piece.successors = tail.jump, tail.successors
    return pieces
