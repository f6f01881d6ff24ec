"""Burnish: finds the speed left in a GPU kernel after its author is done.

Names are loaded when they are first used (PEP 562), so that a build which only applies a
controls file imports nothing else.
"""

from importlib import import_module

TYPE_CHECKING = False  # as type checkers take it; to load typing for it would cost a build 10 ms

if TYPE_CHECKING:
    from burnish.errors import BurnishError
    from burnish.own.answers import INVALID
    from burnish.own.search import Found, Search, SearchResult, space
    from burnish.tuning.task import Task
    from burnish.tuning.tune import tune

__all__ = [
    "INVALID",
    "BurnishError",
    "Found",
    "Search",
    "SearchResult",
    "Task",
    "__version__",
    "space",
    "tune",
]

__version__ = "0.1.0"

_HOMES = {
    "INVALID": "burnish.own.answers",
    "BurnishError": "burnish.errors",
    "Found": "burnish.own.search",
    "Search": "burnish.own.search",
    "SearchResult": "burnish.own.search",
    "Task": "burnish.tuning.task",
    "space": "burnish.own.search",
    "tune": "burnish.tuning.tune",
}


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'burnish' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted(__all__)
