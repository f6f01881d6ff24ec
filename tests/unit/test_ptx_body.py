"""Taking bodies apart: nothing is lost, blocks and loops are where they are."""

from pathlib import Path

import pytest

from burnish.errors import KernelError
from burnish.ptx.body import Body, parse_body
from burnish.ptx.module import parse

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "tests" / "data").glob("*.ptx"), *(ROOT / "examples").rglob("*.ptx")])
START = ".version 8.4\n.target sm_90\n.address_size 64\n"


def body_of(code: str, registers: str = ".reg .pred %p<9>; .reg .b32 %r<99>;") -> Body:
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
        ("", 2, (1,)),
        ("L_1", 0, (2,)),
        ("L_2", 2, (1, 3)),
        ("", 1, (5, 4)),
        ("", 1, ()),
        ("L_3", 1, ()),
    ]
    assert [block.falls_through for block in body.blocks] == [True, True, True, True, False, False]
    assert [block.loop_depth for block in body.blocks] == [0, 1, 1, 0, 0, 0]
