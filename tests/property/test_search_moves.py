from random import Random

from hypothesis import given
from hypothesis import strategies as st

from burnish.model.control import Choice, Control, Layer, Range, Risk, Value
from burnish.model.space import Condition, Space
from burnish.search.credit import Credit
from burnish.search.encode import Encoding, Point
from burnish.search.moves import Moves
from burnish.search.opening import opening

names = st.sampled_from(["flag", "ptx.load[{}].cache", "ptx.block[{}].order", "level"])


@st.composite
def controls(draw: st.DrawFn, place: int) -> Control:
    domain: Choice | Range
    if draw(st.booleans()):
        values = draw(st.lists(st.integers(-9, 9) | st.text("ab", max_size=3), min_size=1,
                               max_size=6, unique=True))  # fmt: skip
        usual = draw(st.none() | st.integers(1, len(values)))
        domain = Choice(tuple(values), usual, is_ordered=draw(st.booleans()))
    else:
        low = draw(st.integers(-5, 5))
        domain = Range(low, low + draw(st.integers(0, 600)), draw(st.integers(1, 40)))
    default = domain.at(draw(st.integers(0, domain.size - 1)))
    name = draw(names).format(place)
    name = name if "[" in name else f"{name}{place}"
    return Control(name, Layer.USER, domain, default, Risk.EXACT, "", "")


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    listed = tuple(draw(controls(place)) for place in range(draw(st.integers(1, 7))))
    conditions = []
    for child in range(1, len(listed)):
        if draw(st.booleans()):
            parent = listed[draw(st.integers(0, child - 1))]
            numbers = draw(st.sets(st.integers(0, parent.domain.size - 1), max_size=3))
            values: tuple[Value, ...] = tuple(parent.domain.at(number) for number in numbers)
            conditions.append(Condition(listed[child].name, parent.name, values))
    return Space(listed, tuple(draw(st.permutations(conditions))))


def check(space: Space, encoding: Encoding, point: Point) -> None:
    config = encoding.config(point)
    assert space.config(dict(config)) == config
    assert encoding.point(config) == point


@given(spaces(), st.integers(0, 2**32))
def test_every_move_stays_in_the_space(space: Space, seed: int) -> None:
    encoding, rng = Encoding(space), Random(seed)
    moves = Moves(encoding, rng, Credit(encoding.default) if seed % 2 else None)
    point = moves.scatter(1.0)
    for _ in range(12):
        check(space, encoding, point)
        changed = moves.change(point, encoding.active(point)[:3])
        check(space, encoding, changed)
        family = encoding.families[rng.randrange(len(encoding.families))]
        crossed = moves.cross(changed, moves.change_family(point, family))
        check(space, encoding, crossed)
        point = moves.scatter(0.3) if rng.getrandbits(1) else crossed


@given(spaces(), st.integers(0, 2**32))
def test_a_change_changes_the_control_it_is_for(space: Space, seed: int) -> None:
    encoding = Encoding(space)
    moves = Moves(encoding, Random(seed))
    for place in encoding.active(encoding.default):
        changed = moves.change(encoding.default, [place])
        assert changed[place] != encoding.default[place]


@given(spaces())
def test_the_opening_keeps_to_usual_values_of_single_decisions(space: Space) -> None:
    encoding = Encoding(space)
    for point in opening(encoding):
        check(space, encoding, point)
        places = {at for at, number in enumerate(point) if number != encoding.default[at]}
        decided = [family for family in encoding.families if places & set(family)]
        assert len(decided) <= 1
        if len(places) == 1:
            (place,) = places
            assert point[place] < encoding.usual[place]


@given(spaces(), st.integers(0, 2**64))
def test_ranks_below_the_product_are_points(space: Space, rank: int) -> None:
    encoding = Encoding(space)
    check(space, encoding, encoding.unrank(rank % space.size))


@given(spaces(), st.integers(0, 2**32))
def test_columns_tell_values_and_what_is_switched_off(space: Space, seed: int) -> None:
    encoding = Encoding(space)
    moves = Moves(encoding, Random(seed))
    points = [moves.scatter(1.0) for _ in range(5)]
    table = encoding.columns(points)
    assert table.shape == (5, len(space))
    assert ((table == -1.0) | ((table >= 0.0) & (table <= 1.0))).all()
    for row, point in zip(table, points, strict=True):
        for place in encoding.active(point):
            assert row[place] >= 0.0
    assert encoding.columns([]).shape == (0, len(space))


@given(spaces(), st.integers(0, 2**32))
def test_distinct_points_have_distinct_keys(space: Space, seed: int) -> None:
    encoding = Encoding(space)
    moves = Moves(encoding, Random(seed))
    points = {moves.scatter(1.0) for _ in range(20)}
    assert len({encoding.key(point) for point in points}) == len(points)
