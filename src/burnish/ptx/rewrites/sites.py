"""Single loads, stores and copies of global memory, and how else they may be spelled.

Only weak accesses count: a hint changes nothing that a program may rely on. An access with an
operator that its author may mean more by than speed is left alone: ``.cg`` and ``.cv`` of loads,
which keep away from caches that do not see other blocks' stores, ``.lu``, ``.wt``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from burnish.ptx.body import Body
from burnish.ptx.instruction import Instruction, Statement
from burnish.ptx.kept import once

__all__ = ["COPY", "LOAD", "NONCOHERENT", "STORE", "Site", "sites", "spelled"]

LOAD = "load"
STORE = "store"
COPY = "copy"
NONCOHERENT = "nc"

_OPCODES: Mapping[str, str] = {LOAD: "ld", STORE: "st", COPY: "cp"}
_OPERATORS = frozenset({"ca", "cg", "cs", "wb", "wt"})
_MEANT: Mapping[str, frozenset[str]] = {
    LOAD: frozenset({"cg", "cv", "lu"}),
    STORE: frozenset({"wt"}),
    COPY: frozenset(),
}
_WIDTHS = frozenset({"L2::64B", "L2::128B", "L2::256B"})
# Where a modifier stands, by the grammar of ld and st in the PTX ISA.
_RANKS: Mapping[str, int] = {
    "weak": 0,
    "global": 1,
    **dict.fromkeys(_OPERATORS, 2),
    NONCOHERENT: 3,
    **dict.fromkeys(("L2::evict_first", "L2::evict_last", "L2::evict_normal"), 5),
    "L2::cache_hint": 6,
    **dict.fromkeys(_WIDTHS, 7),
}
_L1_RANK = 4
_LAST_RANK = 8


@dataclass(frozen=True, slots=True)
class Site:
    """An access whose spelling may be changed.

    Attributes:
        number: Of the statement in the body.
        kind: ``load``, ``store`` or ``copy``.
        modifiers: As written: ``("global", "nc", "v4", "f32")``.
        start: What precedes opcode and modifiers in the statement.
        end: What follows them.
        operands: Texts of its operands.
    """

    number: int
    kind: str
    modifiers: tuple[str, ...]
    start: str
    end: str
    operands: tuple[str, ...]

    def text(self, hints: tuple[str, ...], known: str | None = None) -> str:
        """The statement with more hints; see `spelled`.

        Args:
            hints: What to add.
            known: What an earlier rewrite made of it; None where it is as written.
        """
        modifiers = self.modifiers
        if known is not None:
            head = known[len(self.start) : len(known) - len(self.end)]
            modifiers = tuple(head.split(".")[1:])
        return self.start + spelled(self.kind, modifiers, hints) + self.end


@once
def sites(body: Body) -> tuple[Site, ...]:
    """All of them, in order."""
    found = (_site(number, statement) for number, statement in enumerate(body.statements))
    return tuple(site for site in found if site is not None)


def _site(number: int, statement: Statement) -> Site | None:
    if not isinstance(statement, Instruction) or statement.fences or statement.pinned:
        return None
    access, modifiers = statement.access, statement.modifiers
    if access is None or access.space != "global":
        return None
    if _OPCODES.get(access.kind) != statement.opcode:
        return None
    if not _MEANT[access.kind].isdisjoint(modifiers):
        return None
    head = ".".join((statement.opcode, *modifiers))
    start, found, end = statement.text.partition(head)
    if not found:  # blanks or a comment between the modifiers
        return None
    return Site(number, access.kind, modifiers, start, end, statement.operands)


@cache
def spelled(kind: str, modifiers: tuple[str, ...], hints: tuple[str, ...]) -> str:
    """Opcode and modifiers with other hints.

    Args:
        kind: ``load``, ``store`` or ``copy``.
        modifiers: As written.
        hints: Modifiers to add; each replaces what is written of its kind. ``nc`` takes ``weak``
            away, which it implies.
    """
    kept = list(modifiers)
    for hint in hints:
        kept = [one for one in kept if not _excludes(hint, one)]
    if kind == COPY:
        words = ["cp", "async", *_copy(kept, hints)]
    else:
        words = [_OPCODES[kind], *sorted([*kept, *hints], key=_rank)]
    return ".".join(words)


def _excludes(hint: str, one: str) -> bool:
    """Whether a modifier cannot stand beside a hint."""
    if hint in _WIDTHS:
        return one in _WIDTHS
    if hint == NONCOHERENT:
        return one == "weak"
    return one in _OPERATORS or one.startswith("L1::")


def _copy(kept: list[str], hints: tuple[str, ...]) -> list[str]:
    """Modifiers of a copy after ``cp.async``: the operator, state spaces, hints."""
    words = [*kept[1:], *hints]
    first = [one for one in words if one in _OPERATORS]
    last = [one for one in words if one in _WIDTHS]
    return [*first, *(one for one in words if one not in {*first, *last}), *last]


def _rank(modifier: str) -> int:
    return _L1_RANK if modifier.startswith("L1::") else _RANKS.get(modifier, _LAST_RANK)
