"""What a unit reads, writes and keeps in order: the checkers' own operand table.

Written from the PTX ISA's instruction chapters, apart from the table that the rewrites use. What
is not in the table is a barrier to everything.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from burnish.ptx.checking.opcodes import CONVERGENT, HINTS, ORDERED, PLAIN, STRONG, WRITE_FIRST
from burnish.ptx.checking.reader import Kind, Unit, analyse, split

__all__ = ["BARRIER", "IN_FLIGHT", "Access", "Effects", "declared", "effects_of", "names"]

_NAME = re.compile(r"(?<![\w$.%])[%A-Za-z_$][\w$]*")
_CLOCKS = re.compile(r"%(?:clock|globaltimer|pm\d)")
_ADDRESS = re.compile(r"\[\s*([%\w$]+)\s*(?:([+-])\s*(-?(?:0x[0-9a-fA-F]+|\d+)))?\s*\]")
_OF_THE_NEXT = re.compile(r'\.pragma "used_bytes_mask [^"]*";')
_REGISTERS = re.compile(r"\.reg\b")
_TYPE = re.compile(r"(?:b|u|s|f|bf)(8|16|32|64|128)")
_DECLARED = re.compile(r"([%A-Za-z_$][\w$]*)\s*(?:<\s*(\d+)\s*>\s*)?(?=[,;])")
_CARRY = " carry"
_SINK = frozenset("_")
IN_FLIGHT = " in flight"

SPACES = ("global", "shared", "local", "const", "param")


@dataclass(frozen=True, slots=True)
class Access:
    """One weak access of memory.

    Attributes:
        store: It writes (a load does not).
        space: ``global``, ``shared``, ``local`` or ``generic``.
        base: The register or variable of the address; nothing where it is not plain.
        offset: Constant bytes added to the base.
        size_bytes: What it touches from there; 0 where that is not known.
    """

    store: bool
    space: str
    base: str = ""
    offset: int = 0
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Effects:
    """What a unit does, as far as its place in a block matters.

    Attributes:
        reads: Names read: registers, and others that nobody writes.
        writes: Names written or perhaps written.
        accesses: Weak accesses of memory that a store can disturb.
        copy: The accesses are an asynchronous copy's: copies are not ordered among themselves.
        ordered: It keeps the order of all memory.
        convergent: It keeps its order with all others that are.
        barrier: Nothing passes it.
        flying: It names registers of an asynchronous operation, all of which its waits guard.
        leads: It speaks of the very next statement, and stays before that one.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    accesses: tuple[Access, ...] = ()
    copy: bool = False
    ordered: bool = False
    convergent: bool = False
    barrier: bool = False
    flying: frozenset[str] = frozenset()
    leads: bool = False


BARRIER = Effects(barrier=True, ordered=True, convergent=True)


def names(text: str) -> frozenset[str]:
    """The names in an operand: `%v.x` is `%v`, numbers and the sink `_` are none."""
    return frozenset(_NAME.findall(text)) - _SINK


def effects_of(unit: Unit, parameters: Collection[str]) -> Effects:
    """What a unit does; `parameters` lead to the entry's own, whose loads are free."""
    if unit.kind is Kind.GROUP:
        return _group(unit, parameters)
    if unit.kind is not Kind.INSTRUCTION:
        return Effects(leads=True) if _OF_THE_NEXT.fullmatch(unit.text) else BARRIER
    if _CLOCKS.search(unit.text):
        return BARRIER
    if unit.opcode in PLAIN:
        return _plain(unit)
    if unit.opcode in HINTS:
        reads = names(" ".join((unit.guard, *unit.operands)))
        return Effects(reads, accesses=(Access(store=False, space=_space(unit)),))
    return _memory(unit, parameters) or _ordered(unit)


def _plain(unit: Unit) -> Effects:
    if not unit.operands:
        return BARRIER
    reads, writes = _first_written(unit)
    if unit.opcode in {"addc", "subc", "madc"}:
        reads |= {_CARRY}
    if "cc" in unit.modifiers:
        writes |= {_CARRY}
    convergent = unit.opcode in CONVERGENT or not {"sync", "aligned"}.isdisjoint(unit.modifiers)
    return Effects(reads, writes, convergent=convergent)


def _first_written(unit: Unit, count: int = 1) -> tuple[frozenset[str], frozenset[str]]:
    reads = names(" ".join((unit.guard, *unit.operands[count:])))
    writes = names(" ".join(unit.operands[:count]))
    return reads | writes if unit.guard else reads, writes


def _memory(unit: Unit, parameters: Collection[str]) -> Effects | None:
    """The effects of a weak access; None where it is no such thing."""
    marks = frozenset(unit.modifiers)
    if unit.opcode == "cp":
        weak = marks & {"ca", "cg"} and "bulk" not in marks and len(unit.operands) > 1
        return _copy(unit) if weak else None
    if marks & STRONG:
        return None
    if unit.opcode in {"ld", "ldu", "tex", "tld4", "ldmatrix"}:
        return _load(unit, parameters)
    if unit.opcode in {"st", "stmatrix", "discard"}:
        return _store(unit)
    return _wmma(unit) if unit.opcode == "wmma" else None


def _space(unit: Unit) -> str:
    found = {part.partition("::")[0] for part in unit.modifiers} & set(SPACES)
    return found.pop() if len(found) == 1 else "generic"


def _load(unit: Unit, parameters: Collection[str]) -> Effects:
    space = _space(unit)
    address = " ".join(unit.operands[1:])
    if not address or (space == "param" and names(address).isdisjoint(parameters)):
        return BARRIER
    reads, writes = _first_written(unit)
    free = space in {"const", "param"}
    accesses = () if free else (_access(unit, unit.operands[1], store=False),)
    return Effects(reads, writes, accesses, convergent="sync" in unit.modifiers)


def _store(unit: Unit) -> Effects:
    if _space(unit) in {"const", "param"} or not unit.operands:
        return BARRIER
    reads = names(" ".join((unit.guard, *unit.operands)))
    access = _access(unit, unit.operands[0], store=True)
    return Effects(reads, accesses=(access,), convergent="sync" in unit.modifiers)


def _wmma(unit: Unit) -> Effects:
    if not unit.modifiers or not unit.operands:
        return BARRIER
    space = _space(unit)
    if unit.modifiers[0] == "store":
        reads = names(" ".join((unit.guard, *unit.operands)))
        return Effects(reads, accesses=(Access(store=True, space=space),), convergent=True)
    reads, writes = _first_written(unit)
    loads = unit.modifiers[0] == "load"
    accesses = (Access(store=False, space=space),) if loads else ()
    return Effects(reads, writes, accesses, convergent=True)


def _copy(unit: Unit) -> Effects:
    reads = names(" ".join((unit.guard, *unit.operands)))
    accesses = (Access(store=True, space="shared"), Access(store=False, space="global"))
    return Effects(reads, accesses=accesses, copy=True)


def _access(unit: Unit, address: str, *, store: bool) -> Access:
    space = _space(unit)
    match = _ADDRESS.fullmatch(address)
    size = _size_bytes(unit.modifiers)
    if not match or unit.opcode not in {"ld", "st"} or not size:
        return Access(store=store, space=space)
    offset = int(match[3] or "0", 0)
    return Access(store, space, match[1], -offset if match[2] == "-" else offset, size)


def _size_bytes(modifiers: tuple[str, ...]) -> int:
    match = _TYPE.fullmatch(modifiers[-1]) if modifiers else None
    lanes = [int(part[1:]) for part in modifiers if part in {"v2", "v4", "v8"}]
    return int(match[1]) // 8 * (lanes[0] if lanes else 1) if match else 0


def _ordered(unit: Unit) -> Effects:
    """What keeps the order of all memory, or is not known at all."""
    if unit.opcode not in ORDERED:
        return BARRIER
    every = names(" ".join((unit.guard, *unit.operands)))
    convergent = not {"sync", "aligned", "sync.aligned"}.isdisjoint(unit.modifiers)
    match unit.opcode:
        case "wgmma" | "tcgen05":
            return _tensor(unit, every, convergent=convergent)
        case "bar" | "barrier":
            writes = names(unit.operands[0]) if "red" in unit.modifiers else frozenset[str]()
            return Effects(every, writes, ordered=True, convergent=True)
        case "call":
            every |= {_CARRY}  # no call keeps the carry
            return Effects(every, every, ordered=True, convergent=True)
        case _:
            return Effects(every, _written(unit), ordered=True, convergent=convergent)


def _written(unit: Unit) -> frozenset[str]:
    first = unit.operands[0] if unit.operands else "["
    takes = unit.opcode in WRITE_FIRST or "ld_reduce" in unit.modifiers
    return names(first) if takes and not first.startswith("[") else frozenset()


def _tensor(unit: Unit, every: frozenset[str], *, convergent: bool) -> Effects:
    """Matrix units: registers of operations in flight are guarded by fences and waits."""
    action = unit.modifiers[0].partition("::")[0] if unit.modifiers else ""
    if unit.opcode == "wgmma" and action == "mma_async":
        if not unit.operands:
            return BARRIER
        reads = Access(store=False, space="shared")
        return Effects(every, names(unit.operands[0]), (reads,), convergent=True, flying=every)
    if unit.opcode == "wgmma" or action == "wait":
        guarded = frozenset({IN_FLIGHT})
        return Effects(every | guarded, guarded, ordered=True, convergent=True)
    if action == "ld":
        written = names(" ".join(part for part in unit.operands if not part.startswith("[")))
        return Effects(every, written, ordered=True, convergent=True, flying=every)
    flying = every if action == "st" else frozenset[str]()
    return Effects(every, ordered=True, convergent=convergent, flying=flying)


def _group(unit: Unit, parameters: Collection[str]) -> Effects:
    """The union of what a brace group does, minus the names that it declares."""
    spans = split(unit.text[1:-1])
    inner = [analyse(span.strip()) for span in spans or ()]
    local: set[str] = set()
    found: list[Effects] = []
    for part in inner:
        if part.kind is Kind.DECLARATION and _REGISTERS.match(part.text) and not found:
            local |= declared(part.text)
            continue
        effects = effects_of(part, parameters)
        if effects.barrier or part.opcode == "call":
            return BARRIER
        found.append(effects)
    return _union(found, frozenset(local)) if spans is not None else BARRIER


def declared(text: str) -> set[str]:
    """The names of a `.reg` declaration; `%r<3>` is `%r0` to `%r2`."""
    found: set[str] = set()
    for name, count in _DECLARED.findall(text):
        found |= {f"{name}{number}" for number in range(int(count))} if count else {name}
    return found


def _union(parts: list[Effects], local: frozenset[str]) -> Effects:
    return Effects(
        reads=frozenset().union(*(part.reads for part in parts)) - local,
        writes=frozenset().union(*(part.writes for part in parts)) - local,
        accesses=tuple(
            Access(access.store, access.space) for part in parts for access in part.accesses
        ),
        ordered=any(part.ordered for part in parts),
        convergent=any(part.convergent for part in parts),
        flying=frozenset().union(*(part.flying for part in parts)) - local,
    )
