"""What a PTX module declares: functions, parameters and variables.

They are read from their header when asked; a body is text here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from burnish.errors import KernelError

__all__ = ["Alias", "Function", "Parameter", "Variable"]

_WIDTH = re.compile(r"\.(?:v(?P<lanes>[248])\b)|\.[a-z]+(?P<bits>\d+)(?:x(?P<packed>\d))?\b")
_ALIGN = re.compile(r"\.align\s+(\d+)")
_POINTER = re.compile(r"\.ptr\b((?:\s*\.(?:const|global|local|shared))?)(?:\s*\.align\s+(\d+))?")
_TYPE = re.compile(r"\.((?:[busf]|e\d+m)\d+\w*|pred|texref|samplerref|surfref)\b")
_NAME = re.compile(r"([A-Za-z_$%][\w$%]*)\s*((?:\[[^\]]*\]\s*)*)$")
_DIRECTIVE = re.compile(r'\.(\w+)\s*((?:"[^"]*"|[^.";{(]|\([^)]*\))*)')
_OPAQUE_BYTES = 8  # a texture, sampler or surface reference is a handle


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter or a result of a function.

    Attributes:
        name: As declared.
        type: Without the dot: ``u64``, ``b8`` …
        size_bytes: All elements of an array together; 0 where the length is left open.
        align_bytes: As declared, else that of the type.
        pointer: State space that a ``.ptr`` names, ``generic`` where it names none; else empty.
    """

    name: str
    type: str
    size_bytes: int
    align_bytes: int
    pointer: str = ""


@dataclass(frozen=True)
class Function:
    """An entry or a device function, defined or declared.

    Attributes:
        name: As in the text.
        linkage: ``visible``, ``extern``, ``weak``, ``common`` or empty.
        is_entry: Whether a launch can name it.
        span: Where it begins and ends in the module's text.
        text: The source as it is.
        code: The same without comments, of the same length.
        body: Where the opening brace is in ``text``; -1 for a declaration.
    """

    name: str
    linkage: str
    is_entry: bool
    span: tuple[int, int]
    text: str
    code: str
    body: int

    @property
    def is_defined(self) -> bool:
        """Whether it has a body here."""
        return self.body >= 0

    @cached_property
    def header(self) -> str:
        """All before the body, without comments."""
        return self.code[: self.body] if self.is_defined else self.code

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters in order."""
        return tuple(_parameter(part) for part in _split(self._lists[1]))

    @cached_property
    def results(self) -> tuple[Parameter, ...]:
        """What a device function returns."""
        return tuple(_parameter(part) for part in _split(self._lists[0]))

    @cached_property
    def directives(self) -> Mapping[str, str]:
        """Performance directives and their text, such as ``maxntid``: ``128, 1, 1``."""
        pairs = [
            (found[1], " ".join(found[2].split())) for found in _DIRECTIVE.finditer(self._tail)
        ]
        return MappingProxyType(dict(pairs))

    @property
    def maxntid(self) -> tuple[int, ...]:
        """Most threads by axis, empty where nothing is said."""
        return self._numbers("maxntid")

    @property
    def reqntid(self) -> tuple[int, ...]:
        """Required threads by axis, empty where nothing is said."""
        return self._numbers("reqntid")

    @property
    def minnctapersm(self) -> int | None:
        """Fewest blocks on a multiprocessor."""
        return next(iter(self._numbers("minnctapersm")), None)

    @property
    def maxnreg(self) -> int | None:
        """Most registers a thread."""
        return next(iter(self._numbers("maxnreg")), None)

    def _numbers(self, directive: str) -> tuple[int, ...]:
        said = self.directives.get(directive, "").replace(",", " ").split()
        if not all(part.isdecimal() for part in said):
            raise KernelError(f"{self.name}: .{directive} wants numbers, not {' '.join(said)!r}")
        return tuple(int(part) for part in said)

    @cached_property
    def _lists(self) -> tuple[str, str]:
        """The texts of results and of parameters."""
        before, _, after = self.header.partition(self.name)
        return _inside(before), _inside(after)

    @cached_property
    def _tail(self) -> str:
        after = self.header.partition(self.name)[2]
        return after.partition(")")[2] if after.lstrip().startswith("(") else after


@dataclass(frozen=True)
class Variable:
    """A variable of a module.

    Attributes:
        name: As in the text.
        linkage: ``visible``, ``extern``, ``weak``, ``common`` or empty.
        space: ``global``, ``const``, ``shared`` …
        span: Where it begins and ends in the module's text.
        text: The source as it is.
        code: The same without comments.
    """

    name: str
    linkage: str
    space: str
    span: tuple[int, int]
    text: str
    code: str

    @property
    def is_initialised(self) -> bool:
        """Whether it has an initial value here."""
        return "=" in self.code

    @cached_property
    def declared(self) -> Parameter:
        """Type, size and alignment."""
        return _parameter(self.code.partition("=")[0].rstrip("; \t\r\n"))


@dataclass(frozen=True)
class Alias:
    """Another name of a function.

    Attributes:
        name: The name that it adds.
        span: Where it begins and ends in the module's text.
        text: The source as it is.
        code: The same without comments.
    """

    name: str
    span: tuple[int, int]
    text: str
    code: str


def _inside(text: str) -> str:
    """What stands in the first round brackets, if any come first or last."""
    opening = text.find("(")
    return text[opening + 1 : text.find(")", opening)] if opening >= 0 else ""


def _split(text: str) -> list[str]:
    return [part for part in text.split(",") if part.strip()]


def _parameter(text: str) -> Parameter:
    named = _NAME.search(text.strip())
    if not named:
        raise KernelError(f"no name in the declaration {' '.join(text.split())!r}")
    before = text[: text.rindex(named[0])]
    pointer = _POINTER.search(before)
    plain = _POINTER.sub(" ", before)
    align, type_ = _ALIGN.search(plain), _TYPE.search(plain)
    element = _element_bytes(plain)
    return Parameter(
        name=named[1],
        type=type_[1] if type_ else "",
        size_bytes=element * _count(named[2]),
        align_bytes=int(align[1]) if align else element,
        pointer=(pointer[1].strip(" .") or "generic") if pointer else "",
    )


def _element_bytes(text: str) -> int:
    """Bytes of one element, from the type and vector width in a declaration."""
    size, lanes = 0, 1
    for found in _WIDTH.finditer(text):
        if found["lanes"]:
            lanes = int(found["lanes"])
        else:
            size = int(found["bits"]) * int(found["packed"] or 1) // 8
    return (size or _OPAQUE_BYTES) * lanes


def _count(brackets: str) -> int:
    product = 1
    for length in re.findall(r"\[([^\]]*)\]", brackets):
        try:
            product *= int(length, 0) if length.strip() else 0
        except ValueError as error:
            raise KernelError(f"an array of length {length!r} is not understood") from error
    return product
