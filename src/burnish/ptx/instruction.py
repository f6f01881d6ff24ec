"""One statement of a body, with what it reads and writes, exactly.

Registers count each: those of a vector, of an address, of a guard. A predicated write is a
may-write, so it reads its targets as well. What is not understood keeps its text and is pinned.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from burnish.ptx.isa import CONSTANT_REGISTERS, Form, form

__all__ = ["CARRY", "Access", "Instruction", "Registers", "Statement", "declared", "read"]

CARRY = "CC.CF"
"""The name of the carry flag among the registers."""

_WHOLE = re.compile(
    r"(?:@\s*(?P<guard>!?\s*[\w$%]+)\s+)?"
    r"(?P<head>[a-z]\w*(?:\.[\w:]+)*)"
    r"(?:(?:\s+|(?=[\[{]))(?P<rest>[^.\s].*?))?\s*;",
    re.DOTALL,
)
# An address in brackets is an operand of its own: nothing follows it.
_OPERAND = re.compile(
    r"\s*(\[[^\]]*\]\s*|(?!\[)(?:[^,\[\]{}()]|\[[^\]]*\]|\{[^}]*\}|\([^)]*\))+)(?:,|$)"
)
_WORD = re.compile(r"(?<![\w$%.])[A-Za-z_$%][\w$%]*")
_NUMBERED = re.compile(r"(.*?)(0|[1-9]\d*)")
_DECLARED = re.compile(r"([A-Za-z_$%][\w$%]*)\s*(?:<\s*(\d+)\s*>)?\s*(?=[,;])")
_NO_REGISTERS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a body.

    Attributes:
        lead: What stands before it since the last one: white space, comments, line marks, and
            a ``used_bytes_mask`` pragma, which is about this statement alone.
        text: The statement as it is, with its ``;`` or ``:``, or a whole brace group.
        kind: ``label``, ``declaration`` or ``instruction``.
    """

    lead: str
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Access:
    """An access to memory.

    Attributes:
        kind: ``load``, ``store``, ``copy`` (asynchronous, from global to shared memory) or
            ``other``.
        space: ``global``, ``shared``, ``local``, ``const``, ``param`` or ``generic``; of a copy,
            that of its source.
        address: What is inside the brackets.
    """

    kind: str
    space: str
    address: str


@dataclass(frozen=True, slots=True)
class Instruction(Statement):
    """An instruction, or a group of them in braces.

    Attributes:
        guard: ``%p1``, ``!%p1`` or empty.
        opcode: ``ld``; of a group, an opening brace.
        modifiers: ``("global", "v4", "b32")``.
        operands: Their texts, vectors and addresses whole.
        reads: Registers that it reads.
        writes: Registers that it writes.
        access: The access to memory, if it is one by an address.
        loads: State spaces that it reads.
        stores: State spaces that it writes.
        fences: Whether it keeps its order to every access to memory.
        convergent: Whether it keeps its order to all others that are.
        pinned: Whether nothing may pass it.
        members: What a group consists of.
    """

    guard: str
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]
    reads: frozenset[str]
    writes: frozenset[str]
    access: Access | None
    loads: frozenset[str]
    stores: frozenset[str]
    fences: bool
    convergent: bool
    pinned: bool
    members: tuple[Statement, ...] = ()


class Registers(dict[str, bool | None]):
    """What a word among the operands is: a register, a constant (False) or not known (None)."""

    def __init__(self, declarations: Iterable[str], outer: "Registers | None" = None) -> None:
        super().__init__()
        self._counts: dict[str, int] = {}
        self._names: set[str] = set()
        self._outer = outer
        self[CARRY] = True
        for name, count in declared(declarations):
            if count is None:
                self._names.add(name)
            else:
                self._counts[name] = count

    def __missing__(self, word: str) -> bool | None:
        found = self[word] = self._find(word)
        return found

    def is_own(self, name: str) -> bool:
        """Whether a register is declared in this scope, not in one around it."""
        split = _NUMBERED.fullmatch(name)
        numbered = split is not None and int(split[2]) < self._counts.get(split[1], 0)
        return numbered or name in self._names

    def _find(self, word: str) -> bool | None:
        if self.is_own(word):
            return True
        if self._outer is not None:
            return self._outer[word]
        return None if word[0] == "%" and word not in CONSTANT_REGISTERS else False


def declared(declarations: Iterable[str]) -> list[tuple[str, int | None]]:
    """Names of declared registers; with a number, so many from 0."""
    return [
        (found[1], int(found[2]) if found[2] else None)
        for text in declarations
        for found in _DECLARED.finditer(text)
    ]


def read(lead: str, text: str, code: str, registers: Registers) -> Instruction:
    """Read one instruction.

    Args:
        lead: What stands before it.
        text: The instruction as it is.
        code: The same without comments.
        registers: What is declared where it stands.
    """
    match = _WHOLE.fullmatch(code)
    operands = _operands(match["rest"] or "") if match else None
    if match is None or operands is None:
        return _unknown(lead, text, code, registers)
    what = form(match["head"])
    guard = (match["guard"] or "").replace(" ", "")
    reads, writes, known = _effects(what, guard, operands, registers)
    pinned = what.pinned or not known
    if pinned:
        reads = writes = frozenset(word for word in reads | writes if registers[word])
    access = _access(what, operands) if what.kind else None
    return Instruction(
        lead,
        text,
        "instruction",
        guard,
        what.opcode,
        what.modifiers,
        operands,
        reads,
        writes,
        access,
        what.loads,
        what.stores,
        what.fences,
        what.convergent,
        pinned,
    )


def _unknown(lead: str, text: str, code: str, registers: Registers) -> Instruction:
    touched = frozenset(word for word in _WORD.findall(code) if registers[word])
    return Instruction(
        lead=lead,
        text=text,
        kind="instruction",
        guard="",
        opcode="",
        modifiers=(),
        operands=(),
        reads=touched,
        writes=touched,
        access=None,
        loads=_NO_REGISTERS,
        stores=_NO_REGISTERS,
        fences=True,
        convergent=True,
        pinned=True,
    )


def _operands(rest: str) -> tuple[str, ...] | None:
    """Split at the commas outside of brackets; None where brackets do not match."""
    if "{" not in rest and "[" not in rest and "(" not in rest:
        return tuple(part.strip() for part in rest.split(",")) if rest else ()
    found, at = [], 0
    while at < len(rest):
        match = _OPERAND.match(rest, at)
        if match is None:
            return None
        found.append(match[1].strip())
        at = match.end()
    return tuple(found)


def _effects(
    what: Form, guard: str, operands: tuple[str, ...], registers: Registers
) -> tuple[frozenset[str], frozenset[str], bool]:
    """Registers read, registers written, and whether every word is known."""
    results = what.results if operands and operands[0][:1] != "[" else 0
    target = ", ".join(operands[:results])
    writes = _registers(target, registers)
    reads = _registers(", ".join([guard, *operands[results:]]), registers)
    if what.accumulates or guard or "." in target:
        reads += writes
    if what.opcode[:3] in {"add", "sub", "mad"}:
        _carry(what, reads, writes)
    known = None not in map(registers.__getitem__, reads + writes)
    return frozenset(reads), frozenset(writes), known


def _registers(text: str, registers: Registers) -> list[str]:
    """The words that may be registers."""
    return [word for word in _WORD.findall(text) if registers[word] is not False]


def _carry(what: Form, reads: list[str], writes: list[str]) -> None:
    if what.opcode in {"addc", "subc", "madc"}:
        reads.append(CARRY)
    if "cc" in what.modifiers:
        writes.append(CARRY)


def _access(what: Form, operands: tuple[str, ...]) -> Access | None:
    addresses = [operand for operand in operands if operand[:1] == "["]
    if not addresses:
        return None
    address = addresses[-1 if what.kind == "copy" else 0]
    return Access(what.kind, what.space, address[1:-1].strip())
