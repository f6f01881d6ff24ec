"""``burnish init``: a launch file to fill in."""

import shlex
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from burnish.bundle.init import template
from burnish.cli.options import Arch, Entry, Kernel
from burnish.cli.screen import OUT
from burnish.errors import UsageError
from burnish.tuning.prepare import open_kernel, parameters_of
from burnish.tuning.task import Task

__all__ = ["init"]


def init(
    context: typer.Context,
    kernel: Kernel,
    entry: Entry = "",
    arch: Arch = "",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="By default KERNEL with .toml.")
    ] = None,
) -> int:
    """Write a launch file to fill in, from the parameters of KERNEL's entry."""
    place = output or kernel.with_suffix(".toml")
    if place.exists():
        raise UsageError(f"{place}: is there already; name another file with -o")
    task = Task(kernel=kernel, entry=entry, arch=arch, options=context.obj, device="none")
    with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
        found, _ = open_kernel(task, Path(folder))
    parameters = parameters_of(found)
    _write(place, template(found.entry, parameters, has_grid=found.language != "c"))
    OUT.print(f"wrote {place}: put a value for every ? in it, then")
    OUT.print(shlex.join(["burnish", "tune", str(kernel), "--launch", str(place)]))
    return 0


def _write(place: Path, text: str) -> None:
    try:
        with place.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{place}: is there already; name another file with -o") from None
    except OSError as error:
        raise UsageError(f"{place}: cannot be written ({error.strerror})") from None
