"""The checker of orders against a machine that runs them, and against the long way round."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.small_machine import Machine, Statement, may_change_places, random_code
from tests.helpers.small_ptx import entry

from burnish.errors import RewriteError
from burnish.ptx.checking.checker import Checker

SEEDS = st.integers(0, 2**32)
STATES = range(6)


def text_of(code: list[Statement]) -> str:
    return entry("\n".join(statement.text for statement in code))


def is_accepted(checker: Checker, code: list[Statement]) -> bool:
    try:
        checker.check(text_of(code))
    except RewriteError:
        return False
    return True


def moved(rng: Random, code: list[Statement]) -> list[Statement]:
    """A statement or a few moved to anywhere near."""
    changed = list(code)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(changed))
        taken = changed.pop(at)
        changed.insert(max(0, at + rng.randrange(-6, 7)), taken)
    return changed


@settings(max_examples=150, deadline=None)
@given(SEEDS)
def test_whatever_order_is_accepted_computes_the_same(seed: int) -> None:
    rng = Random(seed)
    code = random_code(rng, 24)
    checker = Checker(text_of(code))
    for _ in range(24):
        changed = moved(rng, code)
        if changed == code or not is_accepted(checker, changed):
            continue
        for state in STATES:
            for late in (False, True):
                before = Machine(state, late).run(code)
                after = Machine(state, late).run(changed)
                assert before == after, f"{text_of(code)}\nbecame\n{text_of(changed)}"


@settings(max_examples=150, deadline=None)
@given(SEEDS)
def test_orders_that_the_long_way_allows_are_accepted(seed: int) -> None:
    rng = Random(seed)
    code = random_code(rng, 40)
    checker = Checker(text_of(code))
    changed = list(code)
    for _ in range(400):
        at = rng.randrange(len(changed) - 1)
        if may_change_places(changed[at], changed[at + 1]):
            changed[at : at + 2] = changed[at + 1], changed[at]
    checker.check(text_of(changed))


def test_many_orders_are_accepted_and_many_are_not() -> None:
    rng = Random(7)
    accepted = [0, 0]
    for _ in range(30):
        code = random_code(rng, 24)
        checker = Checker(text_of(code))
        for _ in range(20):
            changed = moved(rng, code)
            if changed != code:
                accepted[is_accepted(checker, changed)] += 1
    assert min(accepted) > 50, accepted
