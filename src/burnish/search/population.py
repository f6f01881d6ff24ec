"""The best trials so far, kept as parents: none twice by binary, several figures by fronts."""

from dataclasses import dataclass
from random import Random

from burnish.search.encode import Point
from burnish.search.pareto import crowding, ranks

__all__ = ["Member", "Population"]


@dataclass(frozen=True, slots=True)
class Member:
    """A trial that succeeded.

    Attributes:
        point: Its config.
        figures: What is minimised, in order.
        binary: Digest of what it compiled to; empty where nothing was compiled.
    """

    point: Point
    figures: tuple[float, ...]
    binary: str = ""


class Population:
    """Up to ``most`` members, the best first: by front, and in a front by crowding."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._members: list[Member] = []

    def __len__(self) -> int:
        return len(self._members)

    @property
    def members(self) -> tuple[Member, ...]:
        """The members, the best first."""
        return tuple(self._members)

    def add(self, member: Member) -> bool:
        """Take a member in; the worst leaves where there are too many.

        Returns:
            Whether it is new on the first front: no member dominates it or equals its figures.
        """
        if any(known.point == member.point or _same(known, member) for known in self._members):
            return False
        better = not any(_as_good(known.figures, member.figures) for known in self._members)
        self._members.insert(0, member)  # of equals, the newest stays: plateaus are walked
        self._sort()
        del self._members[self._most :]
        return better

    def clear(self) -> None:
        """Let everybody go."""
        self._members.clear()

    def pick(self, rng: Random) -> Member:
        """A parent: the better of two members drawn at random."""
        count = len(self._members)
        return self._members[min(rng.randrange(count), rng.randrange(count))]

    def _sort(self) -> None:
        if len(self._members[0].figures) == 1:
            self._members.sort(key=lambda member: member.figures)
            return
        points = [member.figures for member in self._members]
        rank = ranks(points)
        order: list[int] = []
        for number in range(int(rank.max()) + 1):
            rows = [row for row, its in enumerate(rank) if its == number]
            alone = crowding([points[row] for row in rows])
            order += [row for _, row in sorted(zip((-alone).tolist(), rows, strict=True))]
        self._members = [self._members[row] for row in order]


def _same(one: Member, two: Member) -> bool:
    return bool(one.binary) and one.binary == two.binary


def _as_good(one: tuple[float, ...], two: tuple[float, ...]) -> bool:
    return all(mine <= its for mine, its in zip(one, two, strict=True))
