"""Takes values out of a parsed TOML table, refusing what is not of the right kind."""

import math
import re
from collections.abc import Iterator, Mapping

from burnish.acf.lines import Place, shown
from burnish.errors import AcfError

__all__ = ["MOST_INTEGER", "FieldError", "Table", "is_number", "is_whole", "kind"]

MOST_INTEGER = 2**63 - 1
_MOST_TEXT = 1 << 12
_MOST_ITEMS = 1 << 12
_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "a table",
}


class FieldError(AcfError):
    """A value cannot be used; knows its place, but not yet its file and line."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(f"{shown(place)}: {message}")
        self.place = place
        self.message = message


class Table:
    """A table of a document. Every key must be asked for: `done` refuses the others."""

    def __init__(self, values: Mapping[str, object], place: Place) -> None:
        self._values = values
        self._place = place
        self._asked: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def at(self, key: str) -> Place:
        """The place of a key of this table."""
        return (*self._place, key)

    def fault(self, key: str, message: str) -> FieldError:
        """An error about a key of this table."""
        return FieldError(self.at(key), message)

    def take(self, key: str) -> object:
        """The value of a key that must be there."""
        self._asked.append(key)
        if key not in self._values:
            raise FieldError(self._place, f"the key {key!r} is missing")
        return self._values[key]

    def text(self, key: str, pattern: str = r".+", most: int = _MOST_TEXT) -> str:
        """A string of bounded length that the whole of ``pattern`` matches."""
        value = self.take(key)
        if not isinstance(value, str):
            raise self.fault(key, f"must be a string, not {kind(value)}")
        if len(value) > most:
            raise self.fault(key, f"is longer than {most} characters")
        if not value:
            raise self.fault(key, "must not be empty")
        if not re.fullmatch(pattern, value, re.DOTALL):
            raise self.fault(key, f"{value[:80]!r} does not have the form {pattern}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        values = self.items(key)
        for value in values:
            if not isinstance(value, str) or len(value) > _MOST_TEXT:
                raise self.fault(key, f"must be a list of strings, with {kind(value)} in it")
        return tuple(str(value) for value in values)

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self.take(key)
        if not isinstance(value, bool):
            raise self.fault(key, f"must be true or false, not {kind(value)}")
        return value

    def whole(self, key: str, low: int, high: int = MOST_INTEGER) -> int:
        """A whole number of a range."""
        value = self.take(key)
        if not is_whole(value):
            raise self.fault(key, f"must be a whole number, not {kind(value)}")
        assert isinstance(value, int)
        if not low <= value <= high:
            raise self.fault(key, f"{value} is not in {low} to {high}")
        return value

    def wholes(self, key: str, count: int, low: int, high: int = MOST_INTEGER) -> tuple[int, ...]:
        """A list of so many whole numbers of a range."""
        values = self.items(key)
        right = [value for value in values if is_whole(value)]
        if len(values) != count or len(right) != count:
            raise self.fault(key, f"must be a list of {count} whole numbers")
        numbers = tuple(value for value in right if isinstance(value, int))
        for value in numbers:
            if not low <= value <= high:
                raise self.fault(key, f"{value} is not in {low} to {high}")
        return numbers

    def number(self, key: str) -> float:
        """A finite number."""
        value = self.take(key)
        if not is_number(value):
            raise self.fault(key, f"must be a finite number, not {kind(value)}")
        assert isinstance(value, int | float)
        return float(value)

    def pair(self, key: str) -> tuple[float, float]:
        """A list of two finite numbers."""
        match self.items(key):
            case [int() | float() as first, int() | float() as second] if is_number(
                first
            ) and is_number(second):
                return float(first), float(second)
            case _:
                raise self.fault(key, "must be a list of two finite numbers")

    def items(self, key: str) -> list[object]:
        """A list of bounded length."""
        value = self.take(key)
        if not isinstance(value, list):
            raise self.fault(key, f"must be a list, not {kind(value)}")
        if len(value) > _MOST_ITEMS:
            raise self.fault(key, f"has more than {_MOST_ITEMS} elements")
        return value

    def table(self, key: str) -> "Table":
        """A table in this one."""
        value = self.take(key)
        if not isinstance(value, dict):
            raise self.fault(key, f"must be a table, not {kind(value)}")
        return Table(value, self.at(key))

    def tables(self, key: str) -> tuple["Table", ...]:
        """A list of tables."""
        values = self.items(key)
        for value in values:
            if not isinstance(value, dict):
                raise self.fault(key, f"must be a list of tables, with {kind(value)} in it")
        return tuple(
            Table(value, (*self.at(key), number))
            for number, value in enumerate(values)
            if isinstance(value, dict)
        )

    def done(self) -> None:
        """Refuse keys that nobody asked for."""
        for key in self._values:
            if key not in self._asked:
                known = ", ".join(self._asked)
                raise self.fault(key, f"unknown key (known here: {known})")


def is_whole(value: object) -> bool:
    """Whether it is a whole number of 64 bits, and not true or false."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MOST_INTEGER


def is_number(value: object) -> bool:
    """Whether it is a finite number."""
    return is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def kind(value: object) -> str:
    """What a value is, in words."""
    return _KINDS.get(type(value), "a date")
