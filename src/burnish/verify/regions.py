"""The memory that a launch writes, cut into pieces of one element type each.

Usually a buffer is one piece. Where a view of another type or tolerance writes into a buffer,
its bytes are judged as what the view says, and the rest as what the buffer says.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from burnish.bundle.dtypes import DTYPES, Array, Dtype
from burnish.bundle.layout import (
    elements,
    extent,
    is_dense,
    is_written,
    offset_bytes,
    roots,
    shaped,
    steps,
    views,
)
from burnish.model.workload import Buffer, Role, Workload

__all__ = ["Region", "regions"]


@dataclass(frozen=True, slots=True)
class Region:
    """A piece of a buffer's memory.

    Attributes:
        root: Name of the buffer that owns the memory.
        buffer: The buffer or view that says how to read it.
        start: First byte in the memory of the root.
        stop: The byte after the last one.
        kind: Its element type.
    """

    root: str
    buffer: Buffer
    start: int
    stop: int
    kind: Dtype

    @property
    def count(self) -> int:
        """How many elements it has, gaps of strides included."""
        return (self.stop - self.start) // self.kind.size

    @property
    def first(self) -> int:
        """Which element of the buffer, counted in memory, comes first."""
        return (self.start - offset_bytes(self.buffer)) // self.kind.size

    def spread(self, values: Array, gap: float) -> Array:
        """Put values in the buffer's shape into memory order.

        Args:
            values: In the buffer's shape.
            gap: What stands between strided elements.
        """
        if is_dense(self.buffer):
            flat = values.reshape(-1)
        else:
            flat = np.full(extent(self.buffer), gap, values.dtype)
            shaped(flat, self.buffer)[...] = values
        return flat[self.first : self.first + self.count]

    def where(self, element: int) -> str:
        """The indices of an element of the region, such as ``at [3, 17]``."""
        rest, indices = self.first + element, dict[int, int]()
        axes = sorted(enumerate(steps(self.buffer)), key=lambda axis: -axis[1])
        for axis, step in axes:
            length = self.buffer.shape[axis]
            indices[axis] = min(rest // step, length - 1) if step else 0
            rest -= indices[axis] * step
        if rest:
            return f"between its rows, {self.first + element} elements from its start"
        return f"at {[indices[axis] for axis in sorted(indices)]}"


def regions(workload: Workload) -> tuple[Region, ...]:
    """Everything that a launch may write, in typed pieces."""
    written = [root for root in roots(workload) if is_written(workload, root)]
    return tuple(piece for root in written for piece in _pieces(workload, root))


def _pieces(workload: Workload, root: Buffer) -> list[Region]:
    pieces = [_whole(root, root)]
    for view in views(workload, root):
        if view.role is not Role.IN and _differs(view, root):
            pieces = _laid_over(pieces, _whole(view, root))
    return pieces


def _whole(buffer: Buffer, root: Buffer) -> Region:
    kind, start = DTYPES[buffer.dtype], offset_bytes(buffer)
    return Region(root.name, buffer, start, start + extent(buffer) * kind.size, kind)


def _differs(view: Buffer, root: Buffer) -> bool:
    return (view.dtype, view.tolerance) != (root.dtype, root.tolerance)


def _laid_over(pieces: Sequence[Region], top: Region) -> list[Region]:
    result: list[Region] = []
    for piece in pieces:
        ends = ((piece.start, min(piece.stop, top.start)), (max(piece.start, top.stop), piece.stop))
        result += [_cut(piece, start, stop) for start, stop in ends if start < stop]
    return [*result, top]


def _cut(piece: Region, start: int, stop: int) -> Region:
    """A part of a piece; bytes where the cut goes through an element."""
    base, size = offset_bytes(piece.buffer), piece.kind.size
    if (start - base) % size or (stop - base) % size:
        length = elements(piece.buffer) * size
        raw = Buffer(piece.buffer.name, "u8", (max(length, stop),))
        return Region(piece.root, raw, start, stop, DTYPES["u8"])
    return replace(piece, start=start, stop=stop)
