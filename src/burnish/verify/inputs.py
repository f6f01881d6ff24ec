"""Makes the contents of buffers: the same for the same workload, buffer and case."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.random import SFC64, Generator
from numpy.typing import NDArray

from burnish.bundle.contents import load_file
from burnish.bundle.dtypes import DTYPES, Array, Dtype, Floats, encode
from burnish.bundle.fills import Fill, parse_fill
from burnish.bundle.layout import elements, extent, is_dense, overlaps, roots, shaped
from burnish.model.workload import Buffer, Workload
from burnish.verify.cases import Case

__all__ = ["fill_memory", "make_inputs"]

F = TypeVar("F", NDArray[np.float32], NDArray[np.float64])

_CHUNK = 1 << 16  # elements: what is drawn and rounded stays in the cache


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
    rng = Generator(SFC64(int.from_bytes(words[:16], "little")))
    kind = DTYPES[buffer.dtype]
    draw = _Draw(parse_fill(buffer.fill), kind, rng, case.scale, buffer.shape)
    if is_dense(buffer) or overlaps(buffer):
        _write(memory, draw)
        return
    dense: Array = np.empty(elements(buffer), kind.stored)
    _write(dense, draw)
    shaped(memory, buffer)[...] = dense.reshape(buffer.shape)


@dataclass(frozen=True, slots=True)
class _Draw:
    """Where the contents of one buffer come from."""

    fill: Fill
    kind: Dtype
    rng: Generator
    scale: float  # house: unit is a plain factor
    shape: tuple[int, ...]


def _write(memory: Array, draw: _Draw) -> None:
    fill = draw.fill.kind
    if fill in {"zeros", "ones"}:
        memory[...] = _stored(np.array([float(fill == "ones")]), draw.kind)
    elif fill == "file":
        memory[...] = load_file(Path(draw.fill.path), draw.kind, draw.shape).reshape(-1)
    elif draw.fill.is_scaled:
        sample = _sampler(draw)
        for start in range(0, memory.size, _CHUNK):
            part = memory[start : start + _CHUNK]
            part[...] = encode(sample(part.size), draw.kind)
    elif fill in {"integers", "arange"}:
        _count_up(memory, draw)
    else:
        memory[...] = _stored(_shuffled(draw, memory.size), draw.kind)


def _sampler(draw: _Draw) -> Callable[[int], Floats]:
    """What draws that many floats: float64 for ``f64``, float32 for all narrower types."""
    is_wide = draw.kind.name == "f64"
    if draw.fill.kind == "normal":
        scale = draw.scale
        return (
            (lambda count: draw.rng.standard_normal(count) * scale)
            if is_wide
            else (lambda count: draw.rng.standard_normal(count, np.float32) * np.float32(scale))
        )
    low, high = _narrowed(*draw.fill.numbers, scale=draw.scale)
    if is_wide:
        return lambda count: _between(draw.rng.random(count), low, high)
    return lambda count: _between(draw.rng.random(count, np.float32), low, high)


def _between(share: F, low: float, high: float) -> F:
    """Stretch what lies in [0, 1) to [low, high); rounding never reaches ``high``."""
    exact = share.dtype.type
    np.multiply(share, exact(high - low), out=share)
    np.add(share, exact(low), out=share)
    return np.minimum(share, np.nextafter(exact(high), exact(low)), out=share)


def _narrowed(low: float, high: float, *, scale: float) -> tuple[float, float]:
    """The range of ``uniform`` at a scale: never outside of what the user allowed."""
    centre, factor = min(max(0.0, low), high), min(scale, 1.0)
    return centre + (low - centre) * factor, centre + (high - centre) * factor


def _count_up(memory: Array, draw: _Draw) -> None:
    """``arange`` and ``integers``, a piece at a time."""
    for start in range(0, memory.size, _CHUNK):
        part = memory[start : start + _CHUNK]
        if draw.fill.kind == "arange":
            part[...] = _stored(np.arange(start, start + part.size), draw.kind)
            continue
        low, high = (int(number) for number in draw.fill.numbers)
        if high > np.iinfo(np.int64).max:
            part[...] = draw.rng.integers(low, high, part.size, np.uint64)
        else:
            part[...] = _stored(draw.rng.integers(low, high, part.size), draw.kind)


def _shuffled(draw: _Draw, count: int) -> NDArray[np.int64]:
    """``permutation`` and ``offsets``."""
    if draw.fill.kind == "permutation":
        return draw.rng.permutation(count)
    total = int(draw.fill.numbers[0])
    inner = draw.rng.integers(0, total, count, endpoint=True)
    inner[[0, -1]] = 0, total
    return np.sort(inner)


def _stored(values: NDArray[np.float64] | NDArray[np.int64], kind: Dtype) -> Array:
    if kind.kind != "float":
        return values.astype(kind.stored)
    exact = values.astype(np.float64)
    return encode(exact if kind.name == "f64" else exact.astype(np.float32), kind)
