"""Which yardstick holds for which buffer, with the user's reference or without."""

import numpy as np
from numpy.typing import NDArray

from burnish.bundle.dtypes import Array, decode
from burnish.bundle.layout import is_dense
from burnish.errors import LaunchError
from burnish.model.workload import Role
from burnish.verify.answers import Answer, idle, part_of
from burnish.verify.compare import bits
from burnish.verify.condition import feel
from burnish.verify.expected import Expected, Plain
from burnish.verify.oracle import Reference, ask, values_of
from burnish.verify.regions import Region, regions
from burnish.verify.rounding import (
    BY_REFERENCE,
    BY_SPREAD,
    WITHOUT_REFERENCE,
    Yardstick,
    by_reference,
    by_spread,
    by_tolerance,
    root_mean_square,
    without_reference,
)

__all__ = ["Yardsticks"]

_FAR = 0.25  # baseline and reference that far apart do not mean the same


class Yardsticks:
    """The yardsticks of one workload.

    Args:
        plain: The plain kernel on its stand.
        reference: The user's reference, or None.
    """

    def __init__(self, plain: Plain, reference: Reference | None) -> None:
        self._plain = plain
        self._album = plain.album
        self._reference = reference
        self._asked: tuple[Expected | None, dict[str, NDArray[np.float64]]] = (None, {})

    def words(self, expected: Expected) -> str:
        """Against what answers are measured that may round differently, for people."""
        if self._reference is not None:
            return BY_REFERENCE
        return WITHOUT_REFERENCE if expected.is_repeatable else BY_SPREAD

    def ready(self, expected: Expected) -> bool:
        """Run the plain kernel where that is needed to measure answers; whether it was."""
        return feel(self._plain, expected)

    def of(self, expected: Expected, region: Region) -> Yardstick:
        """What is allowed in a region; made at the first question."""
        if region not in expected.sticks:
            expected.sticks[region] = self._make(expected, region)
        return expected.sticks[region]

    def check_reference(self, expected: Expected) -> None:
        """Check that reference and plain kernel mean the same.

        Raises:
            LaunchError: They are far apart, or differ in a whole number.
        """
        if self._reference is None:
            return
        for region in regions(self._album.workload):
            truth, plain = self._truth(expected, region), self._part(expected.after, region)
            if region.kind.kind == "float":
                self._check_near(expected, region, truth, decode(plain, region.kind))
                continue
            right = np.where(np.isnan(truth), plain, truth).astype(region.kind.stored)
            mismatch = bits(plain, right, region) if region.buffer.tolerance is None else None
            if mismatch:
                raise LaunchError(f"{self._place} plain kernel and reference disagree: {mismatch}")

    @property
    def _place(self) -> str:
        return f"workload {self._album.workload.name!r}:"

    def _make(self, expected: Expected, region: Region) -> Yardstick:
        runs = [self._part(run, region) for run in expected.runs or [expected.after]]
        kept = ~self._exempt(expected, region)
        condition = expected.conditions.get(region, 0.0)
        if region.buffer.tolerance is not None:
            return by_tolerance(self._truth(expected, region), region.buffer.tolerance)
        if self._reference is not None and self._is_known(region):
            truth = self._truth(expected, region)
            return by_reference(truth, runs, region.kind, condition)
        if not expected.is_repeatable:
            return by_spread(runs, kept, region.kind, condition)
        return without_reference(self._truth(expected, region), region.kind, condition)

    def _truth(self, expected: Expected, region: Region) -> NDArray[np.float64]:
        """The right answers in memory order; NaN for what only the plain kernel knows."""
        if self._reference is not None and self._is_known(region):
            answers = self._answers(expected)[region.buffer.name]
            truth = region.spread(answers, np.nan).astype(np.float64, copy=False)
        else:
            plain = self._part(expected.after, region)
            is_float = region.kind.kind == "float"
            truth = decode(plain, region.kind) if is_float else plain.astype(np.float64)
        exempt = self._exempt(expected, region)
        return np.where(exempt, np.nan, truth) if exempt.any() else truth

    def _is_known(self, region: Region) -> bool:
        return region.buffer.role is not Role.IN

    def _answers(self, expected: Expected) -> dict[str, NDArray[np.float64]]:
        """What the reference says; the last answers are remembered."""
        assert self._reference is not None
        if self._asked[0] is not expected:
            workload = self._album.workload
            values = values_of(workload, self._album.contents(expected.images))
            self._asked = expected, ask(self._reference, workload, values)
        return self._asked[1]

    def _part(self, given: Answer, region: Region) -> Array:
        return part_of(self._album, given, region).view(region.kind.stored)

    def _exempt(self, expected: Expected, region: Region) -> NDArray[np.bool_]:
        """Elements between strides, and those that the plain kernel never wrote."""
        unwritten = idle(expected.after, expected.images, region, self._album)
        if not is_dense(region.buffer):
            shape = region.buffer.shape
            unwritten |= region.spread(np.zeros(shape, np.uint8), 1).astype(np.bool_)
        return unwritten

    def _check_near(
        self,
        expected: Expected,
        region: Region,
        truth: NDArray[np.float64],
        plain: NDArray[np.float64],
    ) -> None:
        error, size = root_mean_square(plain - truth), root_mean_square(truth)
        if error <= _FAR * size or not self._is_known(region):
            return
        self.ready(expected)
        if error > _FAR * max(size, expected.conditions.get(region, 0.0)):
            raise LaunchError(
                f"{self._place} the plain kernel's {region.buffer.name!r} is off by {error:.3g} "
                f"(root mean square) from the reference, whose values are about {size:.3g}: they "
                "do not mean the same"
            )
