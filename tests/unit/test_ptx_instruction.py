"""What single instructions read, write and do to memory."""

import pytest

from burnish.ptx.instruction import Access, Instruction, Registers, declared, read

SCOPE = Registers(
    [
        ".reg .pred %p<9>;",
        ".reg .b32 %r<99>, lone;",
        ".reg .b64 %rd<20>;",
        ".reg .f32 %f<20>;",
        ".reg .v4 .b32 %v;",
        ".reg .b128 %rq<3>;",
    ]
)


def parsed(text: str) -> Instruction:
    return read("", text, text, SCOPE)


def effects(text: str) -> tuple[str, str]:
    """What is written and what is read, in order of names."""
    one = parsed(text)
    assert not one.pinned
    return " ".join(sorted(one.writes)), " ".join(sorted(one.reads))


@pytest.mark.parametrize(
    ("text", "writes", "reads"),
    [
        ("mov.u32 %r1, %tid.x;", "%r1", ""),
        ("mov.b64 {%r1,%r2}, %rd1;", "%r1 %r2", "%rd1"),
        ("mov.b64{%r1, _}, %rd1;", "%r1", "%rd1"),
        ("mov.b32 %r1, {_, lone};", "%r1", "lone"),
        ("mov.u64 %rd1, some_function;", "%rd1", ""),
        ("mov.f32 %f1, 0f3F800000;", "%f1", ""),
        ("mov.b32 %v.x, %r1;", "%v", "%r1 %v"),
        ("add.s32 %r1, %v.y, %r98;", "%r1", "%r98 %v"),
        ("setp.lt.and.s32 %p1|%p2, %r1, 7, !%p3;", "%p1 %p2", "%p3 %r1"),
        ("setp.eq.f16x2 %p1|_, %r1, %r2;", "%p1", "%r1 %r2"),
        ("lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80, %p2;", "%p1 %r1", "%p2 %r2 %r3 %r4"),
        ("@!%p1 add.s32 %r1, %r2, %r3;", "%r1", "%p1 %r1 %r2 %r3"),
        ("@ ! %p1 mov.b32 %r1, 0;", "%r1", "%p1 %r1"),
        ("add.cc.u32 %r1, %r2, %r3;", "%r1 CC.CF", "%r2 %r3"),
        ("addc.cc.u32 %r1, %r2, %r3;", "%r1 CC.CF", "%r2 %r3 CC.CF"),
        ("madc.hi.u32 %r1, %r2, %r3, %r4;", "%r1", "%r2 %r3 %r4 CC.CF"),
        ("fns.b32 %r1, %r2, 0, 1;", "%r1", "%r2"),
        ("dp4a.u32.s32 %r1, %r2, %r3, %r4;", "%r1", "%r2 %r3 %r4"),
        ("vadd.s32.s32.s32.sat.add %r1, %r2.b0, %r3.h1, %r4;", "%r1", "%r2 %r3 %r4"),
        ("cvta.to.global.u64 %rd1, %rd2;", "%rd1", "%rd2"),
        ("createpolicy.fractional.L2::evict_last.b64 %rd1, 0f3F800000;", "%rd1", ""),
        ("ld.param.u64 %rd1, [kernel_param_0+8];", "%rd1", ""),
        ("ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1+16];", "%r1 %r2 %r3 %r4", "%rd1"),
        ("@%p1 ld.global.b32 { %r1 }, [ %rd1 + 0 ];", "%r1", "%p1 %r1 %rd1"),
        ("ld.global.L2::cache_hint.b32 %r1, [%rd1], %rd2;", "%r1", "%rd1 %rd2"),
        ("st.global.v2.b32 [%rd1], {%r1, %r2};", "", "%r1 %r2 %rd1"),
        ("atom.global.add.u32 %r1, [%rd1], %r2;", "%r1", "%r2 %rd1"),
        ("atom.global.v2.f32.add {%f1, %f2}, [%rd1], {%f3, %f4};", "%f1 %f2", "%f3 %f4 %rd1"),
        ("red.global.add.u32 [%rd1], %r2;", "", "%r2 %rd1"),
        ("shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, %r3;", "%p1 %r1", "%r2 %r3"),
        ("match.all.sync.b32 %r1|%p1, %r2, -1;", "%p1 %r1", "%r2"),
        ("vote.sync.ballot.b32 %r1, !%p1, -1;", "%r1", "%p1"),
        ("elect.sync _|%p1, -1;", "%p1", ""),
        ("bar.red.popc.u32 %r1, 0, %p1;", "%r1", "%p1"),
        ("barrier.cta.red.and.pred %p1, 0, 64, !%p2;", "%p1", "%p2"),
        ("bar.sync %r1, %r2;", "", "%r1 %r2"),
        ("mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [%r1], 64;", "%rd1", "%r1"),
        ("mbarrier.arrive.shared.b64 _, [%r1];", "", "%r1"),
        ("mbarrier.init.shared.b64 [%r1], %r2;", "", "%r1 %r2"),
        ("mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;", "%p1", "%r1 %r2"),
        ("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%rd1, {%f5, %f6}];",
         "%f1 %f2 %f3 %f4 %p1", "%f5 %f6 %rd1"),
        ("cp.async.cg.shared.global [%r1], [%rd1], 16, %r2;", "", "%r1 %r2 %rd1"),
        (("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
         " [%r1], [%rd1, {%r2, %r3}], [%r4];"), "", "%r1 %r2 %r3 %r4 %rd1"),
        ("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r3];", "%r1 %r2", "%r3"),
        (("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32\n"
         "{%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f5};"),
         "%f1 %f2 %f3 %f4", "%f1 %f2 %f3 %f5 %r1 %r2 %r3 %r4 %r5 %r6"),
        (("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2,"
         " %p1, 1, 1, 0, 0;"), "%f1 %f2 %f3 %f4", "%f1 %f2 %f3 %f4 %p1 %rd1 %rd2"),
        ("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];", "%r1 %r2", "%r3"),
        ("tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%r1, %r2}, %r3, [%r4];",
         "%r1 %r2 %r3", "%r4"),
        ("tcgen05.st.sync.aligned.32x32b.x2.b32 [%r3], {%r1, %r2};", "", "%r1 %r2 %r3"),
        ("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %rq1;", "%p1", "%rq1"),
    ],
)  # fmt: skip
def test_registers_are_exact(text: str, writes: str, reads: str) -> None:
    assert effects(text) == (writes, reads)


@pytest.mark.parametrize(
    ("text", "access", "loads", "stores", "marks"),
    [
        ("ld.global.nc.b32 %r1, [%rd1+4];", ("load", "global", "%rd1+4"), "global", "", ""),
        ("ld.b32 %r1, [ %rd1 ];", ("load", "generic", "%rd1"), "generic", "", ""),
        ("ld.shared::cta.b32 %r1, [%r2];", ("load", "shared", "%r2"), "shared", "", ""),
        ("ld.param.b32 %r1, [a];", ("load", "param", "a"), "param", "", ""),
        ("st.local.b32 [%r1], %r2;", ("store", "local", "%r1"), "", "local", ""),
        ("ld.relaxed.gpu.global.b32 %r1, [%rd1];", ("load", "global", "%rd1"), "global", "", "f"),
        ("ld.volatile.shared.b32 %r1, [%r2];", ("load", "shared", "%r2"), "shared", "", "f"),
        ("st.release.sys.global.b32 [%rd1], %r1;", ("store", "global", "%rd1"), "", "global", "f"),
        ("cp.async.ca.shared.global [%r1], [%rd1], 4;", ("copy", "global", "%rd1"),
         "global local", "shared", ""),
        ("cp.async.wait_group 1;", None, "", "", "f"),
        ("cp.async.bulk.commit_group;", None, "", "", "f"),
        ("atom.shared.add.u32 %r1, [%r2], 1;", ("other", "shared", "%r2"), "", "", "f"),
        ("prefetch.global.L2 [%rd1];", ("other", "global", "%rd1"), "global", "", ""),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];", ("load", "shared", "%r2"),
         "shared", "", "c"),
        ("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r1};", ("store", "shared", "%r2"),
         "", "shared", "c"),
        ("mma.sync.aligned.m8n8k4.f64 {%rd1}, {%rd2}, {%rd3}, {%rd4};", None, "", "", "c"),
        ("shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;", None, "", "", "c"),
        ("bar.sync 0;", None, "", "", "fc"),
        ("bar.warp.sync -1;", None, "", "", "fc"),
        ("barrier.cluster.arrive.aligned;", None, "", "", "fc"),
        ("fence.proxy.async.shared::cta;", None, "", "", "f"),
        ("membar.gl;", None, "", "", "f"),
        ("griddepcontrol.launch_dependents;", None, "", "", "f"),
        ("wgmma.fence.sync.aligned;", None, "", "", "fc"),
        ("tcgen05.wait::ld.sync.aligned;", None, "", "", "fc"),
        ("tcgen05.fence::after_thread_sync;", None, "", "", "f"),
        ("suld.b.2d.b32.trap %r1, [%rd1, {%r2, %r3}];", ("other", "generic", "%rd1, {%r2, %r3}"),
         "", "", "f"),
        ("tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [image, {%r5}];", None, "global", "", ""),
        ("frobnicate.b32 %r1, %r2;", None, "", "", "x"),
        ("ld.global.mystery.b32 %r1, [%rd1];", ("load", "global", "%rd1"), "global", "", "x"),
        ("tcgen05.mystery [%r1];", None, "", "", "x"),
        ("setmaxnreg.inc.sync.aligned.u32 240;", None, "", "", "cx"),
        ("nanosleep.u32 20;", None, "", "", "x"),
        ("mov.u64 %rd1, %globaltimer;", None, "", "", "x"),
        ("mov.b32 %r1, %nobody;", None, "", "", "x"),
        ("call.uni (%r1), f, (%r2);", None, "", "", "x"),
        ("exit;", None, "", "", "x"),
    ],
)  # fmt: skip
def test_memory_and_order(
    text: str, access: tuple[str, str, str] | None, loads: str, stores: str, marks: str
) -> None:
    one = parsed(text)
    assert one.access == (Access(*access) if access else None)
    assert (" ".join(sorted(one.loads)), " ".join(sorted(one.stores))) == (loads, stores)
    flags = zip("fcx", (one.fences, one.convergent, one.pinned), strict=True)
    assert "".join(mark for mark, flag in flags if flag) == marks


def test_what_is_not_understood_touches_all_that_it_names() -> None:
    one = parsed("frobnicate.b32 %r1, [%rd1], %clock, name;")
    assert one.reads == one.writes == {"%r1", "%rd1"}
    odd = parsed("ld .global.b32 %r1, [%rd1;")
    assert (odd.opcode, odd.pinned) == ("", True)
    assert odd.reads == odd.writes == {"%r1", "%rd1"}
    bank = parsed("ld.const[2].b32 %r1, [%r2];")
    assert (bank.opcode, bank.pinned) == ("", True)
    assert bank.reads == bank.writes == {"%r1", "%r2"}


def test_the_parts_of_an_instruction() -> None:
    one = parsed("@!%p1 ld.global.L1::evict_last.v2.b32 {%r1, %r2}, [%rd1+16];")
    assert (one.guard, one.opcode) == ("!%p1", "ld")
    assert one.modifiers == ("global", "L1::evict_last", "v2", "b32")
    assert one.operands == ("{%r1, %r2}", "[%rd1+16]")


def test_registers_are_those_declared() -> None:
    assert declared([".reg .b32 a, %r<7>;"]) == [("a", None), ("%r", 7)]
    inner = Registers([".reg .pred p, %q<2>;"], SCOPE)
    assert [inner[name] for name in ("p", "%q1", "%q2", "%r98", "%r99", "%tid")] == [
        True,
        True,
        None,
        True,
        None,
        False,
    ]
    assert [inner.is_own(name) for name in ("p", "%q1", "%q2", "%r1")] == [True, True, False, False]
