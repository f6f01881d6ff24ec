"""The order of basic blocks, with branches where control fell from one into the next."""

from collections.abc import Mapping
from dataclasses import dataclass

from burnish.errors import SpaceError
from burnish.model.control import Control, Layer, Risk, Value
from burnish.ptx.body import Block, Body
from burnish.ptx.draft import Draft
from burnish.ptx.instruction import Instruction
from burnish.ptx.kept import once
from burnish.ptx.rewrites.chance import shuffled

__all__ = ["Layouts", "apply", "controls"]

_NAME = "ptx.layout"
_FIRST = ("source", "loops-first", "reverse")
_SHUFFLE = "shuffle/"
_SEEDS = 9999
_FEWEST = 2
_STAY = frozenset({"bra", "brx", "exit", "ret", "trap"})
_MAY_MOVE = (".branchtargets", ".callprototype", ".calltargets", ".pragma")


@dataclass(frozen=True, slots=True)
class Layouts:
    """All layouts, numbered: as written, two by a rule, then shuffled ones by their seed."""

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(_FIRST) + _SEEDS

    @property
    def usual(self) -> int:
        """Those without a seed."""
        return len(_FIRST)

    @property
    def ordered(self) -> bool:
        """Neighbours are not alike."""
        return False

    def at(self, index: int) -> Value:
        """The value with that number."""
        return _FIRST[index] if index < len(_FIRST) else f"{_SHUFFLE}{index - len(_FIRST) + 1}"

    def index(self, value: Value) -> int:
        """The number of a value."""
        if value in _FIRST:
            return _FIRST.index(str(value))
        seed = _seed(value)
        if seed is None:
            raise SpaceError(f"value {value!r} is no layout: {', '.join(_FIRST)}, {_SHUFFLE}SEED")
        return len(_FIRST) + seed - 1


def controls(body: Body) -> tuple[Control, ...]:
    """One, where there are at least two blocks that may stand elsewhere."""
    if len(_movable(body)) < _FEWEST:
        return ()
    return (
        Control(
            name=_NAME,
            layer=Layer.PTX,
            domain=Layouts(),
            default=_FIRST[0],
            risk=Risk.EXACT,
            meaning="The order of basic blocks in the text; which follows which stays the same.",
            source="PTX ISA, bra: control flow is by labels",
        ),
    )


def apply(draft: Draft, config: Mapping[str, Value]) -> None:
    """Lay the blocks of a draft out as a config says."""
    value = config.get(_NAME, _FIRST[0])
    blocks, movable = draft.body.blocks, _movable(draft.body)
    if value == _FIRST[0] or len(movable) < _FEWEST:
        return
    if value == "reverse":
        moved = movable[::-1]
    elif value == "loops-first":
        moved = sorted(movable, key=lambda index: -blocks[index].loop_depth)
    else:
        moved = shuffled(movable, _seed(value) or 0)
    draft.layout = [0, *moved, *range(1 + len(moved), len(blocks))]


def _seed(value: Value) -> int | None:
    said = str(value).removeprefix(_SHUFFLE)
    if value != f"{_SHUFFLE}{said}" or not said.isdecimal() or not 1 <= int(said) <= _SEEDS:
        return None
    return int(said) if said[0] != "0" else None


@once
def _movable(body: Body) -> list[int]:
    """The blocks that may stand elsewhere: not the first, and not one that ends the entry.

    Nothing may where something other than the first block declares what others may use.
    """
    blocks = body.blocks
    if any(not _may_move(body, block) for block in blocks[1:]):
        return []
    return list(range(1, len(blocks) if _stays(body, blocks[-1]) else len(blocks) - 1))


def _may_move(body: Body, block: Block) -> bool:
    return all(
        isinstance(statement, Instruction) or any(word in statement.text for word in _MAY_MOVE)
        for statement in body.statements[block.first : block.last]
    )


def _stays(body: Body, block: Block) -> bool:
    """Whether control never falls out of the end of a block."""
    last = body.statements[block.last - 1] if block.last > block.first else None
    return isinstance(last, Instruction) and last.opcode in _STAY and not last.guard
