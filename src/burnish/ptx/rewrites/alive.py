"""Which registers the statements of a block keep alive, seen from its end."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from burnish.ptx.body import Block, Body
from burnish.ptx.instruction import CARRY, Instruction, Statement, declared
from burnish.ptx.kept import once

__all__ = ["Lives", "lives"]

_REG = re.compile(r"\.reg\s*\.(?P<type>\w+)\s")
_NUMBERED = re.compile(r"(.*?)\d+")
_ORDINARY = 2
_HALVES = {"pred": 1, "b64": 4, "f64": 4, "s64": 4, "u64": 4, "b128": 8}
_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Lives:
    """What statements read and write, last statement first: that is number 0.

    Attributes:
        reads: For each statement the numbers of the registers that it reads.
        kills: For each statement those that it writes and does not read: before it, they are
            free.
        halves: For each register its room: 2 for 32 bits, 1 for a predicate.
        survives: For each register whether it is read after the block.
        touched_by: For each register the statements that read it or kill it.
    """

    reads: tuple[tuple[int, ...], ...]
    kills: tuple[tuple[int, ...], ...]
    halves: tuple[int, ...]
    survives: tuple[bool, ...]
    touched_by: Sequence[Sequence[int]]

    @cached_property
    def costs(self) -> list[int]:
        """For each statement the halves that it adds where only what survives is alive."""
        return [
            sum(self.halves[one] for one in reads if not self.survives[one])
            - sum(self.halves[one] for one in kills if self.survives[one])
            for reads, kills in zip(self.reads, self.kills, strict=True)
        ]


def lives(body: Body, block: Block) -> Lives:
    """Look through a block from its end."""
    statements = body.statements[block.first : block.last][::-1]
    pairs = [_reads_and_kills(statement) for statement in statements]
    names = sorted(frozenset().union(*(reads | kills for reads, kills in pairs)) - {CARRY})
    place = {name: number for number, name in enumerate(names)}
    touched: list[list[int]] = [[] for _ in names]
    for number, (reads, kills) in enumerate(pairs):
        for name in (reads | kills) - {CARRY}:
            touched[place[name]].append(number)
    outside = _readers(body)
    again = _read_first(pairs) if block.loop_depth else _NOTHING
    rooms = _rooms(body)
    return Lives(
        reads=tuple(_numbers(place, reads) for reads, _ in pairs),
        kills=tuple(_numbers(place, kills) for _, kills in pairs),
        halves=tuple(_room(rooms, name) for name in names),
        survives=tuple(name in again or outside[name] - {block.index} != set() for name in names),
        touched_by=touched,
    )


def _numbers(place: Mapping[str, int], names: frozenset[str]) -> tuple[int, ...]:
    return tuple(sorted(place[name] for name in names if name in place))


def _reads_and_kills(statement: Statement) -> tuple[frozenset[str], frozenset[str]]:
    if not isinstance(statement, Instruction):
        return _NOTHING, _NOTHING
    return statement.reads, statement.writes - statement.reads


def _read_first(pairs: Sequence[tuple[frozenset[str], frozenset[str]]]) -> frozenset[str]:
    """What a block reads before it writes it; the last statement comes first."""
    found = _NOTHING
    for reads, kills in pairs:
        found = (found - kills) | reads
    return found


@once
def _readers(body: Body) -> Mapping[str, set[int]]:
    """The blocks that read a register."""
    found: dict[str, set[int]] = {}
    for block in body.blocks:
        for statement in body.statements[block.first : block.last]:
            reads, kills = _reads_and_kills(statement)
            for name in kills:
                found.setdefault(name, set())
            for name in reads:
                found.setdefault(name, set()).add(block.index)
    return found


@once
def _rooms(body: Body) -> Mapping[str, int]:
    """Halves of what is declared to be wider or narrower than 32 bits, by name or its start."""
    found: dict[str, int] = {}
    for statement in body.statements:
        match = _REG.match(statement.text)
        if match and match["type"] in _HALVES:
            for name, _ in declared([statement.text[match.end() :]]):
                found[name] = _HALVES[match["type"]]
    return found


def _room(rooms: Mapping[str, int], name: str) -> int:
    start = _NUMBERED.fullmatch(name)
    return rooms.get(name) or rooms.get(start[1] if start else "", _ORDINARY)
