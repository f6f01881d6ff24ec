"""Configs as points (the number of each control's value) and as columns that models read."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from burnish.errors import SpaceError
from burnish.model.control import Domain, Value
from burnish.model.space import Condition, Config, Space

__all__ = ["Encoding", "Family", "Point"]

Point: TypeAlias = tuple[int, ...]
Family: TypeAlias = tuple[int, ...]

_SHORT = 256
_SITE = re.compile(r"\[\d+\]")


class Encoding:
    """Turns the configs of one space into points and back.

    A point holds, in the order of the controls, the number of each one's value in its domain.
    A settled point has the default wherever a condition switches a control off, so equal
    decisions are equal points. Never changes after it was made.

    Attributes:
        space: The space.
        sizes: How many values each control has.
        usual: How many of each control's first values are usual.
        ordered: Whether each control's neighbouring values are alike.
        default: The point of the plain build.
        families: Controls that differ only in the site they speak of (`ptx.load[3].cache`
            and `ptx.load[5].cache`), as places in a point; most are families of one.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.sizes = tuple(control.domain.size for control in space)
        self.usual = tuple(
            min(max(control.domain.usual, 1), control.domain.size) for control in space
        )
        self.ordered = tuple(control.domain.ordered for control in space)
        self.default: Point = tuple(control.domain.index(control.default) for control in space)
        self.families = _families(space)
        self._numbers = tuple(_finder(control.domain) for control in space)
        self._place = {control.name: place for place, control in enumerate(space)}
        # In the order of the controls, parents first: one pass settles.
        self._rules = tuple(self._rule(condition) for condition in space.conditions)
        self._narrow = max(self.sizes, default=0) <= _SHORT  # then a number fits a byte

    def point(self, config: Mapping[str, Value]) -> Point:
        """The point of a config of this space.

        Raises:
            SpaceError: The config lacks a control, or has a value outside of its domain.
        """
        try:
            return tuple(
                [
                    number(config[control.name])
                    for control, number in zip(self.space.controls, self._numbers, strict=True)
                ]
            )
        except KeyError as error:
            raise SpaceError(f"the config says nothing about {error}") from None

    def config(self, point: Point) -> Config:
        """The config of a settled point."""
        return Config(
            {
                control.name: control.domain.at(number)
                for control, number in zip(self.space.controls, point, strict=True)
            }
        )

    def settle(self, numbers: Sequence[int]) -> Point:
        """The point in which every control that is switched off has its default."""
        if not self._rules:
            return tuple(numbers)
        settled = list(numbers)
        for child, parent, switched_on in self._rules:
            if settled[parent] not in switched_on:
                settled[child] = self.default[child]
        return tuple(settled)

    def active(self, point: Point) -> tuple[int, ...]:
        """Places of the controls that decide something in this point and have a choice."""
        off = {child for child, parent, on in self._rules if point[parent] not in on}
        return tuple(
            place for place, size in enumerate(self.sizes) if size > 1 and place not in off
        )

    def allows(self, point: Point) -> bool:
        """Whether the config of a settled point keeps every constraint of the space."""
        return not self.space.constraints or self.space.allows(self.config(point))

    def key(self, point: Point) -> bytes:
        """A short name of the point, for sets of many: distinct for distinct points."""
        return bytes(point) if self._narrow else repr(point).encode()

    def unrank(self, rank: int) -> Point:
        """The settled point of a number below the product of the sizes, by mixed radix."""
        numbers = []
        for size in reversed(self.sizes):
            rank, number = divmod(rank, size)
            numbers.append(number)
        return self.settle(numbers[::-1])

    def columns(self, points: Iterable[Point]) -> NDArray[np.float64]:
        """A row a point and a column a control, for models of any kind.

        Values lie in 0..1 by their number in the domain; −1 where a control is switched off.
        """
        rows = list(points)
        table = np.array(rows, dtype=np.float64).reshape(len(rows), len(self.sizes))
        table /= np.maximum(np.array(self.sizes, dtype=np.float64) - 1.0, 1.0)
        for child, parent, switched_on in self._rules:
            off = [row for row, point in enumerate(rows) if point[parent] not in switched_on]
            table[off, child] = -1.0
        return table

    def _rule(self, condition: Condition) -> tuple[int, int, frozenset[int]]:
        domain = self.space[condition.parent].domain
        switched_on = frozenset(
            number for number in range(domain.size) if domain.at(number) in condition.values
        )
        return self._place[condition.control], self._place[condition.parent], switched_on


def _finder(domain: Domain) -> Callable[[Value], int]:
    """What `Domain.index` does, faster for short domains, as every trial asks it."""
    if domain.size > _SHORT:
        return domain.index
    table = {domain.at(number): number for number in range(domain.size)}
    if len(table) < domain.size:  # True and 1 are two values, but one key
        return domain.index

    def find(value: Value) -> int:
        number = table.get(value)
        return domain.index(value) if number is None else number

    return find


def _families(space: Space) -> tuple[Family, ...]:
    families: dict[str, list[int]] = {}
    for place, control in enumerate(space):
        families.setdefault(_SITE.sub("[]", control.name), []).append(place)
    return tuple(tuple(places) for places in families.values())
