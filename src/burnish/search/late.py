"""An engine whose figures get their names from the first answer."""

from collections.abc import Callable

from burnish.model.space import Config
from burnish.model.trial import Trial
from burnish.search.engine import Engine

__all__ = ["LateEngine"]

_UNNAMED = ("objective",)


class LateEngine:
    """Searches before it is known which figures there will be.

    A user's objective says how many figures it has, and their names, with its first answer.
    Until then trials have failed and carry no figures, so the engine's course does not depend
    on the names: once they are known, an engine that knows them lives through the same.
    """

    def __init__(self, make: Callable[[tuple[str, ...]], Engine]) -> None:
        self._make = make
        self._engine = make(_UNNAMED)
        self._past: list[Trial | None] | None = []  # None in the list stands for an ask

    def ask(self) -> Config | None:
        """See `burnish.search.engine.Engine`."""
        if self._past is not None:
            self._past.append(None)
        return self._engine.ask()

    def tell(self, trial: Trial) -> None:
        """See `burnish.search.engine.Engine`."""
        if self._past is not None and trial.figures:
            past, self._past = self._past, None
            self._engine = self._make(tuple(trial.figures))
            for event in past:
                if event is None:
                    self._engine.ask()
                else:
                    self._engine.tell(event)
        elif self._past is not None:
            self._past.append(trial)
        self._engine.tell(trial)
