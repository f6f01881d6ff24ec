import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from burnish.search.pareto import crowding, front, fronts, hypervolume, ranks

figure = st.integers(0, 6).map(float) | st.floats(-1e6, 1e6)
Rows = list[tuple[float, ...]]


@st.composite
def tables(draw: st.DrawFn, most: int = 25) -> Rows:
    axes = draw(st.integers(1, 4))
    return draw(st.lists(st.tuples(*[figure] * axes), max_size=most))


def dominates(one: tuple[float, ...], two: tuple[float, ...]) -> bool:
    return all(a <= b for a, b in zip(one, two, strict=True)) and one != two


@given(tables())
def test_the_front_is_what_no_point_dominates(rows: Rows) -> None:
    best = [n for n, row in enumerate(rows) if not any(dominates(other, row) for other in rows)]
    assert front(rows) == best


@given(tables())
def test_each_front_is_the_front_of_what_the_better_ones_left(rows: Rows) -> None:
    left = list(range(len(rows)))
    for members in fronts(rows):
        assert members == [left[n] for n in front([rows[n] for n in left])]
        left = [n for n in left if n not in members]
    assert not left


@given(tables())
def test_ranks_say_which_front(rows: Rows) -> None:
    rank = ranks(rows)
    for number, members in enumerate(fronts(rows)):
        assert all(rank[row] == number for row in members)


@given(tables())
def test_crowding_is_infinite_at_the_ends_and_nothing_for_repeats(rows: Rows) -> None:
    distance = crowding(rows)
    assert len(distance) == len(rows)
    assert not np.isnan(distance).any()
    for axis in zip(*rows, strict=True):
        assert math.inf in {distance[n] for n, value in enumerate(axis) if value == min(axis)}
    seen = set()
    for row, alone in zip(rows, distance, strict=True):
        if row in seen:
            assert alone == 0.0
        seen.add(row)


def test_crowding_of_a_hand_made_front() -> None:
    distance = crowding([(0.0, 10.0), (1.0, 6.0), (4.0, 4.0), (10.0, 0.0)])
    assert distance.tolist() == [math.inf, 0.4 + 0.6, 0.9 + 0.6, math.inf]


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12),
    st.integers(1, 8),
)
def test_hypervolume_counts_the_dominated_cells(
    cells: list[tuple[int, int]], reference: int
) -> None:
    counted = sum(
        any(x <= column and y <= row for x, y in cells)
        for column in range(reference)
        for row in range(reference)
    )
    assert hypervolume(cells, (float(reference), float(reference))) == counted


def test_nothing_has_no_front_and_no_volume() -> None:
    assert front([]) == []
    assert fronts([]) == []
    assert crowding([]).tolist() == []
    assert hypervolume([], (1.0, 1.0)) == 0.0


def test_equal_points_are_all_on_the_front() -> None:
    assert front([(1.0, 2.0), (1.0, 2.0), (2.0, 3.0)]) == [0, 1]
