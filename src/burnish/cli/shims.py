"""``burnish shims``: programs that stand in for the compilers of a build."""

from pathlib import Path
from typing import Annotated

import typer

from burnish.apply.shims import write
from burnish.cli.screen import OUT
from burnish.settings import load

__all__ = ["shims"]


def shims(folder: Annotated[Path, typer.Argument(help="Where to write them.")]) -> int:
    """Write a ptxas and a toolkit that apply controls files into FOLDER."""
    for line in write(folder, load()):
        OUT.print(line)
    return 0
