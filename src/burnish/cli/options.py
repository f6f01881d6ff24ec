"""Options that several verbs share, from text to values."""

from collections.abc import Sequence

from burnish.errors import UsageError
from burnish.model.control import Layer, Risk

__all__ = ["allowed_risks", "chosen_layers"]


def allowed_risks(names: Sequence[str] | None) -> frozenset[Risk]:
    """The risks named by ``--allow``, each maybe a comma list.

    Raises:
        UsageError: A name is no risk.
    """
    wanted = [part for name in names or () for part in name.split(",") if part]
    known = [risk.value for risk in Risk if risk is not Risk.EXACT]
    for name in wanted:
        if name not in known:
            raise UsageError(f"--allow {name!r}: choose from {', '.join(known)}")
    return frozenset(Risk(name) for name in wanted)


def chosen_layers(names: str) -> frozenset[Layer] | None:
    """The layers named by ``--layers``; None where none is named.

    Raises:
        UsageError: A name is no layer.
    """
    wanted = [part.strip() for part in names.split(",") if part.strip()]
    known = [layer.value for layer in Layer]
    for name in wanted:
        if name not in known:
            raise UsageError(f"--layers {name!r}: choose from {', '.join(known)}")
    return frozenset(Layer(name) for name in wanted) or None
