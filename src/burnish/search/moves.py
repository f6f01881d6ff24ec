"""Ways from points to new points: the neighbourhood that every engine shares.

Ordered domains are walked in steps of geometric size: half of the steps are of one value, a
quarter of two or three, and so on; other domains are drawn afresh. Exotic values (those whose
number is not below `Domain.usual`) are drawn with a share that grows with what is known, and
values that failed are drawn less often (`credit.Credit`).
"""

from collections.abc import Sequence
from random import Random

from burnish.errors import SpaceError
from burnish.search.credit import Credit
from burnish.search.encode import Encoding, Family, Point

__all__ = ["Moves", "counterpart", "exotic_share"]

_EXOTIC_LEAST = 0.02
_EXOTIC_MOST = 0.35
_EXOTIC_HALF = 200
_TRIES = 8


def exotic_share(told: int) -> float:
    """How often an exotic value is drawn where there are usual ones too.

    It grows with the trials that were told, from 0.02 to 0.35; half of the way after 200.
    """
    return _EXOTIC_LEAST + (_EXOTIC_MOST - _EXOTIC_LEAST) * told / (told + _EXOTIC_HALF)


class Moves:
    """Random moves in one space.

    Attributes:
        exotic_share: How often an exotic value is drawn where there are usual ones too.
    """

    def __init__(self, encoding: Encoding, rng: Random, credit: Credit | None = None) -> None:
        self.exotic_share = exotic_share(0)
        self._encoding = encoding
        self._rng = rng
        self._credit = credit

    def scatter(self, share: float) -> Point:
        """The default with about that share of the controls drawn afresh; 1 is anywhere."""
        draw, default = self._rng.random, self._encoding.default
        return self._encoding.settle(
            [self.fresh(at) if draw() < share else old for at, old in enumerate(default)]
        )

    def fresh(self, place: int) -> int:
        """Any value of one control, usual ones more often, those that failed less often."""
        number = self._draw(place)
        if self._credit is None:
            return number
        for _ in range(_TRIES):
            if self._trusts(place, number):
                break
            number = self._draw(place)
        return number

    def other(self, place: int, number: int) -> int:
        """Another value of a control that has several."""
        size, usual = self._encoding.sizes[place], self._encoding.usual[place]
        for _ in range(_TRIES):
            if self._encoding.ordered[place]:
                new = number + self._step(size)
                allowed = 0 <= new < (size if self._exotic() else usual)
            else:
                new = self._draw(place)
                allowed = new != number
            if allowed and self._trusts(place, new):
                return new
        # The usual values hold no other one, or chance is stubborn.
        return (number + 1 + self._below(size - 1)) % size

    def change(self, point: Point, places: Sequence[int]) -> Point:
        """The point with other values at those places, whose controls have several."""
        numbers = list(point)
        for place in places:
            numbers[place] = self.other(place, numbers[place])
        return self._encoding.settle(numbers)

    def change_family(self, point: Point, family: Family) -> Point:
        """The point with one value given to all of a family, or to a random half of it."""
        numbers = list(point)
        lead = family[self._below(len(family))]
        number = self.fresh(lead)
        most = 1 << self._below(2)  # 1: everybody; 2: a coin for each
        for place in family:
            if self._below(most) == 0:
                same = counterpart(self._encoding, (lead, number), place)
                numbers[place] = numbers[place] if same is None else same
        return self._encoding.settle(numbers)

    def cross(self, one: Point, two: Point) -> Point:
        """Each control's value from either parent, by a fair coin."""
        coins = self._rng.getrandbits(max(len(one), 1))
        return self._encoding.settle(
            [two[at] if coins >> at & 1 else number for at, number in enumerate(one)]
        )

    def _draw(self, place: int) -> int:
        size, usual = self._encoding.sizes[place], self._encoding.usual[place]
        if usual < size and self._rng.random() < self.exotic_share:
            return usual + self._below(size - usual)
        return self._below(usual)

    def _trusts(self, place: int, number: int) -> bool:
        if self._credit is None:
            return True
        trust = self._credit.trust(place, number)
        return trust >= 1.0 or self._rng.random() < trust

    def _step(self, size: int) -> int:
        scale = 1
        while scale < size and self._rng.getrandbits(1):
            scale *= 2
        step = scale + self._below(scale)
        return step if self._rng.getrandbits(1) else -step

    def _exotic(self) -> bool:
        return self._rng.random() < self.exotic_share

    def _below(self, bound: int) -> int:
        return int(self._rng.random() * bound) if bound < 1 << 40 else self._rng.randrange(bound)


def counterpart(encoding: Encoding, known: tuple[int, int], place: int) -> int | None:
    """The number, at another place, of the value that a place and a number stand for."""
    at, number = known
    here, there = encoding.space.controls[at].domain, encoding.space.controls[place].domain
    if here == there:
        return number
    try:
        return there.index(here.at(number))
    except SpaceError:
        return None
