"""What schedulers know of a block: who waits for whom, and for how long.

Everything is by the number of a statement inside of its block and worked out once; a schedule
then costs a few operations on integers for each statement.
"""

from dataclasses import dataclass
from functools import cached_property

from burnish.ptx.body import Block, Body
from burnish.ptx.flow import edges
from burnish.ptx.instruction import Instruction, Statement
from burnish.ptx.kept import once
from burnish.ptx.rewrites.alive import Lives, lives
from burnish.ptx.rewrites.latency import latency
from burnish.ptx.statements import flat

__all__ = ["Graph", "graphs"]

_FEWEST = 3
_FAR, _NEAR, _OTHER_MEMORY, _NO_MEMORY = range(4)
_FARTHEST = frozenset({"generic", "global", "local"})


@dataclass
class Graph:
    """A block whose statements have more than one order.

    Attributes:
        first: The number of its first statement in the body.
        free: Those that are not pinned.
        after: For each statement those that come after it.
        memory: For each statement 0 for a load from far, 1 from near, 2 for another access to
            memory, 3 for none.
        uses: For each statement 0 for a load from far, 1 for what leads to one, 2 and 3 the same
            for near, 4 for the rest.
        latency: For each statement its cycles.
        lives: What it keeps alive, from its end.
    """

    first: int
    free: list[int]
    after: list[list[int]]
    memory: list[int]
    uses: list[int]
    latency: list[int]
    lives: Lives

    @property
    def size(self) -> int:
        """How many statements it has."""
        return len(self.after)

    @cached_property
    def waiting(self) -> list[int]:
        """For each statement how many others it waits for."""
        found = [0] * self.size
        for after in self.after:
            for number in after:
                found[number] += 1
        return found

    @cached_property
    def reverse(self) -> "Graph":
        """The same block from its end: the last statement is number 0, and waits for none."""
        last = self.size - 1
        before: list[list[int]] = [[] for _ in self.after]
        for number, after in enumerate(self.after):
            for later in after:
                before[last - later].append(last - number)
        return Graph(
            first=self.first,
            free=[last - number for number in self.free],
            after=before,
            memory=self.memory[::-1],
            uses=self.uses[::-1],
            latency=self.latency[::-1],
            lives=self.lives,
        )

    @cached_property
    def by_place(self) -> list[int]:
        """Ranks by the order as written."""
        return list(range(self.size))

    @cached_property
    def by_loads(self) -> list[int]:
        """Ranks by what loads need: those from far, what leads to them, from near, the rest.

        From the end, this puts loads right before what needs them.
        """
        return _ranks(self.uses)

    @cached_property
    def heights(self) -> list[int]:
        """For each statement the cycles of the longest path from it to the end."""
        found = self.latency.copy()
        for number in range(self.size - 1, -1, -1):
            found[number] += max([found[later] for later in self.after[number]], default=0)
        return found

    @cached_property
    def by_mixture(self) -> list[int]:
        """Ranks by where statements are if memory and arithmetic are mixed evenly."""
        memories = [number for number in self.free if self.memory[number] != _NO_MEMORY]
        others = [number for number in self.free if self.memory[number] == _NO_MEMORY]
        found = [len(self.free)] * self.size
        for group in (memories, others):
            for turn, number in enumerate(group):
                found[number] = (2 * turn + 1) * len(self.free) // (2 * len(group))
        for number in range(self.size - 1, -1, -1):
            found[number] = min([found[number], *[found[later] for later in self.after[number]]])
        return _ranks(found)


@once
def graphs(body: Body) -> dict[int, Graph]:
    """The blocks of at least three statements that may move in more than one order, by number."""
    found = {block.index: _graph(body, block) for block in body.blocks}
    return {index: graph for index, graph in found.items() if graph is not None}


def _graph(body: Body, block: Block) -> Graph | None:
    """What is known of a block; None where it has one order, or little that may move."""
    first, statements = block.first, body.statements[block.first : block.last]
    free = [
        number
        for number, one in enumerate(statements)
        if isinstance(one, Instruction) and not one.pinned
    ]
    pairs = edges(body, block)
    neighbours = {one for one, other in pairs if other == one + 1}
    if len(free) < _FEWEST or len(neighbours) >= len(statements) - 1:
        return None
    after: list[list[int]] = [[] for _ in statements]
    for one, other in pairs:
        after[one - first].append(other - first)
    memory = [_memory(one) for one in statements]
    return Graph(
        first=first,
        free=free,
        after=after,
        memory=memory,
        uses=_uses(memory, after),
        latency=[latency(one) for one in statements],
        lives=lives(body, block),
    )


def _memory(statement: Statement) -> int:
    kinds = [_NO_MEMORY]
    for one in flat(statement):
        if one.access is not None and one.access.space not in {"const", "param"}:
            kinds.append(_OTHER_MEMORY)
            if one.access.kind in {"load", "copy"}:
                kinds.append(_FAR if one.access.space in _FARTHEST else _NEAR)
    return min(kinds)


def _uses(memory: list[int], after: list[list[int]]) -> list[int]:
    found = [min(2 * kind, 2 * _OTHER_MEMORY) for kind in memory]
    for number in range(len(found) - 1, -1, -1):
        leads_to = [found[later] | 1 for later in after[number]]
        found[number] = min([found[number], *leads_to])
    return found


def _ranks(keys: list[int]) -> list[int]:
    """The place of each statement where they are sorted, those with one key as written."""
    found = [0] * len(keys)
    for rank, number in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):
        found[number] = rank
    return found
