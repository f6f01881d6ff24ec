"""Layouts: the same control flow in another order."""

from pathlib import Path

import pytest
from tests.helpers.rewriting import FILES, body_of, values

from burnish.ptx.body import Body, parse_body
from burnish.ptx.draft import Draft
from burnish.ptx.module import parse
from burnish.ptx.rewrites import layout

LOOP = """
    mov.u32 %r1, 0;
    @%p1 bra L_3;
    mov.u32 %r2, 0;
L_2:
    add.s32 %r1, %r1, 1;
    @%p2 bra L_2;
    mov.u32 %r3, 0;
L_3:
    st.global.u32 [%rd1], %r1;
    ret;
"""


def laid_out(body: Body, value: str) -> str:
    """The text with a layout."""
    draft = Draft(body)
    layout.apply(draft, {"ptx.layout": value})
    return draft.text()


def test_control_goes_where_it_went() -> None:
    text = " ".join(laid_out(body_of(LOOP), "reverse").partition(" mov")[2].split())
    assert text == (
        ".u32 %r1, 0; @%p1 bra L_3; bra.uni $L__block_1; "
        "L_3: st.global.u32 [%rd1], %r1; ret; "
        "$L__block_3: mov.u32 %r3, 0; bra.uni L_3; "
        "L_2: add.s32 %r1, %r1, 1; @%p2 bra L_2; bra.uni $L__block_3; "
        "$L__block_1: mov.u32 %r2, 0; bra.uni L_2; }"
    )


def test_loops_come_first() -> None:
    draft = Draft(body_of(LOOP))
    layout.apply(draft, {"ptx.layout": "loops-first"})
    assert draft.layout == [0, 2, 1, 3, 4]


def flow(body: Body) -> set[tuple[tuple[str, ...], ...]]:
    """Blocks with what follows them, without branches that have no condition."""
    texts = {
        block.index: tuple(
            statement.text
            for statement in body.statements[block.first : block.last]
            if not statement.text.startswith("bra")
        )
        for block in body.blocks
    }

    def skip(index: int) -> tuple[str, ...]:
        after = body.blocks[index].successors
        return texts[index] if texts[index] or not after else skip(after[0])

    blocks = [block for block in body.blocks if texts[block.index]]
    return {(texts[block.index], *map(skip, block.successors)) for block in blocks}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("value", ["reverse", "loops-first", "shuffle/1", "shuffle/77"])
def test_every_layout_has_the_same_control_flow(path: Path, value: str) -> None:
    module = parse(path.read_text())
    for entry in module.entries:
        body = parse_body(entry, module)
        text = laid_out(body, value)
        again = parse(module.text.replace(entry.text, text)).entry(entry.name)
        assert flow(parse_body(again)) == flow(body)


@pytest.mark.parametrize(
    "code",
    [
        "@%p1 bra L_1; L_1: ret;",
        "@%p1 bra L_1; .reg .b32 %late; mov.u32 %late, 1; L_1: mov.u32 %r1, 1; ret;",
    ],
)
def test_where_nothing_may_move_there_is_no_control(code: str) -> None:
    body = body_of(code)
    assert layout.controls(body) == ()
    assert laid_out(body, "reverse") == body.text


def test_what_control_falls_out_of_stays_last() -> None:
    body = body_of("@%p1 bra L_1; mov.u32 %r1, 1; L_2: @%p2 bra L_2; L_1: mov.u32 %r2, 2;")
    draft = Draft(body)
    layout.apply(draft, {"ptx.layout": "reverse"})
    assert draft.layout == [0, 2, 1, 3]


def test_seeds_give_different_layouts() -> None:
    body = body_of(LOOP)
    assert len({laid_out(body, f"shuffle/{seed}") for seed in range(1, 200)}) == 24


def test_new_labels_are_new() -> None:
    body = body_of(LOOP.replace("L_2", "$L__block_1"))
    assert "$L__block__1:" in laid_out(body, "reverse")


def test_the_default_lays_nothing_out() -> None:
    draft = Draft(body_of(LOOP))
    layout.apply(draft, values(layout.controls(draft.body)))
    assert draft.layout is None
