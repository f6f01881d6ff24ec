"""What has to keep its order inside a block, and which parameter an address derives from.

Memory is told apart by state space alone: a generic address may be in any, global, shared and
local memory are disjoint, and constant memory and an entry's parameters never change.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.ptx.body import Block, Body
from burnish.ptx.instruction import Instruction, Statement
from burnish.ptx.kept import once
from burnish.ptx.statements import flat

__all__ = ["cells", "edges", "origin", "written"]

_SPACES = ("[global]", "[shared]", "[local]", "[param]")
_EVERYWHERE = frozenset(_SPACES)
_CONVERGENT = frozenset({"[convergent]"})
_NOTHING: frozenset[str] = frozenset()
_READ = {
    "generic": _EVERYWHERE,
    "const": _NOTHING,
    **{cell[1:-1]: frozenset({cell}) for cell in _SPACES},
}
# The parameters of a device function can be reached by other addresses, too.
_WRITTEN = {**_READ, "local": frozenset({"[local]", "[param]"})}

_WORD = re.compile(r"(?<![\w$%.])[A-Za-z_$%][\w$%]*")
_POINTER_BYTES = 8
_PREFETCHES = frozenset({"prefetch", "prefetchu"})
_WIDE = frozenset({"b64", "b128", "s64", "u64"})
_SUMS = frozenset(
    {"abs", "add", "and", "cvt", "cvta", "mad", "max", "min", "mov", "neg", "not", "or", "selp"}
    | {"slct", "sub", "xor"}
)
_NUMBERS = frozenset(
    {"bfe", "bfind", "clz", "div", "mul", "mul24", "popc", "rem", "sad", "shl", "shr"}
)


@dataclass(slots=True)
class _Order:
    """The forward pass over a block: who wrote and who read each cell last."""

    found: list[tuple[int, int]] = field(default_factory=list)
    writers: dict[str, int] = field(default_factory=dict)
    readers: dict[str, list[int]] = field(default_factory=dict)
    loose: dict[int, None] = field(default_factory=dict)
    barrier: int = -1

    def bar(self, number: int) -> None:
        """Put a statement after all so far and before all that come."""
        self._put(number, set(self.loose) or self._after_barrier())
        self.writers.clear()
        self.readers.clear()
        self.loose.clear()
        self.barrier = number

    def add(self, number: int, reads: frozenset[str], writes: frozenset[str]) -> None:
        """Put a statement after what it depends on."""
        before = set()
        for cell in reads:
            if cell in self.writers:
                before.add(self.writers[cell])
            self.readers.setdefault(cell, []).append(number)
        for cell in writes:
            before.update(self.readers.pop(cell, ()))
            if cell in self.writers:
                before.add(self.writers[cell])
            self.writers[cell] = number
        before.discard(number)
        self._put(number, before or self._after_barrier())
        self.loose[number] = None

    def _after_barrier(self) -> set[int]:
        return {self.barrier} if self.barrier >= 0 else set()

    def _put(self, number: int, before: set[int]) -> None:
        for earlier in sorted(before):
            self.found.append((earlier, number))
            self.loose.pop(earlier, None)


def edges(body: Body, block: Block) -> tuple[tuple[int, int], ...]:
    """Pairs of statements of a block that must keep their order, earlier first.

    Not every such pair is there, but those that are imply the others. Their number is linear in
    that of the operands.
    """
    order = _Order()
    for number in range(block.first, block.last):
        touched = cells(body.statements[number], is_entry=body.is_entry)
        if touched is None:
            order.bar(number)
        else:
            order.add(number, *touched)
    return tuple(order.found)


def cells(statement: Statement, *, is_entry: bool) -> tuple[frozenset[str], frozenset[str]] | None:
    """What a statement reads and writes: registers, and state spaces in brackets.

    Two statements may change places where neither writes what the other reads or writes.

    Args:
        statement: A statement of a body.
        is_entry: Whether it is an entry's, so that parameters are constant.

    Returns:
        What it reads and what it writes; None for one that nothing may pass.
    """
    if not isinstance(statement, Instruction) or statement.pinned:
        return None
    reads, writes = statement.reads, statement.writes
    for space in statement.loads:
        if space != "param" or not is_entry:
            reads |= _READ[space]
    for space in statement.stores:
        writes |= _WRITTEN[space]
    if statement.fences:
        writes |= _EVERYWHERE
    if statement.convergent:
        writes |= _CONVERGENT
    return reads, writes


def origin(body: Body) -> Mapping[int, int | None]:
    """The parameter that the address of each access to global memory derives from.

    Pointers are followed through sums, choices and copies, regardless of the order of statements;
    a product or a shift is an offset. What is loaded from memory may point anywhere.

    Returns:
        For each statement that accesses global memory by an address, the number of the parameter,
        or None where it is not one alone, or not known to be a pointer.
    """
    trace = _trace(body)
    accesses = [
        (number, statement.access)
        for number, statement in enumerate(body.statements)
        if isinstance(statement, Instruction) and statement.access is not None
    ]
    return {n: trace.origin(one.address) for n, one in accesses if one.space == "global"}


def written(body: Body) -> frozenset[int]:
    """The parameters that the address of a write to memory may derive from, in groups, too.

    What is written through pointers that are loaded from memory is not among them.
    """
    trace = _trace(body)
    found: set[int] = set()
    for statement in body.statements:
        for one in flat(statement):
            access = None if one.opcode in _PREFETCHES else one.access
            if access is not None and access.kind not in {"load", "copy"}:
                found.update(trace.parameters(access.address))
    return frozenset(found)


class _Trace:
    """For each register the set of parameters that it may hold a pointer of, as bits."""

    def __init__(self, body: Body) -> None:
        self._numbers = {one.name: number for number, one in enumerate(body.parameters)}
        self._sizes = [one.size_bytes for one in body.parameters]
        self._anywhere = 1 << len(self._sizes)
        self._pointers = {1 << number for number, one in enumerate(body.parameters) if one.pointer}
        instructions = [one for statement in body.statements for one in flat(statement)]
        self._held = dict.fromkeys((name for one in instructions for name in one.writes), 0)
        steps = [(one.writes, *self._sources(one)) for one in instructions if one.writes]
        steps = [step for step in steps if step[1] or step[2]]
        while sum(self._merge(*step) for step in steps):
            pass
        for one in instructions:
            if one.opcode == "cvta" and one.modifiers[:2] == ("to", "global"):
                self._pointers.add(self._of(one.operands[1]))
        self._pointers.discard(self._anywhere)

    def origin(self, address: str) -> int | None:
        """The parameter that an address derives from."""
        held = self._of(address)
        return held.bit_length() - 1 if held in self._pointers and held.bit_count() == 1 else None

    def parameters(self, address: str) -> list[int]:
        """The parameters that an address may derive from, and others where it is not known."""
        held = self._of(address)
        return [number for number in range(len(self._sizes)) if held >> number & 1]

    def _merge(self, writes: frozenset[str], some: int, registers: list[str]) -> bool:
        """Let a result hold what its sources do; says whether that is new."""
        for register in registers:
            some |= self._held.get(register, 0)
        fresh = [register for register in writes if some & ~self._held.get(register, 0)]
        for register in fresh:
            self._held[register] = some | self._held.get(register, 0)
        return bool(fresh)

    def _sources(self, one: Instruction) -> tuple[int, list[str]]:
        """The parameters that a result holds anyway, and registers that it may hold those of."""
        last = one.modifiers[-1] if one.modifiers else ""
        if one.opcode in _NUMBERS or (one.opcode in {"cvt", "ld"} and last not in _WIDE):
            return 0, []
        if one.pinned or one.opcode not in _SUMS:
            return self._loaded(one), []
        operands = one.operands[3:] if one.opcode == "mad" else one.operands[1:]
        if any(operand[:1] == "{" for operand in operands):
            return self._anywhere, []
        words = _WORD.findall(", ".join(operands))
        named = any(word[0] != "%" and word not in one.reads for word in words)
        return self._anywhere * named, [word for word in words if word in one.reads]

    def _loaded(self, one: Instruction) -> int:
        """The parameter that is loaded, whole; else anything."""
        if one.opcode != "ld" or one.access is None or one.operands[0][:1] == "{":
            return self._anywhere
        number = self._numbers.get(one.access.address)
        if number is None or one.access.space != "param" or self._sizes[number] != _POINTER_BYTES:
            return self._anywhere
        return 1 << number

    def _of(self, address: str) -> int:
        """The parameters that an address may derive from."""
        held = 0
        for word in _WORD.findall(address):
            held |= self._held.get(word, self._anywhere)
        return held


@once
def _trace(body: Body) -> _Trace:
    return _Trace(body)
