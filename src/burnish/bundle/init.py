"""Writes a launch file to fill in, from the parameters of an entry."""

from collections.abc import Sequence

from burnish.bundle.parameters import Parameter

__all__ = ["template"]

_HEAD = """\
# How to run {entry}, for burnish tune. Put a value for every ? and read the notes beside them.
#
# Buffers: buffer = element type: f64 f32 f16 bf16 f8e4m3 f8e5m2 i8 i16 i32 i64 u8 u16 u32 u64 bool
#          shape  = elements along each axis, slowest first
#          role   = "in" (read), "out" (written) or "inout"; what is not written must be "in"
#          fill   = zeros, ones, normal, uniform(lo, hi), integers(lo, hi), arange, permutation,
#                   offsets(total), file(path.npy); float buffers are normal if nothing is said
# Give shapes and values as in real use: what is tuned is this launch. More [[workload]] blocks
# may follow, with weight = … and held_out = true for those that only judge the result.

entry = "{entry}"

[[workload]]
name = "main"
"""
_GRID = """\
grid = [?, 1, 1]                     # blocks along x, y, z
block = [?, 1, 1]                    # threads along x, y, z
dynamic_shared_bytes = 0
"""


def template(entry: str, parameters: Sequence[Parameter], *, has_grid: bool) -> str:
    """A launch file with a ``?`` for everything that its author must say.

    Args:
        entry: The function to run.
        parameters: Its parameters.
        has_grid: Whether it is launched on a grid; a C function for the host is not.
    """
    lines = [_line(place, one) for place, one in enumerate(parameters)]
    grid = _GRID if has_grid else ""
    body = "\n".join(["arguments = [", *lines, "]"])
    return f"{_HEAD.format(entry=entry)}{grid}{body}\n"


def _line(place: int, parameter: Parameter) -> str:
    name = parameter.name or f"p{place}"
    value, note = _value(parameter)
    line = f'  {{ name = "{name}", {value} }},'
    return f"{line:<71} # {note}" if note else line


def _value(parameter: Parameter) -> tuple[str, str]:
    dtype = f'"{parameter.dtype}"' if parameter.dtype else "?"
    whole = parameter.dtype[:1] in {"i", "u"} or parameter.dtype == "bool"
    fill = ", fill = ?" if whole else ""
    if parameter.kind == "pointer" and parameter.is_const:
        return f'buffer = {dtype}, shape = [?], role = "in"{fill}', ""
    if parameter.kind == "pointer":
        return f"buffer = {dtype}, shape = [?], role = ?", 'role: "out", "inout" or "in"'
    if parameter.kind == "word":
        note = 'a pointer; if it is a number: scalar = "i64", value = …'
        return "buffer = ?, shape = [?], role = ?", note
    if parameter.kind == "scalar":
        return f"scalar = {dtype}, value = ?", ""
    if parameter.kind == "bits":
        return "scalar = ?, value = ?", f"{parameter.size} bytes: an integer, f16, bf16 or bool"
    size = f"{parameter.size} bytes" if parameter.size else "by value"
    return "struct = [ ? ]", f'{size}: {{ scalar = "i32", value = 1 }}, {{ pointer = "name" }}, …'
