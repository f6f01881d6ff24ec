"""Which accesses of memory keep their order.

Weak accesses keep it with every ordered operation, and with each other where one of them stores
and both may touch the same bytes: in one state space (generic is in all of them), unless they
have the same unchanged base and constant offsets that keep them apart. Sets of statements are
bits of integers, so that a block of thousands of accesses costs little.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from burnish.ptx.checking.effects import Access, Effects

__all__ = ["Before", "before"]

Before = Mapping[int, Sequence[int]]
_GENERIC = "generic"
_Base = tuple[str, str, int]


def before(effects: Sequence[Effects]) -> dict[int, list[int]]:
    """For each statement, those that it must not pass: enough of them, the rest follow."""
    found: dict[int, list[int]] = {}
    versions: dict[str, int] = {}
    fence: int | None = None
    live = _Live()
    for at, effect in enumerate(effects):
        touches = effect.ordered or bool(effect.accesses)
        earlier = [fence] if touches and fence is not None else []
        if effect.ordered:
            earlier += _bits(live.everything)
            live, fence = _Live(), at
        elif effect.accesses:
            earlier += live.add(at, effect, versions)
        if earlier:
            found[at] = earlier
        versions |= dict.fromkeys(effect.writes, at)
    return found


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class _Live:
    """The accesses since the last ordered operation, as bits."""

    def __init__(self) -> None:
        self.everything = 0
        self._copies = 0
        self._stores: dict[str, int] = defaultdict(int)
        self._accesses: dict[str, int] = defaultdict(int)
        self._bases: dict[_Base, int] = defaultdict(int)
        self._bytes: dict[tuple[_Base, int], int] = defaultdict(int)
        self._passed: dict[int, int] = {}

    def add(self, at: int, effect: Effects, versions: Mapping[str, int]) -> list[int]:
        """Take in an access; those before it that it must not pass and that no other covers."""
        conflicts = 0
        for access in effect.accesses:
            base = (access.space, access.base, versions.get(access.base, -1))
            conflicts |= self._conflicts(access, base)
        if effect.copy:
            conflicts &= ~self._copies  # the ISA gives no order among copies but by their groups
            self._copies |= 1 << at
        for access in effect.accesses:
            base = (access.space, access.base, versions.get(access.base, -1))
            self._remember(1 << at, access, base)
        self.everything |= 1 << at
        nearest, covered = [], 0
        while conflicts:
            last = conflicts.bit_length() - 1
            nearest.append(last)
            covered |= self._passed[last]
            conflicts &= ~covered
        self._passed[at] = covered | 1 << at
        return nearest

    def _conflicts(self, access: Access, base: _Base) -> int:
        masks = self._accesses if access.store else self._stores
        if access.space == _GENERIC:
            found = 0
            for mask in masks.values():
                found |= mask
        else:
            found = masks[access.space] | masks[_GENERIC]
        if not access.base:
            return found
        same = 0
        for place in range(access.offset, access.offset + access.size_bytes):
            same |= self._bytes[base, place]
        return found & ~(self._bases[base] & ~same)

    def _remember(self, bit: int, access: Access, base: _Base) -> None:
        self._accesses[access.space] |= bit
        if access.store:
            self._stores[access.space] |= bit
        if access.base:
            self._bases[base] |= bit
            for place in range(access.offset, access.offset + access.size_bytes):
                self._bytes[base, place] |= bit
