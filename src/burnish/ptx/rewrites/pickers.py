"""List scheduling: of the statements that may come next, one is picked, over and over.

A picker is offered each statement once all that it waits for is placed and it is inside of the
window, and says which one is next. The method is that of Cooper and Torczon, "Engineering a
Compiler", chapter 12; picking by live registers from the end follows Goodman and Hsu, "Code
Scheduling and Register Allocation in Large Basic Blocks" (1988).
"""

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Protocol

from burnish.ptx.rewrites.alive import Lives
from burnish.ptx.rewrites.graph import Graph

__all__ = ["ByLatency", "ByLives", "ByRank", "Picker", "run"]

_SPREAD = 4  # costs by chance: two registers more or less
_MOST = 1 << 20  # more than any cost


class Picker(Protocol):
    """Says which of the statements that may come next does."""

    def offer(self, number: int) -> None:
        """This statement may come next from now on."""

    def take(self) -> int:
        """The next one, of those offered."""


def run(graph: Graph, picker: Picker, window: int) -> list[int]:
    """An order of a block.

    Args:
        graph: The block.
        picker: Fresh.
        window: How many statements ahead of the first one that is not placed another may be;
            0 for any.

    Returns:
        The numbers of its statements.
    """
    waiting, size = graph.waiting.copy(), graph.size
    roots = [number for number, count in enumerate(waiting) if count == 0]
    if window == 0 or window >= size:
        return _run_freely(graph, picker, waiting, roots)
    offer, take, order = picker.offer, picker.take, list[int]()
    later = roots  # those that may come next but for the window, smallest first
    placed, oldest = bytearray(size + 1), 0
    while len(order) < size:
        while placed[oldest]:
            oldest += 1
        while later and later[0] < oldest + window:
            offer(heappop(later))
        number = take()
        placed[number] = 1
        order.append(number)
        for after in graph.after[number]:
            waiting[after] -= 1
            if waiting[after] == 0:
                heappush(later, after)
    return order


def _run_freely(
    graph: Graph, picker: Picker, waiting: list[int], roots: Sequence[int]
) -> list[int]:
    offer, take, successors = picker.offer, picker.take, graph.after
    for number in roots:
        offer(number)
    order = []
    for _ in waiting:
        number = take()
        order.append(number)
        for after in successors[number]:
            waiting[after] -= 1
            if waiting[after] == 0:
                offer(after)
    return order


def _by_chance(keys: Sequence[int], noise: Sequence[int] | None, possible: range) -> Sequence[int]:
    """The same keys, but one of those possible for each statement that chance has a number for."""
    if noise is None:
        return keys
    least, count = possible[0], len(possible)
    return [
        key if word < 0 else least + word % count for key, word in zip(keys, noise, strict=True)
    ]


class ByRank:
    """The lowest rank first."""

    def __init__(self, ranks: Sequence[int], noise: Sequence[int] | None) -> None:
        size = len(ranks)
        ranks = _by_chance(ranks, noise, range(size))
        self._size = size
        self._keys = [rank * size + number for number, rank in enumerate(ranks)]
        self._offered: list[int] = []

    def offer(self, number: int) -> None:
        """Remember it by its rank."""
        heappush(self._offered, self._keys[number])

    def take(self) -> int:
        """The one of the lowest rank; of several, the first as written."""
        return heappop(self._offered) % self._size


class ByLatency:
    """By the longest path to the end, among those whose operands are there at a model's time."""

    def __init__(self, graph: Graph, noise: Sequence[int] | None) -> None:
        size, highest = graph.size, max(graph.heights)
        heights = _by_chance(graph.heights, noise, range(highest + 1))
        self._size = size
        self._keys = [(highest - height) * size + at for at, height in enumerate(heights)]
        self._after, self._latency = graph.after, graph.latency
        self._known = [0] * size  # when the operands are there
        self._now = 0
        self._ready: list[int] = []
        self._later: list[int] = []

    def offer(self, number: int) -> None:
        """Remember it by its time, or its path where that has come."""
        if self._known[number] <= self._now:
            heappush(self._ready, self._keys[number])
        else:
            heappush(self._later, self._known[number] * self._size + number)

    def take(self) -> int:
        """The one of the longest path; where all must wait, the one that need wait least."""
        size, later, ready = self._size, self._later, self._ready
        if not ready:
            self._now = later[0] // size
        while later and later[0] // size <= self._now:
            heappush(ready, self._keys[heappop(later) % size])
        number = heappop(ready) % size
        result = self._now + self._latency[number]
        known = self._known
        for after in self._after[number]:
            known[after] = max(known[after], result)
        self._now += 1
        return number


class ByLives:
    """From the end: the statement before which the fewest registers are alive."""

    def __init__(self, lives: Lives, noise: Sequence[int] | None) -> None:
        size, touched = len(lives.costs), lives.touched_by
        costs = _by_chance(lives.costs, noise, range(-_SPREAD, _SPREAD + 1))
        if noise is not None:
            touched = [[number for number in one if noise[number] < 0] for one in touched]
        self._size, self._touched = size, touched
        self._reads, self._kills = lives.reads, lives.kills
        self._rooms = [halves * size for halves in lives.halves]
        self._alive = bytearray(lives.survives)
        self._keys = [(cost + _MOST) * size + number for number, cost in enumerate(costs)]
        self._is_offered = bytearray(size)
        self._offered: list[int] = []  # keys, some of them no longer true

    def offer(self, number: int) -> None:
        """Remember it by what it costs now."""
        self._is_offered[number] = 1
        heappush(self._offered, self._keys[number])

    def take(self) -> int:
        """The one that costs least now; of several, the last as written."""
        keys, offered, is_offered = self._keys, self._offered, self._is_offered
        key = heappop(offered)
        number = key % self._size
        while not is_offered[number] or key != keys[number]:
            key = heappop(offered)
            number = key % self._size
        is_offered[number] = 0
        alive = self._alive
        for register in self._kills[number]:
            if alive[register]:
                alive[register] = 0
                self._add(register, self._rooms[register])
        for register in self._reads[number]:
            if not alive[register]:
                alive[register] = 1
                self._add(register, -self._rooms[register])
        return number

    def _add(self, register: int, room: int) -> None:
        """Let what reads or kills a register cost more or less."""
        keys, is_offered = self._keys, self._is_offered
        for number in self._touched[register]:
            keys[number] += room
            if is_offered[number]:
                heappush(self._offered, keys[number])
