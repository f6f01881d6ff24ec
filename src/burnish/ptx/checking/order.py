"""Checks the order inside a piece of straight-line code.

Two statements must keep their order where they share a register that one of them writes (a
predicated write may write), may touch the same memory and one of them stores, are both ordered
or both convergent, or where one is a barrier. Source: PTX ISA, "Memory Consistency Model" and
"Asynchronous operations".
"""

from collections import defaultdict
from collections.abc import Sequence

from burnish.errors import RewriteError
from burnish.ptx.checking.effects import Effects
from burnish.ptx.checking.memory import before
from burnish.ptx.checking.reader import Unit

__all__ = ["Plan", "edges"]

_MANY = 8


class Plan:
    """The plain order of one piece, against which rewritten orders are checked."""

    def __init__(self, units: Sequence[Unit], effects: Sequence[Effects]) -> None:
        self._units = units
        self._rules = edges(effects)
        self._joins: dict[tuple[int, ...], int] = {}
        for later, earlier in before(effects).items():
            for first in self._joined(tuple(earlier)):
                self._rules.setdefault((first, later), "memory keeps its order")
        places: dict[str, list[int]] = defaultdict(list)
        for at, unit in enumerate(units):
            places[unit.key].append(at)
        self._places = places
        self._alone = {units[at[0]]: at[0] for at in places.values() if len(at) == 1}

    def match(self, rewritten: Sequence[Unit]) -> list[tuple[Unit, Unit]]:
        """Check an order; the pairs of statements whose text differs by a policy.

        Raises:
            RewriteError: Not the same statements, or two that may not change places did.
        """
        position = [-1] * len(self._units)
        changed: list[tuple[Unit, Unit]] = []
        used: dict[str, int] = {}
        for place, unit in enumerate(rewritten):
            at = self._alone.get(unit, -1)
            if at < 0:
                at = self._plain_place(unit, used)
            if position[at] >= 0:
                raise RewriteError(f"statements: one of the block stands twice: {unit.text!r}")
            position[at] = place
            if self._units[at] is not unit:
                changed.append((self._units[at], unit))
        if len(rewritten) != len(self._units):
            lost = self._units[position.index(-1)].text
            raise RewriteError(f"statements: one of the block is missing: {lost!r}")
        self._check(position)
        return changed

    def _check(self, position: list[int]) -> None:
        position += [0] * len(self._joins)
        for members, join in self._joins.items():
            position[join] = max(position[member] for member in members)
        for pair in self._rules:
            if position[pair[0]] >= position[pair[1]]:
                raise self._passed(pair, position)

    def _joined(self, earlier: tuple[int, ...]) -> tuple[int, ...]:
        """Many statements that come before several others count as one, the last of them."""
        if len(earlier) < _MANY:
            return earlier
        return (self._joins.setdefault(earlier, len(self._units) + len(self._joins)),)

    def _passed(self, pair: tuple[int, int], position: Sequence[int]) -> RewriteError:
        first, second = pair
        for members, join in self._joins.items():
            if join == first:
                first = max(members, key=position.__getitem__)
        return RewriteError(
            f"order: {self._rules[pair]}: {self._units[second].text!r} (statement {second} of its "
            f"block, now {position[second]}) passed {self._units[first].text!r} "
            f"(statement {first}, now {position[first]})"
        )

    def _plain_place(self, unit: Unit, used: dict[str, int]) -> int:
        places = self._places.get(unit.key, ())
        count = used.get(unit.key, 0)
        used[unit.key] = count + 1
        if count >= len(places):
            raise RewriteError(f"statements: not one of the plain block's: {unit.text!r}")
        return places[count]


def edges(effects: Sequence[Effects]) -> dict[tuple[int, int], str]:
    """Pairs of places that must keep their order but for memory, with the rule; enough, not all."""
    found: dict[tuple[int, int], str] = {}
    _registers(effects, found)
    _chain(effects, found)
    _barriers(effects, found)
    for at, effect in enumerate(effects[:-1]):
        if effect.leads:
            found.setdefault((at, at + 1), "it speaks of the very next statement")
    return found


def _registers(effects: Sequence[Effects], found: dict[tuple[int, int], str]) -> None:
    writer: dict[str, int] = {}
    readers: dict[str, list[int]] = defaultdict(list)
    for at, effect in enumerate(effects):
        for name in effect.reads & writer.keys():
            found.setdefault((writer[name], at), f"{name} is read after it is written")
        for name in effect.writes:
            for reader in readers.pop(name, ()):
                found.setdefault((reader, at), f"{name} is written after it is read")
            if name in writer:
                found.setdefault((writer[name], at), f"{name} is written twice")
            writer[name] = at
        for name in effect.reads:
            readers[name].append(at)


def _chain(effects: Sequence[Effects], found: dict[tuple[int, int], str]) -> None:
    last: int | None = None
    for at, effect in enumerate(effects):
        if effect.convergent or effect.barrier:
            if last is not None:
                found.setdefault((last, at), "operations of a whole warp keep their order")
            last = at


def _barriers(effects: Sequence[Effects], found: dict[tuple[int, int], str]) -> None:
    since: list[int] = []
    barrier: int | None = None
    for at, effect in enumerate(effects):
        if barrier is not None:
            found.setdefault((barrier, at), "nothing passes what is not understood")
        if effect.barrier:
            for earlier in since:
                found.setdefault((earlier, at), "nothing passes what is not understood")
            since, barrier = [], at
        else:
            since.append(at)
