"""The checkers accept real kernels as they are, under legal orders, and share no code."""

import ast
import re
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
