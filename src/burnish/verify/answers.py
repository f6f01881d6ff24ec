"""What a launch leaves in the buffers that it may write, and how two such answers differ."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from burnish.bundle.layout import is_written, roots
from burnish.devices.port import Image
from burnish.model.workload import Buffer, Workload
from burnish.verify.chunks import Chunk, in_chunks
from burnish.verify.compare import same
from burnish.verify.guard import data, pattern
from burnish.verify.images import Album, Images
from burnish.verify.regions import Region, regions
from burnish.verify.stand import Stand

__all__ = [
    "Answer",
    "alike",
    "answer",
    "hangs_on_poison",
    "idle",
    "is_scratch",
    "part_of",
    "untouched",
    "written_roots",
]

Answer = Mapping[str, Image]


def written_roots(workload: Workload) -> tuple[Buffer, ...]:
    """The buffers with memory that a launch may write."""
    return tuple(root for root in roots(workload) if is_written(workload, root))


def answer(stand: Stand, workload: Workload, like: Answer | None = None) -> Answer:
    """What every written buffer holds now.

    Args:
        stand: The stand.
        workload: Its workload.
        like: An answer that is expected again: where a buffer holds it, its very image is
            given back, and nothing is moved if it is kept on the device.
    """
    known = like or {}
    return {
        root.name: known[root.name]
        if root.name in known and stand.holds(root.name, known[root.name], keep=False)
        else stand.image(root.name)
        for root in written_roots(workload)
    }


def part_of(album: Album, given: Answer, region: Region) -> Image:
    """The bytes of a region; shares memory with the answer."""
    return data(given[region.root], album.places[region.root])[region.start : region.stop]


def is_scratch(region: Region) -> bool:
    """Whether the contents are nobody's answer: ``tolerance = inf`` says so."""
    return region.buffer.tolerance == math.inf


def alike(album: Album, one: Answer, other: Answer) -> bool:
    """Whether two answers hold the same bits where they count."""
    if all(same(one[name], other[name]) for name in one):
        return True
    return all(
        is_scratch(region) or same(part_of(album, one, region), part_of(album, other, region))
        for region in regions(album.workload)
    )


def untouched(given: Answer, images: Images, region: Region, album: Album) -> NDArray[np.bool_]:
    """Which bytes of a region still show the pattern that lay there before."""
    start = album.places[region.root].data_offset + region.start
    mark = pattern(images.poison[region.root], start, region.stop - region.start)
    is_mark: NDArray[np.bool_] = np.equal(part_of(album, given, region), mark)
    return is_mark


def idle(given: Answer, images: Images, region: Region, album: Album) -> NDArray[np.bool_]:
    """Which elements of a region still show, in all of their bytes, what lay there before."""
    word, stored = np.dtype(f"u{region.kind.size}"), part_of(album, given, region)
    start = album.places[region.root].data_offset + region.start
    result: NDArray[np.bool_] = np.empty(region.count, np.bool_)

    def job(chunk: Chunk) -> None:
        at, end = (word.itemsize * n for n in (chunk.start, chunk.start + chunk.part.size))
        mark = pattern(images.poison[region.root], start + at, end - at)
        chunk.part[...] = stored[at:end].view(word) == mark.view(word)

    in_chunks(result, job)
    return result


def hangs_on_poison(album: Album, one: tuple[Answer, Images], two: tuple[Answer, Images]) -> str:
    """Name of a root whose answer hangs on the pattern that lay there before; empty if none.

    Args:
        album: The images.
        one: An answer, and what the buffers held before.
        two: The same with the other pattern.
    """
    for region in regions(album.workload):
        first, second = part_of(album, one[0], region), part_of(album, two[0], region)
        if is_scratch(region) or same(first, second):
            continue
        idle = untouched(*one, region, album) & untouched(*two, region, album)
        if bool(((first != second) & ~idle).any()):
            return region.root
    return ""
