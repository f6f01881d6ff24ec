"""What the plain kernel answers: that is what a candidate is held against."""

import time
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
    idle,
    is_scratch,
    part_of,
    written_roots,
)
from burnish.verify.chance import is_chance
from burnish.verify.compare import bits, same
from burnish.verify.guard import breach
from burnish.verify.images import Album, Images
from burnish.verify.regions import Region, regions
from burnish.verify.rounding import Yardstick
from burnish.verify.stand import Stand

__all__ = ["Expected", "Plain", "check_comparable", "check_sound", "expect"]

_RUNS_UNREPEATABLE = 3  # beside the first one and the first that differs
_MOST_RUNS = 64
_HIDDEN = (
    "it keeps something between launches (a static or global variable), hangs on the order of "
    "threads, or reads a clock, random numbers or memory that nobody wrote: make that an argument "
    "or set it with globals, or give what is no answer a tolerance"
)
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Plain:
    """The plain kernel, on the stand of one workload.

    Attributes:
        program: The plain kernel.
        stand: Its stand.
        album: Makes its inputs.
        must_repeat: Whether its answers must be the same bits on each launch: where no two
            threads race, not even rounding differs.
    """

    program: Program
    stand: Stand
    album: Album
    must_repeat: bool = False


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


def expect(
    plain: Plain, images: Images, *, runs: int, keep: bool, within_s: float = 0.0
) -> Expected:
    """Run the plain kernel and keep its answer.

    Args:
        plain: The plain kernel on its stand.
        images: The inputs.
        runs: How often it is launched at least to see whether its answers repeat.
        keep: Whether the answer will be needed for many candidates.
        within_s: For how long it is launched beyond that, up to some dozens of times: what it
            keeps between launches may show rarely.

    Raises:
        LaunchError: It writes out of bounds or into inputs; or its answers differ from run to
            run by more than rounding.
    """
    plain.stand.set(images.before, keep=keep)
    plain.stand.run(plain.program)
    first = {root.name: plain.stand.grab(root.name) for root in written_roots(plain.album.workload)}
    _check_bounds(plain, images, first)
    other = _first_other(plain, first, runs, within_s)
    if not keep:
        plain.stand.drop(first)
    if other is None:
        return Expected(images, first, keep=keep)
    more = [_again(plain, first) for _ in range(_RUNS_UNREPEATABLE)]
    check_comparable(plain, images, [first, other, *more])
    return Expected(images, first, [first, other, *more], keep=keep)


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


def check_comparable(plain: Plain, images: Images, runs: Sequence[Answer]) -> None:
    """Check that answers which differ from run to run differ by no more than rounding.

    Args:
        plain: The plain kernel.
        images: What the buffers held before each run.
        runs: Its answers.

    Raises:
        LaunchError: They differ by more, or must not differ at all.
    """
    album = plain.album
    for region in regions(album.workload):
        if region.buffer.tolerance is not None:
            continue
        parts = [part_of(album, run, region).view(region.kind.stored) for run in runs]
        kept = ~idle(runs[0], images, region, album)
        for part in parts[1:]:
            mismatch = bits(part, parts[0], region)
            is_usual = not plain.must_repeat and is_chance(part, parts[0], kept, region.kind)
            if mismatch is not None and not is_usual:
                raise LaunchError(
                    f"workload {album.workload.name!r}: the baseline is not repeatable: launched "
                    f"again on the same inputs, {mismatch}; {_HIDDEN}"
                )


def _first_other(plain: Plain, first: Answer, runs: int, within_s: float) -> Answer | None:
    """The first further answer that differs; None where all that were taken are alike."""
    deadline_s = time.perf_counter() + within_s
    for run in range(1, max(runs, _MOST_RUNS)):
        if run >= runs and time.perf_counter() > deadline_s:
            break
        again = _again(plain, first)
        if not alike(plain.album, first, again):
            return again
    return None


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
