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

# Each begins with plain characters: such patterns are found many times faster.
_COUNTED = re.compile(r"_INTERNAL(?=_)"), re.compile(r"_GLOBAL__N_(?=_)")
_STATIC = re.compile(r"__nv_static_(?P<length>\d+)_(?=_)")
_CLANG = (
    re.compile(r"__static__(?P<hash>[0-9a-f]+)(?![\w$])"),
    re.compile(r"__intern__(?P<hash>[0-9a-f]+)(?![\w$])"),
)
_TEXTS = (
    re.compile(r"\$str(?:\$\d+)?(?![\w$])"),
    re.compile(r"__unnamed_\d+(?![\w$])"),
    re.compile(r"_\$_str(?:_\$_\d+)?(?![\w$])"),
)
_DIGITS_BEFORE = re.compile(r"\d+$")
_LONGEST_LENGTH = 5
_LONGEST = 10_000
_WORD = re.compile(r"[\w$]*")
_IN_A_WORD = re.compile(r"[\w$]")
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
    parts = _parts(text)
    files = dict.fromkeys(part.identity for part in parts if part.kind)
    texts = dict.fromkeys(part.identity for part in parts if not part.kind)
    return Binding(tuple(files), tuple(texts))


def neutral(text: str, binding: Binding) -> str:
    """Put the placeholders of a binding into a text; what it does not know stays as it is."""
    if not (binding.files or binding.texts):
        return text
    numbers = {name: number for number, name in enumerate(binding.files)}
    texts = {name: number for number, name in enumerate(binding.texts)}
    out: list[str] = []
    done = 0
    for part in _parts(text):
        number = (numbers if part.kind else texts).get(part.identity)
        if number is not None and part.start >= done:
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


def _spell(kind: str, identity: str) -> str:
    if kind in {"_INTERNAL", "_GLOBAL__N_"}:
        return f"{len(kind) + len(identity)}{kind}{identity}"
    if kind == "__nv_static_":
        return f"{kind}{len(identity)}_{identity}"
    return kind + identity


def _parts(text: str) -> list[_Part]:
    """Every part, by place."""
    found = [*_counted(text), *_static(text)]
    for pattern in _CLANG:
        found += [
            _Part(match.start(), match.end(), match[0].removesuffix(match["hash"]), match["hash"])
            for match in pattern.finditer(text)
        ]
    for pattern in _TEXTS:
        found += [
            _Part(match.start(), match.end(), "", match[0])
            for match in pattern.finditer(text)
            if not _IN_A_WORD.match(text, match.start() - 1) or not match.start()
        ]
    return sorted(found, key=lambda part: part.start)


def _static(text: str) -> Iterator[_Part]:
    for match in _STATIC.finditer(text):
        identity = _inside_a_word(text, match.end(), int(match["length"]))
        if identity:
            yield _Part(match.start(), match.end() + len(identity), "__nv_static_", identity)


def _counted(text: str) -> Iterator[_Part]:
    """Names with their length before them; digits of what precedes may stand before that."""
    for match in (found for pattern in _COUNTED for found in pattern.finditer(text)):
        kind, start = match[0], match.start()
        digits = _DIGITS_BEFORE.search(text[max(0, start - _LONGEST_LENGTH) : start])
        for length in range(len(digits[0]) if digits else 0, 0, -1):
            if text[start - length] == "0":  # the end of what precedes: no length begins so
                continue
            size = int(text[start - length : start]) - len(kind)
            if _inside_a_word(text, match.end(), size):
                identity = text[match.end() : match.end() + size]
                yield _Part(start - length, match.end() + size, kind, identity)
                break


def _inside_a_word(text: str, start: int, length: int) -> str:
    if not 1 < length <= _LONGEST:
        return ""
    word = _WORD.match(text, start, start + length)
    return word[0] if word and len(word[0]) == length else ""
