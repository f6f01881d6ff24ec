"""How strongly answers hang on the inputs, felt by moving the inputs a little.

Of a few answers, such as the one sum of a reduction, neither their own size nor the plain
kernel's own error says much: both may be small by luck. What an answer moves by when the
inputs move is never small by luck, and rounding inside of the kernel moves it likewise.
"""

import math

import numpy as np
from numpy.random import SFC64, Generator

from burnish.bundle.dtypes import DTYPES, decode, encode
from burnish.bundle.layout import roots
from burnish.devices.port import Image
from burnish.model.workload import Buffer
from burnish.verify.answers import answer, is_scratch, part_of
from burnish.verify.expected import Expected, Plain
from burnish.verify.guard import data
from burnish.verify.images import Album
from burnish.verify.regions import Region, regions

__all__ = ["feel"]

_FEW = 4096
_ENOUGH = 8  # answers from which a root mean square is known well enough


def feel(plain: Plain, expected: Expected) -> bool:
    """Find the conditions of one set of inputs, where there are few answers; only once.

    Args:
        plain: The plain kernel.
        expected: Its answer; gets ``conditions``: by region, how far the answers move for each
            unit by which the inputs move relatively.

    Returns:
        Whether the plain kernel was launched, which leaves other contents in the session.
    """
    wanted = [region for region in regions(plain.album.workload) if _is_small(region)]
    if not wanted or expected.conditions:
        return False
    rng, step = Generator(SFC64(expected.images.case.seed)), _step(plain.album)
    squares = dict.fromkeys(wanted, 0.0)
    draws = -(-_ENOUGH // min(region.count for region in wanted))
    for _ in range(draws):
        moved = _moved(plain.album, expected, rng, step)
        plain.stand.set(moved, keep=False)
        plain.stand.run(plain.program)
        left = answer(plain.stand, plain.album.workload)
        for region in wanted:
            pair = [
                decode(part_of(plain.album, one, region).view(region.kind.stored), region.kind)
                for one in (left, expected.after)
            ]
            with np.errstate(invalid="ignore"):
                change = pair[0] - pair[1]
            squares[region] += float(np.square(change[np.isfinite(change)]).sum())
    unit = step / math.sqrt(3)  # the root mean square of numbers drawn evenly from ±step
    for region, total in squares.items():
        expected.conditions[region] = math.sqrt(total / (draws * region.count)) / unit
    return True


def _is_small(region: Region) -> bool:
    is_judged = region.kind.kind == "float" and not is_scratch(region)
    return is_judged and region.count < _FEW


def _step(album: Album) -> float:
    """A relative change that is well above rounding in every input, and small even so."""
    digits = [DTYPES[root.dtype].digits for root in roots(album.workload) if _is_moved(root)]
    return math.ldexp(1.0, -(min(digits, default=2) // 2))


def _is_moved(root: Buffer) -> bool:
    return bool(root.fill) and DTYPES[root.dtype].kind == "float"


def _moved(album: Album, expected: Expected, rng: Generator, step: float) -> dict[str, Image]:
    """The images with every float moved; never beyond the least and the largest one."""
    result = dict(expected.images.before)
    for root in filter(_is_moved, roots(album.workload)):
        kind, image = DTYPES[root.dtype], result[root.name].copy()
        memory = data(image, album.places[root.name]).view(kind.stored)
        values = decode(memory, kind)
        moved = values * (1 + rng.uniform(-step, step, values.size))
        kept = np.isfinite(values)
        if kept.any():
            moved = np.clip(moved, values[kept].min(), values[kept].max())
        exact = moved if kind.name == "f64" else moved.astype(np.float32)
        memory[...] = np.where(kept, encode(exact, kind), memory)
        image.flags.writeable = False
        result[root.name] = image
    return result
