"""Checks loads made non-coherent: from which parameter does the address come?

A flow-insensitive derivation of its own, over all definitions of a register. It keeps two sets:
the pointers that an address may be based on (sums keep them, products and shifts do not), and
every parameter that took part in any way. One pointer must be the base, and no other pointer of
the entry may have taken part; nor may a multiple of anything that a pointer and another value
took part in, since the difference of two pointers is no index. What the entry hands to a call,
to code that is not understood, or to memory may be written there.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from burnish.errors import RewriteError
from burnish.ptx.checking.effects import Effects, names
from burnish.ptx.checking.opcodes import PLAIN
from burnish.ptx.checking.reader import Kind, Unit

__all__ = ["Origins", "parameters_of"]

_UNKNOWN = -1
_DIFFERENCE = -2
_PARAMETER = re.compile(r"\.param\s+([^,()]*?)([%A-Za-z_$][\w$]*)\s*(\[[^\]]*\])?\s*(?=[,)])")
_PRODUCTS = frozenset({"mul", "mul24", "shl", "shr", "div", "rem", "shf", "mma"})
_SUMS_OF_PRODUCTS = frozenset({"mad", "mad24"})
_WRITERS = frozenset({"st", "atom", "red", "cp", "multimem", "discard", "stmatrix", "wmma"})
_ELSEWHERE = frozenset({"shared", "local", "const", "param"})
_STRONG = frozenset({"volatile", "relaxed", "acquire", "mmio", "weak"})
_NARROW = frozenset({"u8", "s8", "u16", "s16", "u32", "s32"})
_OPERATORS = frozenset({"lu", "cv"})
_MIXED = frozenset({_DIFFERENCE})
_Sets = dict[str, frozenset[int]]


def parameters_of(header: str) -> dict[str, int]:
    """The entry's parameters by name; one that holds bytes (a struct) counts as unknown: -1."""
    found = list(_PARAMETER.finditer(header[header.find("(") :]))
    return {
        match[2]: _UNKNOWN if match[3] or ".b8" in match[1] else number
        for number, match in enumerate(found)
    }


@dataclass(frozen=True, slots=True)
class _Definition:
    """What one write of a register may carry: names it adds up, and all that take part."""

    target: str
    bases: frozenset[str]
    sources: frozenset[str]
    known: frozenset[int] = frozenset()
    multiplied: frozenset[str] = frozenset()


class Origins:
    """From which parameters the addresses of one entry derive."""

    def __init__(self, units: Sequence[Unit], effects: Mapping[Unit, Effects], header: str) -> None:
        self._dependent = any(unit.opcode == "griddepcontrol" for unit in units) or any(
            "griddepcontrol" in unit.text for unit in units if unit.kind is Kind.GROUP
        )
        numbers = parameters_of(header)
        written = {name for unit in units for name in effects[unit].writes}
        definitions = [
            found for unit in units for found in _definitions(unit, effects[unit], numbers, written)
        ]
        self._bases = _spread([(item.target, item.bases, item.known) for item in definitions])
        written_to = [_written_to(unit, effects[unit]) for unit in units]
        addresses = [_addresses(unit) for unit in units if not _is_elsewhere(unit)]
        self._stored = self._from(written_to)
        self._pointers = self._from(addresses) - {_UNKNOWN}
        self._parts = _parts(definitions, self._pointers)

    def _from(self, uses: Iterable[Collection[str]]) -> frozenset[int]:
        nothing = frozenset[int]()
        return nothing.union(*(self._bases.get(name, nothing) for use in uses for name in use))

    def check(self, plain: Unit, rewritten: Unit, allowed: Collection[int] | None) -> None:
        """Check that a load may have become non-coherent.

        Args:
            plain: The load as it was.
            rewritten: The load as it is.
            allowed: Positions of the parameters whose buffers nobody writes; None: any.

        Raises:
            RewriteError: It may not.
        """
        reason = self._reason(plain, rewritten, allowed)
        if reason:
            raise RewriteError(f"noncoherent: {reason}: {plain.text!r} became {rewritten.text!r}")

    def _reason(self, plain: Unit, rewritten: Unit, allowed: Collection[int] | None) -> str:
        marks = set(rewritten.modifiers)
        weak = plain.opcode == "ld" and "global" in marks and not marks & (_STRONG | _OPERATORS)
        if not weak or "nc" not in marks:
            return "only a weak load of global memory can become one, and none ceases to be"
        if self._dependent:
            return "the entry waits for another grid (griddepcontrol)"
        return self._origin_reason(plain, allowed)

    def _origin_reason(self, plain: Unit, allowed: Collection[int] | None) -> str:
        address = _addresses(plain)
        bases = frozenset().union(*(self._bases.get(name, {_UNKNOWN}) for name in address))
        parts = frozenset().union(*(self._parts.get(name, {_UNKNOWN}) for name in address))
        if len(bases) != 1 or _UNKNOWN in bases or parts & (self._pointers | _MIXED) != bases:
            return f"its address is not from exactly one parameter (from {sorted(bases)})"
        if bases & self._stored:
            return f"the entry writes through parameter {min(bases)}"
        if allowed is not None and not bases <= set(allowed):
            return f"parameter {min(bases)} may be written"
        return ""


def _definitions(
    unit: Unit, effects: Effects, numbers: Mapping[str, int], written: Collection[str]
) -> list[_Definition]:
    if unit.kind not in {Kind.INSTRUCTION, Kind.GROUP}:
        return []
    if effects.barrier or unit.kind is Kind.GROUP or unit.opcode == "call":
        nothing = frozenset[str]()
        return [_Definition(name, nothing, nothing, _nowhere()) for name in names(unit.text)]
    targets = effects.writes
    if unit.opcode not in PLAIN:
        known = _loaded(unit, numbers) if unit.opcode == "ld" else _nowhere()
        return [_Definition(name, frozenset(), frozenset(), known) for name in targets]
    added = _added(unit)
    bases = names(" ".join(added))
    foreign = {name for name in bases if name not in written and not name.startswith("%")}
    known = _nowhere() if foreign else frozenset[int]()
    multiplied = names(" ".join(part for part in unit.operands[1:] if part not in added))
    return [_Definition(name, bases, effects.reads, known, multiplied) for name in targets]


def _parts(definitions: Sequence[_Definition], pointers: Collection[int]) -> _Sets:
    """All that took part in each register; marked where a pointer was multiplied with others."""
    edges = [(item.target, item.sources, item.known) for item in definitions]
    plain = _spread(edges)
    mixed: list[tuple[str, frozenset[str], frozenset[int]]] = []
    for item in definitions:
        taken = frozenset[int]().union(*(plain.get(name, ()) for name in item.multiplied))
        if len(taken) > 1 and not taken.isdisjoint(pointers):
            mixed.append((item.target, frozenset(), _MIXED))
    return _spread(edges + mixed) if mixed else plain


def _nowhere() -> frozenset[int]:
    return frozenset({_UNKNOWN})


def _loaded(unit: Unit, numbers: Mapping[str, int]) -> frozenset[int]:
    """What a load brings: the value of one parameter, which may be a pointer, or the unknown."""
    whole = "param" in unit.modifiers and unit.operands[0][0] != "{"
    return frozenset({numbers.get(unit.operands[1].strip("[ ]"), _UNKNOWN) if whole else _UNKNOWN})


def _added(unit: Unit) -> tuple[str, ...]:
    """The operands that an address may be handed on through."""
    if unit.opcode in _PRODUCTS:
        return ()
    if unit.opcode in _SUMS_OF_PRODUCTS:
        return unit.operands[3:]
    if unit.opcode == "cvt" and not _NARROW.isdisjoint(unit.modifiers[-1:]):
        return ()
    return unit.operands[1:]


def _addresses(unit: Unit) -> frozenset[str]:
    return names(" ".join(part for part in unit.operands if part.startswith("[")))


def _is_elsewhere(unit: Unit) -> bool:
    """Whether it is no access that might be one of global memory."""
    spaces = {part.partition("::")[0] for part in unit.modifiers}
    return "global" not in spaces and not spaces.isdisjoint(_ELSEWHERE)


def _written_to(unit: Unit, effects: Effects) -> frozenset[str]:
    """The registers of what a unit may write to, and of pointers that it gives away.

    A store's first address is written, and its value may be a pointer to write through later.
    """
    if effects.barrier or unit.opcode == "call":
        return names(unit.text)
    if unit.kind is Kind.GROUP:
        writes = effects.ordered or any(access.store for access in effects.accesses)
        return names(unit.text) if writes else frozenset()
    if unit.opcode not in _WRITERS:
        return frozenset()
    found = [part for part in unit.operands if part.startswith("[")]
    given = [part for part in unit.operands[1:] if not part.startswith("[")]
    return names(" ".join(found[:1] + given))


def _spread(
    definitions: Sequence[tuple[str, frozenset[str], frozenset[int]]],
) -> _Sets:
    """The smallest sets that every definition agrees with."""
    sets: _Sets = {}
    for target, _, known in definitions:
        sets[target] = sets.get(target, frozenset()) | known
    changed = True
    while changed:
        changed = False
        for target, sources, _ in definitions:
            grown = sets[target].union(*(sets.get(name, frozenset()) for name in sources))
            if grown != sets[target]:
                sets[target] = grown
                changed = True
    return sets
