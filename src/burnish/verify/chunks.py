"""Work on large arrays, cut into chunks that threads take.

What is done to a chunk depends on its number alone, never on who does it or when: so results
are the same with any number of threads. numpy lets go of the interpreter while it works.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from burnish.bundle.dtypes import Array

__all__ = ["Chunk", "in_chunks", "in_order"]

T = TypeVar("T")
R = TypeVar("R")

_LENGTH = 1 << 19  # elements: some milliseconds of work, so starting a generator costs nothing
_MOST_THREADS = 32


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of an array.

    Attributes:
        number: Which chunk it is.
        start: Its first element.
        part: Its elements; writing to them writes to the array.
    """

    number: int
    start: int
    part: Array


def in_chunks(memory: Array, job: Callable[[Chunk], None]) -> None:
    """Run a job on every chunk of a one-dimensional array, on all cores that may be used."""
    starts = range(0, memory.size, _LENGTH)
    chunks = [
        Chunk(number, start, memory[start : start + _LENGTH]) for number, start in enumerate(starts)
    ]
    for _ in in_order(chunks, job):
        pass


def in_order(items: Sequence[T], job: Callable[[T], R]) -> Iterator[R]:
    """What a job makes of each item, in their order; worked on by all cores."""
    threads = min(len(items), len(os.sched_getaffinity(0)), _MOST_THREADS)
    if threads <= 1:
        yield from map(job, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(job, items)
