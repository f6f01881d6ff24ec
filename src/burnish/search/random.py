"""Random search: the yardstick that every other engine has to beat."""

from random import Random

from burnish.model.space import Config, Space
from burnish.model.trial import Trial
from burnish.search.asker import Asker
from burnish.search.encode import Encoding, Point
from burnish.search.moves import Moves, exotic_share

__all__ = ["RandomSearch"]


class RandomSearch:
    """After the opening, every control drawn by itself; figures change nothing."""

    def __init__(self, space: Space, seed: int, minimize: tuple[str, ...]) -> None:
        del minimize
        rng = Random(f"burnish random {seed}")
        encoding = Encoding(space)
        self._moves = Moves(encoding, rng)
        self._asker = Asker(encoding, rng)
        self._told = 0

    def ask(self) -> Config | None:
        """The next config; None where the space is exhausted."""
        return self._asker.ask(self._anywhere, self._anywhere)

    def tell(self, trial: Trial) -> None:
        """Take note of a trial: never ask for its config again."""
        self._told += 1
        self._moves.exotic_share = exotic_share(self._told)
        self._asker.told(trial.config)

    def _anywhere(self) -> Point:
        return self._moves.scatter(1.0)
