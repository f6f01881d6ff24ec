"""What a build asks for: the compiler's own command line, and what is said to Burnish in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from burnish.acf.read import MOST_FILE_BYTES, is_text
from burnish.errors import UsageError
from burnish.settings import Settings
from burnish.toolchain.options import Normal, command_line, normal_form

__all__ = ["Given", "OwnWords", "Request", "own_words", "read_request"]

_CONTROLS = frozenset({"--apply-controls", "-apply-controls"})
_STRICT = "--strict-controls"
_STRICT_PART = "--strict-controls=part"
_ALLOW = "--allow"
_RISKS = frozenset({"conditional", "rounding", "unproven"})


@dataclass(frozen=True, slots=True)
class Given:
    """A file that was given with ``--apply-controls``.

    Attributes:
        name: As it was given.
        data: What is in it.
        problem: Why it could not be read; empty where it could.
    """

    name: str
    data: bytes
    problem: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether it is for Burnish: text, as NVIDIA's own are not, or not there at all."""
        return bool(self.problem) or is_text(self.data)


@dataclass(frozen=True, slots=True)
class Request:
    """A command line, taken apart.

    Attributes:
        argv: The compiler's part, without the program's name.
        normal: The same, in normal form.
        given: The controls files for Burnish.
        strict: Whether the build must fail where a block matches but is not applied.
        must_apply: Whether it must fail where nothing of a file in ``given`` is applied.
        allow: Risks that the user takes.
    """

    argv: tuple[str, ...]
    normal: Normal
    given: tuple[Given, ...]
    strict: bool
    must_apply: bool
    allow: frozenset[str]


@dataclass(frozen=True, slots=True)
class OwnWords:
    """What a command line says to Burnish, and all the rest.

    Attributes:
        rest: The compiler's part, without the program's name; NVIDIA's own controls files are a
            part of it.
        given: The controls files for Burnish.
        strict: Whether the build must fail where a block matches but is not applied.
        must_apply: Whether it must fail where nothing of a file in ``given`` is applied: it was
            named for this build, unless this is said to be a part of a larger one.
        allow: Risks that the user takes.
    """

    rest: tuple[str, ...]
    given: tuple[Given, ...]
    strict: bool
    must_apply: bool
    allow: frozenset[str]


def own_words(argv: Sequence[str], settings: Settings) -> OwnWords:
    """Take out what is said to Burnish; all other words are left alone.

    Raises:
        UsageError: One of our options is not complete, or not understood.
    """
    strict, is_part, allow = settings.strict, False, set(settings.allow)
    given: list[Given] = []
    rest: list[str] = []
    for word, value in _items(argv):
        if word in {_STRICT, _STRICT_PART}:
            strict, is_part = True, is_part or word == _STRICT_PART
        elif word == _ALLOW:
            allow |= _risks(value)
        elif word in _CONTROLS and (file := _read(value)).is_ours:
            given.append(file)
        else:
            rest += [word, value] if word in _CONTROLS else [word]
    must_apply = strict and not is_part
    return OwnWords(tuple(rest), tuple(given), strict, must_apply, frozenset(allow))


def read_request(argv: Sequence[str], settings: Settings) -> Request:
    """Take a command line of ptxas apart.

    Raises:
        UsageError: One of our options is not complete, or not understood.
    """
    own = own_words(argv, settings)
    rest: Sequence[str] = own.rest
    given = [*own.given]
    normal = normal_form(rest)
    kept = [file for file in map(_read, normal.controls) if not file.is_ours]
    if len(kept) < len(normal.controls):  # an options file names one of ours
        given += [file for file in map(_read, normal.controls) if file.is_ours]
        normal = replace(normal, controls=tuple(file.name for file in kept))
        rest = command_line(normal)
    return Request(tuple(rest), normal, tuple(given), own.strict, own.must_apply, own.allow)


def _items(argv: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pair our own options with their values; leave all other words alone."""
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if name not in {*_CONTROLS, _ALLOW}:
            yield word, ""
            continue
        value = value if equals else next(words, "")
        if not value:
            raise UsageError(f"{name} needs {'a risk' if name == _ALLOW else 'a file'} after it")
        yield name, value


def _risks(value: str) -> set[str]:
    risks = set(value.split(","))
    if not risks <= _RISKS:
        raise UsageError(f"{_ALLOW} {value}: the risks are {', '.join(sorted(_RISKS))}")
    return risks


def _read(name: str) -> Given:
    try:
        with open(name, "rb") as stream:  # noqa: PTH123 - no Path for what may be any word
            return Given(name, stream.read(MOST_FILE_BYTES + 1))
    except (OSError, ValueError) as error:
        return Given(name, b"", getattr(error, "strerror", None) or str(error))
