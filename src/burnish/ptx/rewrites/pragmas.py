"""What a pragma at the start of a loop's first block says to ptxas.

``frequency`` has two classes beside none where any number does the same: ptxas 13.5 refuses 0,
and all others gave the same code on every kernel tried. PTX knows no pragma that asks for a
number of copies.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from burnish.model.control import Choice, Control, Layer, Risk, Value
from burnish.ptx.body import Block, Body
from burnish.ptx.draft import Draft
from burnish.ptx.instruction import Instruction
from burnish.ptx.kept import once
from burnish.ptx.loops import loops
from burnish.ptx.rewrites.language import language

__all__ = ["apply", "controls"]

_AS_WRITTEN, _NOUNROLL, _FREE = "as written", "nounroll", "free"
_NONE = "none"
_UNROLL = re.compile(r'\.pragma\s+"nounroll"\s*;')
_FREQUENCY = re.compile(r'\.pragma\s+"frequency\b')
_SOURCE = "PTX ISA, pragma strings"


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop with its controls.

    Attributes:
        block: The number of its first block.
        name: What the names of its controls begin with.
        nounroll: The number of the statement that forbids to unroll it; None if there is none.
        has_frequency: Whether it can be said how often it runs.
    """

    block: int
    name: str
    nounroll: int | None
    has_frequency: bool


def controls(body: Body) -> tuple[Control, ...]:
    """Up to two for each loop."""
    found = []
    for loop in _loops(body):
        other = _NOUNROLL if loop.nounroll is None else _FREE
        found.append(
            _control(
                f"{loop.name}.unroll",
                Choice((_AS_WRITTEN, other)),
                "Whether ptxas may unroll this loop.",
            )
        )
        if loop.has_frequency:
            found.append(
                _control(
                    f"{loop.name}.frequency",
                    Choice((_NONE, 1)),
                    "How often ptxas should think that this loop's first block runs.",
                )
            )
    return tuple(found)


def apply(draft: Draft, config: Mapping[str, Value]) -> None:
    """Add and take out pragmas of a draft as a config says."""
    for loop in _loops(draft.body):
        lines = []
        unroll = config.get(f"{loop.name}.unroll", _AS_WRITTEN)
        if unroll == _NOUNROLL and loop.nounroll is None:
            lines.append('.pragma "nounroll";')
        if unroll == _FREE and loop.nounroll is not None:
            draft.texts[loop.nounroll] = ""
        if loop.has_frequency and config.get(f"{loop.name}.frequency", _NONE) == 1:
            lines.append('.pragma "frequency 1";')
        if lines:
            draft.heads[loop.block] = lines


def _control(name: str, domain: Choice, meaning: str) -> Control:
    return Control(
        name=name,
        layer=Layer.PTX,
        domain=domain,
        default=domain.values[0],
        risk=Risk.EXACT,
        meaning=meaning,
        source=_SOURCE,
    )


@once
def _loops(body: Body) -> tuple[_Loop, ...]:
    headers = sorted(loops([block.successors for block in body.blocks]))
    knows_frequency = language(body).has((9, 0), 0)
    found = []
    for number, header in enumerate(headers):
        said = _start(body, body.blocks[header])
        nounroll = next((at for at, text in said.items() if _UNROLL.fullmatch(text)), None)
        has_own = any(_FREQUENCY.match(text) for text in said.values())
        name = f"ptx.loop[{number}]"
        found.append(_Loop(header, name, nounroll, knows_frequency and not has_own))
    return tuple(found)


def _start(body: Body, block: Block) -> dict[int, str]:
    """What stands in a block before its first instruction, by the number of the statement."""
    found = {}
    for number in range(block.first, block.last):
        statement = body.statements[number]
        if isinstance(statement, Instruction):
            break
        found[number] = statement.text
    return found
