"""How far an answer may be off where rounding may differ: the error rule.

The error of a candidate against the truth may not exceed 1.5 × the baseline's own, in the
largest and in the root-mean-square error, plus a floor that the size of the answers sets.
The reasons for the numbers are in docs/decisions/0005-what-rounding-may-change.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from burnish.bundle.dtypes import Array, Dtype, decode
from burnish.verify.chunks import in_order
from burnish.verify.compare import differing, show
from burnish.verify.regions import Region

__all__ = [
    "BY_REFERENCE",
    "BY_SPREAD",
    "WITHOUT_REFERENCE",
    "Yardstick",
    "by_reference",
    "by_spread",
    "by_tolerance",
    "judge",
    "root_mean_square",
    "without_reference",
]

Truth = NDArray[np.float64]

BY_REFERENCE = "1.5 × the baseline's own error against the reference"
BY_SPREAD = "1.5 × the baseline's own spread from run to run (weaker: there is no --reference)"
WITHOUT_REFERENCE = "rounding's usual distance from the baseline (weaker: there is no --reference)"

_FACTOR = 1.5
_FEW = 64.0  # of a single answer the baseline's own error says nothing: it may be 0 by luck
# Of few answers, the errors of two equally good kernels differ by luck: their largest ones most.
_LUCK_MAX, _LUCK_RMS = 16.0, 6.0
_DOUBLE = 1024.0  # the truth itself is only float64
_ULPS = 2.0
_BLIND_MAX, _BLIND_RMS = 128.0, 32.0
# The distance of the smallest numbers, where no relative error holds.
_STEPS = {"f8e4m3": 2.0**-9, "f8e5m2": 2.0**-16, "f16": 2.0**-24}
_SHORT_SHARE = 0.001
_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class Yardstick:
    """How far the answers of one region may be off.

    Attributes:
        truth: The right answers in memory order; NaN where the baseline's bits count alone.
        relative: Allowed error of an element, as a share of it.
        absolute: Allowed error of an element beside that.
        rms: Allowed root-mean-square error.
        words: What is demanded, for people.
    """

    truth: Truth
    relative: float  # house: unit is a share of the element
    absolute: float  # house: unit is that of the answers
    rms: float  # house: unit is that of the answers
    words: str


@dataclass(frozen=True, slots=True)
class _Error:
    """Errors of one answer; in the unit of the answers."""

    most: float  # house: unit is that of the answers
    rms: float  # house: unit is that of the answers
    size: float  # house: unit is that of the answers; root mean square of the truth
    count: int


def by_reference(
    truth: Truth, runs: Sequence[Array], kind: Dtype, condition: float = 0.0
) -> Yardstick:
    """The rule proper: against a float64 reference.

    Args:
        truth: What the reference says.
        runs: What the baseline says; more than once where it is not repeatable.
        kind: Element type of the answers.
        condition: How far the answers move, for each unit by which the inputs move
            relatively; for a few answers, whose own size may be small by luck.
    """
    errors = [_error(truth, _values(run, kind)) for run in runs]
    size = max(*(error.size for error in errors), condition)
    count = errors[0].count
    slack = _floor(size, count, kind)
    return Yardstick(
        truth,
        0.0,
        _FACTOR * (1 + _LUCK_MAX / math.cbrt(count)) * max(error.most for error in errors) + slack,
        _FACTOR * (1 + _LUCK_RMS / math.sqrt(count)) * max(error.rms for error in errors) + slack,
        BY_REFERENCE,
    )


def without_reference(truth: Truth, kind: Dtype, condition: float = 0.0) -> Yardstick:
    """The weaker rule: the baseline's answers are the truth, and the error is a guess."""
    size = max(root_mean_square(truth), condition)
    own, inner = _roundoff(kind)
    return Yardstick(
        truth,
        _ULPS * own,
        _BLIND_MAX * inner * size + _STEPS.get(kind.name, 0.0),
        (own + _BLIND_RMS * inner) * size,
        WITHOUT_REFERENCE,
    )


def by_spread(
    runs: Sequence[Array], kept: NDArray[np.bool_], kind: Dtype, condition: float = 0.0
) -> Yardstick:
    """Where the baseline's own answers differ from run to run and nothing else is known.

    Args:
        runs: Several answers of the baseline.
        kept: Which elements count.
        kind: Their element type.
        condition: As in `by_reference`.
    """
    values = [_values(run, kind) for run in runs]
    with np.errstate(invalid="ignore"):
        truth = np.mean(values, axis=0)
    truth[~kept] = np.nan
    blind = without_reference(truth, kind, condition)
    errors = [_error(truth, one) for one in values]
    return Yardstick(
        truth,
        blind.relative,
        blind.absolute + _FACTOR * max(error.most for error in errors),
        blind.rms + _FACTOR * max(error.rms for error in errors),
        BY_SPREAD,
    )


def by_tolerance(truth: Truth, tolerance: float) -> Yardstick:
    """The user's own word on a buffer: relative to the element or to the usual size."""
    words = f"the launch file's tolerance of {tolerance:g}"
    return Yardstick(truth, tolerance, tolerance * root_mean_square(truth), math.inf, words)


def root_mean_square(values: Truth) -> float:
    """Of those that are numbers; 0 where none is."""
    return _error(values, values).size


def _values(stored: Array, kind: Dtype) -> Truth:
    """Elements of any type as float64."""
    return decode(stored, kind) if kind.kind == "float" else stored.astype(np.float64)


def judge(actual: Array, expected: Array, region: Region, stick: Yardstick) -> str:
    """What is wrong with an answer; empty where it is near enough.

    Args:
        actual: What the candidate left, as stored.
        expected: What the baseline left.
        region: Where they lie.
        stick: What is allowed.
    """

    def look(start: int) -> tuple[int, int, float, int]:
        part = slice(start, start + _CHUNK)
        wrong, distance = _judged(actual[part], expected[part], stick.truth[part], region, stick)
        counted = np.isfinite(distance)
        with np.errstate(over="ignore"):
            own = float(np.square(distance[counted]).sum())
        at = start + int(np.argmax(wrong)) if wrong.any() else actual.size
        return int(np.count_nonzero(wrong)), at, own, int(np.count_nonzero(counted))

    bad, first, squares, judged = 0, actual.size, 0.0, 0
    for many, at, own, counted in in_order(range(0, actual.size, _CHUNK), look):
        bad, first = bad + many, min(first, at)
        squares, judged = squares + own, judged + counted
    if bad:
        return _element(actual, expected, region, stick, (first, bad))
    rms = math.sqrt(squares / judged) if judged else 0.0
    if rms > stick.rms:
        return (
            f"{region.buffer.name}: the root-mean-square error is {rms:.3g}, allowed is "
            f"{stick.rms:.3g}: {stick.words}"
        )
    return ""


def _judged(
    actual: Array, expected: Array, truth: Truth, region: Region, stick: Yardstick
) -> tuple[NDArray[np.bool_], Truth]:
    """Which elements are wrong, and the distance of those that have one."""
    values, plain = _values(actual, region.kind), _values(expected, region.kind)
    measured = np.isfinite(truth) & np.isfinite(plain)
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.where(measured, np.abs(values - truth), np.nan)
        near = distance <= stick.relative * np.abs(truth) + stick.absolute
    alike = ~differing(actual, expected) | (np.isnan(values) & np.isnan(plain))
    return np.where(measured, ~near, ~alike), distance


def _element(
    actual: Array, expected: Array, region: Region, stick: Yardstick, found: tuple[int, int]
) -> str:
    first, bad = found
    part = slice(first, first + 1)
    got, wanted = show(actual[part], expected[part], region.kind)
    truth = float(stick.truth[first])
    many = f"{100 * bad / actual.size:.3g} % of elements are"
    if bad / actual.size < _SHORT_SHARE:
        many = f"{bad} of {actual.size} elements {'is' if bad == 1 else 'are'}"
    where = f"{region.buffer.name}: {many} too far off, first {region.where(first)}"
    values = f"{got} where the baseline has {wanted}"
    if not math.isfinite(truth):
        return f"{where}: {values}"
    error = abs(float(_values(actual[part], region.kind)[0]) - truth)
    allowed = stick.relative * abs(truth) + stick.absolute
    return f"{where}: {values}, error {error:.3g}, allowed {allowed:.3g}: {stick.words}"


def _error(truth: Truth, values: Truth) -> _Error:

    def look(start: int) -> tuple[float, float, float, int]:
        right, got = truth[start : start + _CHUNK], values[start : start + _CHUNK]
        both = np.isfinite(right) & np.isfinite(got)
        if not both.any():
            return 0.0, 0.0, 0.0, 0
        distance = np.abs(right[both] - got[both])
        with np.errstate(over="ignore"):
            own, whole = np.square(distance).sum(), np.square(right[both]).sum()
        return float(distance.max()), float(own), float(whole), distance.size

    most, squares, size, count = 0.0, 0.0, 0.0, 0
    for far, own, whole, counted in in_order(range(0, truth.size, _CHUNK), look):
        most, squares, size, count = max(most, far), squares + own, size + whole, count + counted
    if not count:
        return _Error(0.0, 0.0, 0.0, 1)
    return _Error(most, math.sqrt(squares / count), math.sqrt(size / count), count)


def _roundoff(kind: Dtype) -> tuple[float, float]:
    """Largest relative error of one rounding: of the answers, and of the arithmetic within.

    What is stored in 16 bits or fewer is computed in float32 almost everywhere.
    """
    if kind.kind != "float":
        return 0.0, 0.0
    return 2.0**-kind.digits, 2.0 ** -max(kind.digits, 24)


def _floor(size: float, count: int, kind: Dtype) -> float:
    """What is allowed beside the baseline's own error: the more answers, the less."""
    own, inner = _roundoff(kind)
    few = 1 / math.sqrt(count)
    double = _DOUBLE * 2.0**-53 if kind.name == "f64" else 0.0
    step = _STEPS.get(kind.name, 0.0) * few
    return size * (own * (0.25 + 2 * few) + inner * _FEW * few + double) + step
