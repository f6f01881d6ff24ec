"""``burnish controls``: the space of a kernel, explained."""

import tempfile
from pathlib import Path

import typer
from rich.table import Table

from burnish.cli.options import (
    Allow,
    Arch,
    Entry,
    Json,
    Kernel,
    Layers,
    Opaque,
    allowed_risks,
    chosen_layers,
)
from burnish.cli.screen import OUT, write_json
from burnish.model.control import Control
from burnish.tuning.prepare import open_space
from burnish.tuning.task import Task

__all__ = ["controls"]

_MOST_SHOWN = 12


def controls(
    context: typer.Context,
    kernel: Kernel,
    entry: Entry = "",
    arch: Arch = "",
    allow: Allow = None,
    layers: Layers = "",
    opaque: Opaque = None,
    json: Json = None,
) -> int:
    """What can be decided about KERNEL: name, layer, domain, default, risk, meaning."""
    task = Task(
        kernel=kernel,
        entry=entry,
        arch=arch,
        options=context.obj,
        allow=allowed_risks(allow),
        layers=chosen_layers(layers),
        opaque=opaque,
        device="none",
    )
    with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
        space = open_space(task, Path(folder)).space
    if str(json) != "-":
        OUT.print(_table(space.controls))
        OUT.print(f"{len(space)} controls, up to {space.size:.3g} configs")
    write_json(json, {"controls": [_row(control) for control in space.controls]})
    return 0


def _table(controls_: tuple[Control, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("control", "layer", "values", "default", "risk", "meaning"):
        table.add_column(title, overflow="fold")
    for control in controls_:
        table.add_row(
            control.name,
            control.layer,
            _values(control),
            str(control.default),
            control.risk,
            control.meaning,
        )
    return table


def _values(control: Control) -> str:
    size = control.domain.size
    shown = [str(control.domain.at(number)) for number in range(min(size, _MOST_SHOWN))]
    return " ".join(shown) + (f" … ({size})" if size > _MOST_SHOWN else "")


def _row(control: Control) -> dict[str, object]:
    size = control.domain.size
    return {
        "name": control.name,
        "layer": control.layer.value,
        "values": [control.domain.at(number) for number in range(min(size, 1000))],
        "size": size,
        "default": control.default,
        "risk": control.risk.value,
        "meaning": control.meaning,
        "source": control.source,
    }
