"""Search engines: they know configs and trials, and nothing that compiles or measures.

A loop asks for a config, evaluates it and tells the trial:

    engine = make("evolution", space, seed=1, minimize=("registers",))
    while (config := engine.ask()) is not None and not enough:
        engine.tell(evaluate(config))

Several configs may be asked before the first is told; trials are told in the order of asking.
The same space, seed and sequence of asking and telling give the same configs.
"""

from collections.abc import Callable
from typing import Protocol

from burnish.errors import UsageError
from burnish.model.space import Config, Space
from burnish.model.trial import Trial
from burnish.search.evolution import Evolution
from burnish.search.random import RandomSearch

__all__ = ["ENGINES", "Engine", "make"]


class Engine(Protocol):
    """One search in one space."""

    def ask(self) -> Config | None:
        """A config that was never asked before, nor told; None where there is none left.

        The first is the default; then usual values, one control at a time; then whatever the
        engine thinks best. Every config keeps the space's conditions and constraints.
        """

    def tell(self, trial: Trial) -> None:
        """Learn from a trial, asked for or not.

        A failed trial is bad, whatever its figures. A duplicate tells that its changes change
        nothing.
        """


ENGINES: dict[str, Callable[[Space, int, tuple[str, ...]], Engine]] = {
    "evolution": Evolution,
    "random": RandomSearch,
}


def make(name: str, space: Space, seed: int, minimize: tuple[str, ...]) -> Engine:
    """Make the engine of that name.

    Args:
        name: One of `ENGINES`.
        space: What to search.
        seed: Fixes every choice that the engine makes.
        minimize: Names of the figures to minimise, one or several.

    Raises:
        UsageError: No engine has that name.
    """
    if name not in ENGINES:
        raise UsageError(f"no search engine is called {name!r}; known: {', '.join(ENGINES)}")
    return ENGINES[name](space, seed, minimize)
