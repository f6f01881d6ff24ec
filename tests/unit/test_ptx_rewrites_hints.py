"""Pragmas of loops, and limits of entries."""

import pytest
from tests.helpers.rewriting import body_of, values

from burnish.model.control import Choice, Value
from burnish.ptx.body import Body
from burnish.ptx.draft import Draft
from burnish.ptx.rewrites import limits, pragmas

LOOPS = """
L_1:
    .pragma "nounroll";
    add.s32 %r1, %r1, 1;
    @%p1 bra L_1;
L_2:
    add.s32 %r1, %r1, 1;
    @%p2 bra L_2;
    bra L_3;
L_3:
    ret;
"""


def hinted(body: Body, config: dict[str, Value]) -> str:
    """The text without what precedes the first loop, blanks made one."""
    draft = Draft(body)
    pragmas.apply(draft, config)
    return " ".join(draft.text().partition("L_1:")[2].split())


def test_loops_have_controls() -> None:
    found = {control.name: control.domain for control in pragmas.controls(body_of(LOOPS))}
    assert found == {
        "ptx.loop[0].unroll": Choice(("as written", "free")),
        "ptx.loop[0].frequency": Choice(("none", 1)),
        "ptx.loop[1].unroll": Choice(("as written", "nounroll")),
        "ptx.loop[1].frequency": Choice(("none", 1)),
    }


def test_frequencies_need_a_version_and_are_said_once() -> None:
    old = body_of(LOOPS, version="8.8")
    said = body_of(LOOPS.replace("L_2:", 'L_2: .pragma "frequency 7";'))
    assert [one.name for one in pragmas.controls(old) if "frequency" in one.name] == []
    assert "ptx.loop[1].frequency" not in {one.name for one in pragmas.controls(said)}


def test_pragmas_stand_before_the_first_instruction() -> None:
    config: dict[str, Value] = {
        "ptx.loop[0].unroll": "free",
        "ptx.loop[1].unroll": "nounroll",
        "ptx.loop[1].frequency": 1,
    }
    assert hinted(body_of(LOOPS), config) == (
        "add.s32 %r1, %r1, 1; @%p1 bra L_1; "
        'L_2: .pragma "nounroll"; .pragma "frequency 1"; '
        "add.s32 %r1, %r1, 1; @%p2 bra L_2; bra L_3; L_3: ret; }"
    )


def test_defaults_say_nothing() -> None:
    body = body_of(LOOPS)
    draft = Draft(body)
    pragmas.apply(draft, values(pragmas.controls(body)))
    limits.apply(draft, values(limits.controls(body)))
    assert draft == Draft(body)


def limited(directives: str, config: dict[str, Value]) -> str:
    """What stands between parameters and body."""
    draft = Draft(body_of("ret;", directives=directives))
    limits.apply(draft, config)
    header = draft.text().partition("{")[0]
    return " ".join(header.partition(")")[2].split())


@pytest.mark.parametrize(
    ("directives", "expected"),
    [
        ("", ".maxnreg 64 .minnctapersm 2"),
        (".maxntid 256, 1, 1", ".maxntid 256, 1, 1 .maxnreg 64 .minnctapersm 2"),
        (
            ".minnctapersm 1 .maxntid 256, 1, 1 // .maxnreg 7 (no)\n",
            ".minnctapersm 2 .maxntid 256, 1, 1 // .maxnreg 7 (no) .maxnreg 64",
        ),
    ],
)
def test_limits_replace_what_is_said(directives: str, expected: str) -> None:
    assert limited(directives, {"ptx.maxnreg": 64, "ptx.minnctapersm": 2}) == expected


@pytest.mark.parametrize(
    ("directives", "expected"),
    [
        ("", None),
        (".maxntid 128", (1, 2, 3, 4, 6, 8)),
        (".reqntid 32, 8, 2", (1, 2, 3, 4)),
        (".maxntid 1024, 1, 1 .minnctapersm 1", (2,)),
    ],
)
def test_numbers_of_blocks_fit_a_multiprocessor(
    directives: str, expected: tuple[int, ...] | None
) -> None:
    found = {
        one.name: one.domain for one in limits.controls(body_of("ret;", directives=directives))
    }
    blocks = found.get("ptx.minnctapersm")
    assert (blocks.values[1:] if isinstance(blocks, Choice) else None) == expected


def test_a_kernel_that_moves_registers_has_no_limits() -> None:
    assert limits.controls(body_of("setmaxnreg.inc.sync.aligned.u32 96; ret;")) == ()
