"""What is worked out once for a body, and kept with it."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from burnish.ptx.body import Body

__all__ = ["once"]

Found = TypeVar("Found")


def once(work: Callable[[Body], Found]) -> Callable[[Body], Found]:
    """Let a function of a body keep what it finds with the body, which never changes.

    A cache of functools would compare whole bodies, and keep them alive.
    """
    name = f"{work.__module__}.{work.__name__}"

    @wraps(work)
    def kept(body: Body) -> Found:
        known = vars(body)
        if name not in known:
            known[name] = work(body)
        found: Found = known[name]
        return found

    return kept
