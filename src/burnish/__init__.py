"""Burnish: finds the speed left in a GPU kernel after its author is done.

Names are loaded when they are first used (PEP 562), so that a build which only applies a
controls file imports nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burnish.errors import BurnishError

__all__ = ["BurnishError", "__version__"]

__version__ = "0.1.0"

_HOMES = {"BurnishError": "burnish.errors"}


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'burnish' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
