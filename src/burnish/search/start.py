"""An engine that first tries what somebody found before."""

from collections.abc import Sequence

from burnish.model.space import Config
from burnish.model.trial import Trial
from burnish.search.engine import Engine

__all__ = ["HeadStart"]


class HeadStart:
    """Asks for the default, then for given configs, then for what an engine proposes."""

    def __init__(self, engine: Engine, configs: Sequence[Config]) -> None:
        self._engine = engine
        self._waiting = list(dict.fromkeys(configs))
        self._asked: set[Config] = set()

    def ask(self) -> Config | None:
        """See `burnish.search.engine.Engine`."""
        while self._asked and self._waiting:
            config = self._waiting.pop(0)
            if config not in self._asked:
                self._asked.add(config)
                return config
        while (config_or_end := self._engine.ask()) in self._asked:
            pass  # it was tried at the start
        if config_or_end is not None and self._waiting:
            self._asked.add(config_or_end)
        return config_or_end

    def tell(self, trial: Trial) -> None:
        """See `burnish.search.engine.Engine`."""
        self._engine.tell(trial)
