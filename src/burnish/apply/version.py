"""``ptxas --version`` for Triton: what the shelf says is a part of the version.

Triton keeps what it compiled under a key that knows ptxas by this text only. Without the shelf's
digest in it, Triton would go on using what was compiled before a kernel was tuned.
"""

import sys
from collections.abc import Sequence

from burnish import __version__
from burnish.acf.shelf import Shelf
from burnish.settings import load
from burnish.toolchain.process import replace, run

__all__ = ["main"]


def main(_argv: Sequence[str]) -> int:
    """Print the real version, and a line that changes with all that applying depends on."""
    settings = load()
    real = [str(settings.ptxas), "--version"]
    if settings.shelf is None or settings.ptxas is None:
        replace(real)
    outcome = run(real)
    digest = Shelf(settings.shelf, _ignore).digest()
    allowed = ",".join(sorted(settings.allow)) or "nothing"
    sys.stdout.buffer.write(outcome.stdout)
    sys.stdout.write(f"burnish {__version__}, shelf {digest}, allowed: {allowed}\n")
    sys.stdout.flush()
    sys.stderr.buffer.write(outcome.stderr)
    return outcome.code


def _ignore(_warning: str) -> None:
    """A build says what is wrong with the shelf; a version does not."""
