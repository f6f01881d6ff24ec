"""The verbs, and how every one of them fails: one line, the right exit code.

Only the verb that is asked for is loaded: `burnish show` does not wait for a database.
"""

import errno
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from typing import ParamSpec, TextIO, cast

import typer

from burnish.cli.endings import take_endings
from burnish.cli.screen import say_error, take_any_text
from burnish.errors import BurnishError

__all__ = ["run"]

# Verbs in the order in which `burnish --help` shows them; each is a module and its function.
_VERBS = ("tune", "init", "verify", "controls", "show", "studies", "shims", "toolchain", "doctor")
_GROUPS = ("toolchain",)
_INTERRUPTED = 130
_USAGE = 2
_STOPPED = "stopped; nothing was kept"

P = ParamSpec("P")
_MOST_OF_A_NAME = 300
# What a machine may say at any time, and whose message is enough.
_OF_THE_MACHINE = {
    errno.EACCES,
    errno.EDQUOT,
    errno.EIO,
    errno.EMFILE,
    errno.ENAMETOOLONG,
    errno.ENFILE,
    errno.ENOMEM,
    errno.ENOSPC,
    errno.EROFS,
}

# typer carries a click of its own, which it does not export: what all of its errors inherit.
_CommandLineError = cast("type[Exception]", typer.BadParameter.__mro__[2])


def run(argv: Sequence[str]) -> int:
    """Run a verb; what follows ``--`` are the options of the plain build."""
    ours, compiler = _split(argv)
    take_endings()
    take_any_text()
    try:
        app = _app(tuple(verb for verb in _VERBS if verb in ours[:1]) or _VERBS)
        words = ours or ["--help"]
        code = app(args=words, obj=compiler, standalone_mode=False, prog_name="burnish")
        _flush()
    except _CommandLineError as error:
        verb = [word for word in ours[:1] if word in _VERBS]
        said = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
        say_error(f"{said}; see {' '.join(['burnish', *verb, '--help'])}")
        return _USAGE
    except (typer.Abort, KeyboardInterrupt):
        say_error(_STOPPED)
        return _INTERRUPTED
    except BurnishError as error:
        say_error(str(error))
        return error.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except Exception as error:  # noqa: BLE001 - a user never meets a traceback
        say_error(_unforeseen(error))
        _drop_output()
        return 1
    return code if isinstance(code, int) else 0


def _unforeseen(error: Exception) -> str:
    """What to say of an error that no verb expects."""
    if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
        name = f"{error.filename}: " if error.filename else ""
        return f"{name[:_MOST_OF_A_NAME]}{error.strerror}"
    at = traceback.extract_tb(error.__traceback__)[-1]
    what = f"{type(error).__name__}: {error} ({at.filename}:{at.lineno})"
    return f"an error of Burnish itself, please report it: {what}"


def _flush() -> None:
    stdout = cast("TextIO | None", sys.stdout)  # None where a shell has closed it
    if stdout is not None:
        stdout.flush()


def _drop_output() -> None:
    """What stdout did not take is lost; else Python would try again at its end, and complain."""
    try:
        _flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
            app.command(verb)(_saying_stopped(getattr(module, verb)))
    if len(verbs) > 1:
        app.command("ptxas", add_help_option=False)(_ptxas)
        app.command("nvcc", add_help_option=False)(_nvcc)
        app.command("cc", add_help_option=False)(_cc)
    return app


def _saying_stopped(verb: Callable[P, int]) -> Callable[P, int]:
    """The verb; typer would end it by Ctrl-C without a word."""

    @wraps(verb)
    def run_verb(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            return verb(*args, **kwargs)
        except KeyboardInterrupt:
            say_error(_STOPPED)
            return _INTERRUPTED

    return run_verb


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
