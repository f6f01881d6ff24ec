"""Checks the order inside a piece of straight-line code.

Two statements must keep their order where they share a register that one of them writes (a
predicated write may write), may touch the same memory and one of them stores, are both ordered
or both convergent, or where one is a barrier. Source: PTX ISA, "Memory Consistency Model" and
"Asynchronous operations".
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from burnish.errors import RewriteError
from burnish.ptx.checking.effects import Access, Effects
from burnish.ptx.checking.reader import Unit

__all__ = ["Plan", "edges"]


class Plan:
    """The plain order of one piece, against which rewritten orders are checked."""

    def __init__(self, units: Sequence[Unit], effects: Sequence[Effects]) -> None:
        self._units = units
        self._rules = edges(effects)
        places: dict[str, list[int]] = defaultdict(list)
        for at, unit in enumerate(units):
            places[unit.key].append(at)
        self._places = places

    def match(self, rewritten: Sequence[Unit]) -> list[tuple[Unit, Unit]]:
        """Check an order; the pairs of statements whose text differs by a policy.

        Raises:
            RewriteError: Not the same statements, or two that may not change places did.
        """
        position = [-1] * len(self._units)
        changed: list[tuple[Unit, Unit]] = []
        used: dict[str, int] = {}
        for place, unit in enumerate(rewritten):
            at = self._plain_place(unit, used)
            position[at] = place
            if self._units[at] is not unit:
                changed.append((self._units[at], unit))
        if len(rewritten) != len(self._units):
            lost = self._units[position.index(-1)].text
            raise RewriteError(f"statements: one of the block is missing: {lost!r}")
        for (first, second), rule in self._rules.items():
            if position[first] >= position[second]:
                raise RewriteError(
                    f"order: {rule}: {self._units[second].text!r} (statement {second} of its "
                    f"block, now {position[second]}) passed {self._units[first].text!r} "
                    f"(statement {first}, now {position[first]})"
                )
        return changed

    def _plain_place(self, unit: Unit, used: dict[str, int]) -> int:
        places = self._places.get(unit.key, ())
        count = used.get(unit.key, 0)
        used[unit.key] = count + 1
        if count >= len(places):
            raise RewriteError(f"statements: not one of the plain block's: {unit.text!r}")
        return places[count]


def edges(effects: Sequence[Effects]) -> Mapping[tuple[int, int], str]:
    """Pairs of places that must keep their order, with the rule; enough of them, not all."""
    found: dict[tuple[int, int], str] = {}
    _registers(effects, found)
    _chain(effects, found)
    _barriers(effects, found)
    _memory(effects, found)
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


def _memory(effects: Sequence[Effects], found: dict[tuple[int, int], str]) -> None:
    """Weak accesses keep their order with ordered operations, and where a store may alias."""
    versions: dict[str, int] = {}
    live: list[tuple[int, Effects, dict[str, int]]] = []
    fence: int | None = None
    for at, effect in enumerate(effects):
        if fence is not None and (effect.ordered or effect.accesses):
            found.setdefault((fence, at), "memory keeps its order with an ordered operation")
        if effect.ordered:
            for earlier, _, _ in live:
                found.setdefault((earlier, at), "memory keeps its order with an ordered operation")
            live, fence = [], at
        elif effect.accesses:
            bases = {access.base: versions.get(access.base, -1) for access in effect.accesses}
            for earlier in _disturbed(live, effect, bases):
                found.setdefault((earlier, at), "accesses of memory that may be the same")
            live.append((at, effect, bases))
        versions |= dict.fromkeys(effect.writes, at)


def _disturbed(
    live: Sequence[tuple[int, Effects, dict[str, int]]], effect: Effects, bases: dict[str, int]
) -> list[int]:
    return [
        earlier for earlier, other, old in live if _conflict(other, effect, same_base=old == bases)
    ]


def _conflict(first: Effects, second: Effects, *, same_base: bool) -> bool:
    if first.copy and second.copy:
        return False  # the ISA gives no order among them but by their groups
    return any(
        (one.store or other.store) and _alias(one, other, same_base=same_base)
        for one in first.accesses
        for other in second.accesses
    )


def _alias(one: Access, other: Access, *, same_base: bool) -> bool:
    if one.space != other.space and "generic" not in {one.space, other.space}:
        return False
    if not same_base or not one.base or one.space != other.space:
        return True
    return (
        one.offset < other.offset + other.size_bytes and other.offset < one.offset + one.size_bytes
    )
