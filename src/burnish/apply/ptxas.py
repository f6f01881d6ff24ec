"""``burnish ptxas``: the real ptxas, with tuned blocks applied where they are proven to fit.

Fail open: whatever goes wrong, the build is the plain one, with a line of warning. On request
(``--strict-controls``, BURNISH_STRICT=1) it is an error instead, and nothing is written.
"""

import signal
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from burnish.apply.build import Built
from burnish.apply.deliver import print_messages
from burnish.apply.job import Job
from burnish.apply.request import Request, read_request
from burnish.errors import BurnishError, ToolchainError
from burnish.model.toolchain import Tool
from burnish.settings import Settings, load
from burnish.toolchain.discover import find_one
from burnish.toolchain.process import replace

__all__ = ["main"]

_INTERRUPTED = 130
_SIGNALLED = 128


Keep = Callable[[str, bytes, bytes, bytes], None]


def main(argv: Sequence[str], keep: Keep | None = None) -> int:
    """Run a command line of ptxas; returns its exit code, or becomes the real ptxas.

    Args:
        argv: The command line, without the program's name.
        keep: Is told what was written and printed, where nothing was wrong; of a plain build,
            nothing but empty strings.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores one of them
            signal.signal(number, _end)
    try:
        settings = load()
        request = read_request(argv, settings)
        return _run(request, settings, _real(settings), keep or _forget)
    except BurnishError as error:
        _say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED


def _run(request: Request, settings: Settings, real: Tool, keep: Keep) -> int:
    job = Job(request, settings, real)
    try:
        built = job.build()
    except Exception as error:  # noqa: BLE001 - a fault of ours must not break a build
        built = None
        job.fail(f"an error of Burnish itself ({error!r}), please report it")
    for warning in job.warnings:
        _say(warning)
    if job.must_fail:
        _say(f"{job.failure}; nothing was built, as strict controls were asked for")
        return 1
    _finish(job, built, str(real.path), keep)
    return 0


def _finish(job: Job, built: Built | None, real: str, keep: Keep) -> None:
    """Say how it went; what was not built here is built by the real ptxas in our place."""
    is_clean = not job.failure and not job.warnings
    if job.failure:
        _say(f"{job.failure}; building {'plain' if built is None else 'that plain'}")
    if built is None:
        if is_clean:
            keep("", b"", b"", b"")
        replace([real, *job.plain_argv])
    print_messages(built.stdout, built.stderr)
    if is_clean:
        keep(job.output, built.stdout, built.stderr, built.image)


def _real(settings: Settings) -> Tool:
    found = find_one(settings, "ptxas")
    if settings.ptxas and (found is None or found.origin != "BURNISH_PTXAS"):
        message = "is no ptxas that can be started (a shim?); name the real one, or unset it"
        raise ToolchainError(f"BURNISH_PTXAS={settings.ptxas} {message}")
    if found is None:
        raise ToolchainError("no ptxas was found; see: burnish doctor")
    return found


def _forget(_output: str, _stdout: bytes, _stderr: bytes, _image: bytes) -> None:
    """Who did not come through a shim has no memory."""


def _say(line: str) -> None:
    sys.stderr.write(f"burnish: {line}\n")
    sys.stderr.flush()


def _end(number: int, _frame: object) -> NoReturn:
    raise SystemExit(_SIGNALLED + number)
