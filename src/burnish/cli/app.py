"""The verbs, and how every one of them fails: one line, the right exit code."""

import sys
from collections.abc import Sequence

import click
import typer

from burnish.cli import controls, doctor, show, studies, toolchain, tune
from burnish.cli import shims as shims_verb
from burnish.cli.screen import say_error
from burnish.errors import BurnishError

__all__ = ["run"]

app = typer.Typer(
    name="burnish",
    help="Finds the speed left in a GPU kernel after its author is done.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("tune")(tune.tune)
app.command("controls")(controls.controls)
app.command("show")(show.show)
app.command("shims")(shims_verb.shims)
app.command("studies")(studies.studies)
app.command("doctor")(doctor.doctor)
app.add_typer(toolchain.app, name="toolchain")


@app.command("ptxas", add_help_option=False)
def _ptxas() -> None:
    """Assemble as ptxas does, with a controls file: burnish ptxas ARGS --apply-controls FILE."""


def run(argv: Sequence[str]) -> int:
    """Run a verb; what follows ``--`` are the options of the plain build."""
    ours, compiler = _split(argv)
    try:
        code = app(args=ours, obj=compiler, standalone_mode=False, prog_name="burnish")
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        return 130
    except BurnishError as error:
        say_error(str(error))
        return error.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    return code if isinstance(code, int) else 0


def _split(argv: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    if "--" not in argv:
        return list(argv), ()
    at = list(argv).index("--")
    return list(argv[:at]), tuple(argv[at + 1 :])
