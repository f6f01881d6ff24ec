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
    order: list[int] = []
    later = roots  # those that may come next but for the window, smallest first
    placed, oldest = bytearray(size + 1), 0
    while len(order) < size:
        while placed[oldest]:
            oldest += 1
        while later and later[0] < oldest + window:
            picker.offer(heappop(later))
        number = picker.take()
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


class ByRank:
    """The lowest rank first."""

    def __init__(self, ranks: Sequence[int], noise: Sequence[int] | None) -> None:
        size = len(ranks)
        if noise is not None:
            ranks = [
                rank if word < 0 else word % size for rank, word in zip(ranks, noise, strict=True)
            ]
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
        size, heights = graph.size, graph.heights
        highest = max(heights)
        if noise is not None:
            heights = [
                height if word < 0 else word % (highest + 1)
                for height, word in zip(heights, noise, strict=True)
            ]
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
        self._lives = lives
        self._size = size = len(lives.costs)
        self._alive = bytearray(lives.survives)
        self._costs = list(lives.costs)
        self._chance = [-1] * size if noise is None else noise
        self._offered = bytearray(size)
        self._keys: list[int] = []

    def offer(self, number: int) -> None:
        """Remember it by what it costs now."""
        self._offered[number] = 1
        heappush(self._keys, self._key(number))

    def take(self) -> int:
        """The one that costs least now; of several, the last as written."""
        while True:
            key = heappop(self._keys)
            number = key % self._size
            if self._offered[number] and key == self._key(number):
                break
        self._offered[number] = 0
        for register in self._lives.kills[number]:
            if self._alive[register]:
                self._turn(register, 0)
        for register in self._lives.reads[number]:
            if not self._alive[register]:
                self._turn(register, 1)
        return number

    def _key(self, number: int) -> int:
        word = self._chance[number]
        cost = self._costs[number] if word < 0 else word % (2 * _SPREAD + 1) - _SPREAD
        return (cost + _MOST) * self._size + number

    def _turn(self, register: int, alive: int) -> None:
        """A register becomes alive or free: what reads or kills it costs less or more."""
        self._alive[register] = alive
        change = -self._lives.halves[register] if alive else self._lives.halves[register]
        costs, offered = self._costs, self._offered
        for number in self._lives.touched_by[register]:
            costs[number] += change
            if offered[number]:
                heappush(self._keys, self._key(number))
