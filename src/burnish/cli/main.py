"""The command ``burnish``: sends each verb on its way.

Verbs that stand in for a compiler go straight to `burnish.apply`, so that a build never
waits for the rest to load.
"""

import sys
from typing import NoReturn

__all__ = ["main"]

_COMPILERS = ("ptxas", "nvcc", "cc")


def main() -> NoReturn:
    """Run the command line and exit."""
    argv = sys.argv[1:]
    if argv and argv[0] in _COMPILERS:
        from burnish.cli.compilers import run_compiler

        sys.exit(run_compiler(argv[0], argv[1:]))
    from burnish.cli.app import run

    sys.exit(run(argv))
