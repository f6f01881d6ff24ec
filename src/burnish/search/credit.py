"""What changes have led to: which controls do nothing here, and which values fail."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from burnish.search.encode import Point

__all__ = ["Credit"]


class Credit:
    """Counts per control and per value, from which the chances of later changes follow.

    A change that gives the binary of its parent is idle: the more of a control's changes were,
    the less often it is changed. A value that was in failed trials shares the blame with the
    other changes; the more of its trials failed, the less often it is drawn. No chance ever
    falls to nothing.
    """

    def __init__(self, default: Point) -> None:
        self._default = default
        self._effective = np.zeros(len(default))
        self._idle = np.zeros(len(default))
        self._good: dict[tuple[int, int], float] = {}
        self._bad: dict[tuple[int, int], float] = {}

    def note_change(self, parent: Point, child: Point, *, idle: bool) -> None:
        """Note whether the step from a parent to a child changed the binary."""
        places = _differing(parent, child)
        if idle:
            self._idle[places] += 1.0
        elif places:
            self._effective[places] += 1.0 / len(places)

    def note_end(self, point: Point, *, failed: bool) -> None:
        """Note whether a trial failed."""
        changes = _differing(self._default, point)
        counts, amount = (self._bad, 1.0 / max(len(changes), 1)) if failed else (self._good, 1.0)
        for place in changes:
            value = place, point[place]
            counts[value] = counts.get(value, 0.0) + amount

    def effects(self) -> NDArray[np.float64]:
        """How likely a change of each control changes the binary, 0..1; 1 where unknown."""
        effective = self._effective + 1.0
        return effective / (effective + self._idle)

    def trust(self, place: int, number: int) -> float:
        """How likely a trial with that value works as far as the value goes, 0..1."""
        bad = self._bad.get((place, number), 0.0)
        if not bad:
            return 1.0
        good = self._good.get((place, number), 0.0) + 1.0
        return good / (good + bad)


def _differing(one: Sequence[int], two: Sequence[int]) -> list[int]:
    return [place for place, number in enumerate(one) if number != two[place]]
