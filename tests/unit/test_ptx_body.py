"""Taking bodies apart: nothing is lost, blocks and loops are where they are."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.errors import KernelError
from burnish.ptx.body import Body, parse_body, tidied
from burnish.ptx.instruction import Instruction
from burnish.ptx.loops import depths
from burnish.ptx.module import parse

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "tests" / "data").glob("*.ptx"), *(ROOT / "examples").rglob("*.ptx")])
START = ".version 8.4\n.target sm_90\n.address_size 64\n"


def body_of(
    code: str, registers: str = ".reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %rd<9>;"
) -> Body:
    module = parse(f"{START}.entry k(.param .u64 a) {{ {registers}\n{code}\n}}")
    return parse_body(module.entry("k"), module)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_body_prints_as_it_was(path: Path) -> None:
    module = parse(path.read_text())
    for function in module.functions:
        if function.is_defined:
            body = parse_body(function, module)
            assert body.text == function.text
            assert (body.version, body.target) == (module.version, module.target)


def test_a_declaration_has_no_body() -> None:
    module = parse(f"{START}.extern .func f(); .entry k() {{ ret; }}")
    with pytest.raises(KernelError, match="f has no body"):
        parse_body(module.functions[0])


def test_blocks_end_at_branches_and_labels() -> None:
    body = body_of("""
    L_1:
    L_2:
        add.s32 %r1, %r1, 1;
        @%p1 bra L_1;
        @!%p2 bra.uni L_3;
        ret;
    L_3:
        exit;
    """)
    found = [(block.label, block.last - block.first, block.successors) for block in body.blocks]
    assert found == [
        ("", 3, (1,)),
        ("L_1", 0, (2,)),
        ("L_2", 2, (1, 3)),
        ("", 1, (5, 4)),
        ("", 1, ()),
        ("L_3", 1, ()),
    ]
    assert [block.falls_through for block in body.blocks] == [True, True, True, True, False, False]
    assert [block.loop_depth for block in body.blocks] == [0, 1, 1, 0, 0, 0]


def instructions(code: str) -> list[Instruction]:
    found = body_of(code).statements[3:]
    return [one for one in found if isinstance(one, Instruction)]


def test_a_group_is_one_statement_with_the_effects_of_all_in_it() -> None:
    (one,) = instructions("""{ // here { or there
        .reg .pred %p1, p; .reg .b32 t;
        setp.ne.b32 p, %r1, 0;
        add.s32 t, %r2, 1; mov.b32 %r4, t; add.s32 %r5, %r4, 1;
        { .reg .b32 u; mov.b32 u, t; @p st.shared.b32 [u], %r3; }
        @p mov.b32 %r6, t;
    }""")
    assert one.opcode == "{"
    assert not one.pinned
    assert one.reads == {"%r1", "%r2", "%r3", "%r6"}
    assert one.writes == {"%r4", "%r5", "%r6"}
    assert not one.loads
    assert one.stores == {"shared"}
    assert one.access is None
    assert len(one.members) == 8


@pytest.mark.parametrize(
    "inside",
    [
        ".reg .pred p; W: mbarrier.try_wait.shared.b64 p, [%r1], %r2; @!p bra.uni W;",
        ".param .b32 q; st.param.b32 [q], %r1; call.uni f, (q);",
        "frobnicate %r1; add.s32 %r2, %r2, 1;",
        "mov.u32 %r1, %clock; add.s32 %r2, %r2, 1;",
        "{ .shared .b32 s; mov.b32 %r1, %r2; }",
    ],
)
def test_a_group_that_is_not_understood_is_pinned_and_touches_all(inside: str) -> None:
    (one,) = instructions(f"{{ {inside} }}")
    assert one.pinned
    assert one.reads == one.writes >= {"%r1"}


def test_a_group_that_branches_out_ends_its_block() -> None:
    body = body_of("{ @%p1 bra OUT; IN: bra IN; }\n mov.b32 %r1, 2;\nOUT: ret;")
    assert [block.successors for block in body.blocks] == [(2, 1), (2,), ()]


def test_a_branch_table_may_be_far_away() -> None:
    body = body_of("""
        T: .branchtargets
            L_1, // one
            L_2,
            L_1;
        brx.idx %r1, T;
    L_1: exit;
    L_2: trap;
    """)
    assert [block.successors for block in body.blocks] == [(1, 2), (), ()]
    assert body.statements[3].kind == "declaration"


def test_a_branch_to_nowhere_is_refused() -> None:
    with pytest.raises(KernelError, match="k: this branch goes nowhere: bra L;"):
        body_of("bra L;")


def test_marks_travel_with_the_next_statement() -> None:
    body = body_of("""
        .loc 1 2 3, function_name $L__info_string0, inlined_at 1 4 5 // {
        // begin inline asm
        add.s32 %r1, %r1, 1;;
    $L__tmp1:
        .pragma "used_bytes_mask 0xfff";
        ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r5];
        .pragma "nounroll";
        // end
    """)
    kinds = [one.kind for one in body.statements[3:]]
    assert kinds == ["instruction", "instruction", "declaration"]
    assert body.statements[3].lead.strip().startswith(".loc")
    assert body.statements[4].lead.split() == [
        ";",
        "$L__tmp1:",
        ".pragma",
        '"used_bytes_mask',
        '0xfff";',
    ]
    assert body.tail.strip() == "// end\n    \n}"


def test_waits_touch_the_registers_in_flight() -> None:
    body = body_of("""
        wgmma.fence.sync.aligned;
        { .reg .pred p; setp.ne.b32 p, %r9, 0;
          wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2}, {%r3}, %rd1, p, 1, 1, 0; }
        wgmma.commit_group.sync.aligned;
        add.s32 %r4, %r5, %r6;
        { wgmma.wait_group.sync.aligned 0; }
    """)
    fence, group, commit, _, wait = body.statements[3:]
    assert isinstance(group, Instruction)
    assert group.reads == {"%r1", "%r2", "%r3", "%r9", "%rd1"}
    assert group.writes == {"%r1", "%r2"}
    for one in (fence, commit, wait):
        assert isinstance(one, Instruction)
        assert one.reads == one.writes == {"%r1", "%r2", "%r3", "%rd1"}


def test_a_function_may_have_registers_for_parameters() -> None:
    text = f"{START}.func (.reg .b32 %out) f (.reg .b32 %in) {{ add.s32 %out, %in, 1; ret; }}"
    module = parse(text, needs_entry=False)
    body = parse_body(module.functions[0])
    first = body.statements[0]
    assert isinstance(first, Instruction)
    assert first.writes == {"%out"}
    assert first.reads == {"%in"}
    assert not body.is_entry


def test_a_tidy_function_has_the_same_statements() -> None:
    module = parse((ROOT / "tests" / "data" / "triton_softmax.ptx").read_text())
    entry = module.entry("softmax")
    plain, tidy = parse_body(entry), parse_body(tidied(entry))
    assert [one.text for one in tidy.statements] == [one.text for one in plain.statements]
    assert all(not one.lead.strip() for one in tidy.statements)
    assert tidied(tidied(entry)) == tidied(entry)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_damaged_text_is_refused_or_kept(data: st.DataObject) -> None:
    text = (ROOT / "tests" / "data" / "handmade.ptx").read_text()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    damaged = (
        text[:start] + data.draw(st.sampled_from(["", ";", "{", "}", "@%p1 ", ":"])) + text[end:]
    )
    try:
        functions = [one for one in parse(damaged).functions if one.is_defined]
    except KernelError:
        return
    for function in functions:
        try:
            body = parse_body(function)
        except KernelError:
            continue
        assert body.text == function.text
        assert parse_body(tidied(function)).text == tidied(function).text


@pytest.mark.parametrize("end", ["add.s32 %r1", "x:" * 40, " \n;" * 4000 + "add"])
def test_a_statement_without_an_end_is_refused_at_once(end: str) -> None:
    with pytest.raises(KernelError, match=r"does not end|goes nowhere"):
        body_of(f"bra L; {end}")


def graphs() -> st.SearchStrategy[list[list[int]]]:
    edges = st.lists(st.integers(0, 6), max_size=3)
    return st.lists(edges, min_size=7, max_size=7)


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_loops_are_those_of_the_definition(graph: list[list[int]]) -> None:
    def reached(start: int, without: int = -1) -> set[int]:
        found, waiting = set(), [start]
        while waiting:
            node = waiting.pop()
            if node != without and node not in found:
                found.add(node)
                waiting += graph[node]
        return found

    bodies: dict[int, set[int]] = {}
    for latch in reached(0):
        for header in graph[latch]:
            if latch not in reached(0, without=header):
                around = {node for node in reached(0) if latch in reached(node, without=header)}
                bodies.setdefault(header, {header}).update(around)
    assert depths(graph) == [sum(node in body for body in bodies.values()) for node in range(7)]
