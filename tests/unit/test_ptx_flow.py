"""Dependences inside blocks against a naive definition of their own, and origins of addresses."""

from itertools import combinations
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.ptx.body import Body, parse_body
from burnish.ptx.flow import edges, origin
from burnish.ptx.module import parse

ROOT = Path(__file__).parents[2]
START = ".version 8.4\n.target sm_90\n.address_size 64\n"
DECLARED = ".reg .pred %p<4>; .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<9>;"

PREDICATES = [f"%p{number}" for number in range(3)]
WORDS = [f"%r{number}" for number in range(4)]
ADDRESSES = [f"%rd{number}" for number in range(2)]
# Template, what it writes, what it reads, and marks: G L S memory, capital is written, small is
# read; f all of it in order; c with all others that are; x everything.
TEMPLATES = [
    ("add.s32 {0}, {1}, {2};", "0", "12", ""),
    ("mov.u32 {0}, {1};", "0", "1", ""),
    ("mov.u32 {0}, %tid.x;", "0", "", ""),
    ("mov.u32 {0}, %clock;", "0", "", "x"),
    ("mov.u32 {0}, array;", "0", "", ""),
    ("setp.lt.and.s32 {p}|{q}, {1}, {2}, !{o};", "pq", "12o", ""),
    ("selp.b32 {0}, {1}, {2}, {p};", "0", "12p", ""),
    ("add.cc.u32 {0}, {1}, {2};", "0+", "12", ""),
    ("addc.u32 {0}, {1}, {2};", "0", "12+", ""),
    ("mov.b64 {a}, {{{0}, {1}}};", "a", "01", ""),
    ("mov.b64 {{{0}, {1}}}, {a};", "01", "a", ""),
    ("ld.global.b32 {0}, [{a}+4];", "0", "a", "g"),
    ("ld.shared.v2.b32 {{{0}, {1}}}, [{2}];", "01", "2", "s"),
    ("ld.local.b32 {0}, [{1}];", "0", "1", "l"),
    ("ld.const.b32 {0}, [array+4];", "0", "", ""),
    ("ld.b32 {0}, [{a}];", "0", "a", "gsl"),
    ("st.global.b32 [{a}], {0};", "", "a0", "G"),
    ("st.shared.b32 [{1}+8], {0};", "", "01", "S"),
    ("st.local.b32 [{1}], {0};", "", "01", "L"),
    ("st.b32 [{a}], {0};", "", "a0", "GSL"),
    ("ld.volatile.global.b32 {0}, [{a}];", "0", "a", "GSL"),
    ("ld.acquire.gpu.global.b32 {0}, [{a}];", "0", "a", "GSL"),
    ("atom.global.add.u32 {0}, [{a}], {1};", "0", "a1", "GSL"),
    ("red.shared.add.u32 [{0}], {1};", "", "01", "GSL"),
    ("membar.gl;", "", "", "GSL"),
    ("griddepcontrol.wait;", "", "", "GSL"),
    ("bar.sync 0;", "", "", "GSLc"),
    ("bar.red.popc.u32 {0}, 1, {p};", "0", "p", "GSLc"),
    ("shfl.sync.bfly.b32 {0}|{p}, {1}, 16, 31, -1;", "0p", "1", "c"),
    ("vote.sync.any.pred {p}, {q}, -1;", "p", "q", "c"),
    ("elect.sync _|{p}, {0};", "p", "0", "c"),
    ("cp.async.cg.shared.global [{0}], [{a}], 16;", "", "0a", "gslS"),
    ("cp.async.commit_group;", "", "", "GSL"),
    ("prefetch.global.L2 [{a}];", "", "a", "g"),
    ("{{ .reg .b32 t; add.s32 t, {1}, 1; ld.shared.b32 {0}, [t]; }}", "0", "1", "s"),
    ("{{ .reg .pred {p}; setp.eq.s32 {p}, {1}, 1; @{p} mov.u32 {0}, 1; }}", "0", "01", ""),
    ("frobnicate.b32 {0}, {1};", "0", "1", "x"),
    ('.pragma "nounroll";', "", "", "x"),
]  # fmt: skip


Found = tuple[str, set[str], set[str], str]


@st.composite
def statements(draw: st.DrawFn) -> Found:
    """Text, what is written, what is read, and the marks."""
    text, writes, reads, marks = draw(st.sampled_from(TEMPLATES))
    words = draw(st.lists(st.sampled_from(WORDS), min_size=3, max_size=3, unique=True))
    p, q, o = draw(st.permutations(PREDICATES))
    names = {"a": draw(st.sampled_from(ADDRESSES)), "p": p, "q": q, "o": o, "+": "carry"}
    names |= {str(number): word for number, word in enumerate(words)}
    code = text.format(*words, **{key: name for key, name in names.items() if key.isalpha()})
    written, read = {names[key] for key in writes}, {names[key] for key in reads}
    if "{ " not in code and code[0] != "." and draw(st.booleans()):
        guard = draw(st.sampled_from(PREDICATES))
        code = f"@{draw(st.sampled_from(['', '!']))}{guard} {code}"
        read |= written | {guard}
    return code, written, read, marks


def conflict(one: Found, other: Found) -> bool:
    """Whether two statements may not change places, by the definition."""
    if "x" in one[3] + other[3] or ("c" in one[3] and "c" in other[3]):
        return True
    if one[1] & (other[1] | other[2]) or one[2] & other[1]:
        return True
    return any(
        mark in second and first.upper().count(mark.upper())
        for first, second in ((one[3], other[3]), (other[3], one[3]))
        for mark in "GSL"
    )


def parsed(code: str, parameters: str = "") -> Body:
    text = f"{START}.const .b32 array[9];\n.entry k({parameters}) {{ {DECLARED}\n{code}\n}}"
    module = parse(text)
    return parse_body(module.entry("k"), module)


@settings(max_examples=150, deadline=None)
@given(st.lists(statements(), max_size=12))
def test_what_conflicts_keeps_its_order(found: list[Found]) -> None:
    body = parsed("L:\n" + "\n".join(code for code, _, _, _ in found))
    block = body.blocks[-1]
    assert [one.text for one in body.statements[block.first : block.last]] == [
        code for code, _, _, _ in found
    ]
    pairs = edges(body, block)
    after: dict[int, set[int]] = {number: set() for number in range(block.first, block.last)}
    assert all(block.first <= one < other < block.last for one, other in pairs)
    for one, other in sorted(pairs, reverse=True):
        after[one] |= {other} | after[other]
    needed = naive_closure(found)
    reached = {(one - block.first, other - block.first) for one in after for other in after[one]}
    assert reached == needed


def naive_closure(found: list[Found]) -> set[tuple[int, int]]:
    needed = {
        (one, other)
        for one, other in combinations(range(len(found)), 2)
        if conflict(found[one], found[other])
    }
    while (
        more := {(one, last) for one, two in needed for first, last in needed if two == first}
        - needed
    ):
        needed |= more
    return needed


def origins(code: str, parameters: str) -> list[int | None]:
    return list(origin(parsed(code, parameters)).values())


TWO = ".param .u64 .ptr .global .align 4 a, .param .u32 n, .param .u64 .ptr .global .align 4 b"
LOADS = "ld.param.u64 %rd0, [a]; ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [b];"


def test_an_address_derives_from_a_pointer_through_sums_and_loops() -> None:
    code = f"""{LOADS}
        mad.wide.u32 %rd2, %r1, 4, %rd0;
        mul.wide.s32 %rd3, %r1, 8;
    L:  ld.global.b32 %r2, [%rd2+8];
        add.s64 %rd2, %rd2, %rd3;
        st.global.b32 [%rd1], %r2;
        @%p1 bra L;
        red.global.add.u32 [%rd1+4], %r2;
    """
    assert origins(code, TWO) == [0, 2, 2]


def test_an_address_of_two_pointers_has_no_origin() -> None:
    choice = "selp.b64 %rd2, %rd0, %rd1, %p1; ld.global.b32 %r2, [%rd2];"
    either = "mov.b64 %rd2, %rd0; @%p1 mov.b64 %rd2, %rd1; ld.global.b32 %r2, [%rd2];"
    between = "sub.s64 %rd3, %rd0, %rd1; add.s64 %rd3, %rd1, %rd3; ld.global.b32 %r2, [%rd3];"
    for code in (choice, either, between):
        assert origins(LOADS + code, TWO) == [None]


def test_what_memory_holds_may_point_anywhere() -> None:
    loaded = "ld.global.b64 %rd2, [%rd0]; ld.global.b32 %r2, [%rd2];"
    halves = (
        "ld.global.v2.b32 {%r2, %r3}, [%rd0]; mov.b64 %rd2, {%r2, %r3}; st.global.b32 [%rd2], 0;"
    )
    index = "ld.global.b32 %r2, [%rd0]; mul.wide.s32 %rd2, %r2, 4; add.s64 %rd2, %rd0, %rd2;"
    assert origins(LOADS + loaded, TWO) == [0, None]
    assert origins(LOADS + halves, TWO) == [0, None]
    assert origins(f"{LOADS}{index} ld.global.b32 %r2, [%rd2];", TWO) == [0, 0]


def test_names_and_parts_of_structures_have_no_origin() -> None:
    named = "mov.u64 %rd0, array; ld.global.b32 %r1, [%rd0];"
    whole = "ld.param.u64 %rd0, [s+8]; cvta.to.global.u64 %rd0, %rd0; ld.global.b32 %r1, [%rd0];"
    assert origins(named, TWO) == [None]
    assert origins(whole, ".param .align 8 .b8 s[16]") == [None]


def test_a_parameter_that_is_not_declared_a_pointer_is_one_where_it_is_converted() -> None:
    code = "ld.param.u64 %rd0, [a]; {} ld.global.b32 %r1, [%rd0];"
    assert origins(code.format(""), ".param .u64 a") == [None]
    converted = code.format("cvta.to.global.u64 %rd0, %rd0;")
    assert origins(converted, ".param .u64 a") == [0]
