"""Checks pragmas: only those that are hints may come, go or move.

The reader knows the hints (`nounroll`, `frequency N`) and control flow leaves them out. Any other
pragma (`used_bytes_mask` speaks of the very next load) stays before the same statement.
"""

from collections import Counter
from collections.abc import Sequence

from burnish.errors import RewriteError
from burnish.ptx.checking.reader import Kind, Unit

__all__ = ["check", "others"]


def others(units: Sequence[Unit]) -> Counter[tuple[str, str]]:
    """Each pragma that is no hint, with the statement after it."""
    plain = [unit for unit in units if unit.kind is not Kind.HINT]
    return Counter(
        (unit.text, following.key)
        for unit, following in zip(plain, [*plain[1:], Unit("", Kind.END)], strict=True)
        if unit.kind is Kind.DECLARATION and unit.text.startswith(".pragma")
    )


def check(plain: Counter[tuple[str, str]], units: Sequence[Unit]) -> None:
    """Check that every pragma which is no hint still stands before its statement.

    Raises:
        RewriteError: One came, went or moved.
    """
    changed = others(units)
    if changed != plain:
        what = min((changed - plain) | (plain - changed))
        raise RewriteError(f"pragmas: {what[0]!r} before {what[1]!r} is not as it was")
