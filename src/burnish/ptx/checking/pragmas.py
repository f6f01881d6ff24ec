"""Checks pragmas: only those that are hints may come or go, and only at the head of a loop.

The reader knows the hints (`nounroll`, `frequency N`) and control flow leaves them out. Any other
pragma (`used_bytes_mask` speaks of the very next load) stays before the same statement. Source:
PTX ISA, "Pragma Strings".
"""

from collections import Counter
from collections.abc import Collection

from burnish.errors import RewriteError
from burnish.ptx.checking.reader import Kind, Reading

__all__ = ["Pragmas"]


class Pragmas:
    """The pragmas of the plain text.

    Args:
        reading: The plain text.
        heads: The labels that a branch from inside of their own loop goes to.
    """

    def __init__(self, reading: Reading, heads: Collection[str]) -> None:
        self._others = _others(reading)
        self._hints = _hints(reading)
        self._heads = heads

    def check(self, reading: Reading) -> None:
        """Check a rewritten text.

        Raises:
            RewriteError: A hint came that is at no loop's head, or another pragma came, went or
                moved.
        """
        changed = _others(reading)
        if changed != self._others:
            what = min((changed - self._others) | (self._others - changed))
            raise RewriteError(f"pragmas: {what[0]!r} before {what[1]!r} is not as it was")
        for (label, text), count in (_hints(reading) - self._hints).items():
            if label not in self._heads or count > 1:
                raise RewriteError(f"pragmas: {text} at {label!r}, which is the head of no loop")


def _others(reading: Reading) -> Counter[tuple[str, str]]:
    """Each pragma that is no hint, with the statement after it."""
    units = reading.units
    found: Counter[tuple[str, str]] = Counter()
    for at in reading.marks:
        if units[at].kind is Kind.DECLARATION and units[at].text.startswith(".pragma"):
            after = (units[place] for place in range(at + 1, len(units)))
            following = (unit.key for unit in after if unit.kind is not Kind.HINT)
            found[units[at].text, next(following, "")] += 1
    return found


def _hints(reading: Reading) -> Counter[tuple[str, str]]:
    """Each hint with the label that it follows; nothing where it follows a statement."""
    found: Counter[tuple[str, str]] = Counter()
    label, end = "", 0
    for at in reading.marks:
        unit = reading.units[at]
        if unit.kind is Kind.HINT:
            found[label if at == end else "", unit.text] += 1
            end += at == end
        else:
            label, end = unit.text if unit.kind is Kind.LABEL else "", at + 1
    return found
