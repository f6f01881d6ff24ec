"""How the contents of a buffer are made: the small language of ``fill = "…"``.

=====================  =======================================================================
``zeros``, ``ones``    that value everywhere
``normal``             the standard normal distribution; float types
``uniform(lo, hi)``    evenly between ``lo`` and ``hi``; float types
``integers(lo, hi)``   whole numbers from ``lo`` up to, not including, ``hi``
``arange``             0, 1, 2, … in the order of the elements
``permutation``        the numbers of ``arange``, shuffled
``offsets(total)``     sorted, from 0 to ``total``: row pointers of a sparse matrix
``file(path.npy)``     an array written by numpy, beside the launch file
=====================  =======================================================================
"""

import re
from dataclasses import dataclass

from burnish.bundle.dtypes import Dtype
from burnish.errors import LaunchError

__all__ = ["Fill", "parse_fill", "say_fill", "unfit"]

_FORM = re.compile(r"(?P<kind>[a-z]+)\s*(?:\((?P<inside>.*)\))?", re.DOTALL)
_COUNTS = {
    "zeros": 0,
    "ones": 0,
    "normal": 0,
    "uniform": 2,
    "integers": 2,
    "arange": 0,
    "permutation": 0,
    "offsets": 1,
}
_WHOLE = {"integers", "offsets"}
_FLOAT_ONLY = {"normal", "uniform"}
_BITS = 64  # of the largest whole numbers
_MOST_SHOWN = 60
_COUNTING = {"arange", "permutation"}
_USAGE = (
    "zeros, ones, normal, uniform(lo, hi), integers(lo, hi), arange, permutation, "
    "offsets(total), file(path.npy)"
)


@dataclass(frozen=True, slots=True)
class Fill:
    """A fill, understood.

    Attributes:
        kind: Its name.
        numbers: What stands in its brackets.
        path: The path of ``file``, as written.
    """

    kind: str
    numbers: tuple[float | int, ...] = ()
    path: str = ""

    @property
    def is_seeded(self) -> bool:
        """Whether another seed gives other contents."""
        return self.kind in {"normal", "uniform", "integers", "permutation", "offsets"}

    @property
    def is_scaled(self) -> bool:
        """Whether a scale changes its contents."""
        return self.kind in _FLOAT_ONLY

    def __str__(self) -> str:
        """The text that means it."""
        inside = self.path or ", ".join(f"{number!r}" for number in self.numbers)
        return f"{self.kind}({inside})" if inside else self.kind


def parse_fill(text: str) -> Fill:
    """Understand a fill.

    Raises:
        LaunchError: It says nothing that is known.
    """
    found = _FORM.fullmatch(text.strip())
    kind = found["kind"] if found else ""
    if found and kind == "file" and (found["inside"] or "").strip():
        return Fill(kind, path=found["inside"].strip().strip("\"'"))
    if not found or kind not in _COUNTS:
        raise LaunchError(f"unknown fill {_short(text)}; known are: {_USAGE}")
    parts = [part for part in re.split(r"\s*,\s*", (found["inside"] or "").strip()) if part]
    if len(parts) != _COUNTS[kind]:
        raise LaunchError(
            f"fill {_short(text)} has {len(parts)} numbers, not {_COUNTS[kind]}: {_USAGE}"
        )
    numbers = tuple(_number(part, text, whole=kind in _WHOLE) for part in parts)
    if len(numbers) == _COUNTS["uniform"] and not numbers[0] < numbers[1]:
        raise LaunchError(
            f"fill {_short(text)} is empty: the first number must be below the second"
        )
    if kind == "offsets" and numbers[0] < 0:
        raise LaunchError(f"fill {_short(text)}: the total cannot be negative")
    return Fill(kind, numbers)


def unfit(fill: Fill, kind: Dtype, elements: int) -> str:
    """Why a fill cannot make a buffer of that type and size; empty where it can."""
    if kind.kind != "float" and fill.kind in _FLOAT_ONLY:
        return (
            f"{fill.kind} makes fractions, and {kind.name} holds whole numbers. Random ones are "
            "refused, too: used as an index they read out of bounds or collapse the work. "
            f"{say_fill()}"
        )
    low, high = _extremes(fill, elements)
    floor = -kind.largest if kind.kind == "float" else kind.smallest
    if low < floor or high > kind.largest:
        return f"{fill} goes from {low} to {high}, and {kind.name} ends at {kind.largest}"
    if fill.kind == "offsets" and elements < 2:  # noqa: PLR2004 - 0 and the total
        return "offsets needs two elements at least: the first is 0 and the last is the total"
    return ""


def say_fill() -> str:
    """What to write for a buffer of whole numbers."""
    return (
        "Say what the numbers are: integers(0, N) for an index into N elements, "
        "offsets(TOTAL) for row pointers, arange, permutation, zeros, ones or file(PATH.npy)"
    )


def _extremes(fill: Fill, elements: int) -> tuple[float | int, float | int]:
    if fill.kind in _COUNTING:
        return 0, elements - 1
    if fill.kind == "integers":
        return fill.numbers[0], fill.numbers[1] - 1
    if fill.kind == "offsets":
        return 0, fill.numbers[0]
    if fill.kind == "uniform":
        return fill.numbers[0], fill.numbers[1]
    return 0, 1


def _number(part: str, text: str, *, whole: bool) -> float | int:
    try:
        number = int(part, 0) if whole or re.fullmatch(r"[+-]?\d+", part) else float(part)
    except ValueError:
        kind = "whole number" if whole else "number"
        raise LaunchError(f"fill {_short(text)}: {_short(part)} is no {kind}") from None
    if isinstance(number, int) and abs(number) > 1 << _BITS:  # which may be an end
        raise LaunchError(f"fill {_short(text)}: a number has more than {_BITS} bits")
    return number


def _short(text: str) -> str:
    return repr(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…")
