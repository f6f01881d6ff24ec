"""Which inputs a candidate is checked on: several seeds, several scales, one set hidden."""

from dataclasses import dataclass

from burnish.bundle.fills import Fill, parse_fill
from burnish.bundle.layout import roots
from burnish.model.workload import Workload

__all__ = ["Case", "extra_cases", "search_cases"]

# Seeds of one study lie in a block of their own, so that no two sets of inputs are the same.
_BLOCK = 1000
_HIDDEN = 500
_EXTRA = 100
_SMALL, _LARGE = 1e-3, 1e3
_EXTRA_SCALES = (1.0, _SMALL, _LARGE, 1e-2, 1e2, 1.0)


@dataclass(frozen=True, slots=True)
class Case:
    """One set of inputs.

    Attributes:
        seed: What the contents are drawn with.
        scale: Factor on what ``normal`` draws (and, below 1, on the width of ``uniform``).
        is_hidden: Whether the search never sees it: it is for the final check.
    """

    seed: int
    scale: float = 1.0  # house: unit is a plain factor
    is_hidden: bool = False


def search_cases(workload: Workload, seed: int) -> tuple[Case, ...]:
    """The cases that every candidate must pass; the last one is hidden from the search.

    The first one holds the inputs that are timed. Where the fills leave nothing to chance or
    to scale, the cases that would only repeat others are left out.
    """
    fills = _fills(workload)
    first = seed * _BLOCK
    hidden = Case(first + _HIDDEN, is_hidden=True)
    if not any(fill.is_seeded for fill in fills):
        return (Case(first),)
    if not any(fill.is_scaled for fill in fills):
        return (Case(first), Case(first + 1), hidden)
    return (Case(first), Case(first + 1, _SMALL), Case(first + 2, _LARGE), hidden)


def extra_cases(workload: Workload, seed: int) -> tuple[Case, ...]:
    """More cases, for candidates that are unproven."""
    fills = _fills(workload)
    if not any(fill.is_seeded for fill in fills):
        return ()
    is_scaled = any(fill.is_scaled for fill in fills)
    first = seed * _BLOCK + _EXTRA
    return tuple(
        Case(first + number, scale if is_scaled else 1.0)
        for number, scale in enumerate(_EXTRA_SCALES)
    )


def _fills(workload: Workload) -> list[Fill]:
    return [parse_fill(root.fill) for root in roots(workload) if root.fill]
