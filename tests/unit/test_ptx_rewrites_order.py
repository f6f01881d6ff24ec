"""Orders inside blocks: always allowed, and each mode does what it says."""

from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.rewriting import FILES, bodies, body_of, values

from burnish.ptx.body import Body
from burnish.ptx.draft import Draft
from burnish.ptx.flow import edges
from burnish.ptx.module import parse
from burnish.ptx.rewrites import order
from burnish.ptx.rewrites.graph import Graph, graphs
from burnish.ptx.rewrites.schedules import MODES, SOURCE, WINDOWS, Schedules

SUM = """
    ld.global.f32 %f1, [%rd1];
    ld.global.f32 %f2, [%rd1+4];
    ld.global.f32 %f3, [%rd1+8];
    ld.global.f32 %f4, [%rd1+12];
    add.f32 %f5, %f1, %f2;
    add.f32 %f6, %f5, %f3;
    add.f32 %f7, %f6, %f4;
    mul.f32 %f8, %f9, %f10;
    mul.f32 %f11, %f8, %f10;
    add.f32 %f12, %f11, %f7;
    st.global.f32 [%rd1], %f12;
    ret;
"""


def ordered(body: Body, value: str) -> dict[int, list[int]]:
    """The orders of all blocks."""
    draft = Draft(body)
    order.apply(draft, {"ptx.schedule": value})
    return {index: list(numbers) for index, numbers in draft.orders.items()}


def opcodes(body: Body, value: str) -> str:
    """The opcodes of the block that has most, in their order, declarations left out."""
    numbers = max(ordered(body, value).values(), key=len)
    texts = [body.statements[number].text for number in numbers]
    return " ".join(text.partition(".")[0].rstrip(";") for text in texts if text[0] != ".")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_order_is_allowed(path: Path) -> None:
    for body in bodies(parse(path.read_text())):
        for mode, window in product(MODES, (0, 16, 4)):
            for seed in range(mode == SOURCE, 4, 3):
                check(body, f"{mode}/{window}/{seed}")


def check(body: Body, value: str) -> None:
    """No statement is lost, and none passes one that it depends on."""
    for index, numbers in ordered(body, value).items():
        block = body.blocks[index]
        assert sorted(numbers) == list(range(block.first, block.last))
        place = {number: at for at, number in enumerate(numbers)}
        assert all(place[one] < place[two] for one, two in edges(body, block)), value


@given(st.integers(0, Schedules(inherits=False).size - 1))
@settings(max_examples=50, deadline=None)
def test_a_value_always_gives_one_order(number: int) -> None:
    value = str(Schedules(inherits=False).at(number))
    assert ordered(body_of(SUM), value) == ordered(body_of(SUM), value)


def test_orders_by_chance_are_the_same_everywhere() -> None:
    body = body_of(SUM)
    assert [ordered(body, f"source/0/{seed}")[0][4:-1] for seed in (1, 2, 3)] == [
        [11, 5, 6, 7, 4, 8, 9, 10, 12, 13, 14],
        [5, 6, 7, 4, 8, 9, 10, 11, 12, 13, 14],
        [4, 5, 8, 7, 6, 11, 12, 9, 10, 13, 14],
    ]


def test_seeds_give_different_orders() -> None:
    body = body_of(SUM)
    found = {tuple(ordered(body, f"source/0/{seed}")[0]) for seed in range(3, 400, 4)}
    assert len(found) > 80


def test_chance_reaches_every_order() -> None:
    body = body_of("mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; ret;")
    found = {tuple(ordered(body, f"source/0/{seed}")[0]) for seed in range(3, 400, 4)}
    assert len(found) == 6


def test_weak_chance_changes_little() -> None:
    body = body_of("".join(f"mov.u32 %r{number}, 1;" for number in range(99)) + "ret;")
    weak, strong = ordered(body, "source/0/4")[0], ordered(body, "source/0/3")[0]
    in_a_row = [sum(two == one + 1 for one, two in pairwise(numbers)) for numbers in (weak, strong)]
    assert in_a_row[0] > 75
    assert in_a_row[1] < 20


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("early/0/0", "ld ld ld ld add add add mul mul add st ret"),
        ("late/0/0", "ld ld add ld add ld add mul mul add st ret"),
        ("critical/0/0", "ld ld ld ld mul mul add add add add st ret"),
        ("interleave/0/0", "ld ld add ld add ld add mul mul add st ret"),
    ],
)
def test_modes_do_what_they_say(value: str, expected: str) -> None:
    assert opcodes(body_of(SUM), value) == expected


def test_memory_and_arithmetic_are_mixed_evenly() -> None:
    loads = "".join(f"ld.global.f32 %f{number}, [%rd1+{4 * number}];" for number in range(4))
    moves = "".join(f"mov.u32 %r{number}, 1;" for number in range(8))
    expected = " ".join(["mov ld mov"] * 4)
    assert opcodes(body_of(f"{loads} {moves} ret;"), "interleave/0/0") == f"{expected} ret"


def test_few_registers_are_alive_under_pressure() -> None:
    body = body_of(
        "".join(f"ld.shared.f32 %f{n}, [%r1+{4 * n}];" for n in range(1, 17))
        + "".join(f"add.f32 %f{n + 1}, %f{n}, %f{n - 16};" for n in range(17, 33))
        + "st.shared.f32 [%r1], %f33; ret;"
    )
    (graph,) = graphs(body).values()
    plain = alive(graph, list(range(graph.size)))
    found = [number - graph.first for number in ordered(body, "pressure/0/0")[0]]
    assert alive(graph, found) < plain / 4


def alive(graph: Graph, numbers: list[int]) -> int:
    """The most halves of registers that are alive at once, naively."""
    lives, last = graph.lives, graph.size - 1
    now = {one for one, survives in enumerate(lives.survives) if survives}
    most = 0
    for number in reversed(numbers):
        now = (now - set(lives.kills[last - number])) | set(lives.reads[last - number])
        most = max(most, sum(lives.halves[one] for one in now))
    return most


@pytest.mark.parametrize("window", [window for window in WINDOWS if window])
def test_nothing_comes_from_beyond_the_window(window: int) -> None:
    body = body_of("".join(f"mov.u32 %r{number}, 1;" for number in range(99)) + "ret;")
    for mode in ("source", "early", "critical", "interleave"):
        numbers = ordered(body, f"{mode}/{window}/3")[0]
        left = set(numbers)
        for number in numbers:
            assert number < min(left) + window
            left.remove(number)


@pytest.mark.parametrize(
    "code",
    [
        "add.s32 %r1, %r2, 1; add.s32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; ret;",
        "mov.u32 %r1, 1; mov.u32 %r2, 1; ret;",
    ],
)
def test_a_block_with_little_to_order_has_no_control(code: str) -> None:
    assert order.controls(body_of(code)) == ()


def test_what_a_pragma_speaks_of_stays_behind_it() -> None:
    code = '.pragma "used_bytes_mask 0x3"; ld.global.u32 %r1, [%rd1]; mov.u32 %r2, 2; ret;'
    body = body_of(f"mov.u32 %r3, 1; mov.u32 %r4, 1; {code}")
    for seed in range(1, 20):
        draft = Draft(body)
        order.apply(draft, {"ptx.schedule": f"source/0/{seed}"})
        assert code.partition(" mov")[0] in draft.text()


def test_a_block_may_differ_from_the_kernel() -> None:
    body = body_of(f"{SUM.replace('ret;', '@%p1 bra L_1;')} L_2: {SUM} L_1: {SUM}")
    found = {control.name for control in order.controls(body)}
    assert found == {"ptx.schedule", *(f"ptx.block[{index}].schedule" for index in (0, 1, 2))}
    draft = Draft(body)
    config = {"ptx.schedule": "early/0/0", "ptx.block[1].schedule": "source"}
    order.apply(draft, {**config, "ptx.block[2].schedule": "late/0/0"})
    assert set(draft.orders) == {0, 2}
    assert list(draft.orders[0]) == ordered(body, "early/0/0")[0]
    assert list(draft.orders[2]) == ordered(body, "late/0/0")[2]


def test_windows_of_a_block_are_smaller_than_it() -> None:
    controls = {control.name: control for control in order.controls(body_of(SUM))}
    domain = controls["ptx.block[0].schedule"].domain
    assert isinstance(domain, Schedules)
    assert max(domain.windows) < 16


def test_defaults_order_nothing() -> None:
    draft = Draft(body_of(SUM))
    order.apply(draft, values(order.controls(draft.body)))
    assert draft.orders == {}
