"""``burnish cc``: the real gcc, with tuned options for the sources that they are proven to fit.

What was measured is an object made from preprocessed text in a fixed way. That object is made
again, and only if its code is that of the controls file the source is built with those options, as
the command line wants it: with its output, debug information and kind of position-independence.

Fail open: whatever goes wrong, the build is the plain one, with a line of warning. On request
(``--strict-controls``, BURNISH_STRICT=1) it is an error instead.
"""

from collections.abc import Sequence
from functools import partial

from burnish.apply.front import guarded
from burnish.errors import ToolchainError
from burnish.settings import load
from burnish.toolchain.discover import find_one
from burnish.toolchain.process import replace

__all__ = ["main"]

_OURS = ("--apply-controls", "-apply-controls", "--strict-controls", "--allow")


def main(argv: Sequence[str]) -> int:
    """Run a command line of gcc; returns its exit code, or becomes the real gcc."""
    return guarded(partial(_start, argv))


def _start(argv: Sequence[str]) -> int:
    settings = load()
    real = find_one(settings, "gcc")
    if real is None:
        raise ToolchainError("no gcc was found; see: burnish doctor")
    if settings.shelf is None and not any(word.startswith(_OURS) for word in argv):
        replace([str(real.path), *argv])
    from burnish.apply.cc_job import Job  # what nothing is tuned for does not wait for it
    from burnish.apply.request import own_words

    return Job(own_words(argv, settings), settings, real).run()
