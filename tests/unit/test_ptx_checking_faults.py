"""Faults that a wrong rewrite might make are each caught, and their legal neighbours are not.

A case is a body of a small kernel, a change to its text, and the rule that refuses it. Bodies are
wrapped in an entry with three pointers and a 64-bit number; see `ENTRY`.
"""

import pytest

from burnish.errors import RewriteError
from burnish.ptx.checking.checker import Checker

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
    lines = "\n".join(f"\t{line.strip()}" for line in body.strip().split("\n"))
    return f"{header}{{\n{REGISTERS}{POINTERS}{lines}\n\tret;\n}}\n"


def swap(body: str) -> str:
    """The body with its last two lines changed over."""
    *before, one, two = body.strip().split("\n")
    return "\n".join([*before, two, one])


# Two neighbours that must not change places, by the reason.
ORDERS = {
    "read after write": "add.s32 %r2, %r1, 1;\nadd.s32 %r3, %r2, 1;",
    "write after read": "add.s32 %r3, %r2, 1;\nadd.s32 %r2, %r1, 1;",
    "write after write": "mov.b32 %r2, 0;\nmov.b32 %r2, 1;",
    "load over store": "st.global.f32 [%rd1], %f1;\nld.global.f32 %f2, [%rd2];",
    "store over load": "ld.global.f32 %f2, [%rd2];\nst.global.f32 [%rd1], %f1;",
    "store over store": "st.global.f32 [%rd1], %f1;\nst.global.f32 [%rd2], %f2;",
    "local store over load": "ld.local.f32 %f2, [%rd2];\nst.local.f32 [%rd1], %f1;",
    "one address": "st.shared.b32 [%r2+4], %r3;\nld.shared.b32 %r4, [%r2+4];",
    "overlapping vectors": (
        "st.shared.v4.b32 [%r2], {%r3, %r4, %r5, %r6};\nld.shared.b32 %r7, [%r2+12];"
    ),
    "base in between": "st.shared.b32 [%r2], %r3;\nadd.s32 %r2, %r2, 4;",
    "shared load over barrier": "bar.sync 0;\nld.shared.b32 %r2, [%r1];",
    "shared store over barrier": "st.shared.b32 [%r1], %r2;\nbar.sync 0;",
    "global load over barrier": "bar.sync 0;\nld.global.b32 %r2, [%rd1];",
    "load over warp barrier": "bar.warp.sync -1;\nld.shared.b32 %r2, [%r1];",
    "store over fence": "st.global.f32 [%rd1], %f1;\nfence.acq_rel.gpu;",
    "load over membar": "membar.gl;\nld.global.f32 %f2, [%rd2];",
    "load over proxy fence": "fence.proxy.async.shared::cta;\nld.shared.b32 %r2, [%r1];",
    "predicated write": "mov.b32 %r2, 0;\n@%p1 ld.global.b32 %r2, [%rd1];",
    "write after predicated write": "@%p1 mov.b32 %r2, %r3;\n@!%p1 mov.b32 %r2, %r4;",
    "guard": "setp.lt.s32 %p1, %r1, 4;\n@%p1 mov.b32 %r2, 0;",
    "guard written after": "@%p1 mov.b32 %r2, 0;\nsetp.lt.s32 %p1, %r1, 4;",
    "generic store past a shared load": "ld.shared.b32 %r2, [%r1];\nst.b32 [%rd1], %r3;",
    "generic load past a local store": "st.local.b32 [%rd2], %r3;\nld.b32 %r2, [%rd1];",
    "generic store past a global load": "ld.global.b32 %r2, [%rd2];\nst.b32 [%rd1], %r3;",
    "volatile with weak load": "ld.volatile.global.b32 %r2, [%rd1];\nld.global.b32 %r3, [%rd2];",
    "weak load with volatile": "ld.global.b32 %r3, [%rd2];\nld.volatile.shared.b32 %r2, [%r1];",
    "ld.acquire passed": "ld.acquire.gpu.global.b32 %r2, [%rd1];\nld.global.b32 %r3, [%rd2];",
    "ld.relaxed passed": "ld.relaxed.gpu.global.b32 %r2, [%rd1];\nld.global.b32 %r3, [%rd2];",
    "st.release passed": "st.global.b32 [%rd2], %r3;\nst.release.gpu.global.b32 [%rd1], %r2;",
    "atomics": "atom.global.add.u32 %r2, [%rd1], 1;\natom.global.add.u32 %r3, [%rd2], 1;",
    "reductions": "red.global.add.u32 [%rd1], 1;\nred.global.add.u32 [%rd2], 1;",
    "load over atomic": "atom.shared.add.u32 %r2, [%r1], 1;\nld.global.b32 %r3, [%rd2];",
    "shuffles": "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\nshfl.sync.bfly.b32 %r3, %r4, 1, 31, -1;",
    "shuffle over barrier": "bar.sync 0;\nshfl.sync.bfly.b32 %r3, %r4, 1, 31, -1;",
    "votes": "vote.sync.ballot.b32 %r2, %p1, -1;\nactivemask.b32 %r3;",
    "shuffle's second target": (
        "shfl.sync.up.b32 %r2|%p1, %r1, 1, 0, -1;\n@%p1 add.s32 %r3, %r3, 1;"
    ),
    "setp's second target": "setp.lt.s32 %p1|%p2, %r1, 4;\nselp.b32 %r2, 1, 0, %p2;",
    "vector lane": "ld.global.v2.f32 {%f1, %f2}, [%rd1];\nadd.f32 %f3, %f2, %f2;",
    "vector store": "add.f32 %f2, %f3, %f3;\nst.global.v2.f32 [%rd1], {%f1, %f2};",
    "pair unpacked": "mov.b64 {%r2, %r3}, %rd1;\nadd.s32 %r4, %r3, 1;",
    "carry": "add.cc.u32 %r2, %r1, 1;\naddc.u32 %r3, %r4, 0;",
    "carry overwritten": "addc.u32 %r3, %r4, 0;\nadd.cc.u32 %r2, %r1, 1;",
    "clock": "mov.u32 %r2, %clock;\nadd.s32 %r3, %r4, 1;",
    "clock64": "add.s32 %r3, %r4, 1;\nmov.u64 %rd5, %clock64;",
    "globaltimer": "mov.u64 %rd5, %globaltimer;\nld.global.b32 %r2, [%rd1];",
    "copy over commit": ("cp.async.cg.shared.global [%r1], [%rd1], 16;\ncp.async.commit_group;"),
    "load over wait": "cp.async.wait_group 0;\nld.shared.b32 %r2, [%r1];",
    "load over copy": "ld.shared.b32 %r2, [%r1];\ncp.async.cg.shared.global [%r3], [%rd1], 16;",
    "copy over global store": (
        "st.global.b32 [%rd2], %r2;\ncp.async.cg.shared.global [%r3], [%rd1], 16;"
    ),
    "mbarrier wait": (
        "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;\nld.shared.b32 %r2, [%r3];"
    ),
    "mbarrier arrive": "st.shared.b32 [%r3], %r2;\nmbarrier.arrive.shared::cta.b64 _, [%r1];",
    "bulk copy": (
        "st.shared.b32 [%r3], %r2;\ncp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 16;"
    ),
    "grid dependence": "griddepcontrol.wait;\nld.global.b32 %r2, [%rd1];",
    "call": "call.uni foo, (%r1);\nld.global.b32 %r2, [%rd1];",
    "call's result": "call.uni (%r2), foo, (%r1);\nadd.s32 %r3, %r2, 1;",
    "call in a group": (
        "{ .param .b32 a; st.param.b32 [a], %r1; call.uni foo, (a); }\nadd.s32 %r2, %r3, 1;"
    ),
    "group's read": "{ .reg .b32 t; add.s32 t, %r2, 1; mov.b32 %r3, t; }\nmov.b32 %r2, 1;",
    "group's write": "{ .reg .b32 t; add.s32 t, %r2, 1; mov.b32 %r3, t; }\nmov.b32 %r4, %r3;",
    "group's store": "{ st.global.b32 [%rd1], %r2; }\nld.global.b32 %r4, [%rd2];",
    "unknown opcode": "frobnicate.b32 %r2, %r3;\nadd.s32 %r4, %r5, 1;",
    "unknown group": "{ frobnicate.b32 %r2, %r3; }\nadd.s32 %r4, %r5, 1;",
    "wgmma in flight": (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1,"
        " 1, 0, 0;\nwgmma.wait_group.sync.aligned 0;\nadd.f32 %f5, %f2, %f2;"
    ),
    "wgmma prepared": (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1,"
        " 1, 0, 0;\nwgmma.wait_group.sync.aligned 0;\nmov.f32 %f3, 0f00000000;\n"
        "wgmma.fence.sync.aligned;"
    ),
    "wgmma over commit": (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1,"
        " 1, 0, 0;\nwgmma.commit_group.sync.aligned;"
    ),
    "shared store over wgmma": (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1,"
        " 1, 0, 0;\nst.shared.b32 [%r1], %r2;"
    ),
    "tcgen05.ld before its wait": (
        "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r2, %r3}, [%r1];\n"
        "tcgen05.wait::ld.sync.aligned;\nadd.s32 %r4, %r3, 1;"
    ),
    "tcgen05.st before its wait": (
        "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r1], {%r2, %r3};\n"
        "tcgen05.wait::st.sync.aligned;\nmov.b32 %r3, 1;"
    ),
    "ldmatrix over shared store": (
        "st.shared.b32 [%r1], %r2;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r4];"
    ),
    "declaration": ".reg .b32 %t<3>;\nmov.b32 %t1, 0;",
    "register limit set": "setmaxnreg.dec.sync.aligned.u32 24;\nbar.sync 0;",
    "bytes used": (
        '.pragma "used_bytes_mask 0xfff";\nld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];'
    ),
}


@pytest.mark.parametrize("body", ORDERS.values(), ids=ORDERS.keys())
def test_what_must_keep_its_order_is_caught(body: str) -> None:
    checker = Checker(entry(body))
    checker.check(entry(body))
    with pytest.raises(RewriteError, match=r"order|pragmas"):
        checker.check(entry(swap(body)))


FREE = {
    "arithmetic": "add.s32 %r2, %r1, 1;\nadd.s32 %r3, %r1, 1;",
    "two loads": "ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd2];",
    "load of a parameter past a store": "st.global.f32 [%rd1], %f1;\nld.param.u32 %r2, [k_4];",
    "constant past a barrier": "bar.sync 0;\nld.const.b32 %r2, [%r1];",
    "shared load past a global store": "st.global.f32 [%rd1], %f1;\nld.shared.f32 %f2, [%r1];",
    "other word of one base": "st.shared.b32 [%r2], %r3;\nld.shared.b32 %r4, [%r2+4];",
    "arithmetic past a barrier": "bar.sync 0;\nadd.s32 %r2, %r1, 1;",
    "arithmetic past an atomic": "red.global.add.u32 [%rd1], 1;\nadd.s32 %r2, %r1, 1;",
    "shuffle past a load": "ld.global.f32 %f1, [%rd1];\nshfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;",
    "copies of one group": (
        "cp.async.cg.shared.global [%r1], [%rd1], 16;\ncp.async.cg.shared.global [%r2], [%rd2], 16;"
    ),
    "other accumulator": (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1,"
        " 1, 0, 0;\nadd.f32 %f5, %f6, %f6;"
    ),
    "group past others": "{ .reg .b32 t; mov.b32 t, 1; mov.b32 %r2, t; }\nmov.b32 %r3, 1;",
    "thread's number": "mov.u32 %r2, %tid.x;\nbar.sync 0;",
}


@pytest.mark.parametrize("body", FREE.values(), ids=FREE.keys())
def test_what_may_change_places_is_accepted(body: str) -> None:
    Checker(entry(body)).check(entry(swap(body)))


BASE = """add.s32 %r2, %r1, 1;
setp.lt.s32 %p1, %r2, 4;
@%p1 bra $A;
st.global.b32 [%rd1], %r2;
bra $B;
$A:
ld.global.b32 %r3, [%rd2+4];
ld.volatile.global.b32 %r4, [%rd2+8];
st.global.b32 [%rd3], %r3;
$B:
red.global.add.u32 [%rd1], 1;
@!%p1 bra $A;"""

# What is replaced, by what, and the rule that says no.
TEXTS = {
    "dropped": ("add.s32 %r2, %r1, 1;", "", "statements"),
    "duplicated": ("red.global.add.u32 [%rd1], 1;", "red.global.add.u32 [%rd1], 1;\n" * 2, "state"),
    "one instead of another": (
        "ld.volatile.global.b32 %r4, [%rd2+8];",
        "ld.global.b32 %r3, [%rd2+4];",
        "statements",
    ),
    "one with a policy instead of another": (
        "ld.volatile.global.b32 %r4, [%rd2+8];",
        "ld.global.cs.b32 %r3, [%rd2+4];",
        "statements",
    ),
    "operand changed": ("add.s32 %r2, %r1, 1;", "add.s32 %r2, %r2, 1;", "statements"),
    "immediate changed": ("%r1, 1;", "%r1, 2;", "statements"),
    "opcode changed": ("add.s32", "sub.s32", "statements"),
    "type changed": ("setp.lt.s32", "setp.lt.u32", "statements"),
    "offset changed": ("[%rd2+4]", "[%rd2+8]", "statements"),
    "guard inverted": ("@%p1 bra", "@!%p1 bra", "layout"),
    "guard dropped": ("@%p1 bra", "bra", "layout"),
    "guard added": ("add.s32 %r2", "@%p1 add.s32 %r2", "statements"),
    "target changed": ("@%p1 bra $A;", "@%p1 bra $B;", "layout|statements"),
    "other target of the loop": ("@!%p1 bra $A;", "@!%p1 bra $B;", "layout"),
    "wrong label": ("@%p1 bra $A;", "@%p1 bra $C;", "layout"),
    "label twice": ("$B:", "$B:\n$A:", "layout"),
    "branch dropped": ("bra $B;\n", "", "layout|statements"),
    "fall-through lost": ("$B:\n", "bra $A;\n$B:\n", "layout|statements"),
    "label moved": (
        "$A:\nld.global.b32 %r3, [%rd2+4];",
        "ld.global.b32 %r3, [%rd2+4];\n$A:",
        "lay|st",
    ),
    "moved over a branch": (
        "st.global.b32 [%rd1], %r2;\nbra $B;",
        "bra $B;\nst.global.b32 [%rd1], %r2;",
        "layout|statements",
    ),
    "moved into a block": (
        "@%p1 bra $A;\nst.global.b32 [%rd1], %r2;",
        "st.global.b32 [%rd1], %r2;\n@%p1 bra $A;",
        "state",
    ),
    "returns early": ("@!%p1 bra $A;", "@!%p1 bra $A;\ntrap;", "layout"),
    "brace scope crossed": ("add.s32 %r2, %r1, 1;", "{ add.s32 %r2, %r1, 1; }", "statements"),
    "evict hint on volatile": (
        "ld.volatile.global.b32",
        "ld.volatile.global.L1::evict_last.b32",
        "policy",
    ),
    "volatile dropped": ("ld.volatile.global.b32", "ld.global.b32", "statements"),
    "space dropped": ("ld.global.b32", "ld.b32", "statements"),
    "prefetch on a store": ("st.global.b32 [%rd1]", "st.global.L2::128B.b32 [%rd1]", "policy"),
    "operator of a store": ("st.global.b32 [%rd1]", "st.global.ca.b32 [%rd1]", "policy"),
    "operator of a load": ("ld.global.b32 %r3", "ld.global.wt.b32 %r3", "policy"),
    "volatile operator": ("ld.global.b32 %r3", "ld.global.cv.b32 %r3", "policy"),
    "last use": ("ld.global.b32 %r3", "ld.global.lu.b32 %r3", "policy"),
    "two operators": ("ld.global.b32 %r3", "ld.global.cs.L1::no_allocate.b32 %r3", "policy"),
    "two evictions": (
        "ld.global.b32 %r3",
        "ld.global.L1::evict_last.L1::no_allocate.b32 %r3",
        "policy",
    ),
    "unknown eviction": ("ld.global.b32 %r3", "ld.global.L1::evict_most.b32 %r3", "policy"),
    "parts out of order": ("ld.global.b32 %r3", "ld.global.b32.cs %r3", "policy"),
    "prefetch before eviction": (
        "ld.global.b32 %r3",
        "ld.global.L2::64B.L1::evict_last.b32 %r3",
        "policy",
    ),
    "policy of an atomic": ("red.global.add", "red.global.L2::128B.add", "statements"),
    "declaration changed": (".reg .f32 %f<99>;", ".reg .f32 %f<9>;", "statements"),
    "block size changed": (".maxntid 128, 1, 1", ".maxntid 256, 1, 1", "limits"),
    "block size required": (".maxntid 128, 1, 1", ".reqntid 128, 1, 1", "limits"),
    "parameter changed": (".param .u32 k_4", ".param .u64 k_4", "limits"),
    "no such limit": (".maxntid 128, 1, 1", ".maxntid 128, 1, 1\n.maxnreg 300", "limits"),
    "limit twice": (".maxntid 128, 1, 1", ".maxntid 128, 1, 1\n.maxnreg 32\n.maxnreg 64", "limits"),
    "clusters": (".maxntid 128, 1, 1", ".maxntid 128, 1, 1\n.maxclusterrank 2", "limits"),
    "unknown pragma": ("$A:", '$A:\n.pragma "used_bytes_mask 1";', "pragmas"),
    "nonsense pragma": ("$A:", '$A:\n.pragma "enable_smem_spilling";', "pragmas"),
    "no end": ("ret;\n}", "ret;", "reading"),
    "more than an entry": ("ret;\n}", "ret;\n}\n.reg .b32 x;", "reading"),
    "unreachable code": ("ret;\n}", "ret;\nmov.b32 %r9, 1;\n}", "layout"),
}


def changed(text: str, old: str, new: str) -> str:
    text = text.replace("\t", "")
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(("old", "new", "rule"), TEXTS.values(), ids=TEXTS.keys())
def test_a_changed_text_is_caught(old: str, new: str, rule: str) -> None:
    checker = Checker(entry(BASE))
    with pytest.raises(RewriteError, match=f"^(?:{rule})"):
        checker.check(changed(entry(BASE), old, new))


LEGAL = {
    "operator": ("ld.global.b32 %r3", "ld.global.cs.b32 %r3"),
    "eviction": ("ld.global.b32 %r3", "ld.global.L1::evict_last.b32 %r3"),
    "prefetch": ("ld.global.b32 %r3", "ld.global.L2::256B.b32 %r3"),
    "both": ("ld.global.b32 %r3", "ld.global.L1::no_allocate.L2::64B.b32 %r3"),
    "store": ("st.global.b32 [%rd1]", "st.global.wt.b32 [%rd1]"),
    "store's eviction": ("st.global.b32 [%rd1]", "st.global.L1::no_allocate.b32 [%rd1]"),
    "registers": (".maxntid 128, 1, 1", ".maxntid 128, 1, 1\n.maxnreg 64"),
    "occupancy": (".maxntid 128, 1, 1", ".maxntid 128, 1, 1\n.minnctapersm 2"),
    "frequency": ("$A:", '$A:\n.pragma "frequency 1";'),
    "no unrolling": ("$A:", '$A:\n.pragma "nounroll";'),
    "explicit branch": ("$B:\n", "bra $B;\n$B:\n"),
    "label that nobody needs": ("add.s32 %r2", "$L__tmp1:\nadd.s32 %r2"),
    "comments": ("add.s32 %r2", "/* } */ // ret;\nadd.s32 /* ; */ %r2"),
    "debug lines": ("add.s32 %r2", ".loc 1 2 3, function_name $L, inlined_at 1 2 3\nadd.s32 %r2"),
    "layout": (
        "st.global.b32 [%rd1], %r2;\nbra $B;\n$A:",
        "bra $N;\n$A:",
    ),
}


@pytest.mark.parametrize(("old", "new"), LEGAL.values(), ids=LEGAL.keys())
def test_a_legal_change_is_accepted(old: str, new: str) -> None:
    text = changed(entry(BASE), old, new)
    if "bra $N" in new:  # the block went to the end of the entry
        text = text.replace("ret;\n}", "ret;\n$N:\nst.global.b32 [%rd1], %r2;\nbra $B;\n}")
    Checker(entry(BASE)).check(text)
