"""Command lines of compilers in normal form, so that two ways to say one thing are one.

The rules are those that ptxas 12.4 to 13.5 were seen to follow: long names take two dashes and
short ones one; ``name=value`` and ``name value`` are the same; only ``-O`` and ``-m`` take their
number attached, and ``-O`` takes none from the next word; a list adds up over repeats, of any
other option the last value counts; numbers may be octal or hexadecimal.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.toolchain.ptxas_options import PTXAS, Option, Role, Takes

__all__ = ["Normal", "command_line", "normal_form", "without_value"]

_MOST_DIGITS = 100  # what is longer is no number to any compiler, and too long for Python
_NESTED = 16  # an options file that includes itself ends here


@dataclass(frozen=True, slots=True)
class Normal:
    """A command line, taken apart.

    Attributes:
        options: What decides the code, ``--long=value`` or ``--long``, sorted, defaults dropped.
            An unknown option counts as it is.
        inputs: Files to compile; ``-`` is standard input.
        output: File to write, or None where the command names none.
        arch: What to compile for, such as ``sm_90a``; empty where the command does not say.
        entries: The entries to compile, sorted; empty: all.
        controls: Files given with ``--apply-controls``.
        messages: Options that decide messages and line info, in the form of ``options``.
        asks: Whether the command asks for help, a version or a list, and compiles nothing.
        unknown: Those of ``options`` that the table does not know.
    """

    options: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    output: str | None = None
    arch: str = ""
    entries: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    asks: bool = False
    unknown: tuple[str, ...] = ()


def normal_form(argv: Sequence[str], table: Sequence[Option] = PTXAS) -> Normal:
    """Take a command line apart; ``argv`` is without the program's name.

    Options files are read; one that cannot be read counts as an unknown option, so that the
    compiler itself gets to say what is wrong with it.
    """
    found = _Found()
    known = _index(table)
    for option, word in _items(argv, known, _NESTED):
        if option is not None:
            found.add(option, word)
        elif word.startswith("-") and word != "-":
            found.unknown.append(word)
        else:
            found.inputs.append(word)
    return found.normal()


def without_value(argv: Sequence[str], table: Sequence[Option] = PTXAS) -> str:
    """The first word that needs a value and has none; empty where there is none such."""
    known = _index(table)
    words = iter(argv)
    for word in words:
        option, value = _match(word, known)
        if word == "-O":  # it does not look at the next word
            return word
        if option is None or option.takes is Takes.NOTHING:
            continue
        if not (next(words, "") if value is None else value):
            return word
    return ""


def command_line(normal: Normal) -> list[str]:
    """Return the arguments that say what ``normal`` says."""
    words = [f"--gpu-name={normal.arch}"] if normal.arch else []
    words += [*normal.options, *normal.messages]
    words += [f"--entry={','.join(normal.entries)}"] if normal.entries else []
    words += [f"--apply-controls={path}" for path in normal.controls]
    words += [] if normal.output is None else ["--output-file", normal.output]
    return [*words, *normal.inputs]


@dataclass(slots=True)
class _Found:
    """What was met so far; options by name, so that the last value counts."""

    values: dict[Option, list[str]] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def add(self, option: Option, value: str) -> None:
        if option.takes is Takes.LIST:
            values = map(_number, filter(None, value.split(",")))
            self.values.setdefault(option, []).extend(values)
        else:
            numeric = option.takes in {Takes.NUMBER, Takes.ATTACHED}
            self.values[option] = [_number(value) if numeric else value]

    def of(self, role: Role) -> tuple[str, ...]:
        """Every option of a role, written out, sorted; defaults left out."""
        return tuple(
            sorted(
                _written(option, values)
                for option, values in self.values.items()
                if option.role is role and values != [option.default]
            )
        )

    def said(self, role: Role) -> list[str]:
        """The values given for a role."""
        return [
            value
            for option, values in self.values.items()
            if option.role is role
            for value in values
        ]

    def normal(self) -> Normal:
        unknown = tuple(sorted(self.unknown))
        return Normal(
            options=tuple(sorted((*self.of(Role.CODE), *unknown))),
            inputs=tuple(self.inputs),
            output=next(iter(self.said(Role.OUTPUT)), None),
            arch=next(iter(self.said(Role.ARCH)), ""),
            entries=tuple(sorted(set(self.said(Role.ENTRY)))),
            controls=tuple(self.said(Role.CONTROLS)),
            messages=self.of(Role.MESSAGE),
            asks=bool(self.of(Role.QUESTION)),
            unknown=unknown,
        )


def _index(table: Sequence[Option]) -> dict[str, Option]:
    return {f"--{option.name}": option for option in table} | {
        f"-{option.short}": option for option in table
    }


def _items(
    argv: Sequence[str], known: dict[str, Option], depth: int
) -> Iterator[tuple[Option | None, str]]:
    """Pair every option with its value; None stands for an input or an unknown option."""
    words = iter(argv)
    for word in words:
        option, value = _match(word, known)
        if option is not None and value is None:
            value = "" if option.takes is Takes.NOTHING else next(words, None)
        if option is None or value is None:
            yield None, word
        elif option.role is Role.OPTIONS_FILE:
            yield from _included(option, value, known, depth)
        else:
            yield option, value


def _match(word: str, known: dict[str, Option]) -> tuple[Option | None, str | None]:
    """Find an option, and its value where the same word holds it."""
    option = known.get(word)
    if option is not None:
        # A bare -O does not look at the next word, and is no level that we know.
        return (None, None) if word == "-O" else (option, None)
    name, equals, value = word.partition("=")
    option = known.get(name)
    if equals and option is not None and option.takes is not Takes.NOTHING:
        return option, value
    option = known.get(word[:2])
    if option is not None and option.takes is Takes.ATTACHED and not word.startswith("--"):
        return option, word[2:]
    return None, None


def _included(
    option: Option, value: str, known: dict[str, Option], depth: int
) -> Iterator[tuple[Option | None, str]]:
    for path in filter(None, value.split(",")):
        text = _text(path) if depth else None
        if text is None:
            yield None, f"--{option.name}={path}"
        else:
            yield from _items(list(_words(text)), known, depth - 1)


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text(errors="surrogateescape")
    except (OSError, ValueError):
        return None


def _words(text: str) -> Iterator[str]:
    """Split as ptxas splits an options file: double quotes group, a backslash escapes."""
    word: list[str] | None = None
    quoted = False
    letters = iter(text)
    for letter in letters:
        if letter.isspace() and not quoted:
            if word is not None:
                yield "".join(word)
            word = None
            continue
        word = [] if word is None else word
        if letter == '"':
            quoted = not quoted
        else:
            word.append(next(letters, "") if letter == "\\" else letter)
    if word is not None:
        yield "".join(word)


def _number(value: str) -> str:
    """Write a number in the one way, read as C reads it; leave a word as it is."""
    digits = value.removeprefix("+").lower()
    if digits.startswith("0x"):
        return _in_radix(digits[2:], 16) or value
    return _in_radix(digits, 8 if digits.startswith("0") else 10) or value


def _in_radix(digits: str, radix: int) -> str:
    allowed = "0123456789abcdef"[:radix]
    is_number = 0 < len(digits) <= _MOST_DIGITS and set(digits) <= set(allowed)
    return str(int(digits, radix)) if is_number else ""


def _written(option: Option, values: Sequence[str]) -> str:
    name = f"--{option.name}"
    return name if option.takes is Takes.NOTHING else f"{name}={','.join(values)}"
