"""``burnish toolchain``: compilers found, added and removed."""

from typing import Annotated

import typer
from rich.table import Table

from burnish.cli.options import Json
from burnish.cli.screen import OUT, write_json
from burnish.model.toolchain import Tool, Toolchain
from burnish.settings import load
from burnish.toolchain.added import add, remove
from burnish.toolchain.discover import find

__all__ = ["app", "shown"]

app = typer.Typer(help="Compilers: list, add, remove.", no_args_is_help=True)


@app.command("list")
def _list(json: Json = None) -> int:
    """List the compilers that were found, of each kind the preferred one first."""
    toolchain = find(load())
    if str(json) != "-":
        OUT.print(shown(toolchain))
    write_json(json, {"tools": [_row(tool) for tool in toolchain.tools]})
    return 0


@app.command("add")
def _add(requirement: Annotated[str, typer.Argument(help="Such as ptxas==13.3.73.")]) -> int:
    """Put another version of a compiler beside the others, through pip."""
    tool = add(requirement, load())
    OUT.print(f"added {tool.name}: {tool.path}")
    return 0


@app.command("remove")
def _remove(name: Annotated[str, typer.Argument(help="Such as ptxas==13.3.73.")]) -> int:
    """Remove a compiler that was added."""
    remove(name, load())
    OUT.print(f"removed {name}")
    return 0


def shown(toolchain: Toolchain) -> Table:
    """The compilers as a table."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("compiler", "origin", "path"):
        table.add_column(title, overflow="fold")
    for tool in toolchain.tools:
        table.add_row(tool.name, tool.origin, str(tool.path))
    return table


def _row(tool: Tool) -> dict[str, str]:
    return {
        "kind": tool.kind,
        "version": tool.version,
        "path": str(tool.path),
        "sha256": tool.sha256,
        "origin": tool.origin,
    }
