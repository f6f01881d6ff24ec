"""Options that several verbs share: how they are called, and from text to values."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from burnish.errors import UsageError
from burnish.model.control import Layer, Risk

__all__ = [
    "Allow",
    "Arch",
    "Entry",
    "Json",
    "Kernel",
    "Layers",
    "Opaque",
    "Reference",
    "Regime",
    "Store",
    "allowed_risks",
    "chosen_layers",
]

_REGIME = "cold or warm caches; a card's default is cold."

Kernel: TypeAlias = Annotated[Path, typer.Argument(help="A .ptx, .cu or .c file.")]
Entry: TypeAlias = Annotated[str, typer.Option(help="Name of the entry.")]
Arch: TypeAlias = Annotated[str, typer.Option(help="Architecture, such as sm_90a.")]
Allow: TypeAlias = Annotated[list[str] | None, typer.Option(help="A risk to take; repeatable.")]
Layers: TypeAlias = Annotated[str, typer.Option(help="Layers, comma-separated.")]
Opaque: TypeAlias = Annotated[Path | None, typer.Option(help="Folder of NVIDIA's own files.")]
Reference: TypeAlias = Annotated[str, typer.Option(help="MODULE:FUNCTION of the right answers.")]
Regime: TypeAlias = Annotated[str, typer.Option(help=_REGIME)]
Store: TypeAlias = Annotated[str, typer.Option(help="Address of the database.")]
Json: TypeAlias = Annotated[Path | None, typer.Option(help="Write it as JSON; - for stdout.")]


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
