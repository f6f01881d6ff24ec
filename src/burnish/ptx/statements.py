"""Statements from pieces of text: groups in braces, scopes, waits for asynchronous operations."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from burnish.ptx.declared import Function
from burnish.ptx.instruction import Instruction, Registers, Statement, read
from burnish.ptx.isa import form
from burnish.ptx.pieces import Piece, pieces

__all__ = ["flat", "label_name", "outer_labels", "statements"]

_REG = re.compile(r"\.reg\b")
_IN_HEADER = re.compile(r"\.reg\b[^,)]*")
_ASYNCHRONOUS = ("tcgen05", "wgmma")


def statements(function: Function) -> tuple[list[Statement], int]:
    """The statements of a function, and where in its text they end.

    Raises:
        KernelError: A statement or a group does not end.
    """
    *found, end = pieces(function.code, function.body + 1)
    listed = _IN_HEADER.findall(function.header)
    registers = _scope(function.code, found, None, [f"{text.strip()};" for text in listed])
    known = [_statement(function, piece, registers) for piece in found]
    if any(name in function.code for name in _ASYNCHRONOUS):
        _await(known)
    return known, end.lead


def _scope(
    code: str, found: Iterable[Piece], outer: Registers | None, more: Iterable[str] = ()
) -> Registers:
    """The registers that statements may name."""
    texts = [code[piece.start : piece.end] for piece in found if piece.kind == "declaration"]
    return Registers([*more, *(text for text in texts if _REG.match(text))], outer)


def _statement(function: Function, piece: Piece, registers: Registers) -> Statement:
    lead = function.text[piece.lead : piece.start]
    text = function.text[piece.start : piece.end]
    if piece.kind == "instruction":
        return read(lead, text, function.code[piece.start : piece.end], registers)
    if piece.kind == "group":
        return _group(function, piece, registers)
    return Statement(lead, text, piece.kind)


def _group(function: Function, piece: Piece, registers: Registers) -> Instruction:
    """A group in braces as one instruction with the effects of all in it."""
    *found, _ = pieces(function.code, piece.start + 1)
    scope = _scope(function.code, found, registers)
    members = tuple(_statement(function, one, scope) for one in found)
    inner = [one for one in members if isinstance(one, Instruction)]
    pinned = any(_pins(one) for one in members)
    reads, writes = _effects(inner)
    if pinned:
        reads = writes = frozenset().union(*(one.reads | one.writes for one in inner))
    return Instruction(
        lead=function.text[piece.lead : piece.start],
        text=function.text[piece.start : piece.end],
        kind="instruction",
        guard="",
        opcode="{",
        modifiers=(),
        operands=(),
        reads=frozenset(name for name in reads if not scope.is_own(name)),
        writes=frozenset(name for name in writes if not scope.is_own(name)),
        access=None,
        loads=frozenset().union(*(one.loads for one in inner)),
        stores=frozenset().union(*(one.stores for one in inner)),
        fences=any(one.fences for one in inner),
        convergent=any(one.convergent for one in inner),
        pinned=pinned,
        members=members,
    )


def _effects(inner: Iterable[Instruction]) -> tuple[frozenset[str], frozenset[str]]:
    """What instructions in a row read of what is there before them, and what they write.

    A predicated write reads its targets, and so comes after such a read here.
    """
    reads: set[str] = set()
    writes: set[str] = set()
    for one in inner:
        reads |= one.reads - writes
        writes |= one.writes
    return frozenset(reads), frozenset(writes)


def _pins(statement: Statement) -> bool:
    """Whether a group that has it is not understood."""
    if isinstance(statement, Instruction):
        return statement.pinned
    return statement.kind == "label" or not _REG.match(statement.text)


def _await(known: list[Statement]) -> None:
    """Make each wait for asynchronous operations read and write all registers of such."""
    flying: dict[str, frozenset[str]] = {}
    waits: list[tuple[int, str]] = []
    for number, statement in enumerate(known):
        for member in flat(statement):
            what = form(".".join((member.opcode, *member.modifiers)))
            if what.in_flight:
                before = flying.get(what.in_flight, frozenset())
                flying[what.in_flight] = before | _visible(member, statement)
            if what.awaits:
                waits.append((number, what.awaits))
    for number, awaited in waits:
        touched, wait = flying.get(awaited, frozenset()), known[number]
        assert isinstance(wait, Instruction)
        known[number] = replace(wait, reads=wait.reads | touched, writes=wait.writes | touched)


def _visible(member: Instruction, statement: Statement) -> frozenset[str]:
    """The registers of a member of a statement that are not the statement's own."""
    assert isinstance(statement, Instruction)
    return (member.reads | member.writes) & (statement.reads | statement.writes)


def flat(statement: Statement) -> Iterator[Instruction]:
    """The instruction that a statement is, those in it where it is a group, or none."""
    if not isinstance(statement, Instruction):
        return
    if statement.opcode != "{":
        yield statement
    for member in statement.members:
        yield from flat(member)


def outer_labels(group: Instruction) -> list[str]:
    """The labels that a group branches to and does not have."""
    own = {label_name(one) for one in group.members if one.kind == "label"}
    found: list[str] = []
    for one in group.members:
        if isinstance(one, Instruction) and one.opcode == "{":
            found += outer_labels(one)
        elif isinstance(one, Instruction) and one.opcode == "bra":
            found += one.operands
    return [name for name in found if name not in own]


def label_name(label: Statement) -> str:
    """The name that a label statement has."""
    return label.text.rstrip(": \t\r\n")
