"""Guard zones round every buffer, and the patterns that lie where nobody has written yet.

A buffer's image is guard zone, data, guard zone. The guard zones and the memory of outputs
hold a pattern before each launch. There are two, which differ in every byte: what a kernel
leaves unwritten shows one pattern after one launch and the other one after the other.
"""

from collections.abc import Mapping
from enum import Enum

import numpy as np

from burnish.bundle.dtypes import DTYPES
from burnish.bundle.layout import buffers, extent, offset_bytes, roots
from burnish.devices.port import Image, Place
from burnish.errors import InternalError
from burnish.model.workload import Workload
from burnish.verify.chunks import Chunk, in_chunks

__all__ = ["Poison", "blank", "breach", "data", "framed", "pattern", "places"]

_GUARD_BYTES = 4096  # a row too many of 1,024 floats still ends in the guard zone
_ALIGN_BYTES = 256
_WORDS = 4  # of 8 bytes in a pattern
_STRETCH = 1 << 13  # words of a pattern that are written at once; chunks are whole stretches


class Poison(Enum):
    """What lies where nobody has written.

    ALL_ONES is NaN in every float type and −1 or the largest value in whole ones. MIXED goes
    through large and small numbers of both signs, so that a minimum, a maximum or a sum over
    what nobody wrote gives itself away.
    """

    ALL_ONES = bytes([0xFF] * 8 * _WORDS)
    MIXED = bytes([0x5A] * 8 + [0xDA] * 8 + [0x01] * 8 + [0x81] * 8)

    @property
    def other(self) -> "Poison":
        """The other pattern."""
        return Poison.MIXED if self is Poison.ALL_ONES else Poison.ALL_ONES


def places(workload: Workload) -> Mapping[str, Place]:
    """Where the data of each buffer lies in its image; a view's lies in that of its root."""
    owned = {root.name: extent(root) * DTYPES[root.dtype].size for root in roots(workload)}
    result: dict[str, Place] = {}
    for buffer in buffers(workload):
        size = owned[buffer.view_of or buffer.name]
        total = -(-(_GUARD_BYTES + size + _GUARD_BYTES) // _ALIGN_BYTES) * _ALIGN_BYTES
        if buffer.view_of:
            start = _GUARD_BYTES + offset_bytes(buffer)
            size = extent(buffer) * DTYPES[buffer.dtype].size
        else:
            start = _GUARD_BYTES
        result[buffer.name] = Place(total, start, size)
    return result


def blank(place: Place, poison: Poison) -> Image:
    """A whole image that holds nothing but the pattern."""
    image: Image = np.empty(place.total_bytes, np.uint8)
    stretch = pattern(poison, 0, 8 * _STRETCH).view(np.uint64)

    def job(chunk: Chunk) -> None:
        whole = chunk.part.size - chunk.part.size % _STRETCH
        chunk.part[:whole].reshape(-1, _STRETCH)[...] = stretch
        chunk.part[whole:] = stretch[: chunk.part.size - whole]

    in_chunks(image.view(np.uint64), job)
    return image


def framed(place: Place, poison: Poison) -> Image:
    """An image whose guard zones hold the pattern; its data is still to be filled."""
    image: Image = np.empty(place.total_bytes, np.uint8)
    end = place.data_offset + place.data_bytes
    for start, stop in ((0, place.data_offset), (end, place.total_bytes)):
        image[start:stop] = pattern(poison, start, stop - start)
    return image


def data(image: Image, place: Place) -> Image:
    """The data of a buffer, without guard zones; shares memory with the image."""
    return image[place.data_offset : place.data_offset + place.data_bytes]


def pattern(poison: Poison, start: int, count: int) -> Image:
    """``count`` bytes of the pattern from byte ``start`` of an image on."""
    length = len(poison.value)
    repeats = -(-(start % length + count) // length)
    whole = np.frombuffer(poison.value * repeats, np.uint8)
    return whole[start % length : start % length + count]


def breach(name: str, image: Image, place: Place, poison: Poison) -> str:
    """What was written into the guard zones of a buffer; empty where nothing was."""
    if image.size != place.total_bytes:
        raise InternalError(f"the image of {name} has {image.size} bytes, not {place.total_bytes}")
    end = place.data_offset + place.data_bytes
    for start, stop in ((0, place.data_offset), (end, place.total_bytes)):
        changed = np.flatnonzero(image[start:stop] != pattern(poison, start, stop - start))
        if changed.size:
            where = (
                f"{start + int(changed[0]) - end} bytes behind its end"
                if start
                else f"{place.data_offset - int(changed[-1])} bytes before its start"
            )
            return (
                f"writes out of bounds: {changed.size} bytes round {name} changed, the nearest "
                f"{where}"
            )
    return ""
