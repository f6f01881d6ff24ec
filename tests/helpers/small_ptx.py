"""Small PTX entries for tests: a body in an entry of three pointers and two numbers."""

import re

__all__ = ["HEADER", "entry", "swapped"]

HEADER = """.visible .entry k(
	.param .u64 .ptr .global .align 16 k_0,
	.param .u64 k_1,
	.param .u64 k_2,
	.param .u64 k_3,
	.param .u32 k_4
)
.maxntid 128, 1, 1
"""
REGISTERS = """	.reg .pred %p<9>;
	.reg .b32 %r<99>;
	.reg .f32 %f<99>;
	.reg .b64 %rd<99>;
"""
POINTERS = """	ld.param.u64 %rd1, [k_0];
	ld.param.u64 %rd2, [k_1];
	ld.param.u64 %rd3, [k_2];
	ld.param.u64 %rd4, [k_3];
	ld.param.u32 %r1, [k_4];
"""


def entry(body: str, header: str = HEADER) -> str:
    """The entry of a body; its lines are indented."""
    lines = "\n".join(f"\t{line.strip()}" for line in body.strip().split("\n"))
    return f"{header}{{\n{REGISTERS}{POINTERS}{lines}\n\tret;\n}}\n"


def swapped(body: str) -> str:
    """The body with its last two statements changed over; a group may have several lines."""
    body = body.strip()
    *before, one, two = re.split(r"\n(?![^{]*^\}$)", body, flags=re.MULTILINE)
    return "\n".join([*before, two, one])
