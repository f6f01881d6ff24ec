"""On which line of a TOML text a key stands: for error messages, after the text was parsed."""

import re

__all__ = ["Place", "line_of", "shown"]

# A way to a value: keys, and numbers of the elements of lists of tables.
Place = tuple[str | int, ...]

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*|[\[\]{}=.\n]|[^\[\]{}=.\n\"'\#]+",
    re.DOTALL,
)
_DEPTH = {"[": 1, "{": 1, "]": -1, "}": -1}


def shown(place: Place) -> str:
    """The place for people: ``tuned.code.ptx``; the line tells which ``tuned`` it is."""
    return ".".join(str(part) for part in place if isinstance(part, str))


def line_of(text: str, place: Place) -> int:
    """The line, from 1, of the key, or of the nearest table around it that has one."""
    known: dict[Place, int] = {(): 1}
    table: Place = ()
    elements: dict[Place, int] = {}
    for words, line in _statements(text):
        if words[0] == "[":
            is_element = words[1:2] == ["["]
            table = _header(_keys(words), elements, is_element=is_element)
            known.setdefault(table, line)
        else:
            keys = _keys(words[: words.index("=")])
            for length in range(1, len(keys) + 1):
                known.setdefault(table + keys[:length], line)
    while place not in known:
        place = place[:-1]
    return known[place]


def _header(keys: Place, elements: dict[Place, int], *, is_element: bool) -> Place:
    place: Place = ()
    for number, key in enumerate(keys, start=1):
        place = (*place, key)
        if is_element and number == len(keys):
            elements[place] = elements.get(place, -1) + 1
        if place in elements:
            place = (*place, elements[place])
    return place


def _statements(text: str) -> list[tuple[list[str], int]]:
    found: list[tuple[list[str], int]] = []
    words: list[str] = []
    depth, line, start = 0, 1, 1
    for match in _TOKEN.finditer(text):
        part = match.group()
        if part == "\n" and depth == 0:
            found.append((words, start))
            words = []
        elif not part.startswith("#") and part.strip():
            start = start if words else line
            words.append(part.strip())
        depth += _DEPTH.get(part, 0)
        line += part.count("\n")
    found.append((words, start))
    return [(words, start) for words, start in found if words]


def _keys(words: list[str]) -> Place:
    named = [word for word in words if word not in {"[", "]", "."}]
    return tuple(word[1:-1] if word[0] in "\"'" else word for word in named)
