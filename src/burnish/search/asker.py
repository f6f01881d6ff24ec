"""Hands out configs: the default first, none twice, none that the space forbids."""

from collections.abc import Callable
from random import Random

from burnish.model.space import Config
from burnish.search.encode import Encoding, Point
from burnish.search.opening import opening

__all__ = ["Asker"]

_OPENING_AT_ONCE = 12
_OPENING_SHARE = 8
_TRIES = 64
_TRIES_WHEN_STUCK = 2_000
_SMALL = 200_000


class Asker:
    """The order in which the configs of one search are handed out.

    The default comes first. Then the opening (`opening.opening`): 12 of its configs in a row,
    and the rest in between as long as less than an eighth of what was handed out came from it:
    on kernels with hundreds of sites, more than that only delays the search. All else is what
    the engine proposes. A space of up to 200,000 configs is handed out to its last one; a
    larger one counts as exhausted when 2,000 tries in a row found nothing new.
    """

    def __init__(self, encoding: Encoding, rng: Random) -> None:
        self._encoding = encoding
        self._rng = rng
        self._known: set[bytes] = set()
        self._flying: dict[Config, Point] = {}
        self._opening = opening(encoding)
        self._opened = 0
        self._asked = 0
        self._small = encoding.space.size <= _SMALL
        self._rest: list[int] | None = None

    def ask(self, propose: Callable[[], Point], anywhere: Callable[[], Point]) -> Config | None:
        """The next config, or None where the space is exhausted.

        Args:
            propose: The engine's own idea.
            anywhere: A point from anywhere, for when the engine's ideas are all known.
        """
        point = self._next(propose, anywhere)
        if point is None:
            return None
        self._asked += 1
        self._known.add(self._encoding.key(point))
        config = self._encoding.config(point)
        self._flying[config] = point
        return config

    def told(self, config: Config) -> Point:
        """The point of a config that was evaluated, asked for or not; it is not asked again."""
        point = self._flying.pop(config, None)
        if point is None:
            point = self._encoding.point(config)
            self._known.add(self._encoding.key(point))
        return point

    def _next(self, propose: Callable[[], Point], anywhere: Callable[[], Point]) -> Point | None:
        default = self._encoding.default
        if self._asked == 0 and self._encoding.key(default) not in self._known:
            return default
        if self._opened < max(_OPENING_AT_ONCE, self._asked // _OPENING_SHARE):
            self._opened += 1
            opened = self._from_opening()
            if opened is not None:
                return opened
        return self._new(propose, _TRIES) or self._when_stuck(anywhere)

    def _when_stuck(self, anywhere: Callable[[], Point]) -> Point | None:
        if self._small:
            return self._from_rest()
        return self._from_opening() or self._new(anywhere, _TRIES_WHEN_STUCK)

    def _new(self, propose: Callable[[], Point], tries: int) -> Point | None:
        for _ in range(tries):
            point = propose()
            if self._is_new(point):
                return point
        return None

    def _from_opening(self) -> Point | None:
        return next((point for point in self._opening if self._is_new(point)), None)

    def _from_rest(self) -> Point | None:
        if self._rest is None:
            size = self._encoding.space.size
            self._rest = self._rng.sample(range(size), size)
        while self._rest:
            point = self._encoding.unrank(self._rest.pop())
            if self._is_new(point):
                return point
        return None

    def _is_new(self, point: Point) -> bool:
        return self._encoding.key(point) not in self._known and self._encoding.allows(point)
