"""Makes the contents of buffers: the same for the same workload, buffer and case."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import SFC64, Generator, SeedSequence

from burnish.bundle.contents import load_file
from burnish.bundle.dtypes import DTYPES, Array, Dtype, encode
from burnish.bundle.fills import Fill, parse_fill
from burnish.bundle.layout import elements, extent, is_dense, overlaps, roots, shaped
from burnish.model.workload import Buffer, Workload
from burnish.verify.cases import Case
from burnish.verify.chunks import Chunk, in_chunks
from burnish.verify.draws import Draw, integers, normal, permuted, uniform

__all__ = ["fill_memory", "make_inputs"]

_SHUFFLED = 1 << 16  # elements: a permutation up to that length is shuffled, not mixed


def make_inputs(workload: Workload, case: Case) -> Mapping[str, Array]:
    """The memory of every buffer that has contents before the launch.

    Returns:
        Name of the root to a one-dimensional array of its stored type, as long as its
        extent; gaps of strides hold zeros.
    """
    memories: dict[str, Array] = {}
    for root in roots(workload):
        if root.fill:
            memory: Array = np.zeros(extent(root), DTYPES[root.dtype].stored)
            fill_memory(memory, root, workload.name, case)
            memories[root.name] = memory
    return memories


def fill_memory(memory: Array, buffer: Buffer, workload: str, case: Case) -> None:
    """Write the contents of a buffer into its memory; gaps of strides stay as they are.

    Args:
        memory: One-dimensional, of the stored type, as long as the buffer's extent.
        buffer: A root with a fill.
        workload: Name of its workload: part of the seed.
        case: Seed and scale.
    """
    words = hashlib.sha256(f"{workload}\0{buffer.name}\0{case.seed}".encode()).digest()
    seed = int.from_bytes(words[:16], "little")
    kind = DTYPES[buffer.dtype]
    contents = _Contents(parse_fill(buffer.fill), kind, seed, case.scale, buffer.shape)
    if is_dense(buffer) or overlaps(buffer):
        _write(memory, contents)
        return
    dense: Array = np.empty(elements(buffer), kind.stored)
    _write(dense, contents)
    shaped(memory, buffer)[...] = dense.reshape(buffer.shape)


@dataclass(frozen=True, slots=True)
class _Contents:
    """What one buffer holds."""

    fill: Fill
    kind: Dtype
    seed: int
    scale: float  # house: unit is a plain factor
    shape: tuple[int, ...]

    def rng(self, *chunk: int) -> Generator:
        """What draws a chunk; without a number, what belongs to all of them."""
        return Generator(SFC64(SeedSequence(self.seed, spawn_key=chunk)))


def _write(memory: Array, contents: _Contents) -> None:
    fill = contents.fill
    if fill.kind == "file":
        memory[...] = load_file(Path(fill.path), contents.kind, contents.shape).reshape(-1)
    elif fill.kind == "offsets":
        memory[...] = _stored(_offsets(contents, memory.size), contents.kind)
    elif fill.is_seeded and fill.kind != "permutation":
        _draw(memory, contents)
    else:
        _number(memory, contents)


def _draw(memory: Array, contents: _Contents) -> None:
    """``normal``, ``uniform`` and ``integers``: each chunk has random numbers of its own."""
    draw = _drawer(contents)

    def job(chunk: Chunk) -> None:
        draw(contents.rng(chunk.number), chunk.part)

    in_chunks(memory, job)


def _drawer(contents: _Contents) -> Draw:
    kind, fill = contents.kind, contents.fill
    if fill.kind == "normal":
        return normal(kind, contents.scale)
    if fill.kind == "uniform":
        return uniform(kind, *_narrowed(*fill.numbers, scale=contents.scale))
    low, high = (int(number) for number in fill.numbers)

    def draw(rng: Generator, part: Array) -> None:
        part[...] = _stored(integers(rng, low, high, part.size), kind)

    return draw


def _narrowed(low: float, high: float, *, scale: float) -> tuple[float, float]:
    """The range of ``uniform`` at a scale: never outside of what the user allowed."""
    centre, factor = min(max(0.0, low), high), min(scale, 1.0)
    return centre + (low - centre) * factor, centre + (high - centre) * factor


def _number(memory: Array, contents: _Contents) -> None:
    """``zeros``, ``ones``, ``arange`` and ``permutation``: each place has a number."""
    numbers = _numbers(contents, memory.size)

    def job(chunk: Chunk) -> None:
        chunk.part[...] = _stored(numbers(chunk.start, chunk.part.size), contents.kind)

    in_chunks(memory, job)


def _numbers(contents: _Contents, count: int) -> Callable[[int, int], Array]:
    """What gives the numbers from a place on, so many of them."""
    fill = contents.fill.kind
    if fill in {"zeros", "ones"}:
        one: Array = np.array([int(fill == "ones")])
        return lambda _start, _length: one
    if fill == "arange":
        return lambda start, length: np.arange(start, start + length)
    if count > _SHUFFLED:
        return permuted(contents.rng(), count)
    shuffled: Array = contents.rng().permutation(count)
    return lambda start, length: shuffled[start : start + length]


def _offsets(contents: _Contents, count: int) -> Array:
    total = int(contents.fill.numbers[0])
    inner = integers(contents.rng(), 0, total + 1, count)
    inner[[0, -1]] = np.array([0, total], inner.dtype)
    return np.sort(inner)


def _stored(values: Array, kind: Dtype) -> Array:
    if kind.kind != "float":
        return values.astype(kind.stored, copy=False)
    if kind.name == "f64":
        return values.astype(np.float64)
    return encode(values.astype(np.float64).astype(np.float32), kind)
