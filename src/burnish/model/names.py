"""Symbol names without what only says where they come from.

A compiler writes the source file into the names of what is private to it. nvcc: ``_INTERNAL_`` and
``_GLOBAL__N__`` with a hash and the file's name, preceded by their length, and
``__nv_static_<length>_…``; clang: ``__static__<hash>`` and ``__intern__<hash>``. Texts without a
name of their own (``$str$2``, ``__unnamed_1``) are numbered through the whole file. Neither says
anything about a kernel, so digests and payloads see placeholders, numbered by first appearance.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Binding", "actual", "bind", "has_placeholder", "neutral"]

_PART = re.compile(
    r"(?P<digits>\d+)(?P<counted>_INTERNAL|_GLOBAL__N_)(?=_)"
    r"|__nv_static_(?P<static>\d+)_(?=_)"
    r"|(?P<clang>__(?:static|intern)__)(?P<hash>[0-9a-f]+)(?![\w$])"
    r"|(?<![\w$])(?P<text>\$str(?:\$\d+)?|__unnamed_\d+|_\$_str(?:_\$_\d+)?)(?![\w$])"
)
_HINTS = ("_INTERNAL_", "_GLOBAL__N__", "__nv_static_", "__static__", "__intern__")
_TEXT_HINTS = ("$str", "__unnamed_", "_$_str")
_LONGEST = 10_000
_WORD = re.compile(r"[\w$]*")
_PLACEHOLDER = re.compile(
    r"(?P<kind>_INTERNAL|_GLOBAL__N_|__nv_static_|__static__|__intern__|)"
    r"\$(?P<list>file|text)(?P<number>\d+)\$"
)


@dataclass(frozen=True, slots=True)
class Binding:
    """What the placeholders of a text stand for.

    Attributes:
        files: What stands for a source file in private names, by placeholder number.
        texts: Generated names of constant texts, by placeholder number.
    """

    files: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    start: int
    end: int
    kind: str
    identity: str


def bind(text: str) -> Binding:
    """Number what is to be replaced in a text, by first appearance."""
    if not _may_have_parts(text):
        return Binding()
    parts = list(_parts(text))
    files = dict.fromkeys(part.identity for part in parts if part.kind)
    texts = dict.fromkeys(part.identity for part in parts if not part.kind)
    return Binding(tuple(files), tuple(texts))


def neutral(text: str, binding: Binding) -> str:
    """Put the placeholders of a binding into a text; what it does not know stays as it is."""
    if not (binding.files or binding.texts) or not _may_have_parts(text):
        return text
    numbers = {name: number for number, name in enumerate(binding.files)}
    texts = {name: number for number, name in enumerate(binding.texts)}
    out: list[str] = []
    done = 0
    for part in _parts(text):
        number = (numbers if part.kind else texts).get(part.identity)
        if number is not None:
            listed = "file" if part.kind else "text"
            out += [text[done : part.start], f"{part.kind}${listed}{number}$"]
            done = part.end
    return "".join([*out, text[done:]])


def actual(text: str, binding: Binding) -> str:
    """Put names back in place of placeholders.

    Raises:
        KeyError: The binding has no such placeholder.
    """

    def name(match: re.Match[str]) -> str:
        kind, number = match["kind"], int(match["number"])
        known = binding.files if match["list"] == "file" else binding.texts
        if number >= len(known):
            raise KeyError(match[0])
        return _spell(kind, known[number])

    return _PLACEHOLDER.sub(name, text)


def has_placeholder(text: str) -> bool:
    """Whether a text holds what looks like a placeholder."""
    return bool(_PLACEHOLDER.search(text))


def _may_have_parts(text: str) -> bool:
    return any(hint in text for hint in _HINTS + _TEXT_HINTS)


def _spell(kind: str, identity: str) -> str:
    if kind in {"_INTERNAL", "_GLOBAL__N_"}:
        return f"{len(kind) + len(identity)}{kind}{identity}"
    if kind == "__nv_static_":
        return f"{kind}{len(identity)}_{identity}"
    return kind + identity


def _parts(text: str) -> Iterator[_Part]:
    at = 0
    while match := _PART.search(text, at):
        part = _counted(text, match) if match["counted"] else _plain(text, match)
        if part:
            yield part
        at = part.end if part else match.end()


def _plain(text: str, match: re.Match[str]) -> _Part | None:
    if match["clang"]:
        return _Part(match.start(), match.end(), match["clang"], match["hash"])
    if match["text"]:
        return _Part(match.start(), match.end(), "", match["text"])
    identity = _inside_a_word(text, match.end(), int(match["static"]))
    if not identity:
        return None
    return _Part(match.start(), match.end() + len(identity), "__nv_static_", identity)


def _counted(text: str, match: re.Match[str]) -> _Part | None:
    """Read a length before a name; digits of the name before it may precede them."""
    digits, kind = match["digits"], match["counted"]
    for skip in range(len(digits)):
        length = int(digits[skip:]) - len(kind)
        identity = _inside_a_word(text, match.end(), length)
        if identity:
            end = match.end() + length
            return _Part(match.start() + skip, end, kind, identity)
    return None


def _inside_a_word(text: str, start: int, length: int) -> str:
    if not 1 < length <= _LONGEST:
        return ""
    word = _WORD.match(text, start, start + length)
    return word[0] if word and len(word[0]) == length else ""
