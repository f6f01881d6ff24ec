"""Faults of non-coherent loads, copies, limits and layout, and faults in a real kernel."""

from pathlib import Path

import pytest
from tests.helpers.small_ptx import entry

from burnish.errors import RewriteError
from burnish.ptx.checking.checker import Checker
from burnish.ptx.module import parse

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
ATTENTION = parse((KERNELS / "attention.ptx").read_text()).entries[0].text
LINES = ATTENTION.split("\n")

NONCOHERENT = """.visible .entry k(
	.param .u64 k_0,
	.param .u64 .ptr .global .align 4 k_1,
	.param .u64 k_2,
	.param .u64 k_3,
	.param .u32 k_4,
	.param .align 8 .b8 k_5[16]
)
{
	.reg .b32 %r<9>;
	.reg .b64 %rd<20>;
	ld.param.u64 %rd1, [k_0];
	ld.param.u64 %rd2, [k_1];
	ld.param.u64 %rd3, [k_2];
	ld.param.u64 %rd4, [k_3];
	ld.param.u32 %r1, [k_4];
	ld.param.u64 %rd5, [k_5+8];
	cvta.to.global.u64 %rd6, %rd1;
	mul.wide.s32 %rd7, %r1, 4;
	add.s64 %rd8, %rd6, %rd7;
	shl.b64 %rd9, %rd4, 2;
	add.s64 %rd10, %rd8, %rd9;
	sub.s64 %rd11, %rd2, %rd1;
	shr.s64 %rd12, %rd11, 2;
	shl.b64 %rd12, %rd12, 2;
	add.s64 %rd13, %rd1, %rd12;
	selp.b64 %rd14, %rd1, %rd2, %p1;
	ld.global.b32 %r2, [%rd10];
	ld.global.u64 %rd15, [%rd2];
	ld.global.b32 %r3, [%rd15];
	ld.global.b32 %r4, [%rd14];
	ld.global.b32 %r5, [%rd5];
	ld.global.b32 %r6, [%rd13];
	ld.volatile.global.b32 %r7, [%rd1];
	ld.b32 %r8, [%rd1];
	ld.global.b32 %r0, [%rd3+8];
	st.global.b32 [%rd3], %r2;
	ret;
}
"""


def noncoherent(text: str, register: str) -> str:
    lines = text.split("\n")
    (at,) = (at for at, line in enumerate(lines) if f"b32 {register}, [" in line)
    lines[at] = lines[at].replace(".global", ".global.nc")
    assert ".nc" in lines[at]
    return "\n".join(lines)


@pytest.mark.parametrize("allowed", [None, {0}, {0, 1, 2}])
def test_a_load_through_one_parameter_may_become_non_coherent(allowed: set[int] | None) -> None:
    checker = Checker(NONCOHERENT, may_noncoherent=allowed)
    checker.check(noncoherent(NONCOHERENT, "%r2"))
    both = noncoherent(NONCOHERENT, "%r2").replace("global.nc.b32", "global.nc.L1::evict_last.b32")
    checker.check(both)


@pytest.mark.parametrize(
    ("register", "why"),
    [
        ("%r3", "a pointer from memory"),
        ("%r4", "either of two parameters"),
        ("%r5", "a pointer in a struct"),
        ("%r6", "a difference of two pointers"),
        ("%r7", "volatile"),
        ("%r0", "the entry writes through it"),
    ],
)
def test_other_loads_may_not(register: str, why: str) -> None:
    checker = Checker(NONCOHERENT)
    with pytest.raises(RewriteError, match=r"noncoherent|statements"):
        checker.check(noncoherent(NONCOHERENT, register))
    assert why


@pytest.mark.parametrize("allowed", [set(), {1}, {1, 2, 3}])
def test_a_buffer_that_is_not_allowed_stays_coherent(allowed: set[int]) -> None:
    with pytest.raises(RewriteError, match="parameter 0 may be written"):
        Checker(NONCOHERENT, may_noncoherent=allowed).check(noncoherent(NONCOHERENT, "%r2"))


DERIVED = """add.s64 %rd6, %rd1, 64;
ld.global.b32 %r2, [%rd6];
ld.global.b32 %r3, [%rd2];
"""
# What else the entry does, and whether the load through %rd6 may become non-coherent then.
BESIDES = {
    "nothing": ("", True),
    "stores through another": ("st.global.b32 [%rd2], %r3;", True),
    "stores through it": ("st.global.b32 [%rd1+8], %r3;", False),
    "adds through it": ("red.global.add.u32 [%rd1+8], 1;", False),
    "copies through it": ("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;", False),
    "copies from it": ("cp.async.ca.shared.global [%r1], [%rd1], 16;", True),
    "group stores through it": ("{ st.global.b32 [%rd1+8], %r3; }", False),
    "group loads through it": ("{ ld.global.b32 %r4, [%rd1+8]; }", False),
    "group of arithmetic": ("{ .reg .b32 t; add.s32 t, %r3, 1; mov.b32 %r4, t; }", True),
    "gives it to a call": ("call.uni foo, (%rd1);", False),
    "calls without it": ("call.uni foo, (%r1);", True),
    "gives it to the unknown": ("frobnicate.b64 [%rd1];", False),
    "gives it to memory": ("st.local.b64 [%r1], %rd1;", False),
    "gives its sum to memory": ("add.s64 %rd5, %rd1, 8;\nst.shared.b64 [%r1], %rd5;", False),
    "takes the unknown": ("frobnicate.b64 %rd5;\nadd.s64 %rd6, %rd1, %rd5;", False),
    "takes a sum of two": ("add.s64 %rd6, %rd1, %rd2;", False),
    "takes a distance": (
        "sub.s64 %rd5, %rd4, %rd1;\nshr.s64 %rd7, %rd5, 2;\nmad.lo.s64 %rd6, %rd7, 4, %rd1;",
        False,
    ),
    "takes an index": ("mad.wide.s32 %rd6, %r1, 4, %rd1;", True),
    "takes a loaded index": ("ld.global.b32 %r4, [%rd2];\nmad.wide.s32 %rd6, %r4, 4, %rd1;", True),
    "takes its own alignment": (
        "and.b64 %rd5, %rd1, 15;\nshr.u64 %rd7, %rd5, 2;\nmad.lo.s64 %rd6, %rd7, 4, %rd1;",
        True,
    ),
    "takes two parameters at once": ("ld.param.v2.u64 {%rd6, %rd7}, [k_0];", False),
    "takes the next parameter": ("ld.param.u64 %rd6, [k_0+8];", False),
}


@pytest.mark.parametrize(("besides", "accepted"), BESIDES.values(), ids=BESIDES.keys())
def test_what_else_the_entry_does_decides(besides: str, accepted: bool) -> None:  # noqa: FBT001
    plain = entry(f"{DERIVED}{besides}")
    text = plain.replace("ld.global.b32 %r2, [%rd6]", "ld.global.nc.b32 %r2, [%rd6]")
    checker = Checker(plain)
    checker.check(plain)
    if accepted:
        checker.check(text)
        return
    with pytest.raises(RewriteError, match="noncoherent"):
        checker.check(text)


def test_a_dependent_grid_has_no_non_coherent_loads() -> None:
    plain = NONCOHERENT.replace("\tret;", "\tgriddepcontrol.wait;\n\tret;")
    with pytest.raises(RewriteError, match="griddepcontrol"):
        Checker(plain).check(noncoherent(plain, "%r2"))


def test_a_non_coherent_load_stays_one() -> None:
    plain = noncoherent(NONCOHERENT, "%r2")
    with pytest.raises(RewriteError, match="noncoherent"):
        Checker(plain).check(NONCOHERENT)


def test_a_generic_load_and_a_write_operator_are_no_non_coherent_loads() -> None:
    for old, new in [
        ("ld.b32", "ld.global.nc.b32"),
        ("ld.global.b32 %r2", "ld.global.cv.nc.b32 %r2"),
    ]:
        with pytest.raises(RewriteError, match=r"statements|policy"):
            Checker(NONCOHERENT).check(NONCOHERENT.replace(old, new))


def swapped(one: int, two: int) -> str:
    lines = list(LINES)
    lines[one], lines[two] = lines[two], lines[one]
    return "\n".join(lines)


def line_of(mark: str, after: int = 0) -> int:
    return next(at for at in range(after, len(LINES)) if mark in LINES[at])


@pytest.fixture(scope="module")
def attention() -> Checker:
    return Checker(ATTENTION, ptx_version="8.7")


def test_an_accumulator_in_flight_is_not_touched(attention: Checker) -> None:
    issued = line_of("wgmma.mma_async")
    waited = line_of("wgmma.wait_group", issued)
    accumulator = LINES[issued].split("{")[1].split(",")[3].strip()
    used = line_of(f"{accumulator},", waited + 4)
    lines = list(LINES)
    lines.insert(waited, lines.pop(used))
    with pytest.raises(RewriteError, match="order"):
        attention.check("\n".join(lines))


@pytest.mark.parametrize(
    "mark",
    [
        "wgmma.fence",
        "wgmma.commit_group",
        "wgmma.wait_group",
        "cp.async.commit_group",
        "cp.async.wait_group",
        "bar.sync",
        "fence.proxy.async",
    ],
)
def test_an_instruction_of_memory_stays_behind_each_barrier(attention: Checker, mark: str) -> None:
    at = line_of(mark)
    memory = ("wgmma", "cp.async", "st.", "ld.global", "ld.shared", "shfl", "ldmatrix", "bar.")
    other = next(place for place in range(at - 1, 0, -1) if LINES[place].strip().startswith(memory))
    with pytest.raises(RewriteError, match=r"order|statements"):
        attention.check(swapped(other, at))


@pytest.mark.parametrize(
    ("old", "new", "accepted"),
    [
        ("cp.async.cg.shared.global [", "cp.async.ca.shared.global [", True),
        ("cp.async.cg.shared.global [", "cp.async.cg.shared.global.L2::128B [", True),
        ("cp.async.cg.shared.global [", "cp.async.cg.shared.global.L1::evict_last [", False),
        ("cp.async.cg.shared.global [", "cp.async.cs.shared.global [", False),
        ("cp.async.cg.shared.global [", "cp.async.shared.global [", False),
        ("cp.async.cg.shared.global [", "cp.async.cg.L2::128B.shared.global [", False),
        ("ld.global.v4.b32", "ld.global.L1::no_allocate.L2::256B.v4.b32", True),
        ("ld.global.v4.b32", "ld.global.v4.L2::256B.b32", False),
        ("ld.global.v4.b32", "ld.global.nc.v4.b32", True),
        ("st.global.v4.b32", "st.global.cs.v4.b32", True),
        ("st.shared.v4.b32", "st.shared.cs.v4.b32", False),
        ("ex2.approx.ftz.f32", "ex2.approx.f32", False),
        ("div.full.f32", "div.approx.f32", False),
        ("bra", "bra.uni", False),
        (", 0x10, ", ", 0x8, ", False),
        ("cp.async.wait_group \t2", "cp.async.wait_group \t3", False),
        ("bar.sync \t0", "bar.sync \t1", False),
    ],
)
def test_policies_of_a_real_kernel(attention: Checker, old: str, new: str, accepted: bool) -> None:  # noqa: FBT001
    assert old in ATTENTION
    for text in (ATTENTION.replace(old, new), ATTENTION.replace(old, new, 1)):
        if accepted:
            attention.check(text)
            continue
        with pytest.raises(RewriteError):
            attention.check(text)


def test_a_small_copy_goes_through_the_first_cache() -> None:
    plain = "\n.visible .entry k()\n{\n\tcp.async.ca.shared.global [%r1], [%rd1], 8;\n\tret;\n}\n"
    with pytest.raises(RewriteError, match="16 bytes"):
        Checker(plain).check(plain.replace(".ca.", ".cg."))


def test_hints_need_a_version_that_has_them() -> None:
    text = NONCOHERENT.replace("ld.global.b32 %r2", "ld.global.L1::evict_last.b32 %r2")
    Checker(NONCOHERENT, ptx_version="7.4").check(text)
    with pytest.raises(RewriteError, match=r"7\.4"):
        Checker(NONCOHERENT, ptx_version="7.3").check(text)


def test_limits_keep_away_from_setmaxnreg() -> None:
    plain = ATTENTION.replace("\tret;", "\tsetmaxnreg.dec.sync.aligned.u32 24;\n\tret;")
    for limit in (".maxnreg 64", ".minnctapersm 1"):
        text = plain.replace(".reqntid", f"{limit}\n.reqntid", 1)
        with pytest.raises(RewriteError, match="setmaxnreg"):
            Checker(plain).check(text)
        Checker(ATTENTION).check(ATTENTION.replace(".reqntid", f"{limit}\n.reqntid", 1))


def test_occupancy_needs_a_block_size() -> None:
    with pytest.raises(RewriteError, match="size of a block"):
        Checker(NONCOHERENT).check(NONCOHERENT.replace("\n{", "\n.minnctapersm 2\n{"))


def test_a_limit_does_not_go_away() -> None:
    plain = NONCOHERENT.replace("\n{", "\n.maxnreg 32\n{")
    Checker(plain).check(plain.replace("32\n{", "64\n{"))
    with pytest.raises(RewriteError, match="went away"):
        Checker(plain).check(NONCOHERENT)


TABLE = """.visible .entry k()
{
	.reg .b32 %r<9>;
	ts: .branchtargets $A, $B, $C;
	brx.idx %r1, ts;
$A:
	add.s32 %r2, %r1, 1;
$B:
	@%p1 exit;
	add.s32 %r2, %r1, 2;
$C:
	add.s32 %r2, %r1, 3;
	@%p1 bra $A;
	ret;
}
"""


def test_a_table_of_branches_keeps_its_targets_wherever_they_stand() -> None:
    checker = Checker(TABLE)
    laid_out = TABLE.replace("$A:\n\tadd.s32 %r2, %r1, 1;\n", "").replace(
        "\tret;\n", "\tret;\n$A:\n\tadd.s32 %r2, %r1, 1;\n\tbra.uni $B;\n"
    )
    checker.check(laid_out)
    for fault in (
        laid_out.replace("bra.uni $B", "bra.uni $C"),
        laid_out.replace("\tbra.uni $B;\n", ""),
        TABLE.replace("$A, $B, $C;", "$B, $A, $C;"),
        TABLE.replace("@%p1 exit", "@!%p1 exit"),
        TABLE.replace("idx %r1", "idx %r2"),
        TABLE.replace("brx.idx %r1, ts", "brx.idx %r1, tt"),
    ):
        with pytest.raises(RewriteError):
            checker.check(fault)


def test_a_table_may_stand_under_its_name() -> None:
    plain = TABLE.replace("ts: .branchtargets", "ts:\n\t.branchtargets\n\t\t")
    checker = Checker(plain)
    checker.check(plain)
    with pytest.raises(RewriteError, match="statements"):
        checker.check(plain.replace("$A, $B, $C;", "$B, $A, $C;"))
    with pytest.raises(RewriteError, match="table"):
        checker.check(plain.replace("ts:\n", "ts:\n\tmov.b32 %r9, 0;\n"))


def test_a_group_jumps_only_inside_of_itself() -> None:
    inside = "{ .reg .pred p; $W: setp.ne.b32 p, %r1, 0; @p bra $W; { @p bra $W; } }"
    Checker(entry(inside)).check(entry(inside))
    for outside in ("{ @%p1 bra $X; }", "{ { @%p1 bra $X; } }", "{ { $X: } bra $X; }"):
        with pytest.raises(RewriteError, match="jumps out"):
            Checker(entry(f"{outside}\nmov.b32 %r2, 0;\n$X:\nmov.b32 %r2, 1;"))


def test_an_empty_body_is_another() -> None:
    empty = ".visible .entry k()\n{\n}\n"
    Checker(empty).check(empty)
    for plain, text in [(TABLE, empty), (empty, TABLE), (empty.replace("{", "{ret;"), empty)]:
        with pytest.raises(RewriteError):
            Checker(plain).check(text)


def test_one_of_many_stores_past_one_of_many_loads_is_caught() -> None:
    loads = [f"\tld.global.b32 %r{at}, [%rd1+{4 * at}];" for at in range(50)]
    stores = [f"\tst.global.b32 [%rd2+{4 * at}], 0;" for at in range(50)]
    head, tail = ".visible .entry k()\n{", "\tret;\n}\n"
    checker = Checker("\n".join([head, *loads, *stores, tail]))
    checker.check("\n".join([head, *reversed(loads), *reversed(stores), tail]))
    for place in (0, 25, 49):
        early = [*loads[:place], stores[place], *loads[place:]]
        rest = [store for store in stores if store != stores[place]]
        with pytest.raises(RewriteError, match=rf"passed .*{loads[49].split()[2][:-1]}"):
            checker.check("\n".join([head, *early, *rest, tail]))
