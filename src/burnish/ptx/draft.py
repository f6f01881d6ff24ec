"""A body with edits that are not made yet, and the text that they give."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from burnish.ptx.body import Block, Body
from burnish.ptx.kept import once
from burnish.ptx.text import bare

__all__ = ["Draft"]

_LABEL = "$L__block_"


@dataclass(slots=True)
class Draft:
    """A body and what is to be different in its text.

    A statement takes with it what stands before it: comments and line marks.

    Attributes:
        body: What is edited; it stays as it is.
        texts: New texts of statements, by number; empty takes one out.
        orders: Numbers of all statements of a block in their new order, by block.
        layout: Numbers of all blocks in their new order; None for that of the body. Where
            control no longer falls from one into the next, a branch takes it there.
        heads: Lines to stand before the first statement of a block, by block.
        directives: Performance directives of the entry and what they say: ``maxnreg``: ``64``.
    """

    body: Body
    texts: dict[int, str] = field(default_factory=dict)
    orders: dict[int, Sequence[int]] = field(default_factory=dict)
    layout: Sequence[int] | None = None
    heads: dict[int, list[str]] = field(default_factory=dict)
    directives: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The function's text with all edits."""
        body, chunks = self.body, self._chunks()
        layout = range(len(body.blocks)) if self.layout is None else self.layout
        parts = [self._header()]
        for place, index in enumerate(layout):
            block = body.blocks[index]
            parts.append(self._start(block))
            order = self.orders.get(index)
            if order is None:
                parts += chunks[block.first : block.last]
            else:
                parts += [chunks[number] for number in order]
            after = layout[place + 1] if place + 1 < len(layout) else None
            if block.falls_through and after != index + 1:
                parts.append(f"\n\tbra.uni \t{self._label(body.blocks[index + 1])};")
        return "".join([*parts, body.tail])

    def _chunks(self) -> list[str]:
        """Statements with what stands before them."""
        known = _chunks(self.body)
        if not self.texts:
            return known
        chunks = known.copy()
        for number, text in self.texts.items():
            chunks[number] = self.body.statements[number].lead + text
        return chunks

    def _start(self, block: Block) -> str:
        """Label and new lines of a block."""
        start = ""
        if block.label:
            start = _chunks(self.body)[block.first - 1]
        elif self.layout is not None and _is_fallen_into(self.body, block):
            start = f"\n{self._label(block)}:"
        head = self.heads.get(block.index, ())
        return "".join([start, *(f"\n\t{line}" for line in head)])

    def _label(self, block: Block) -> str:
        return block.label or f"{_fresh(self.body)}{block.index}"

    def _header(self) -> str:
        header = self.body.header
        for name, said in self.directives.items():
            header = _with_directive(header, name, said)
        return header


@once
def _chunks(body: Body) -> list[str]:
    return [statement.lead + statement.text for statement in body.statements]


@once
def _fresh(body: Body) -> str:
    """The beginning of labels that the body does not have."""
    start = _LABEL
    while start in body.text:
        start += "_"
    return start


def _is_fallen_into(body: Body, block: Block) -> bool:
    return block.index > 0 and body.blocks[block.index - 1].falls_through


def _with_directive(header: str, name: str, said: str) -> str:
    """Say a performance directive of one number, instead of what the header says if it does."""
    code = bare(header)
    found = re.compile(rf"\.{name}\s+(\d+)").search(code, code.rfind(")") + 1)
    if found is None:
        return f"{header[:-1]}.{name} {said}\n{{"
    return header[: found.start(1)] + said + header[found.end() :]
