"""What the example kernels should compute, in float64."""

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["REFERENCES", "SMALL"]

Floats = NDArray[np.float64]
Given = Mapping[str, Floats]

SOFTENING = 0.01
EPSILON = 1e-5


def stencil(given: Given) -> Floats:
    field = given["in"]
    result, edge = field.copy(), 4
    inner = tuple(slice(edge, length - edge) for length in field.shape)
    total = 3 * -2.847222222 * field[inner]
    for reach, weight in enumerate((1.6, -0.2, 0.025396825, -0.001785714), 1):
        for axis in range(3):
            for step in (-reach, reach):
                total += weight * np.roll(field, -step, axis)[inner]
    result[inner] += 0.01 * total
    return result


def spmv(given: Given) -> Floats:
    products = given["values"] * given["x"][given["columns"].astype(int)]
    return np.array([products[a:b].sum() for a, b in pairwise(given["starts"].astype(int))])


def nbody(given: Given) -> Floats:
    bodies = given["bodies"]
    apart = bodies[None, :, :3] - bodies[:, None, :3]
    squares = (apart**2).sum(-1) + SOFTENING
    pulls = (bodies[None, :, 3] / squares**1.5)[..., None] * apart
    return np.concatenate([pulls.sum(1), np.zeros((len(bodies), 1))], axis=1)


def sgemm(given: Given) -> Floats:
    return given["a"] @ given["b"]


def layer_norm(given: Given) -> Floats:
    rows = given["in"]
    centred = rows - rows.mean(1, keepdims=True)
    scale: Floats = np.sqrt((centred**2).mean(1, keepdims=True) + EPSILON)
    normal: Floats = centred / scale * given["weight"] + given["bias"]
    return normal


def softmax(given: Given) -> Floats:
    rows = given["in"]
    powers: Floats = np.exp(rows - rows.max(1, keepdims=True))
    shares: Floats = powers / powers.sum(1, keepdims=True)
    return shares


def conv1d(given: Given) -> Floats:
    field = np.pad(given["in"], ((0, 0), (0, 0), (3, 0)))
    length = given["in"].shape[2]
    total = np.repeat(given["bias"][None, :, None], length, 2)
    for tap in range(4):
        total = total + given["weight"][None, :, tap, None] * field[:, :, tap : tap + length]
    gate: Floats = 1 + np.exp(-total)
    return total / gate


REFERENCES: dict[str, Callable[[Given], Floats]] = {
    one.__name__: one for one in (stencil, spmv, nbody, sgemm, layer_norm, softmax, conv1d)
}

# Small shapes that still have borders, tails and several tiles: numbers, shapes, grid.
Small = tuple[dict[str, int], dict[str, tuple[int, ...]], tuple[int, int, int]]
SMALL: dict[str, Small] = {
    "stencil": (
        {"nx": 40, "ny": 19, "nz": 37},
        {"in": (37, 19, 40), "out": (37, 19, 40)},
        (2, 3, 2),
    ),
    "spmv": (
        {"rows": 37},
        {"starts": (38,), "columns": (900,), "values": (900,), "x": (37,), "y": (37,)},
        (5, 1, 1),
    ),
    "nbody": ({"count": 200}, {"bodies": (200, 4), "accelerations": (200, 4)}, (2, 1, 1)),
    "sgemm": (
        {"m": 128, "n": 256, "k": 24},
        {"a": (128, 24), "b": (24, 256), "c": (128, 256)},
        (2, 1, 1),
    ),
    "layer_norm": (
        {"columns": 1036},
        {"in": (3, 1036), "weight": (1036,), "bias": (1036,), "out": (3, 1036)},
        (3, 1, 1),
    ),
    "softmax": ({"columns": 1036}, {"in": (3, 1036), "out": (3, 1036)}, (3, 1, 1)),
    "conv1d": (
        {"channels": 3, "length": 1040},
        {"in": (2, 3, 1040), "weight": (3, 4), "bias": (3,), "out": (2, 3, 1040)},
        (2, 3, 2),
    ),
}
