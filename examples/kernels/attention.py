# ruff: noqa: ANN001, ANN201, ANN202, FBT003, N803, PLR0913, PLR0917 - the language is Triton's
"""Causal attention, forward, in Triton; `attention.ptx` is what this file compiles to.

    python attention.py        # with Triton installed; no GPU is needed

The kernel takes ``q``, ``k``, ``v`` and ``out`` as fp16 arrays of heads x length x 64, dense, and
a length that is a multiple of 128. Its grid is (length / 128, heads).
"""

from pathlib import Path

import triton
import triton.language as tl

ROWS, COLUMNS, DEPTH = 128, 64, 64
WARPS, STAGES = 4, 3


@triton.jit
def _over(first, last, queries, k, v, rows, top, total, sums, scale,
          MASKED: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):  # fmt: skip
    depth = tl.arange(0, DEPTH)
    for start in tl.range(first, last, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        keys = tl.load(k + columns[None, :] * DEPTH + depth[:, None])
        scores = tl.dot(queries, keys) * scale
        if MASKED:
            scores = tl.where(rows[:, None] >= columns[None, :], scores, float("-inf"))
        higher = tl.maximum(top, tl.max(scores, 1))
        shares = tl.exp2(scores - higher[:, None])
        fade = tl.exp2(top - higher)
        total = total * fade + tl.sum(shares, 1)
        values = tl.load(v + columns[:, None] * DEPTH + depth[None, :])
        sums = tl.dot(shares.to(values.dtype), values, sums * fade[:, None])
        top = higher
    return top, total, sums


@triton.jit
def attention(q, k, v, out, length, scale,
              ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):  # fmt: skip
    """One block makes ``ROWS`` rows of one head. ``scale`` holds log2(e) already."""
    first = tl.program_id(0) * ROWS
    rows = first + tl.arange(0, ROWS)
    depth = tl.arange(0, DEPTH)
    head = tl.program_id(1).to(tl.int64) * length * DEPTH
    own = head + rows[:, None] * DEPTH + depth[None, :]
    queries = tl.load(q + own)
    top = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, DEPTH], tl.float32)
    k += head
    v += head
    top, total, sums = _over(0, first, queries, k, v, rows, top, total, sums, scale,
                             False, COLUMNS, DEPTH)  # fmt: skip
    top, total, sums = _over(first, first + ROWS, queries, k, v, rows, top, total, sums, scale,
                             True, COLUMNS, DEPTH)  # fmt: skip
    tl.store(out + own, (sums / total[:, None]).to(out.dtype.element_ty))


def compiled() -> "triton.compiler.CompiledKernel":
    """The kernel for sm_90a, compiled as a launch with aligned pointers would have it."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    triton.knobs.compilation.disable_line_info = True  # it would name files of this machine
    names = ("q", "k", "v", "out")
    signature = dict.fromkeys(names, "*fp16") | {"length": "i32", "scale": "fp32"}
    constants = {"ROWS": ROWS, "COLUMNS": COLUMNS, "DEPTH": DEPTH}
    signature |= dict.fromkeys(constants, "constexpr")
    sixteen = {(place,): [["tt.divisibility", 16]] for place in range(len(names) + 1)}
    source = ASTSource(attention, signature, constants, sixteen)
    options = {"num_warps": WARPS, "num_stages": STAGES}
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)


if __name__ == "__main__":
    kernel = compiled()
    Path(__file__).with_suffix(".ptx").write_text(kernel.asm["ptx"])
    print(f"shared bytes: {kernel.metadata.shared}, threads: {32 * kernel.metadata.num_warps}")
