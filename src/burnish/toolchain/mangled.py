"""Names of C++ functions as a person says them: `_Z3addIfEvPT_` is ``add<float>``.

Reads what kernels' names are made of: nested names, template arguments that are plain types or
numbers. What it does not read stays as it is; a mangled name is always a name, too.
"""

import re
from collections.abc import Sequence

from burnish.errors import UsageError

__all__ = ["chosen", "readable"]

_TYPES = {
    "a": "signed char",
    "b": "bool",
    "c": "char",
    "d": "double",
    "f": "float",
    "h": "unsigned char",
    "i": "int",
    "j": "unsigned int",
    "l": "long",
    "m": "unsigned long",
    "s": "short",
    "t": "unsigned short",
    "x": "long long",
    "y": "unsigned long long",
}
_LITERAL = re.compile(r"L([a-z])(n?)(\d+)E")
_LENGTH = re.compile(r"\d+")
_MOST_LISTED = 8


def chosen(names: Sequence[str], wanted: str) -> str:
    """The one function that is meant: by its symbol, or as a person says it.

    Args:
        names: Symbols.
        wanted: A symbol, ``add<float>``, or ``add`` where there is one; empty: the only one.

    Raises:
        UsageError: None is meant, or several; the message lists them.
    """
    if wanted in names:
        return wanted
    said = {name: readable(name) for name in names}
    tests = (
        lambda name: said[name] == _tight(wanted),
        lambda name: said[name].partition("<")[0] == wanted,
        lambda name: said[name].partition("<")[0].rpartition("::")[2] == wanted,
    )
    matching = [list(filter(test, names)) for test in tests] if wanted else [list(names)]
    found = next(filter(None, matching), [])
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} functions are named {wanted!r}" if found else f"no entry {wanted!r}"
    what = what if wanted else f"{len(names)} entries; choose with --entry"
    shown = [said[name] for name in (found or names)][:_MOST_LISTED]
    more = ", …" if len(found or names) > _MOST_LISTED else ""
    raise UsageError(f"{what}: {', '.join(shown)}{more}")


def readable(symbol: str) -> str:
    """A symbol as a person says it, without its parameters; the symbol where it is not read."""
    if not symbol.startswith("_Z"):
        return symbol
    rest = symbol[2:].removeprefix("L")
    parts, rest = _nested(rest[1:]) if rest.startswith("N") else _plain(rest)
    return "::".join(parts) if parts else symbol


def _tight(name: str) -> str:
    """Without blanks that say nothing."""
    return re.sub(r"\s*([<>,:])\s*", r"\1", name).replace(",", ", ")


def _plain(rest: str) -> tuple[list[str], str]:
    name, rest = _identifier(rest)
    if not name:
        return [], rest
    arguments, rest = _arguments(rest)
    return [name + arguments], rest


def _nested(rest: str) -> tuple[list[str], str]:
    parts: list[str] = []
    while rest and not rest.startswith("E"):
        found, rest = _plain(rest)
        if not found:
            return [], rest
        parts += found
    return parts, rest[1:]


def _identifier(rest: str) -> tuple[str, str]:
    length = _LENGTH.match(rest)
    if not length:
        return "", rest
    end = length.end() + int(length[0])
    name = rest[length.end() : end]
    return ("(anonymous)" if name.startswith("_GLOBAL__N_") else name), rest[end:]


def _arguments(rest: str) -> tuple[str, str]:
    """Template arguments, with their angle brackets; empty where there are none."""
    if not rest.startswith("I"):
        return "", rest
    rest, said = rest[1:], list[str]()
    while rest and not rest.startswith("E"):
        one, rest = _argument(rest)
        if not one:
            return "<…>", ""
        said.append(one)
    return f"<{', '.join(said)}>", rest[1:]


def _argument(rest: str) -> tuple[str, str]:
    literal = _LITERAL.match(rest)
    if literal:
        number = ("-" if literal[2] else "") + literal[3]
        is_bool = _TYPES.get(literal[1]) == "bool"
        return ("false", "true")[number == "1"] if is_bool else number, rest[literal.end() :]
    if rest[0] in _TYPES:
        return _TYPES[rest[0]], rest[1:]
    if rest[0].isdigit() or rest[0] == "N":
        parts, rest = _nested(rest[1:]) if rest[0] == "N" else _plain(rest)
        return "::".join(parts), rest
    return "", rest
