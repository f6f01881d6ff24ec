"""Reads a launch file: how to run a kernel without its program (docs/launch-files.md)."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from burnish.bundle.contents import checked_buffer, checked_views, source_file
from burnish.bundle.dtypes import dtype
from burnish.bundle.files import read_file
from burnish.bundle.packing import Packed, checked_value, packed
from burnish.bundle.schema import (
    ArgumentEntry,
    BufferEntry,
    ScalarEntry,
    WorkloadEntry,
    understand,
)
from burnish.errors import LaunchError
from burnish.model.frozen import FrozenMap
from burnish.model.workload import Argument, Buffer, Bytes, Scalar, Workload

__all__ = ["LaunchFile", "read_launch"]

Axes = tuple[int, int, int]

# CUDA programming guide, technical specifications: the same on every architecture from sm_50 on.
_MOST_THREADS = 1024
_MOST_THREADS_Z = 64
_MOST_BLOCKS = (2**31 - 1, 65535, 65535)
_MOST_CLUSTER = 16
_POINTER_BYTES = 8


@dataclass(frozen=True, slots=True)
class LaunchFile:
    """What a launch file says.

    Attributes:
        entry: Name of the function to run.
        workloads: Its workloads, at least one of them not held out.
        digest: Of the file and of every file that it names: another digest, other inputs.
    """

    entry: str
    workloads: tuple[Workload, ...]
    digest: str


def read_launch(path: Path) -> LaunchFile:
    """Read a launch file and everything that it names.

    Raises:
        LaunchError: It says something that is not understood or cannot be; the message
            names file, place, value and what to do.
    """
    data = read_file(path)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise LaunchError(f"{path} is no text in UTF-8") from None
    with _at(str(path)):
        file = understand(text)
        workloads = tuple(
            _workload(entry, number, path.parent) for number, entry in enumerate(file.workload)
        )
        _check_names([workload.name for workload in workloads], "workload")
        if all(workload.held_out for workload in workloads):
            raise LaunchError("every workload is held out: leave one to tune on")
    return LaunchFile(file.entry, workloads, _digest(data, workloads))


def _workload(entry: WorkloadEntry, number: int, folder: Path) -> Workload:
    with _at(f'workload[{number}] "{entry.name}"'):
        arguments = tuple(
            _argument(one, place, folder) for place, one in enumerate(entry.arguments)
        )
        _check_names([one.name for one in arguments if one.name], "argument")
        checked_views([one for one in arguments if isinstance(one, Buffer)])
        _check_pointers(arguments)
        return Workload(
            name=entry.name,
            arguments=arguments,
            weight=entry.weight,
            held_out=entry.held_out,
            dynamic_shared_bytes=entry.dynamic_shared_bytes,
            cooperative=entry.cooperative,
            globals=_globals(entry, folder),
            moved_bytes=entry.moved_bytes,
            operations=entry.operations,
            **_shape(entry),
        )


def _argument(entry: ArgumentEntry, place: int, folder: Path) -> Argument:
    shown = f' "{entry.name}"' if entry.name else ""
    with _at(f"arguments[{place}]{shown}"):
        name = entry.name or f"argument{place}"
        if isinstance(entry, BufferEntry):
            return checked_buffer(entry, folder)
        if isinstance(entry, ScalarEntry) and not isinstance(entry.value, list):
            kind = dtype(entry.scalar)
            return Scalar(name, kind.name, checked_value(entry.value, kind))
        value = packed(entry, folder)
        return Bytes(name, value.data, value.pointers)


def _globals(entry: WorkloadEntry, folder: Path) -> FrozenMap[bytes]:
    values: dict[str, bytes] = {}
    for symbol, piece in entry.globals.items():
        with _at(f"globals: {symbol}"):
            value: Packed = packed(piece, folder)
            if value.pointers:
                raise LaunchError("a module's global cannot hold the address of a buffer")
            values[symbol] = value.data
    return FrozenMap(values)


def _check_pointers(arguments: Sequence[Argument]) -> None:
    known = {one.name for one in arguments if isinstance(one, Buffer)}
    for argument in (one for one in arguments if isinstance(one, Bytes)):
        for at, name in argument.pointers:
            if name not in known:
                raise LaunchError(
                    f'argument "{argument.name}" points to "{name}", which is no buffer of '
                    f"this workload; there are: {', '.join(sorted(known)) or 'none'}"
                )
            if at + _POINTER_BYTES > len(argument.data):
                raise LaunchError(
                    f'argument "{argument.name}": a pointer at byte {at} does not fit into '
                    f"{len(argument.data)} bytes"
                )


def _check_names(names: Sequence[str], what: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise LaunchError(f"more than one {what} is named {twice[0]!r}: give each its own name")


def _shape(entry: WorkloadEntry) -> Mapping[str, Axes]:
    grid, block, cluster = _axes(entry.grid), _axes(entry.block), _axes(entry.cluster)
    for axis, blocks, most in zip("xyz", grid, _MOST_BLOCKS, strict=True):
        if blocks > most:
            raise LaunchError(f"grid: {entry.grid} has more blocks along {axis} than {most}")
    if block[2] > _MOST_THREADS_Z:
        raise LaunchError(f"block: {entry.block} has more threads along z than {_MOST_THREADS_Z}")
    if math.prod(block) > _MOST_THREADS:
        raise LaunchError(
            f"block: {entry.block} are {math.prod(block)} threads; a block has {_MOST_THREADS} "
            "at most"
        )
    if math.prod(cluster) > _MOST_CLUSTER:
        raise LaunchError(
            f"cluster: {entry.cluster} are {math.prod(cluster)} blocks; a cluster has "
            f"{_MOST_CLUSTER} at most"
        )
    if any(blocks % size for blocks, size in zip(grid, cluster, strict=True)):
        raise LaunchError(f"grid: {entry.grid} is no whole number of clusters {entry.cluster}")
    return {"grid": grid, "block": block, "cluster": cluster}


def _axes(given: Sequence[int]) -> Axes:
    x, y, z = [*given, 1, 1][:3]
    return x, y, z


def _digest(text: bytes, workloads: Sequence[Workload]) -> str:
    whole = hashlib.sha256(text)
    buffers = [one for load in workloads for one in load.arguments if isinstance(one, Buffer)]
    for path in sorted({file for file in map(source_file, buffers) if file}):
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    for workload in workloads:
        for argument in workload.arguments:
            whole.update(argument.data if isinstance(argument, Bytes) else b"")
        for symbol in workload.globals:
            whole.update(workload.globals[symbol])
    return whole.hexdigest()


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Put a place before the message of what goes wrong inside."""
    try:
        yield
    except LaunchError as error:
        raise LaunchError(f"{place}: {error}") from None
