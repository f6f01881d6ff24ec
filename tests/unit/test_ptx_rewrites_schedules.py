"""Schedules, layouts and chance as numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.errors import SpaceError
from burnish.model.control import Domain
from burnish.ptx.rewrites.chance import noise, shuffled
from burnish.ptx.rewrites.layout import Layouts
from burnish.ptx.rewrites.schedules import MODES, WINDOWS, Schedules

DOMAINS: list[Domain] = [
    Schedules(inherits=False),
    Schedules(inherits=True),
    Schedules(inherits=True, windows=(0, 4)),
    Layouts(),
]
NO_SCHEDULES = """source/0/0 source/8/0 early early/0 early/00/0 early/0/01 early/5/0 early/0/10000
    early/0/-1 best/0/0 early/0/² kernel"""


@given(st.sampled_from(DOMAINS), st.integers(min_value=0))
def test_a_number_and_its_value_say_the_same(domain: Domain, number: int) -> None:
    number %= domain.size
    assert domain.index(domain.at(number)) == number


@pytest.mark.parametrize("domain", DOMAINS)
def test_no_two_numbers_have_one_value(domain: Domain) -> None:
    first = [domain.at(number) for number in range(2000)]
    assert len(set(first)) == len(first)
    assert domain.index(domain.at(domain.size - 1)) == domain.size - 1


def test_usual_schedules_are_every_mode_without_window_and_seed() -> None:
    domain = Schedules(inherits=True)
    usual = [domain.at(number) for number in range(domain.usual)]
    assert usual == ["kernel", "source", *(f"{mode}/0/0" for mode in MODES if mode != "source")]
    assert domain.at(domain.usual) == f"early/{WINDOWS[1]}/0"
    assert domain.size == 2 + 5 * 6 + 9999 * 6 * 6


def test_usual_layouts_have_no_seed() -> None:
    assert [Layouts().at(number) for number in range(4)] == [
        "source",
        "loops-first",
        "reverse",
        "shuffle/1",
    ]
    assert Layouts().usual == 3


@pytest.mark.parametrize(
    "value",
    [*NO_SCHEDULES.split(), "", 0, True],
)
def test_other_spellings_of_schedules_are_refused(value: str | int) -> None:
    with pytest.raises(SpaceError, match="no schedule"):
        Schedules(inherits=False).index(value)


def test_a_window_that_is_not_of_this_block_is_refused() -> None:
    with pytest.raises(SpaceError, match="no schedule"):
        Schedules(inherits=True, windows=(0, 4)).index("early/8/0")


@pytest.mark.parametrize("value", ["shuffle/0", "shuffle/01", "shuffle/10000", "shuffle/", 3, ""])
def test_other_spellings_of_layouts_are_refused(value: str | int) -> None:
    with pytest.raises(SpaceError, match="no layout"):
        Layouts().index(value)


def test_chance_is_the_same_everywhere() -> None:
    assert noise(0, 1, 3, [0, 1, 2]) is None
    assert noise(3, 0, 3, [0, 1, 2]) == [2881532261, 3739597685, 934569399]
    assert noise(4, 2, 3, [0, 1, 2]) == [-1, 934213914, -1]
    assert noise(3, 0, 5, [1, 3]) == [-1, 2881532261, -1, 3739597685, -1]
    assert shuffled([1, 2, 3, 4, 5, 6], 7) == [3, 2, 6, 5, 1, 4]


@pytest.mark.parametrize(("seed", "percent"), [(4, 5), (5, 20), (6, 50), (7, 100)])
def test_a_seed_says_how_strong_chance_is(seed: int, percent: int) -> None:
    found = noise(seed, 0, 10_000, range(10_000))
    assert found is not None
    share = sum(word >= 0 for word in found) / 100
    assert share == pytest.approx(percent, abs=2)


@given(st.integers(min_value=1, max_value=9999), st.integers(0, 99), st.integers(1, 30))
def test_chance_always_touches_something(seed: int, salt: int, count: int) -> None:
    found = noise(seed, salt, count, range(count))
    assert found is not None
    assert len(found) == count
    assert max(found) >= 0
