"""What the plain kernel answers: that is what a candidate is held against."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from burnish.bundle.dtypes import decode
from burnish.bundle.layout import roots
from burnish.devices.port import Program
from burnish.errors import LaunchError
from burnish.verify.answers import (
    Answer,
    alike,
    answer,
    hangs_on_poison,
    is_scratch,
    part_of,
    written_roots,
)
from burnish.verify.compare import same
from burnish.verify.guard import breach
from burnish.verify.images import Album, Images
from burnish.verify.regions import Region, regions
from burnish.verify.rounding import Yardstick
from burnish.verify.stand import Stand

__all__ = ["Expected", "Plain", "check_comparable", "check_sound", "expect"]

_RUNS_UNREPEATABLE = 5
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Plain:
    """The plain kernel, on the stand of one workload."""

    program: Program
    stand: Stand
    album: Album


@dataclass(slots=True)
class Expected:
    """The plain kernel's answer to one set of inputs.

    Attributes:
        images: What the buffers held before.
        after: Name of each written root to its image after the launch.
        runs: Several answers of the plain kernel, where they differ; else empty.
        keep: Whether it will be needed for many candidates.
        conditions: How strongly answers hang on the inputs (`burnish.verify.condition`).
        sticks: What `rounding` allows, by region; filled in when first asked for.
    """

    images: Images
    after: Answer
    runs: Sequence[Answer] = ()
    keep: bool = True
    conditions: dict[Region, float] = field(default_factory=dict)
    sticks: dict[Region, Yardstick] = field(default_factory=dict)

    @property
    def is_repeatable(self) -> bool:
        """Whether every launch of the plain kernel gave the same bits."""
        return not self.runs


def expect(plain: Plain, images: Images, *, runs: int, keep: bool) -> Expected:
    """Run the plain kernel and keep its answer.

    Args:
        plain: The plain kernel on its stand.
        images: The inputs.
        runs: How often it is launched to see whether its answers repeat.
        keep: Whether the answer will be needed for many candidates.

    Raises:
        LaunchError: It writes out of bounds or into inputs; or whole numbers in its answer
            differ from run to run.
    """
    plain.stand.set(images.before, keep=keep)
    plain.stand.run(plain.program)
    first = {root.name: plain.stand.grab(root.name) for root in written_roots(plain.album.workload)}
    _check_bounds(plain, images, first)
    repeats = [_again(plain, first) for _ in range(runs - 1)]
    if not keep:
        plain.stand.drop(first)
    if all(alike(plain.album, first, one) for one in repeats):
        return Expected(images, first, keep=keep)
    more = _RUNS_UNREPEATABLE - len(repeats)
    repeats += [_again(plain, first) for _ in range(more)]
    check_comparable(plain.album, [first, *repeats])
    return Expected(images, first, [first, *repeats], keep=keep)


def check_sound(plain: Plain, expected: Expected) -> None:
    """Check that the plain kernel's answer is one that others can be held against.

    Raises:
        LaunchError: It is empty, holds no number, or hangs on what lay in the outputs before.
    """
    album, place = plain.album, f"workload {plain.album.workload.name!r}: the plain kernel"
    other = album.other(expected.images)
    plain.stand.set(other.before, keep=False)
    plain.stand.run(plain.program)
    now = answer(plain.stand, album.workload)
    launches = (expected.after, expected.images), (now, other)
    if all(same(left[name], images.before[name]) for left, images in launches for name in left):
        raise LaunchError(
            f"{place} writes nothing: look at grid, block and the numbers that it is given"
        )
    _check_numbers(album, expected)
    hung = hangs_on_poison(album, *launches) if expected.is_repeatable else ""
    if hung:
        raise LaunchError(
            f"{place}'s answer in {hung!r} depends on what lay there before: give it "
            'role = "inout" and a fill'
        )


def check_comparable(album: Album, runs: Sequence[Answer]) -> None:
    """Check that answers which differ from run to run can be compared at all.

    Raises:
        LaunchError: Whole numbers differ.
    """
    for region in regions(album.workload):
        if region.kind.kind == "float" or region.buffer.tolerance is not None:
            continue
        parts = [part_of(album, run, region) for run in runs]
        if not all(same(parts[0], part) for part in parts):
            raise LaunchError(
                f"workload {album.workload.name!r}: {region.buffer.name!r} holds whole numbers "
                "that differ from run to run of the plain kernel, so nothing can be compared; if "
                "they are no answer, say tolerance = inf"
            )


def _again(plain: Plain, first: Answer) -> Answer:
    plain.stand.rerun(plain.program)
    return answer(plain.stand, plain.album.workload, first)


def _check_bounds(plain: Plain, images: Images, first: Answer) -> None:
    album = plain.album
    for root in roots(album.workload):
        poison, place = images.poison[root.name], album.places[root.name]
        why = ""
        if root.name in first:
            why = breach(root.name, first[root.name], place, poison)
        elif not plain.stand.holds(root.name, images.before[root.name], keep=False):
            why = breach(root.name, plain.stand.image(root.name), place, poison)
            why = why or f'changes {root.name!r}, which has role "in": make it "inout"'
        if why:
            raise LaunchError(f"workload {album.workload.name!r}: the plain kernel {why}")


def _check_numbers(album: Album, expected: Expected) -> None:
    for region in regions(album.workload):
        after, before = expected.after[region.root], expected.images.before[region.root]
        if region.kind.kind != "float" or is_scratch(region) or same(after, before):
            continue
        stored = part_of(album, expected.after, region).view(region.kind.stored)
        chunks = (stored[at : at + _CHUNK] for at in range(0, stored.size, _CHUNK))
        if all(np.isnan(decode(chunk, region.kind)).all() for chunk in chunks):
            raise LaunchError(
                f"workload {album.workload.name!r}: the plain kernel's {region.buffer.name!r} "
                "holds nothing but NaN, so nothing can be compared: choose other fills"
            )
