"""``burnish verify``: an ACF is checked and measured again, here and now."""

from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.options import Arch, Entry, Json, Kernel, Reference, Regime
from burnish.cli.screen import OUT, write_json
from burnish.model.verdict import Outcome
from burnish.report.summary import document, verified
from burnish.tuning.task import Task
from burnish.tuning.verify import verify as run

__all__ = ["verify"]

_CODES = {Outcome.BETTER: 0, Outcome.WRONG: 4}
_NO_WIN = 3


def verify(
    context: typer.Context,
    kernel: Kernel,
    launch: Annotated[Path, typer.Option(help="How to run it (TOML).")],
    apply_controls: Annotated[Path, typer.Option(help="The ACF.")],
    entry: Entry = "",
    device: Annotated[str, typer.Option(help="auto, cuda[:N] or host.")] = "auto",
    arch: Arch = "",
    reference: Reference = "",
    regime: Regime = "",
    seed: Annotated[int, typer.Option(help="Of the inputs and orders.")] = 0,
    json: Json = None,
) -> int:
    """Check and measure an ACF; the plain build's options follow --, else they are the ACF's."""
    task = Task(
        kernel=kernel,
        entry=entry,
        arch=arch,
        options=context.obj,
        device=device,
        launch=launch,
        reference=reference,
        regime=regime,
        seed=seed,
    )
    result = run(task, apply_controls)
    if str(json) != "-":
        OUT.print(verified(result))
    write_json(json, document(result, [apply_controls], seed))
    return _CODES.get(result.outcome, _NO_WIN)
