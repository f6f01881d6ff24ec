"""What every search tries first: one control at a time, usual values before exotic ones."""

from collections.abc import Iterator

from burnish.search.encode import Encoding, Family, Point
from burnish.search.moves import counterpart

__all__ = ["opening"]

_EACH = 8


def opening(encoding: Encoding) -> Iterator[Point]:
    """The default with one decision changed to each of its usual values, best order first.

    Families of controls take turns, so that hundreds of sites of one kind do not hide the few
    controls of another. A family of several is first changed as a whole, value by value, and
    then site by site. Of a long domain, at most 8 values spread over the usual ones are taken.
    """
    turns = [_changes(encoding, family) for family in encoding.families]
    while turns:
        going = []
        for turn in turns:
            change = next(turn, None)
            if change is not None:
                yield change
                going.append(turn)
        turns = going


def _changes(encoding: Encoding, family: Family) -> Iterator[Point]:
    deepest = max(len(_usual(encoding, place)) for place in family)
    if len(family) > 1:
        for turn in range(deepest):
            yield from _together(encoding, family, turn)
    for turn in range(deepest):
        for place in family:
            for number in _usual(encoding, place)[turn : turn + 1]:
                yield _with(encoding, {place: number})


def _together(encoding: Encoding, family: Family, turn: int) -> Iterator[Point]:
    lead = max(family, key=lambda place: encoding.usual[place])
    for number in _usual(encoding, lead)[turn : turn + 1]:
        numbers = {place: counterpart(encoding, (lead, number), place) for place in family}
        yield _with(encoding, {at: new for at, new in numbers.items() if new is not None})


def _usual(encoding: Encoding, place: int) -> list[int]:
    count, default = encoding.usual[place], encoding.default[place]
    if count <= _EACH:
        numbers = list(range(count))
    elif encoding.ordered[place]:
        numbers = [turn * (count - 1) // (_EACH - 1) for turn in range(_EACH)]
    else:
        numbers = list(range(_EACH))
    return [number for number in numbers if number != default]


def _with(encoding: Encoding, changes: dict[int, int]) -> Point:
    numbers = list(encoding.default)
    for place, number in changes.items():
        numbers[place] = number
    return encoding.settle(numbers)
