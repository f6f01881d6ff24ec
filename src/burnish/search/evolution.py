"""Evolution over mixed domains, for one figure or several."""

from bisect import bisect
from math import isfinite
from random import Random

import numpy as np

from burnish.model.space import Config, Space
from burnish.model.trial import Status, Trial
from burnish.search.asker import Asker
from burnish.search.credit import Credit
from burnish.search.encode import Encoding, Family, Point
from burnish.search.moves import Moves, exotic_share
from burnish.search.population import Member, Population

__all__ = ["Evolution"]

# Chosen by replaying four recorded spaces of 4,000 to 18,000 configs, 25 seeds: populations of
# 5 to 10 were better than 20 and 30 at every budget from 50 to 200; the rest hardly matters.
_MEMBERS = 8
_MEMBERS_A_FIGURE = 4
_ANYWHERE = 0.12
_ANYWHERE_WHEN_FEW = 0.5
_CROSS = 0.6
_CROSS_ONLY = 0.5
_FAMILY = 0.15
_STAGNATION = 80
_CHANGES = 2.0
_DRAWS = 4
_ELITES = 3


class Evolution:
    """A small population in steady state: every trial may enter it at once.

    A proposal is one of: a point from anywhere (12 %; half where the population is not full);
    a family of controls changed together (15 % where there are families); the cross of two
    parents, changed further every other time; or one parent with a few changes (one change:
    75 %, two: 14 %, and so on). Parents win a tournament of two. When 80 trials (or as many as
    there are controls) brought nothing better, the population starts anew, and every second
    time from the best of all before.
    """

    def __init__(self, space: Space, seed: int, minimize: tuple[str, ...]) -> None:
        self._encoding = Encoding(space)
        self._minimize = minimize
        self._rng = Random(f"burnish evolution {seed}")
        self._credit = Credit(self._encoding.default)
        self._moves = Moves(self._encoding, self._rng, self._credit)
        self._asker = Asker(self._encoding, self._rng)
        self._most = max(_MEMBERS, _MEMBERS_A_FIGURE * len(minimize))
        self._population = Population(self._most)
        self._elites = Population(self._most)
        self._families = tuple(family for family in self._encoding.families if len(family) > 1)
        self._parents: dict[Config, Member] = {}  # of what was asked and is not told yet
        self._start: Member | None = None
        self._parent: Member | None = None  # of the latest proposal
        self._told = 0
        self._epoch = 0
        self._stagnant = 0
        self._weights = self._weigh()

    def ask(self) -> Config | None:
        """The next config; None where the space is exhausted."""
        self._propose_without_parent()
        config = self._asker.ask(self._propose, self._anywhere)
        if config is not None and self._parent is not None:
            self._parents[config] = self._parent
        return config

    def tell(self, trial: Trial) -> None:
        """Learn from a trial: its values, its changes, and itself as a parent."""
        point = self._asker.told(trial.config)
        self._told += 1
        self._stagnant += 1
        self._note(point, trial)
        member = self._member(point, trial)
        if member is not None:
            if point == self._encoding.default:
                self._start = member
            if self._population.add(member):
                self._stagnant = 0
        if self._stagnant >= max(_STAGNATION, len(point)):
            self._start_anew()
        self._moves.exotic_share = exotic_share(self._told)
        self._weights = self._weigh()

    def _note(self, point: Point, trial: Trial) -> None:
        parent = self._parents.pop(trial.config, self._start)
        self._credit.note_end(point, failed=trial.status.failed)
        if parent is not None and parent.binary and trial.binary:
            idle = trial.binary == parent.binary
            self._credit.note_change(parent.point, point, idle=idle)

    def _member(self, point: Point, trial: Trial) -> Member | None:
        """What may become a parent: no failure, no duplicate, no figure that is none."""
        figures = tuple(trial.figures.get(metric, float("nan")) for metric in self._minimize)
        if trial.status is not Status.OK or not all(map(isfinite, figures)):
            return None
        return Member(point, figures, trial.binary)

    def _start_anew(self) -> None:
        self._stagnant = 0
        self._epoch += 1
        for member in self._population.members[:_ELITES]:
            self._elites.add(member)
        self._population.clear()
        if self._epoch % 2 == 0:
            for member in self._elites.members:
                self._population.add(member)

    def _anywhere(self) -> Point:
        """Every control drawn afresh or, every other time, only a share of them."""
        self._propose_without_parent()
        if self._rng.getrandbits(1):
            return self._moves.scatter(1.0)
        return self._moves.scatter(max(len(self._encoding.default), 1) ** -self._rng.random())

    def _propose_without_parent(self) -> None:
        self._parent = None

    def _propose(self) -> Point:
        count, chance = len(self._population), self._rng.random()
        if not count or chance < (_ANYWHERE if count >= self._most else _ANYWHERE_WHEN_FEW):
            return self._anywhere()
        parent = self._population.pick(self._rng)
        self._parent = parent
        if self._families and self._rng.random() < _FAMILY:
            return self._moves.change_family(parent.point, self._any_family())
        if self._rng.random() < _CROSS:
            other = self._population.pick(self._rng)
            child = self._moves.cross(parent.point, other.point)
            if self._rng.random() < _CROSS_ONLY:
                return child
        else:
            child = parent.point
        return self._moves.change(child, self._places(child))

    def _any_family(self) -> Family:
        return self._families[self._rng.randrange(len(self._families))]

    def _places(self, point: Point) -> list[int]:
        """Where to change a point: few places, and rather those that have had an effect."""
        active = self._encoding.active(point)
        if not active:
            return []
        wanted = self._count(len(active))
        open_places, places = set(active), list[int]()
        for _ in range(_DRAWS * wanted):
            place = bisect(self._weights, self._rng.random() * self._weights[-1])
            if place in open_places:
                open_places.remove(place)
                places.append(place)
            if len(places) == wanted:
                break
        return places or [active[self._rng.randrange(len(active))]]

    def _count(self, active: int) -> int:
        """How many changes: at least n with a chance of 1/n², at most half of the controls."""
        most = max(1, active // 2)
        count = most + 1
        while count > most:
            count = int((1.0 - self._rng.random()) ** (-1.0 / _CHANGES))
        return count

    def _weigh(self) -> list[float]:
        """Chances of the controls to be changed, summed up from the first to each."""
        choice = np.where(np.array(self._encoding.usual) > 1, 1.0, self._moves.exotic_share)
        weights = self._credit.effects() * choice * (np.array(self._encoding.sizes) > 1)
        summed: list[float] = np.cumsum(weights).tolist()
        return summed
