"""The command ``burnish``: sends each verb on its way.

Verbs that stand in for a compiler go straight to `burnish.apply`, so that a build never
waits for the rest to load.
"""

import sys
from typing import NoReturn

__all__ = ["main"]

_COMPILERS = ("ptxas", "nvcc", "cc")
_INTERRUPTED = 130


def main() -> NoReturn:
    """Run the command line and exit."""
    try:
        sys.exit(_run(sys.argv[1:]))
    except KeyboardInterrupt:  # before a verb could say what it keeps
        sys.exit(_INTERRUPTED)


def _run(argv: list[str]) -> int:
    if argv and argv[0] in _COMPILERS:
        from burnish.cli.compilers import run_compiler

        return run_compiler(argv[0], argv[1:])
    from burnish.cli.app import run
    from burnish.cli.endings import ignore_endings

    code = run(argv)
    ignore_endings()
    return code
