"""Checks what a launch file says of its buffers: shapes, fills, views, files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from burnish.bundle.dtypes import Array, Dtype, dtype
from burnish.bundle.files import refuse_odd
from burnish.bundle.fills import Fill, parse_fill, say_fill, unfit
from burnish.bundle.layout import elements, extent, is_dense, offset_bytes, overlaps
from burnish.errors import LaunchError
from burnish.model.workload import Buffer, Role

if TYPE_CHECKING:  # workers load files, and need no pydantic for it: half a second each
    from burnish.bundle.schema import BufferEntry

__all__ = ["checked_buffer", "checked_views", "load_file", "source_file"]

_MOST_BYTES = 1 << 47  # what a process can address


def checked_buffer(entry: "BufferEntry", folder: Path) -> Buffer:
    """A buffer of the model from what the file says.

    Raises:
        LaunchError: Its type, fill, strides or role cannot be.
    """
    kind = dtype(entry.buffer)
    bare = Buffer(
        name=entry.name,
        dtype=kind.name,
        shape=tuple(entry.shape),
        role=Role(entry.role),
        strides=tuple(entry.strides),
        view_of=entry.view_of,
        offset=entry.offset,
        tolerance=entry.tolerance,
    )
    _check_strides(bare)
    _check_size(bare)
    if entry.offset and not entry.view_of:
        raise LaunchError(f"offset = {entry.offset} needs view_of: it counts in what is viewed")
    return _with_fill(bare, _fill(entry, bare, folder))


def checked_views(buffers: Sequence[Buffer]) -> None:
    """Check that every view lies inside of a buffer that owns memory.

    Raises:
        LaunchError: One does not.
    """
    owners = {buffer.name: buffer for buffer in buffers if not buffer.view_of}
    for view in (buffer for buffer in buffers if buffer.view_of):
        root = owners.get(view.view_of)
        if root is None:
            raise LaunchError(
                f'"{view.name}" views "{view.view_of}", which is no buffer with memory of its own; '
                f"there are: {', '.join(owners) or 'none'}"
            )
        _check_inside(view, root)


def source_file(buffer: Buffer) -> Path | None:
    """The file that holds the contents of a buffer, if one does."""
    fill = parse_fill(buffer.fill) if buffer.fill else Fill("zeros")
    return Path(fill.path) if fill.path else None


def load_file(path: Path, kind: Dtype, shape: Sequence[int]) -> Array:
    """The array in a file, of the stored type; mapped, not yet read.

    Raises:
        LaunchError: It cannot be read, or holds another type or shape.
    """
    try:
        refuse_odd(path)
        array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise LaunchError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise LaunchError(f"{path} is no array written by numpy.save: {error}") from None
    if array.shape != tuple(shape):
        raise LaunchError(f"{path} holds the shape {list(array.shape)}, not {list(shape)}")
    return _as_stored(array, kind, path)


def _as_stored(array: Array, kind: Dtype, path: Path) -> Array:
    # Libraries save bfloat16 and fp8 as opaque bytes of that size, bool as numpy's own type.
    is_raw = array.dtype.kind == "V" and array.dtype.itemsize == kind.size and kind.is_pattern
    is_truth = array.dtype.kind == "b" and kind.kind == "bool"
    if array.dtype == kind.stored or is_raw or is_truth:
        return array.view(kind.stored)
    need = f"the {8 * kind.size}-bit patterns" if kind.is_pattern else kind.name
    raise LaunchError(f"{path} holds {array.dtype}; {need} as {kind.stored} are needed")


def _check_strides(buffer: Buffer) -> None:
    if buffer.strides and len(buffer.strides) != len(buffer.shape):
        raise LaunchError(
            f"strides: {list(buffer.strides)} has {len(buffer.strides)} axes and the shape "
            f"{list(buffer.shape)} has {len(buffer.shape)}"
        )
    if buffer.role is not Role.IN and overlaps(buffer):
        raise LaunchError(
            f"strides: with {list(buffer.strides)} elements share memory, which only a buffer "
            'of role "in" may'
        )


def _check_size(buffer: Buffer) -> None:
    needed = extent(buffer) * dtype(buffer.dtype).size
    if needed > _MOST_BYTES:
        key, value = ("strides", buffer.strides) if buffer.strides else ("shape", buffer.shape)
        raise LaunchError(
            f"{key}: {list(value)} of {buffer.dtype} takes {needed:,} bytes, which no machine "
            "has: make it smaller"
        )


def _fill(entry: "BufferEntry", buffer: Buffer, folder: Path) -> str:
    kind = dtype(buffer.dtype)
    if buffer.view_of or buffer.role is Role.OUT:
        if entry.fill:
            why = (
                "a view has the contents of what it views"
                if buffer.view_of
                else 'a buffer of role "out" is overwritten before each run; use "inout"'
            )
            raise LaunchError(f"fill: {entry.fill!r} is not used: {why}")
        return ""
    if not entry.fill:
        if kind.kind == "float":
            return "normal"
        raise LaunchError(f"fill: a buffer of {kind.name} needs one. {say_fill()}")
    return str(_fitting(parse_fill(entry.fill), buffer, kind, folder))


def _fitting(fill: Fill, buffer: Buffer, kind: Dtype, folder: Path) -> Fill:
    why = unfit(fill, kind, elements(buffer))
    if why:
        raise LaunchError(f"fill: {why}")
    if overlaps(buffer) and fill.kind in {"arange", "permutation", "offsets", "file"}:
        raise LaunchError(f"fill: {fill} is ambiguous where elements share memory")
    if fill.path:
        path = (folder / fill.path).absolute()
        load_file(path, kind, buffer.shape)
        return Fill(fill.kind, path=str(path))
    return fill


def _with_fill(buffer: Buffer, fill: str) -> Buffer:
    strides = () if is_dense(buffer) else buffer.strides
    return Buffer(
        name=buffer.name,
        dtype=buffer.dtype,
        shape=buffer.shape,
        role=buffer.role,
        fill=fill,
        strides=strides,
        view_of=buffer.view_of,
        offset=buffer.offset,
        tolerance=buffer.tolerance,
    )


def _check_inside(view: Buffer, root: Buffer) -> None:
    needed = offset_bytes(view) + extent(view) * dtype(view.dtype).size
    owned = extent(root) * dtype(root.dtype).size
    if needed > owned:
        raise LaunchError(
            f'"{view.name}" ends at byte {needed} of "{root.name}", which has {owned}: '
            "lessen offset or shape"
        )
    if view.role is not Role.OUT and root.role is Role.OUT:
        raise LaunchError(
            f'"{view.name}" is read, but "{root.name}" has role "out" and no contents: '
            'make that "inout" with a fill'
        )
