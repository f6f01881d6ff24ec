"""``burnish tune``: from a kernel to an ACF."""

from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.options import (
    Allow,
    Arch,
    Entry,
    Json,
    Kernel,
    Layers,
    Opaque,
    Reference,
    Regime,
    Store,
    allowed_risks,
    chosen_layers,
)
from burnish.cli.progress import watching
from burnish.cli.screen import OUT, say_error, write_json
from burnish.errors import InterruptedStudyError
from burnish.model.verdict import Outcome
from burnish.report.summary import document, table
from burnish.tuning.task import Task, parse_duration, parse_limit
from burnish.tuning.tune import tune as run

__all__ = ["tune"]

_NO_WIN = 3


def tune(
    context: typer.Context,
    kernel: Kernel,
    launch: Annotated[Path | None, typer.Option(help="How to run it (TOML).")] = None,
    entry: Entry = "",
    device: Annotated[str, typer.Option(help="auto, cuda[:N], host or none.")] = "auto",
    arch: Arch = "",
    minimize: Annotated[list[str] | None, typer.Option(help="A metric; repeatable.")] = None,
    limit: Annotated[list[str] | None, typer.Option(help="METRIC=VALUE; repeatable.")] = None,
    allow: Allow = None,
    layers: Layers = "",
    opaque: Opaque = None,
    start_from: Annotated[list[Path] | None, typer.Option(help="An ACF to try first.")] = None,
    reference: Reference = "",
    regime: Regime = "",
    budget: Annotated[str, typer.Option(help="Time to search, such as 2m.")] = "",
    evaluations: Annotated[int | None, typer.Option(help="Distinct binaries to try.")] = None,
    seed: Annotated[int, typer.Option(help="Of every random choice.")] = 0,
    jobs: Annotated[int, typer.Option(help="Compiles at a time; 0: all cores.")] = 0,
    engine: Annotated[str, typer.Option(help="The search engine.")] = "evolution",
    store: Store = "",
    study: Annotated[str, typer.Option(help="Name of the study.")] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a study.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The ACF.")] = None,
    json: Json = None,
) -> int:
    """Search for a better build of KERNEL; the plain build's options follow --."""
    task = Task(
        kernel=kernel,
        entry=entry,
        arch=arch,
        options=context.obj,
        device=device,
        launch=launch,
        reference=reference,
        regime=regime,
        minimize=tuple(minimize or ()),
        limits=tuple(parse_limit(text) for text in limit or ()),
        allow=allowed_risks(allow),
        layers=chosen_layers(layers),
        opaque=opaque,
        start_from=tuple(start_from or ()),
        evaluations=evaluations,
        wall_s=parse_duration(budget) if budget else None,
        seed=seed,
        jobs=jobs,
        engine=engine,
        store=store,
        study=study,
        resume=resume,
        output=output,
    )
    try:
        with watching(task) as observe:
            result, files = run(task, observe=observe)
    except InterruptedStudyError as error:
        say_error(f"{error}. To go on: {_resume_line(error.study)}")
        return error.exit_code
    if str(json) != "-":
        OUT.print(table(result, files))
    write_json(json, document(result, files, task.seed))
    if result.interrupted:
        say_error(f"stopped; what was found is stored. To go on: {_resume_line(result.study)}")
        return InterruptedStudyError.exit_code
    return 0 if result.outcome is Outcome.BETTER else _NO_WIN


def _resume_line(study: str) -> str:
    import shlex
    import sys

    words = [word for word in sys.argv[1:] if word != "--resume"]
    at = words.index("--") if "--" in words else len(words)
    named = [] if "--study" in words else ["--study", study]
    return shlex.join(["burnish", *words[:at], *named, "--resume", *words[at:]])
