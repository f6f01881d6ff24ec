"""The checkers accept real kernels as they are, under legal orders, and share no code."""

import ast
import re
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from burnish.errors import RewriteError
from burnish.ptx.checking.checker import Checker
from burnish.ptx.module import parse

ROOT = Path(__file__).parents[2]
CHECKING = ROOT / "src" / "burnish" / "ptx" / "checking"
FILES = sorted(
    [
        ROOT / "examples" / "kernels" / "attention.ptx",
        ROOT / "examples" / "lattice_boltzmann.ptx",
        *(ROOT / "tests" / "data").glob("*.ptx"),
    ]
)
ENTRIES = {
    f"{path.stem}-{entry.name}": entry.text
    for path in FILES
    for entry in parse(path.read_text()).entries
}
# An instruction that a reader of this test can judge by eye: one destination, plain arithmetic.
SIMPLE = re.compile(
    r"\s*(?:add|sub|mul|fma|and|or|xor|shl|max|min)(?:\.\w+)*\s+(%\w+),((?: *[%\w]+,?)+);\s*"
)


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_is_itself(name: str) -> None:
    checker = Checker(ENTRIES[name])
    checker.check(ENTRIES[name])
    checker.check(ENTRIES[name].replace("\n", "\n\n\t// a comment {\n"))


def independent(first: str, second: str) -> bool:
    one, two = SIMPLE.fullmatch(first), SIMPLE.fullmatch(second)
    if not one or not two or "cc" in first + second:
        return False
    uses_one = {part.strip() for part in one[2].split(",")}
    uses_two = {part.strip() for part in two[2].split(",")}
    return one[1] not in uses_two | {two[1]} and two[1] not in uses_one


def shuffled(text: str, rng: Random) -> str:
    """Swap neighbouring lines of plain arithmetic that share no destination, many times."""
    lines = [*text.split("\n"), ""]
    for _ in range(4 * len(lines)):
        at = rng.randrange(len(lines) - 1)
        if independent(lines[at], lines[at + 1]):
            lines[at : at + 2] = lines[at + 1], lines[at]
    return "\n".join(lines)


@pytest.mark.parametrize("name", ENTRIES)
def test_legal_orders_are_accepted(name: str) -> None:
    checker = Checker(ENTRIES[name])
    for seed in range(10):
        checker.check(shuffled(ENTRIES[name], Random(seed)))


@pytest.mark.parametrize("name", [name for name in ENTRIES if len(ENTRIES[name]) > 4000])
def test_orders_against_a_dependence_are_refused(name: str) -> None:
    checker = Checker(ENTRIES[name])
    lines = ENTRIES[name].split("\n")
    broken = 0
    for at in range(len(lines) - 1):
        one, two = SIMPLE.fullmatch(lines[at]), SIMPLE.fullmatch(lines[at + 1])
        if broken < 40 and one and two and re.search(rf"{re.escape(one[1])}\b", two[2]):
            broken += 1
            swapped = [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]
            with pytest.raises(RewriteError, match=r"order|statements"):
                checker.check("\n".join(swapped))
    assert broken


@pytest.mark.parametrize("path", sorted(CHECKING.glob("*.py")), ids=lambda path: path.stem)
def test_a_checker_imports_nothing_that_rewrites(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            own = name == "burnish.errors" or name.startswith("burnish.ptx.checking")
            assert own or not name.startswith("burnish"), name


def damaged(text: str, rng: Random) -> str:
    """One character of the text lost, doubled, changed, or two places changed over."""
    at, to = rng.randrange(len(text)), rng.randrange(len(text))
    return rng.choice(
        (
            text[:at] + text[at + 1 :],
            text[:at] + text[at] + text[at:],
            text[:at] + rng.choice('{};:.,%@"/*[]()_!$0a \n') + text[at + 1 :],
            text[:at] + text[to : to + 30] + text[at:],
            text[:at] + text[at + rng.randrange(200) :],
        )
    )


def is_refused(checker: Checker, text: str) -> bool:
    try:
        checker.check(text)
    except RewriteError:
        return True
    return False


@pytest.mark.parametrize("name", ENTRIES)
def test_damage_is_refused_and_nothing_else_happens(name: str) -> None:
    checker = Checker(ENTRIES[name])
    rng = Random(name)
    texts = [damaged(ENTRIES[name], rng) for _ in range(60)]
    assert sum(is_refused(checker, text) for text in texts) > 15
    for text in texts[:5]:
        with suppress(RewriteError):
            assert not is_refused(Checker(text), text)


# What follows a return or a branch without a choice is not reached, so it may stand twice.
ANY_STATEMENT = re.compile(r"\s*(?:@!?%\w+\s+)?(?!ret\b|bra\b)[a-z][\w.:]*[^{}]*;\s*")


@pytest.mark.parametrize("name", ENTRIES)
def test_a_statement_that_is_lost_or_doubled_is_missed(name: str) -> None:
    checker = Checker(ENTRIES[name])
    lines = ENTRIES[name].split("\n")
    found = [at for at, line in enumerate(lines) if ANY_STATEMENT.fullmatch(line)]
    for at in found[:: len(found) // 25 + 1]:
        for copies in ([], [lines[at], lines[at]]):
            text = "\n".join([*lines[:at], *copies, *lines[at + 1 :]])
            assert is_refused(checker, text), lines[at]
