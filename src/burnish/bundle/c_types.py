"""Types of C as element types: their names, their words in any order, and typedefs of them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["CType", "c_type", "typedefs"]

_WIDTHS = (8, 16, 32, 64)
_NAMED = {
    "size_t": "u64",
    "ssize_t": "i64",
    "ptrdiff_t": "i64",
    "intptr_t": "i64",
    "uintptr_t": "u64",
    "float": "f32",
    "double": "f64",
    "half": "f16",
    "__half": "f16",
    "_Float16": "f16",
    "__nv_bfloat16": "bf16",
    "__nv_fp8_e4m3": "f8e4m3",
    "__nv_fp8_e5m2": "f8e5m2",
    "bool": "bool",
    "_Bool": "bool",
    **{f"int{width}_t": f"i{width}" for width in _WIDTHS},
    **{f"uint{width}_t": f"u{width}" for width in _WIDTHS},
}
# On the machines that kernels run on, where long has 64 bits and char a sign.
_SIZES = {"char": 8, "short": 16, "long": 64}
_WHOLE = frozenset({"signed", "unsigned", "int", *_SIZES})
_TYPEDEF = re.compile(r"\btypedef\s+([A-Za-z_]\w*(?:\s+[A-Za-z_]\w*)*?)(\s*\*\s*|\s+)(\w+)\s*;")
_CONST = re.compile(r"\b(const|volatile|__extension__)\b")


@dataclass(frozen=True, slots=True)
class CType:
    """A type, as far as it is known.

    Attributes:
        dtype: The element type that it is or points to; empty where that is not known.
        is_pointer: Whether it is a pointer.
    """

    dtype: str
    is_pointer: bool = False


def c_type(declared: str, known: Mapping[str, CType]) -> CType | None:
    """The type of that name; None where it is declared elsewhere.

    Args:
        declared: Its words, without qualifiers and stars.
        known: Typedefs.
    """
    if declared in known:
        return known[declared]
    words = declared.split()
    if not words:
        return None
    if set(words) <= _WHOLE:
        size = next((_SIZES[word] for word in words if word in _SIZES), 32)
        return CType(f"{'u' if 'unsigned' in words else 'i'}{size}")
    return CType(_NAMED[declared]) if declared in _NAMED else None


def typedefs(text: str) -> Mapping[str, CType]:
    """What a source calls the types that are known: name to type.

    Args:
        text: The source, without comments.
    """
    known: dict[str, CType] = {}
    for name, declared, is_pointer in _declared(text):
        found = c_type(declared, known)
        if found is None or (is_pointer and found.is_pointer):
            known[name] = CType("", is_pointer)
        else:
            known[name] = CType(found.dtype, is_pointer or found.is_pointer)
    return known


def _declared(text: str) -> Iterator[tuple[str, str, bool]]:
    for found in _TYPEDEF.finditer(text):
        yield found[3], " ".join(_CONST.sub(" ", found[1]).split()), "*" in found[2]
