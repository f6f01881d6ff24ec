"""The verbs, and how every one of them fails: one line, the right exit code.

Only the verb that is asked for is loaded: `burnish show` does not wait for a database.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import cast

import typer

from burnish.cli.screen import say_error
from burnish.errors import BurnishError

__all__ = ["run"]

# Verbs in the order in which `burnish --help` shows them; each is a module and its function.
_VERBS = ("tune", "init", "verify", "controls", "show", "studies", "shims", "toolchain", "doctor")
_GROUPS = ("toolchain",)
_INTERRUPTED = 130
_USAGE = 2

# typer carries a click of its own, which it does not export: what all of its errors inherit.
_CommandLineError = cast("type[Exception]", typer.BadParameter.__mro__[2])


def run(argv: Sequence[str]) -> int:
    """Run a verb; what follows ``--`` are the options of the plain build."""
    ours, compiler = _split(argv)
    try:
        app = _app(tuple(verb for verb in _VERBS if verb in ours[:1]) or _VERBS)
        words = ours or ["--help"]
        code = app(args=words, obj=compiler, standalone_mode=False, prog_name="burnish")
    except _CommandLineError as error:
        verb = [word for word in ours[:1] if word in _VERBS]
        said = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
        say_error(f"{said}; see {' '.join(['burnish', *verb, '--help'])}")
        return _USAGE
    except (typer.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except BurnishError as error:
        say_error(str(error))
        return error.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    return code if isinstance(code, int) else 0


def _app(verbs: Sequence[str]) -> typer.Typer:
    app = typer.Typer(
        name="burnish",
        help="Finds the speed left in a GPU kernel after its author is done.",
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_keep_verbs)
    for verb in verbs:
        module = import_module(f"burnish.cli.{verb}")
        if verb in _GROUPS:
            app.add_typer(module.app, name=verb)
        else:
            app.command(verb)(getattr(module, verb))
    if len(verbs) > 1:
        app.command("ptxas", add_help_option=False)(_ptxas)
        app.command("nvcc", add_help_option=False)(_nvcc)
        app.command("cc", add_help_option=False)(_cc)
    return app


def _keep_verbs() -> None:
    """Finds the speed left in a GPU kernel after its author is done."""


def _nvcc() -> None:
    """Compile as nvcc does, with a controls file: burnish nvcc ARGS --apply-controls FILE."""


def _ptxas() -> None:
    """Assemble as ptxas does, with a controls file: burnish ptxas ARGS --apply-controls FILE."""


def _cc() -> None:
    """Compile as gcc does, with a controls file: burnish cc ARGS --apply-controls FILE."""


def _split(argv: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    if "--" not in argv:
        return list(argv), ()
    at = list(argv).index("--")
    return list(argv[:at]), tuple(argv[at + 1 :])
