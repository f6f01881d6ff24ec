"""Orders that a wrong rewrite might make are each caught, and a legal twin of each is not.

A case is two bodies of a small kernel (see `tests.helpers.small_ptx`). The last two statements of
the first must not change places; those of the second, which differs by what makes the fault one,
may.
"""

import pytest
from tests.helpers.small_ptx import entry, swapped

from burnish.errors import RewriteError
from burnish.ptx.checking.checker import Checker

MMA = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1,"
    " 1, 0, 0;"
)

# Two neighbours that must not change places, by the reason, and two that may.
ORDERS = {
    "read after write": (
        "add.s32 %r2, %r1, 1;\nadd.s32 %r3, %r2, 1;",
        "add.s32 %r2, %r1, 1;\nadd.s32 %r3, %r1, 1;",
    ),
    "write after read": (
        "add.s32 %r3, %r2, 1;\nadd.s32 %r2, %r1, 1;",
        "add.s32 %r3, %r2, 1;\nadd.s32 %r4, %r1, 1;",
    ),
    "write after write": (
        "mov.b32 %r2, 0;\nmov.b32 %r2, 1;",
        "mov.b32 %r2, 0;\nmov.b32 %r3, 1;",
    ),
    "load over store": (
        "st.global.f32 [%rd1], %f1;\nld.global.f32 %f2, [%rd2];",
        "st.shared.f32 [%r1], %f1;\nld.global.f32 %f2, [%rd2];",
    ),
    "store over load": (
        "ld.global.f32 %f2, [%rd2];\nst.global.f32 [%rd1], %f1;",
        "ld.shared.f32 %f2, [%r1];\nst.global.f32 [%rd1], %f1;",
    ),
    "store over store": (
        "st.global.f32 [%rd1], %f1;\nst.global.f32 [%rd2], %f2;",
        "st.global.f32 [%rd1], %f1;\nst.shared.f32 [%r1], %f2;",
    ),
    "local store over load": (
        "ld.local.f32 %f2, [%rd2];\nst.local.f32 [%rd1], %f1;",
        "ld.global.f32 %f2, [%rd2];\nst.local.f32 [%rd1], %f1;",
    ),
    "one address": (
        "st.shared.b32 [%r2+4], %r3;\nld.shared.b32 %r4, [%r2+4];",
        "st.shared.b32 [%r2+4], %r3;\nld.shared.b32 %r4, [%r2];",
    ),
    "overlapping vectors": (
        "st.shared.v4.b32 [%r2], {%r3, %r4, %r5, %r6};\nld.shared.b32 %r7, [%r2+12];",
        "st.shared.v4.b32 [%r2], {%r3, %r4, %r5, %r6};\nld.shared.b32 %r7, [%r2+16];",
    ),
    "base in between": (
        "st.shared.b32 [%r2], %r3;\nadd.s32 %r2, %r2, 4;",
        "st.shared.b32 [%r2], %r3;\nadd.s32 %r4, %r2, 4;",
    ),
    "shared load over barrier": (
        "bar.sync 0;\nld.shared.b32 %r2, [%r1];",
        "bar.sync 0;\nld.const.b32 %r2, [%r1];",
    ),
    "shared store over barrier": (
        "st.shared.b32 [%r1], %r2;\nbar.sync 0;",
        "add.s32 %r2, %r3, 1;\nbar.sync 0;",
    ),
    "global load over barrier": (
        "bar.sync 0;\nld.global.b32 %r2, [%rd1];",
        "bar.sync 0;\nld.param.u64 %rd5, [k_0];",
    ),
    "load over warp barrier": (
        "bar.warp.sync -1;\nld.shared.b32 %r2, [%r1];",
        "bar.warp.sync -1;\nmul.lo.s32 %r2, %r1, %r1;",
    ),
    "store over fence": (
        "st.global.f32 [%rd1], %f1;\nfence.acq_rel.gpu;",
        "fma.rn.f32 %f1, %f1, %f2, %f3;\nfence.acq_rel.gpu;",
    ),
    "load over membar": (
        "membar.gl;\nld.global.f32 %f2, [%rd2];",
        "membar.gl;\nadd.f32 %f2, %f3, %f4;",
    ),
    "load over proxy fence": (
        "fence.proxy.async.shared::cta;\nld.shared.b32 %r2, [%r1];",
        "fence.proxy.async.shared::cta;\nshl.b32 %r2, %r1, 2;",
    ),
    "predicated write": (
        "mov.b32 %r2, 0;\n@%p1 ld.global.b32 %r2, [%rd1];",
        "mov.b32 %r2, 0;\n@%p1 ld.global.b32 %r3, [%rd1];",
    ),
    "write after predicated write": (
        "@%p1 mov.b32 %r2, %r3;\n@!%p1 mov.b32 %r2, %r4;",
        "@%p1 mov.b32 %r2, %r3;\n@!%p1 mov.b32 %r5, %r4;",
    ),
    "guard": (
        "setp.lt.s32 %p1, %r1, 4;\n@%p1 mov.b32 %r2, 0;",
        "setp.lt.s32 %p1, %r1, 4;\n@%p2 mov.b32 %r2, 0;",
    ),
    "guard written after": (
        "@%p1 mov.b32 %r2, 0;\nsetp.lt.s32 %p1, %r1, 4;",
        "@%p1 mov.b32 %r2, 0;\nsetp.lt.s32 %p2, %r1, 4;",
    ),
    "generic store past a shared load": (
        "ld.shared.b32 %r2, [%r1];\nst.b32 [%rd1], %r3;",
        "ld.const.b32 %r2, [%r1];\nst.b32 [%rd1], %r3;",
    ),
    "generic load past a local store": (
        "st.local.b32 [%rd2], %r3;\nld.b32 %r2, [%rd1];",
        "ld.local.b32 %r4, [%rd2];\nld.b32 %r2, [%rd1];",
    ),
    "generic store past a global load": (
        "ld.global.b32 %r2, [%rd2];\nst.b32 [%rd1], %r3;",
        "ld.param.u32 %r2, [k_4];\nst.b32 [%rd1], %r3;",
    ),
    "volatile with weak load": (
        "ld.volatile.global.b32 %r2, [%rd1];\nld.global.b32 %r3, [%rd2];",
        "ld.global.b32 %r2, [%rd1];\nld.global.b32 %r3, [%rd2];",
    ),
    "weak load with volatile": (
        "ld.global.b32 %r3, [%rd2];\nld.volatile.shared.b32 %r2, [%r1];",
        "ld.const.b32 %r3, [%rd2];\nld.volatile.shared.b32 %r2, [%r1];",
    ),
    "ld.acquire passed": (
        "ld.acquire.gpu.global.b32 %r2, [%rd1];\nld.global.b32 %r3, [%rd2];",
        "ld.acquire.gpu.global.b32 %r2, [%rd1];\nld.const.b32 %r3, [%rd2];",
    ),
    "ld.relaxed passed": (
        "ld.relaxed.gpu.global.b32 %r2, [%rd1];\nld.global.b32 %r3, [%rd2];",
        "ld.relaxed.gpu.global.b32 %r2, [%rd1];\nadd.s32 %r3, %r4, 1;",
    ),
    "st.release passed": (
        "st.global.b32 [%rd2], %r3;\nst.release.gpu.global.b32 [%rd1], %r2;",
        "mov.b32 %r3, 7;\nst.release.gpu.global.b32 [%rd1], %r2;",
    ),
    "atomics": (
        "atom.global.add.u32 %r2, [%rd1], 1;\natom.global.add.u32 %r3, [%rd2], 1;",
        "atom.global.add.u32 %r2, [%rd1], 1;\nadd.u32 %r3, %r4, 1;",
    ),
    "reductions": (
        "red.global.add.u32 [%rd1], 1;\nred.global.add.u32 [%rd2], 1;",
        "red.global.add.u32 [%rd1], 1;\nmov.b32 %r2, %r3;",
    ),
    "load over atomic": (
        "atom.shared.add.u32 %r2, [%r1], 1;\nld.global.b32 %r3, [%rd2];",
        "atom.shared.add.u32 %r2, [%r1], 1;\nld.const.b32 %r3, [%rd2];",
    ),
    "shuffles": (
        "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\nshfl.sync.bfly.b32 %r3, %r4, 1, 31, -1;",
        "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\nxor.b32 %r3, %r4, 1;",
    ),
    "shuffle over barrier": (
        "bar.sync 0;\nshfl.sync.bfly.b32 %r3, %r4, 1, 31, -1;",
        "bar.sync 0;\nxor.b32 %r3, %r4, 1;",
    ),
    "votes": (
        "vote.sync.ballot.b32 %r2, %p1, -1;\nactivemask.b32 %r3;",
        "vote.sync.ballot.b32 %r2, %p1, -1;\nmov.u32 %r3, %laneid;",
    ),
    "shuffle's second target": (
        "shfl.sync.up.b32 %r2|%p1, %r1, 1, 0, -1;\n@%p1 add.s32 %r3, %r3, 1;",
        "shfl.sync.up.b32 %r2|%p1, %r1, 1, 0, -1;\n@%p2 add.s32 %r3, %r3, 1;",
    ),
    "setp's second target": (
        "setp.lt.s32 %p1|%p2, %r1, 4;\nselp.b32 %r2, 1, 0, %p2;",
        "setp.lt.s32 %p1|%p2, %r1, 4;\nselp.b32 %r2, 1, 0, %p3;",
    ),
    "vector lane": (
        "ld.global.v2.f32 {%f1, %f2}, [%rd1];\nadd.f32 %f3, %f2, %f2;",
        "ld.global.v2.f32 {%f1, %f2}, [%rd1];\nadd.f32 %f3, %f4, %f4;",
    ),
    "vector store": (
        "add.f32 %f2, %f3, %f3;\nst.global.v2.f32 [%rd1], {%f1, %f2};",
        "add.f32 %f5, %f3, %f3;\nst.global.v2.f32 [%rd1], {%f1, %f2};",
    ),
    "pair unpacked": (
        "mov.b64 {%r2, %r3}, %rd1;\nadd.s32 %r4, %r3, 1;",
        "mov.b64 {%r2, %r3}, %rd1;\nadd.s32 %r4, %r5, 1;",
    ),
    "carry": (
        "add.cc.u32 %r2, %r1, 1;\naddc.u32 %r3, %r4, 0;",
        "add.cc.u32 %r2, %r1, 1;\nadd.u32 %r3, %r4, 0;",
    ),
    "carry overwritten": (
        "addc.u32 %r3, %r4, 0;\nadd.cc.u32 %r2, %r1, 1;",
        "addc.u32 %r3, %r4, 0;\nadd.u32 %r2, %r1, 1;",
    ),
    "clock": (
        "mov.u32 %r2, %clock;\nadd.s32 %r3, %r4, 1;",
        "mov.u32 %r2, %laneid;\nadd.s32 %r3, %r4, 1;",
    ),
    "clock64": (
        "add.s32 %r3, %r4, 1;\nmov.u64 %rd5, %clock64;",
        "add.s32 %r3, %r4, 1;\nmov.u64 %rd5, %rd6;",
    ),
    "globaltimer": (
        "mov.u64 %rd5, %globaltimer;\nld.global.b32 %r2, [%rd1];",
        "mov.u32 %r3, %ctaid.x;\nld.global.b32 %r2, [%rd1];",
    ),
    "copy over commit": (
        "cp.async.cg.shared.global [%r1], [%rd1], 16;\ncp.async.commit_group;",
        "add.s64 %rd5, %rd1, 16;\ncp.async.commit_group;",
    ),
    "load over wait": (
        "cp.async.wait_group 0;\nld.shared.b32 %r2, [%r1];",
        "cp.async.wait_group 0;\nadd.s32 %r2, %r1, 16;",
    ),
    "load over copy": (
        "ld.shared.b32 %r2, [%r1];\ncp.async.cg.shared.global [%r3], [%rd1], 16;",
        "ld.const.b32 %r2, [%r1];\ncp.async.cg.shared.global [%r3], [%rd1], 16;",
    ),
    "copy over global store": (
        "st.global.b32 [%rd2], %r2;\ncp.async.cg.shared.global [%r3], [%rd1], 16;",
        "st.local.b32 [%rd2], %r2;\ncp.async.cg.shared.global [%r3], [%rd1], 16;",
    ),
    "mbarrier wait": (
        "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;\nld.shared.b32 %r2, [%r3];",
        "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;\nadd.s32 %r2, %r3, 1;",
    ),
    "mbarrier arrive": (
        "st.shared.b32 [%r3], %r2;\nmbarrier.arrive.shared::cta.b64 _, [%r1];",
        "add.s32 %r2, %r3, 1;\nmbarrier.arrive.shared::cta.b64 _, [%r1];",
    ),
    "bulk copy": (
        (
            "st.shared.b32 [%r3], %r2;\n"
            "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 16;"
        ),
        ("add.s32 %r2, %r4, 1;\ncp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 16;"),
    ),
    "grid dependence": (
        "griddepcontrol.wait;\nld.global.b32 %r2, [%rd1];",
        "griddepcontrol.wait;\nld.param.u32 %r2, [k_4];",
    ),
    "call": (
        "call.uni foo, (%r1);\nld.global.b32 %r2, [%rd1];",
        "call.uni foo, (%r1);\nadd.s32 %r2, %r3, 1;",
    ),
    "call's result": (
        "call.uni (%r2), foo, (%r1);\nadd.s32 %r3, %r2, 1;",
        "call.uni (%r2), foo, (%r1);\nadd.s32 %r3, %r4, 1;",
    ),
    "call in a group": (
        "{ .param .b32 a; st.param.b32 [a], %r1; call.uni foo, (a); }\nadd.s32 %r2, %r3, 1;",
        "{ .reg .b32 a; mov.b32 a, %r1; mov.b32 %r4, a; }\nadd.s32 %r2, %r3, 1;",
    ),
    "group's read": (
        "{ .reg .b32 t; add.s32 t, %r2, 1; mov.b32 %r3, t; }\nmov.b32 %r2, 1;",
        "{ .reg .b32 t; add.s32 t, %r2, 1; mov.b32 %r3, t; }\nmov.b32 %r4, 1;",
    ),
    "group's write": (
        "{ .reg .b32 t; add.s32 t, %r2, 1; mov.b32 %r3, t; }\nmov.b32 %r4, %r3;",
        "{ .reg .b32 t; add.s32 t, %r2, 1; mov.b32 %r3, t; }\nmov.b32 %r4, %r5;",
    ),
    "group's store": (
        "{ st.global.b32 [%rd1], %r2; }\nld.global.b32 %r4, [%rd2];",
        "{ st.shared.b32 [%r1], %r2; }\nld.global.b32 %r4, [%rd2];",
    ),
    "unknown opcode": (
        "frobnicate.b32 %r2, %r3;\nadd.s32 %r4, %r5, 1;",
        "brev.b32 %r2, %r3;\nadd.s32 %r4, %r5, 1;",
    ),
    "unknown group": (
        "{ frobnicate.b32 %r2, %r3; }\nadd.s32 %r4, %r5, 1;",
        "{ brev.b32 %r2, %r3; }\nadd.s32 %r4, %r5, 1;",
    ),
    "wgmma in flight": (
        MMA + "\nwgmma.wait_group.sync.aligned 0;\nadd.f32 %f5, %f2, %f2;",
        MMA + "\nwgmma.wait_group.sync.aligned 0;\nadd.f32 %f5, %f6, %f6;",
    ),
    "wgmma prepared": (
        (
            MMA + "\n"
            "wgmma.wait_group.sync.aligned 0;\n"
            "mov.f32 %f3, 0f00000000;\n"
            "wgmma.fence.sync.aligned;"
        ),
        (
            MMA + "\n"
            "wgmma.wait_group.sync.aligned 0;\n"
            "mov.f32 %f5, 0f00000000;\n"
            "wgmma.fence.sync.aligned;"
        ),
    ),
    "wgmma over commit": (
        MMA + "\nwgmma.commit_group.sync.aligned;",
        MMA + "\nadd.f32 %f5, %f6, %f6;",
    ),
    "shared store over wgmma": (
        MMA + "\nst.shared.b32 [%r1], %r2;",
        MMA + "\nst.global.b32 [%rd3], %r2;",
    ),
    "tcgen05.ld before its wait": (
        (
            "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r2, %r3}, [%r1];\n"
            "tcgen05.wait::ld.sync.aligned;\n"
            "add.s32 %r4, %r3, 1;"
        ),
        (
            "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r2, %r3}, [%r1];\n"
            "tcgen05.wait::ld.sync.aligned;\n"
            "add.s32 %r4, %r5, 1;"
        ),
    ),
    "tcgen05.st before its wait": (
        (
            "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r1], {%r2, %r3};\n"
            "tcgen05.wait::st.sync.aligned;\n"
            "mov.b32 %r3, 1;"
        ),
        (
            "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r1], {%r2, %r3};\n"
            "tcgen05.wait::st.sync.aligned;\n"
            "mov.b32 %r4, 1;"
        ),
    ),
    "ldmatrix over shared store": (
        "st.shared.b32 [%r1], %r2;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r4];",
        "st.global.b32 [%rd1], %r2;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r4];",
    ),
    "declaration": (
        ".reg .b32 %t<3>;\nmov.b32 %t1, 0;",
        "mov.b32 %r3, 1;\nmov.b32 %r2, 0;",
    ),
    "register limit set": (
        "setmaxnreg.dec.sync.aligned.u32 24;\nadd.s32 %r2, %r3, 1;",
        "bar.sync 0;\nadd.s32 %r2, %r3, 1;",
    ),
    "carry over a call": (
        "addc.u32 %r3, %r4, 0;\ncall.uni foo, (%r1);",
        "add.u32 %r3, %r4, 0;\ncall.uni foo, (%r1);",
    ),
    "group's own name": (
        "{ mov.b32 t, 1; .reg .b32 t; mov.b32 t, 2; }\nmov.b32 %r2, t;",
        "{ .reg .b32 t; mov.b32 t, 1; mov.b32 %r3, t; }\nmov.b32 %r2, t;",
    ),
    "group with a line mark": (
        "{\n.loc 1 2 3\nadd.s32 %r2, %r1, 1;\n}\nadd.s32 %r3, %r2, 1;",
        "{\n.loc 1 2 3\nadd.s32 %r2, %r1, 1;\n}\nadd.s32 %r3, %r4, 1;",
    ),
    "wgmma's descriptor": (
        MMA + "\nwgmma.wait_group.sync.aligned 0;\nadd.s64 %rd1, %rd1, 4;",
        MMA + "\nwgmma.wait_group.sync.aligned 0;\nadd.s64 %rd5, %rd3, 4;",
    ),
    "prefetch over fence": (
        "prefetch.global.L1 [%rd1];\nfence.acq_rel.gpu;",
        "prefetch.global.L2 [%rd1];\nadd.s64 %rd5, %rd1, 4;",
    ),
    "return of a call": (
        "ld.param.b32 %r2, [retval0];\nadd.s32 %r3, %r4, 1;",
        "ld.param.b32 %r2, [k_4];\nadd.s32 %r3, %r4, 1;",
    ),
}
FAULTS = {name: fault for name, (fault, _) in ORDERS.items()}
TWINS = {name: twin for name, (_, twin) in ORDERS.items()}


@pytest.mark.parametrize("body", FAULTS.values(), ids=FAULTS.keys())
def test_what_must_keep_its_order_is_caught(body: str) -> None:
    checker = Checker(entry(body))
    checker.check(entry(body))
    with pytest.raises(RewriteError, match="order"):
        checker.check(entry(swapped(body)))


@pytest.mark.parametrize("body", TWINS.values(), ids=TWINS.keys())
def test_its_legal_twin_is_accepted(body: str) -> None:
    Checker(entry(body)).check(entry(swapped(body)))


FREE = {
    "two loads": "ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd2];",
    "load of a parameter past a store": "st.global.f32 [%rd1], %f1;\nld.param.u32 %r2, [k_4];",
    "load of a parameter through a register": (
        "mov.b64 %rd5, k_3;\nst.global.f32 [%rd1], %f1;\nld.param.u32 %r2, [%rd5];"
    ),
    "shuffle past a load": "ld.global.f32 %f1, [%rd1];\nshfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;",
    "copies of one group": (
        "cp.async.cg.shared.global [%r1], [%rd1], 16;\ncp.async.cg.shared.global [%r2], [%rd2], 16;"
    ),
    "what nobody keeps": "mov.b64 {_, %r2}, %rd1;\nmov.b64 {_, %r3}, %rd2;",
}


@pytest.mark.parametrize("body", FREE.values(), ids=FREE.keys())
def test_what_may_change_places_is_accepted(body: str) -> None:
    Checker(entry(body)).check(entry(swapped(body)))


def test_a_pragma_of_the_next_statement_moves_with_it() -> None:
    pragma = '.pragma "used_bytes_mask 0xfff";'
    load, other = "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];", "mov.b32 %r2, %r3;"
    checker = Checker(entry(f"{other}\n{pragma}\n{load}"))
    checker.check(entry(f"{pragma}\n{load}\n{other}"))
    for fault in ([pragma, other, load], [other, load, pragma], [load, other, pragma]):
        with pytest.raises(RewriteError, match=r"order|pragmas"):
            checker.check(entry("\n".join(fault)))


def test_pragmas_of_two_like_statements_do_not_change_places() -> None:
    one, two = '.pragma "used_bytes_mask 0xf";', '.pragma "used_bytes_mask 0xf0";'
    load = "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];"
    checker = Checker(entry(f"{one}\n{load}\n{two}\n{load}"))
    with pytest.raises(RewriteError, match="order"):
        checker.check(entry(f"{two}\n{load}\n{one}\n{load}"))
