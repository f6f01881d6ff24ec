"""The form of a launch file: which keys there are, and of which type.

Strict: an unknown key or a value of another type is refused, with its place and what to do.
What the values mean together is the business of `burnish.bundle.launch`.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    NonNegativeInt,
    PositiveInt,
    Tag,
    ValidationError,
)

from burnish.errors import LaunchError

__all__ = [
    "ArgumentEntry",
    "BufferEntry",
    "BytesEntry",
    "FileEntry",
    "PieceEntry",
    "PointerEntry",
    "ScalarEntry",
    "StructEntry",
    "WorkloadEntry",
    "understand",
]

Number: TypeAlias = bool | int | float
Place: TypeAlias = tuple[int | str, ...]

_BLANK = "?"
_MOST_AXES = 32  # of numpy 1; numpy 2 takes 64
_MOST_ALIGN = 4096
_MOST_WEIGHT = 1e9
_BITS = 64  # of the largest numbers that a kernel gets

Count: TypeAlias = Annotated[int, Field(gt=0, lt=2**63)]
Align: TypeAlias = Annotated[int, Field(gt=0, le=_MOST_ALIGN)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class BufferEntry(_Entry):
    """Memory that the kernel gets a pointer to."""

    name: str = Field(min_length=1)
    buffer: str
    shape: list[PositiveInt] = Field(min_length=1, max_length=_MOST_AXES)
    role: Literal["in", "out", "inout"] = "in"
    fill: str = ""
    strides: list[NonNegativeInt] = []
    view_of: str = ""
    offset: NonNegativeInt = 0
    tolerance: float | None = Field(default=None, ge=0)


class ScalarEntry(_Entry):
    """A number, or an array of them inside of a struct."""

    name: str = ""
    scalar: str
    value: Number | list[Number]
    align: Align | None = None


class PointerEntry(_Entry):
    """A pointer inside of a struct, by the name of the buffer that it points to."""

    name: str = ""
    pointer: str


class _At(_Entry):
    at: NonNegativeInt
    buffer: str


class BytesEntry(_Entry):
    """Raw bytes, with the places of the pointers among them."""

    name: str = ""
    bytes: str
    pointers: list[_At] = []
    align: Align | None = None


class StructEntry(_Entry):
    """A struct of pieces, laid out as C does."""

    name: str = ""
    struct: list["PieceEntry"] = Field(min_length=1)
    align: Align | None = None


_KINDS: dict[str, type[_Entry]] = {
    "buffer": BufferEntry,
    "scalar": ScalarEntry,
    "pointer": PointerEntry,
    "bytes": BytesEntry,
    "struct": StructEntry,
}


def _kind_of(value: object) -> str | None:
    if not isinstance(value, Mapping):
        return None
    said = [kind for kind in _KINDS if kind in value]
    return f"<{said[0]}>" if said else None


PieceEntry: TypeAlias = Annotated[
    Annotated[ScalarEntry, Tag("<scalar>")]
    | Annotated[PointerEntry, Tag("<pointer>")]
    | Annotated[BytesEntry, Tag("<bytes>")]
    | Annotated[StructEntry, Tag("<struct>")],
    Discriminator(_kind_of),
]
ArgumentEntry: TypeAlias = Annotated[
    Annotated[BufferEntry, Tag("<buffer>")]
    | Annotated[ScalarEntry, Tag("<scalar>")]
    | Annotated[BytesEntry, Tag("<bytes>")]
    | Annotated[StructEntry, Tag("<struct>")],
    Discriminator(_kind_of),
]
_Axes: TypeAlias = Annotated[list[PositiveInt], Field(min_length=1, max_length=3)]


class WorkloadEntry(_Entry):
    """One set of arguments and a launch shape."""

    name: str = Field(min_length=1)
    arguments: list[ArgumentEntry]
    weight: float = Field(default=1.0, gt=0, le=_MOST_WEIGHT, allow_inf_nan=False)
    held_out: bool = False
    grid: _Axes = [1]
    block: _Axes = [1]
    cluster: _Axes = [1]
    dynamic_shared_bytes: int = Field(default=0, ge=0, lt=2**31)
    cooperative: bool = False
    globals: dict[str, PieceEntry] = {}
    moved_bytes: Count | None = None
    operations: Count | None = None


class FileEntry(_Entry):
    """A launch file."""

    entry: str = Field(min_length=1)
    workload: list[WorkloadEntry] = Field(min_length=1)


def understand(text: str) -> FileEntry:
    """Read the text of a launch file.

    Raises:
        LaunchError: It is no TOML, or holds a key or a value that is not understood.
    """
    try:
        document: dict[str, object] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        blank = _first_blank(text)
        if blank:
            raise LaunchError(
                f"line {blank}: a blank is still to be filled in: put a value for the {_BLANK}"
            ) from None
        raise LaunchError(f"this is no TOML: {error}") from None
    except RecursionError:
        raise LaunchError("is nested too deeply to be a launch file") from None
    except ValueError as error:  # a number that is longer than Python reads
        raise LaunchError(f"this is no TOML: {error}") from None
    large = _first_large(document, ())
    if large is not None:
        raise LaunchError(f"{_place(large, document)}: a number of more than {_BITS} bits")
    try:
        return FileEntry.model_validate(document)
    except ValidationError as error:
        raise LaunchError(_said(error, document)) from None


def _first_large(value: object, loc: Place) -> Place | None:
    """Where a number stands that no type holds, and that Python may be unable to print."""
    if isinstance(value, int):
        return loc if value.bit_length() > _BITS else None
    steps: Iterable[tuple[int | str, object]] = ()
    if isinstance(value, Mapping):
        steps = value.items()
    elif isinstance(value, list):
        steps = enumerate(value)
    found = (_first_large(inner, (*loc, step)) for step, inner in steps)
    return next((place for place in found if place is not None), None)


def _first_blank(text: str) -> int:
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.split("#")[0]
        quoted = bare.split('"')[::2]  # what stands outside of quotes
        if any(_BLANK in part for part in quoted):
            return number
    return 0


def _said(error: ValidationError, document: Mapping[str, object]) -> str:
    first = error.errors(include_url=False)[0]
    place, rest = _place(first["loc"], document), error.error_count() - 1
    more = f" (and {rest} more)" if rest else ""
    if first["type"] == "extra_forbidden":
        known = ", ".join(_keys(first["loc"]))
        return f"{place}: unknown key; known here are: {known}{more}"
    if first["type"] == "union_tag_not_found":
        return f"{place}: says nothing of its kind: give it one of {', '.join(_KINDS)}{more}"
    if first["type"] == "union_tag_invalid":
        return f"{place}: a {_kind_of(first['input'])} cannot stand here{more}"
    if first["type"] == "missing":
        return f"{place}: missing; add it{more}"
    what = first["msg"].replace("Input should be", "must be")
    return f"{place}: {what}, not {_short(first['input'])}{more}"


def _place(loc: Place, document: object) -> str:
    """``workload[0] "512": arguments[2] "nx": value``."""
    words: list[str] = []
    for step in loc:
        if isinstance(step, str) and step.startswith("<"):
            continue
        document = _inside(document, step)
        if isinstance(step, int):
            name = document.get("name") if isinstance(document, Mapping) else None
            words[-1] += f"[{step}]" + (f' "{name}"' if isinstance(name, str) else "")
        else:
            words.append(step)
    return ": ".join(words)


def _inside(document: object, step: int | str) -> object:
    if isinstance(document, Mapping):
        return document.get(step)
    if isinstance(document, Sequence) and isinstance(step, int) and step < len(document):
        return document[step]
    return None


def _keys(loc: Place) -> list[str]:
    tags = [step[1:-1] for step in loc if isinstance(step, str) and step.startswith("<")]
    if loc[-2:-1] == ("pointers",) or (len(loc) > 2 and loc[-3] == "pointers"):  # noqa: PLR2004
        return list(_At.model_fields)
    if tags:
        return list(_KINDS[tags[-1]].model_fields)
    return list((FileEntry if len(loc) == 1 else WorkloadEntry).model_fields)


def _short(value: object, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}…"
