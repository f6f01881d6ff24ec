"""The body of a function as statements and basic blocks.

Nothing is lost: `Body.text` is the function's text, byte for byte.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from burnish.errors import KernelError
from burnish.ptx.declared import Function, Parameter
from burnish.ptx.instruction import Instruction, Statement
from burnish.ptx.loops import depths
from burnish.ptx.module import Module
from burnish.ptx.statements import label_name, outer_labels, statements
from burnish.ptx.text import bare, tidy

__all__ = ["Block", "Body", "parse_body", "tidied"]

_TABLE = re.compile(r"([A-Za-z_$%][\w$%]*)\s*:\s*\.branchtargets\s+([^;]*?)\s*;")
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
    known, end = statements(function)
    return Body(
        entry=function.name,
        header=function.text[: function.body + 1],
        statements=tuple(known),
        blocks=_blocks(known, function.name),
        tail=function.text[end:],
        parameters=function.parameters,
        is_entry=function.is_entry,
        version=module.version if module else "",
        target=module.target if module else "",
    )


def tidied(function: Function) -> Function:
    """The same function without comments, line marks and labels that only debug data use.

    A changed order needs this: ptxas refuses line marks whose ``inlined_at`` names a place that no
    mark before it does.
    """
    header = f"{tidy(function.header)}\n"
    code = header + tidy(function.code[len(function.header) :])
    return replace(function, text=code, code=code, body=len(header))


def _blocks(known: Sequence[Statement], function: str) -> tuple[Block, ...]:
    spans = _spans(known)
    labels = {label: number for number, (label, _, _) in enumerate(spans) if label}
    ends = [_ending(known[last - 1]) if last > first else None for _, first, last in spans]
    tables = {
        found[1]: found[2]
        for statement in known
        if statement.kind == "declaration" and (found := _TABLE.match(bare(statement.text)))
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


def _spans(known: Sequence[Statement]) -> list[tuple[str, int, int]]:
    """Label, first and last of each block."""
    found: list[tuple[str, int, int]] = []
    label, first = "", 0
    for number, statement in enumerate(known):
        if statement.kind == "label":
            if label or number > first:
                found.append((label, first, number))
            label, first = label_name(statement), number + 1
        elif _ending(statement):
            found.append((label, first, number + 1))
            label, first = "", number + 1
    if label or first < len(known) or not found:
        found.append((label, first, len(known)))
    return found


def _ending(statement: Statement) -> Instruction | None:
    """The statement, if control may go elsewhere than to the next one."""
    if not isinstance(statement, Instruction) or not statement.pinned:
        return None
    ends = statement.opcode in _ENDS or bool(outer_labels(statement))
    return statement if ends else None


def _falls_through(end: Instruction | None) -> bool:
    return end is None or bool(end.guard) or end.opcode == "{"


def _targets(end: Instruction | None, tables: Mapping[str, str]) -> list[str]:
    """The labels that control may go to."""
    if end is None or end.opcode in {"exit", "ret"}:
        return []
    if end.opcode == "bra":
        return list(end.operands)
    if end.opcode == "{":
        return outer_labels(end)
    listed = tables.get(end.operands[1] if len(end.operands) > 1 else "", "")
    return [name.strip() for name in listed.split(",")]
