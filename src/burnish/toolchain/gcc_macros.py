"""Macros that gcc defines by itself, and how to keep them as they are under other options.

``-march=native`` does not only allow other instructions: it defines ``__AVX2__``, and a source may
say something else then. What is tuned is the text that the plain build sees.
"""

import re
from collections.abc import Sequence

from burnish.errors import ToolchainError
from burnish.model.toolchain import Tool
from burnish.toolchain.process import Limits, run

__all__ = ["held"]

_MACRO = re.compile(r"^#define ((\w+)(?:\([^)]*\))?)(?: (.*))?$", re.MULTILINE)
_LIMITS = Limits(output_bytes=4 << 20)


def held(tool: Tool, plain: Sequence[str], tuned: Sequence[str]) -> tuple[str, ...]:
    """The words that give a build with tuned options the macros of the plain build.

    Raises:
        ToolchainError: gcc does not list its macros.
    """
    before, after = _macros(tool, plain), _macros(tool, tuned)
    words: list[str] = []
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) == after.get(name):
            continue
        words.append(f"-U{name}")
        if name in before:
            words.append("-D{}={}".format(*before[name]))
    return tuple(words)


def _macros(tool: Tool, options: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Name to what is defined, with its parameters, and to what."""
    outcome = run([str(tool.path), *options, "-E", "-dM", "-xc", "/dev/null"], limits=_LIMITS)
    if not outcome.ok:
        raise ToolchainError(f"{tool.name} ({tool.path}) does not list its macros")
    listed = _MACRO.findall(outcome.stdout.decode(errors="surrogateescape"))
    return {name: (whole, value) for whole, name, value in listed}
