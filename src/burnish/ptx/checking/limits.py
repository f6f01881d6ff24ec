"""Checks the directives of an entry: only register and occupancy limits may change.

Source: PTX ISA, "Performance-Tuning Directives"; `setmaxnreg` splits registers among warps by the
limit that the author chose, so there no limit may change at all.
"""

import re

from burnish.errors import RewriteError

__all__ = ["check"]

_LIMIT = re.compile(r"\s*\.(maxnreg|minnctapersm)\s+(\d+)(?=\s|$)")
_BLOCK = re.compile(r"\.(?:maxntid|reqntid)\b")
_MOST_REGISTERS = 255


def check(plain: str, rewritten: str, *, has_setmaxnreg: bool) -> None:
    """Check a rewritten header against the plain one, both with white space folded.

    Raises:
        RewriteError: Anything differs but a limit that may.
    """
    if plain == rewritten:
        return
    if _LIMIT.sub("", plain) != _LIMIT.sub("", rewritten):
        raise RewriteError(f"limits: the header changed: {plain!r} became {rewritten!r}")
    before, after = _limits(plain), _limits(rewritten)
    if has_setmaxnreg:
        raise RewriteError(f"limits: changed beside setmaxnreg: {before} became {after}")
    if before.keys() - after.keys():
        raise RewriteError(f"limits: one went away: {before} became {after}")
    if not 0 < after.get("maxnreg", 1) <= _MOST_REGISTERS or not after.get("minnctapersm", 1):
        raise RewriteError(f"limits: out of range: {after}")
    if "minnctapersm" in after.keys() - before.keys() and not _BLOCK.search(plain):
        raise RewriteError("limits: .minnctapersm needs the size of a block")


def _limits(header: str) -> dict[str, int]:
    found = _LIMIT.findall(header)
    limits = {name: int(value) for name, value in found}
    if len(limits) != len(found):
        raise RewriteError(f"limits: one stands twice in {header!r}")
    return limits
