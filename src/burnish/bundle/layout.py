"""Where the elements of a buffer lie: strides, extents and views.

A buffer without ``view_of`` is a *root*: it owns memory. Its memory is its extent, from the
first element to the last one, gaps of strides included.
"""

import math
from collections.abc import Iterator

from numpy.lib.stride_tricks import as_strided

from burnish.bundle.dtypes import DTYPES, Array
from burnish.model.workload import Buffer, Role, Workload

__all__ = [
    "buffers",
    "elements",
    "extent",
    "is_dense",
    "is_written",
    "offset_bytes",
    "overlaps",
    "roots",
    "shaped",
    "steps",
    "views",
]


def elements(buffer: Buffer) -> int:
    """How many elements a buffer has."""
    return math.prod(buffer.shape)


def steps(buffer: Buffer) -> tuple[int, ...]:
    """Elements between neighbours along each axis."""
    if buffer.strides:
        return buffer.strides
    counts = [1]
    for length in reversed(buffer.shape[1:]):
        counts.append(counts[-1] * length)
    return tuple(reversed(counts))[: len(buffer.shape)] if buffer.shape else ()


def extent(buffer: Buffer) -> int:
    """Elements from the first to the last one in memory, gaps included."""
    pairs = zip(buffer.shape, steps(buffer), strict=True)
    return 1 + sum((length - 1) * step for length, step in pairs)


def is_dense(buffer: Buffer) -> bool:
    """Whether the elements lie in order, without gaps."""
    return not buffer.strides or buffer.strides == steps(_without_strides(buffer))


def overlaps(buffer: Buffer) -> bool:
    """Whether two elements may share memory, such as with a stride of 0."""
    span = 1
    axes = sorted(zip(steps(buffer), buffer.shape, strict=True))
    for step, length in axes:
        if length == 1:
            continue
        if step < span:
            return True
        span = step * (length - 1) + span
    return False


def offset_bytes(buffer: Buffer) -> int:
    """First byte of a buffer in the memory of its root."""
    return buffer.offset * DTYPES[buffer.dtype].size


def shaped(memory: Array, buffer: Buffer) -> Array:
    """The elements of a buffer in its shape; a view of ``memory``.

    Args:
        memory: One-dimensional, of the stored type, starting at the buffer's first element.
        buffer: The buffer.
    """
    if is_dense(buffer):
        return memory[: elements(buffer)].reshape(buffer.shape)
    size = memory.itemsize
    byte_steps = [step * size for step in steps(buffer)]
    return as_strided(memory, buffer.shape, byte_steps, writeable=memory.flags.writeable)


def buffers(workload: Workload) -> Iterator[Buffer]:
    """Every buffer of a workload, in the order of the arguments."""
    return (one for one in workload.arguments if isinstance(one, Buffer))


def roots(workload: Workload) -> tuple[Buffer, ...]:
    """The buffers that own memory."""
    return tuple(buffer for buffer in buffers(workload) if not buffer.view_of)


def views(workload: Workload, root: Buffer) -> tuple[Buffer, ...]:
    """The buffers that share the memory of a root."""
    return tuple(buffer for buffer in buffers(workload) if buffer.view_of == root.name)


def is_written(workload: Workload, root: Buffer) -> bool:
    """Whether a launch may write the memory of a root, through it or through a view."""
    return any(one.role is not Role.IN for one in (root, *views(workload, root)))


def _without_strides(buffer: Buffer) -> Buffer:
    return Buffer(buffer.name, buffer.dtype, buffer.shape)
