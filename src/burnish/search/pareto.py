"""Which points are best when several figures count; everything is minimised."""

from collections.abc import Sequence

import moocore
import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["crowding", "front", "fronts", "hypervolume", "ranks"]


def ranks(points: ArrayLike) -> NDArray[np.int64]:
    """The front that each point is in, from 0, which no other point dominates.

    Equal points are in the same front.

    Args:
        points: Figures, a row a point; finite.
    """
    table = _table(points)
    if not len(table):
        return np.zeros(0, dtype=np.int64)
    return np.asarray(moocore.pareto_rank(table), dtype=np.int64)


def fronts(points: ArrayLike) -> list[list[int]]:
    """Row numbers by front, the best first; within a front in ascending order."""
    rank = ranks(points)
    return [np.flatnonzero(rank == number).tolist() for number in range(rank.max(initial=-1) + 1)]


def front(points: ArrayLike) -> list[int]:
    """Row numbers of the points that no other dominates; equal ones are all kept."""
    return np.flatnonzero(ranks(points) == 0).tolist()


def crowding(points: ArrayLike) -> NDArray[np.float64]:
    """How alone each point of one front is: the larger, the more it tells (NSGA-II).

    The ends of every axis are infinitely alone. Equal points share their place, so all but
    the first of them have distance 0.
    """
    table = _table(points)
    distance = np.zeros(len(table))
    if not len(table):
        return distance
    _, first = np.unique(table, axis=0, return_index=True)
    distance[first] = _crowding_of_distinct(table[first])
    return distance


def hypervolume(points: ArrayLike, reference: Sequence[float]) -> float:
    """The volume between the points and a reference that is worse than they are.

    Points that are not better than the reference in every figure add nothing.
    """
    table = _table(points)
    if not len(table):
        return 0.0
    return float(moocore.hypervolume(table, ref=np.asarray(reference, dtype=np.float64)))


def _table(points: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(points, dtype=np.float64)
    return table.reshape(len(table), -1) if table.size else table.reshape(0, 1)


def _crowding_of_distinct(table: NDArray[np.float64]) -> NDArray[np.float64]:
    distance = np.zeros(len(table))
    for axis in table.T:
        order = np.argsort(axis, kind="stable")
        spread = axis[order[-1]] - axis[order[0]]
        distance[order[[0, -1]]] = np.inf
        if spread > 0.0:
            distance[order[1:-1]] += (axis[order[2:]] - axis[order[:-2]]) / spread
    return distance
