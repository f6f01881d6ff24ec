"""The body of a function as statements and basic blocks.

Nothing is lost: `Body.text` is the function's text, byte for byte.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from burnish.errors import KernelError
from burnish.ptx.declared import Function, Parameter
from burnish.ptx.instruction import Instruction, Registers, Statement, read
from burnish.ptx.isa import form
from burnish.ptx.loops import depths
from burnish.ptx.module import Module
from burnish.ptx.pieces import Piece, pieces

__all__ = ["Block", "Body", "flat", "parse_body"]

_REG = re.compile(r"\.reg\b")
_IN_HEADER = re.compile(r"\.reg\b[^,)]*")
_BRANCH = re.compile(r"\bbra(?:\.uni)?\s+([\w$%]+)\s*;")
_LABEL = re.compile(r"([A-Za-z_$%][\w$%]*)\s*:(?!:)")
_TABLE = re.compile(r"([A-Za-z_$%][\w$%]*)\s*:\s*\.branchtargets\s+([^;]*?)\s*;")
_ASYNCHRONOUS = ("tcgen05", "wgmma")
_ENDS = frozenset({"bra", "brx", "exit", "ret"})


@dataclass(frozen=True, slots=True)
class Block:
    """A basic block.

    Attributes:
        index: Its number, in the order of the text.
        label: The label that it begins with, or empty; its statement is the one before ``first``.
        first: The number of its first statement, without the label.
        last: One more than the number of its last statement.
        successors: Numbers of the blocks that may follow, those that it branches to first.
        falls_through: Whether the next one in the text may follow without a branch.
        loop_depth: In how many loops it is.
    """

    index: int
    label: str
    first: int
    last: int
    successors: tuple[int, ...]
    falls_through: bool
    loop_depth: int


@dataclass(frozen=True)
class Body:
    """A function with its body taken apart.

    Attributes:
        entry: The function's name.
        header: Its text up to the opening brace, included.
        statements: What is in the braces, in order.
        blocks: Basic blocks, in order.
        tail: What follows the last statement, with the closing brace.
        parameters: Its parameters, in order.
        is_entry: Whether a launch can name it.
        version: Of the language, where the module is known: ``8.7``.
        target: As the module declares it, else empty: ``sm_90a``.
    """

    entry: str
    header: str
    statements: tuple[Statement, ...]
    blocks: tuple[Block, ...]
    tail: str
    parameters: tuple[Parameter, ...]
    is_entry: bool
    version: str = ""
    target: str = ""

    @cached_property
    def text(self) -> str:
        """The function's text."""
        parts = [self.header]
        for statement in self.statements:
            parts += (statement.lead, statement.text)
        return "".join([*parts, self.tail])


def parse_body(function: Function, module: Module | None = None) -> Body:
    """Take the body of a function apart.

    Args:
        function: An entry or a device function.
        module: Where it is from; says the version and the target.

    Raises:
        KernelError: The function has no body, or a branch goes nowhere.
    """
    if not function.is_defined:
        raise KernelError(f"{function.name} has no body in this PTX")
    after = function.body + 1
    *found, end = pieces(function.code, after)
    listed = _IN_HEADER.findall(function.header)
    registers = _scope(function.code, found, None, [f"{text.strip()};" for text in listed])
    statements = [_statement(function, piece, registers) for piece in found]
    if any(name in function.code for name in _ASYNCHRONOUS):
        statements = _awaiting(statements)
    return Body(
        entry=function.name,
        header=function.text[:after],
        statements=tuple(statements),
        blocks=_blocks(statements, function.name),
        tail=function.text[end.lead :],
        parameters=function.parameters,
        is_entry=function.is_entry,
        version=module.version if module else "",
        target=module.target if module else "",
    )


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
    inner = [_statement(function, one, scope) for one in found]
    members = tuple(one for one in inner if isinstance(one, Instruction))
    reads: frozenset[str] = frozenset().union(*(one.reads for one in members))
    writes: frozenset[str] = frozenset().union(*(one.writes for one in members))
    pinned = any(_pins(one) for one in inner)
    if pinned:
        reads = writes = reads | writes
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
        loads=frozenset().union(*(one.loads for one in members)),
        stores=frozenset().union(*(one.stores for one in members)),
        fences=any(one.fences for one in members),
        convergent=any(one.convergent for one in members),
        pinned=pinned,
        members=members,
    )


def _pins(statement: Statement) -> bool:
    """Whether a group that has it is not understood."""
    if isinstance(statement, Instruction):
        return statement.pinned
    return statement.kind == "label" or not _REG.match(statement.text)


def _awaiting(statements: list[Statement]) -> list[Statement]:
    """Make each wait for asynchronous operations read and write all registers of such."""
    flying: dict[str, frozenset[str]] = {}
    waits: list[tuple[int, str]] = []
    for number, statement in enumerate(statements):
        for member in flat(statement):
            what = form(".".join((member.opcode, *member.modifiers)))
            if what.in_flight:
                known = flying.get(what.in_flight, frozenset())
                flying[what.in_flight] = known | member.reads | member.writes
            if what.awaits:
                waits.append((number, what.awaits))
    for number, awaited in waits:
        touched, wait = flying.get(awaited, frozenset()), statements[number]
        assert isinstance(wait, Instruction)
        statements[number] = replace(wait, reads=wait.reads | touched, writes=wait.writes | touched)
    return statements


def flat(statement: Statement) -> Iterator[Instruction]:
    """The instruction that a statement is, those in it where it is a group, or none."""
    if not isinstance(statement, Instruction):
        return
    if statement.opcode != "{":
        yield statement
    for member in statement.members:
        yield from flat(member)


def _blocks(statements: Sequence[Statement], function: str) -> tuple[Block, ...]:
    spans = _spans(statements)
    labels = {label: number for number, (label, _, _) in enumerate(spans) if label}
    ends = [_ending(statements[last - 1]) if last > first else None for _, first, last in spans]
    tables = {
        found[1]: found[2]
        for statement in statements
        if statement.kind == "declaration" and (found := _TABLE.match(statement.text))
    }
    successors, falls = [], []
    for number, end in enumerate(ends):
        falling = _falls_through(end) and number + 1 < len(spans)
        targets = [labels.get(name) for name in _targets(end, tables)]
        after = [target for target in targets if target is not None]
        if len(after) < len(targets):
            raise KernelError(f"{function}: this branch goes nowhere: {end.text if end else ''}")
        successors.append(tuple(dict.fromkeys([*after, *([number + 1] if falling else [])])))
        falls.append(falling)
    return tuple(
        Block(number, *span, successors[number], falls[number], depth)
        for number, (span, depth) in enumerate(zip(spans, depths(successors), strict=True))
    )


def _spans(statements: Sequence[Statement]) -> list[tuple[str, int, int]]:
    """Label, first and last of each block."""
    found: list[tuple[str, int, int]] = []
    label, first = "", 0
    for number, statement in enumerate(statements):
        if statement.kind == "label":
            if label or number > first:
                found.append((label, first, number))
            label, first = statement.text.rstrip(": \t\r\n"), number + 1
        elif _ending(statement):
            found.append((label, first, number + 1))
            label, first = "", number + 1
    if label or first < len(statements) or not found:
        found.append((label, first, len(statements)))
    return found


def _ending(statement: Statement) -> Instruction | None:
    """The statement, if control may go elsewhere than to the next one."""
    if not isinstance(statement, Instruction) or not statement.pinned:
        return None
    ends = statement.opcode in _ENDS or (statement.opcode == "{" and _leaves(statement))
    return statement if ends else None


def _leaves(group: Instruction) -> bool:
    """Whether a group branches to a label outside of it."""
    return not set(_BRANCH.findall(group.text)) <= set(_LABEL.findall(group.text))


def _falls_through(end: Instruction | None) -> bool:
    return end is None or bool(end.guard) or end.opcode == "{"


def _targets(end: Instruction | None, tables: Mapping[str, str]) -> list[str]:
    """The labels that control may go to."""
    if end is None or end.opcode in {"exit", "ret"}:
        return []
    if end.opcode == "bra":
        return list(end.operands)
    if end.opcode == "{":
        own = set(_LABEL.findall(end.text))
        return [name for name in _BRANCH.findall(end.text) if name not in own]
    listed = tables.get(end.operands[1] if len(end.operands) > 1 else "", "")
    return [name.strip() for name in listed.split(",")]
