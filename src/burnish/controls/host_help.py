"""What ``gcc --help`` lists, read: options, their values, their state, their meaning."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Listed", "is_enabled", "listed", "states_of"]

_ENTRY = re.compile(r"  (-\S+)(?:\s+(.*))?$")
_MORE = re.compile(r"\s{8,}(\S.*)$")
_VALUED = re.compile(r"(--param=[\w-]+=|-[\w.+-]+=)(?:\[([^\]]+)\]|<(-?\d+),(-?\d+)>|<number>)?$")
_UNDOCUMENTED = "lacks documentation"


@dataclass(frozen=True, slots=True)
class Listed:
    """An option as gcc lists it.

    Attributes:
        flag: How a command line says it: ``-fgcse``, ``-fira-region=``, ``--param=x=``.
        values: The words that it takes, where gcc lists them.
        bounds: The least and largest number that it takes, where gcc lists them.
        state: ``[enabled]``, ``[disabled]``, a value, or nothing.
        meaning: gcc's sentence; empty where there is none.
    """

    flag: str
    values: tuple[str, ...]
    bounds: tuple[int, int] | None
    state: str
    meaning: str

    @property
    def is_switch(self) -> bool:
        """Whether it is said or negated, without a value."""
        return not self.flag.endswith("=")


def listed(meanings: str, states: str) -> tuple[Listed, ...]:
    """Read both listings.

    Args:
        meanings: What ``gcc --help=optimizers --help=params --help=target`` prints.
        states: The same with ``-Q``, after the options of the plain build.
    """
    said = dict(_entries(meanings))
    return tuple(
        _option(form, state, said.get(form, "")) for form, state in states_of(states).items()
    )


def states_of(states: str) -> Mapping[str, str]:
    """Each option of a ``-Q --help`` listing with its state."""
    return dict(_entries(states))


def is_enabled(states: str, name: str) -> bool:
    """Whether a listing with ``-Q`` says that a switch is on.

    Args:
        states: The listing.
        name: The switch without its dash, such as ``mavx``.
    """
    return states_of(states).get(f"-{name}") == "[enabled]"


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Options with what stands beside and below them; lists of known values are passed over."""
    form, words = "", list[str]()
    for line in text.splitlines():
        entry, more = _ENTRY.match(line), _MORE.match(line)
        if form and (entry or not more):
            yield form, _joined(words)
            form = ""
        if entry:
            form, words = entry[1], [entry[2] or ""]
        elif more and form:
            words.append(more[1])
    if form:
        yield form, _joined(words)


def _joined(words: list[str]) -> str:
    return " ".join(words).replace("- ", "-").strip()  # gcc breaks lines at hyphens


def _option(form: str, state: str, meaning: str) -> Listed:
    known = "" if _UNDOCUMENTED in meaning else meaning
    found = _VALUED.match(form)
    if found is None:
        return Listed(form, (), None, state, known)
    flag, words, low, high = found.groups()
    bounds = (int(low), int(high)) if low is not None else None
    return Listed(flag, tuple(words.split("|")) if words else (), bounds, state, known)
