"""The parameters of an entry, from PTX or from a C function, and whether arguments fit them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from burnish.bundle.c_types import CType, c_type, typedefs
from burnish.bundle.dtypes import DTYPES
from burnish.errors import LaunchError
from burnish.model.workload import Argument, Buffer, Bytes, Scalar

__all__ = ["Parameter", "c_parameters", "check_arguments", "ptx_parameter"]

_POINTER_BYTES = 8
_NOISE = re.compile(r"\b(volatile|restrict|__restrict__|__restrict|register|__grid_constant__)\b")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an entry, as far as its file tells.

    Attributes:
        name: For people; empty where the file names none.
        kind: ``pointer``; ``scalar`` of ``dtype``; ``word``: 64 bits of PTX that may be a
            pointer or a number; ``bits``: a number whose type PTX does not tell; ``struct``;
            or ``unknown``: a type of C that is declared elsewhere.
        size: In bytes; 0 where it is not known.
        dtype: Element type of a scalar, or of what a pointer points to, where it is known.
        is_const: Whether a pointer's memory is only read.
    """

    name: str
    kind: str
    size: int
    dtype: str = ""
    is_const: bool = False


def ptx_parameter(name: str, kind: str, size: int) -> Parameter:
    """A parameter of PTX.

    Args:
        name: Its name.
        kind: Its type, such as ``.u64``; ``.b8`` with more than one byte is a struct.
        size: Its size in bytes.
    """
    bare = kind.lstrip(".")
    if size not in {1, 2, 4, _POINTER_BYTES} or (bare == "b8" and size > 1):
        return Parameter(name, "struct", size)
    if bare in {"u64", "s64", "b64"}:
        return Parameter(name, "word", size)
    if bare[0] == "f" and bare in DTYPES:
        return Parameter(name, "scalar", size, bare)
    if bare[0] == "b" or size < DTYPES["i32"].size:
        return Parameter(name, "bits", size)
    return Parameter(name, "scalar", size, bare.replace("s", "i"))


def c_parameters(text: str, entry: str) -> tuple[Parameter, ...]:
    """The parameters of a function in C or CUDA C++ source.

    Reads plain declarations and typedefs of numbers and pointers to them; macros and templates
    are not expanded.

    Raises:
        LaunchError: The source holds no such function.
    """
    bare = _COMMENT.sub(" ", text)
    known = typedefs(bare)
    for found in re.finditer(rf"\b{re.escape(entry)}\s*\(", bare):
        inside = _to_closing(bare[found.end() :])
        before = bare[: found.start()].rstrip()
        is_call = not before or not re.search(r"[\w*)>]$", before) or before.endswith("return")
        if inside is not None and not is_call:
            parts = [part for part in _parts(inside) if part not in {"", "void"}]
            return tuple(_c_parameter(part, known) for part in parts)
    raise LaunchError(f"no function {entry!r} with its parameters was found in the source")


def check_arguments(arguments: Sequence[Argument], parameters: Sequence[Parameter]) -> None:
    """Check that arguments fit the parameters of the entry.

    Raises:
        LaunchError: Their number or a type differs; the message names the position.
    """
    if len(arguments) != len(parameters):
        names = ", ".join(one.name or one.kind for one in parameters)
        raise LaunchError(
            f"the entry has {len(parameters)} parameters ({names}) and the launch file gives "
            f"{len(arguments)} arguments"
        )
    for position, (argument, parameter) in enumerate(zip(arguments, parameters, strict=True)):
        need = _need(argument, parameter)
        if need:
            shown = f' "{parameter.name}"' if parameter.name else ""
            raise LaunchError(
                f'argument {position} "{argument.name}": parameter{shown} needs {need}, not '
                f"{_said(argument)}"
            )


def _need(argument: Argument, parameter: Parameter) -> str:
    """What the parameter needs; empty where the argument is that."""
    if parameter.kind == "unknown":
        return "a number, bytes or a struct" if isinstance(argument, Buffer) else ""
    if isinstance(argument, Buffer):
        fits = parameter.kind == "word" or (
            parameter.kind == "pointer" and _may_hold(argument.dtype, parameter.dtype)
        )
    elif isinstance(argument, Bytes):
        fits = len(argument.data) == parameter.size and parameter.kind != "pointer"
    else:
        fits = _scalar_fits(argument, parameter)
    return "" if fits else _described(parameter)


def _may_hold(given: str, declared: str) -> bool:
    """Whether memory of a type may be what a pointer to another one is declared to point to.

    C reads any memory as characters, and keeps short floats that it has no type for in whole
    numbers of 16 bits. The sign of whole numbers is left to the user.
    """
    if not declared or given == declared:
        return True
    own, wanted = DTYPES[given], DTYPES[declared]
    is_whole = wanted.kind in {"int", "uint"}
    if not is_whole or own.size != wanted.size:
        return is_whole and wanted.size == 1
    is_short_float = own.kind == "float" and own.size == DTYPES["f16"].size
    return own.kind in {"int", "uint"} or is_short_float or wanted.size == 1


def _scalar_fits(argument: Scalar, parameter: Parameter) -> bool:
    kind = DTYPES[argument.dtype]
    if parameter.kind == "struct" or kind.size != parameter.size:
        return False
    if parameter.kind == "pointer":
        return kind.kind != "float"
    if parameter.kind != "scalar":
        return True
    wanted = DTYPES[parameter.dtype]
    return kind.name == wanted.name if "float" in {kind.kind, wanted.kind} else True


def _described(parameter: Parameter) -> str:
    if parameter.kind == "pointer":
        what = f" of {parameter.dtype}" if parameter.dtype else ""
        return f"a buffer{what} (or a 64-bit number such as 0 for none)"
    if parameter.kind == "word":
        return "a buffer or a 64-bit number"
    if parameter.kind == "scalar":
        return f"a scalar of {parameter.dtype}"
    if parameter.kind == "bits":
        return f"a scalar of {parameter.size} bytes"
    return f"a struct or bytes, {parameter.size} bytes in all"


def _said(argument: Argument) -> str:
    if isinstance(argument, Buffer):
        return f"a buffer of {argument.dtype}"
    if isinstance(argument, Bytes):
        return f"{len(argument.data)} bytes"
    return f"a scalar of {argument.dtype}"


def _c_parameter(text: str, typedefs_: Mapping[str, CType]) -> Parameter:
    bare = " ".join(_NOISE.sub(" ", text).split())
    is_const = bare.startswith("const ") or " const" in bare.partition("*")[0]
    bare = re.sub(r"\bconst\b", " ", bare)
    words = re.sub(r"\[.*\]|[*&()]", " ", bare).split()
    # A prototype need not name its parameters.
    known = c_type(" ".join(words), typedefs_)
    name = "" if known or len(words) == 1 else words[-1]
    found = known or c_type(" ".join(words[: -1 if name else None]), typedefs_)
    levels = _levels(bare) + bool(found and found.is_pointer)
    dtype = found.dtype if found else ""
    if levels:
        return Parameter(name, "pointer", _POINTER_BYTES, dtype if levels == 1 else "", is_const)
    if dtype:
        return Parameter(name, "scalar", DTYPES[dtype].size, dtype)
    return Parameter(name, "unknown", 0)


def _levels(declared: str) -> int:
    """How many pointers one after the other: one for ``*x``, ``x[]``, ``(*x)[4]``, ``x[][4]``."""
    is_array = "[" in declared and "(" not in declared
    return declared.count("*") + is_array


def _to_closing(text: str) -> str | None:
    depth = 1
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[:place]
    return None


def _parts(text: str) -> Iterator[str]:
    """What stands between the outermost commas."""
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()
