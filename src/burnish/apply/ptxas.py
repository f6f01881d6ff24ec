"""``burnish ptxas``: the real ptxas, with tuned blocks applied where they are proven to fit.

Fail open: whatever goes wrong, the build is the plain one, with a line of warning. On request
(``--strict-controls``, BURNISH_STRICT=1) it is an error instead, and nothing is written.
"""

from collections.abc import Callable, Sequence
from functools import partial

from burnish.apply.build import Built
from burnish.apply.deliver import print_messages
from burnish.apply.front import guarded, say
from burnish.apply.job import Job
from burnish.apply.request import Request, read_request
from burnish.errors import ToolchainError
from burnish.model.toolchain import Tool
from burnish.settings import Settings, load
from burnish.toolchain.discover import find_one
from burnish.toolchain.process import replace

__all__ = ["main"]

Keep = Callable[[bytes, bytes, bytes], None]


def main(argv: Sequence[str], keep: Keep | None = None) -> int:
    """Run a command line of ptxas; returns its exit code, or becomes the real ptxas.

    Args:
        argv: The command line, without the program's name.
        keep: Is told what was printed and written, where nothing was wrong; of a plain build,
            nothing but empty strings.
    """
    return guarded(partial(_start, argv, keep or _forget))


def _start(argv: Sequence[str], keep: Keep) -> int:
    settings = load()
    return _run(read_request(argv, settings), settings, _real(settings), keep)


def _run(request: Request, settings: Settings, real: Tool, keep: Keep) -> int:
    job = Job(request, settings, real)
    try:
        built = job.build()
    except Exception as error:  # noqa: BLE001 - a fault of ours must not break a build
        built = None
        job.ledger.fail(f"an error of Burnish itself ({error!r}), please report it")
    for warning in job.ledger.warnings:
        say(warning)
    if job.ledger.must_fail:
        say(f"{job.ledger.failure}; nothing was built, as strict controls were asked for")
        return 1
    _finish(job, built, str(real.path), keep)
    return 0


def _finish(job: Job, built: Built | None, real: str, keep: Keep) -> None:
    """Say how it went; what was not built here is built by the real ptxas in our place."""
    is_clean = not job.ledger.failure and not job.ledger.warnings
    if job.ledger.failure:
        say(f"{job.ledger.failure}; building {'plain' if built is None else 'that plain'}")
    if built is None:
        if is_clean:
            keep(b"", b"", b"")
        replace([real, *job.plain_argv])
    print_messages(built.stdout, built.stderr)
    if is_clean:
        keep(built.stdout, built.stderr, built.image)


def _real(settings: Settings) -> Tool:
    found = find_one(settings, "ptxas")
    if settings.ptxas and (found is None or found.origin != "BURNISH_PTXAS"):
        message = "is no ptxas that can be started (a shim?); name the real one, or unset it"
        raise ToolchainError(f"BURNISH_PTXAS={settings.ptxas} {message}")
    if found is None:
        raise ToolchainError("no ptxas was found; see: burnish doctor")
    return found


def _forget(_stdout: bytes, _stderr: bytes, _image: bytes) -> None:
    """Who did not come through a shim has no memory."""
