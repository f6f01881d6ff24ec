"""All rewrites of a body: their controls, and the text that a config gives."""

from collections.abc import Mapping
from typing import Protocol

from burnish.model.control import Control, Value
from burnish.ptx.body import Body
from burnish.ptx.draft import Draft
from burnish.ptx.rewrites import layout, limits, noncoherent, order, policy, pragmas

__all__ = ["REWRITES", "Rewrite", "controls", "rewrite"]


class Rewrite(Protocol):
    """A kind of change to the text of a function that keeps its meaning."""

    def controls(self, body: Body) -> tuple[Control, ...]:
        """The decisions that a body offers, those of the whole kernel before those of sites."""

    def apply(self, draft: Draft, config: Mapping[str, Value]) -> None:
        """Edit a draft as a config says; what the config lacks is the default."""


REWRITES: tuple[Rewrite, ...] = (policy, noncoherent, order, layout, pragmas, limits)
"""In the order of application."""


def controls(body: Body) -> tuple[Control, ...]:
    """All decisions that a body offers; their names are distinct."""
    return tuple(control for one in REWRITES for control in one.controls(body))


def rewrite(body: Body, config: Mapping[str, Value]) -> str:
    """The text of a function for a config; that of the default config is the body's own.

    Args:
        body: An entry.
        config: Values by control; other names are ignored.
    """
    draft = Draft(body)
    for one in REWRITES:
        one.apply(draft, config)
    return draft.text()
