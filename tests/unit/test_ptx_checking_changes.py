"""Texts that a wrong rewrite might write are each caught, and a legal twin of each is not."""

import pytest
from tests.helpers.small_ptx import entry

from burnish.errors import RewriteError
from burnish.ptx.checking.checker import Checker

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
    "blank lost": ("add.s32 %r2, %r1", "add.s32%r2, %r1", "reading"),
    "blank put in": ("ld.volatile.global", "ld .volatile.global", "reading"),
    "hint in the middle": ("add.s32 %r2", '.pragma "nounroll";\nadd.s32 %r2', "pragmas"),
    "hint at no loop": ("$B:", '$B:\n.pragma "frequency 1";', "pragmas"),
    "hint twice": ("$A:", '$A:\n.pragma "nounroll";\n.pragma "nounroll";', "pragmas"),
    "jumps out of a group": ("bra $B;", "{ bra $B; }", "layout"),
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
    "eviction after a weak load": (
        "ld.global.b32 %r3, [%rd2+4];\nld.volatile.global.b32 %r4, [%rd2+8];",
        "ld.global.L1::evict_last.b32 %r3, [%rd2+4];\nld.volatile.global.b32 %r4, [%rd2+8];",
    ),
    "moved inside its block": (
        "add.s32 %r2, %r1, 1;\nsetp.lt.s32 %p1, %r2, 4;",
        "add.s32 %r2, %r1, 1;\nsetp.lt.s32 %p1, %r2, 4;\n$L__tmp2:",
    ),
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
