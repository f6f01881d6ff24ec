"""An immutable, hashable, picklable mapping with text keys."""

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Self, TypeVar

__all__ = ["FrozenMap"]

V = TypeVar("V")


class FrozenMap(Mapping[str, V]):
    """A mapping that never changes: equal by content, whatever the order of its keys.

    Iteration follows the order of construction. Values must be hashable for the map to be.
    """

    __slots__ = ("_hash", "_values")

    def __init__(self, values: Mapping[str, V] | None = None) -> None:
        self._values: dict[str, V] = dict(values or {})
        self._hash: int | None = None

    def __getitem__(self, key: str) -> V:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def keys(self) -> KeysView[str]:
        """The keys; the dictionary's own view, as trials walk hundreds of them."""
        return self._values.keys()

    def values(self) -> ValuesView[V]:
        """The values, in the order of the keys."""
        return self._values.values()

    def items(self) -> ItemsView[str, V]:
        """The keys with their values."""
        return self._values.items()

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._values.items()))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenMap):
            return self._values == other._values
        return NotImplemented

    def __reduce__(self) -> tuple[type[Self], tuple[dict[str, V]]]:
        # The hash of a str differs between processes: it must not travel.
        return type(self), (self._values,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._values!r})"

    def replace(self, changes: Mapping[str, V]) -> Self:
        """Return a map with ``changes`` laid over this one."""
        return type(self)({**self._values, **changes})
