"""The house rules that no linter knows."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "burnish"
FILES = sorted(SOURCE.rglob("*.py"))
JUNK = {"base", "common", "core", "helpers", "lib", "manager", "misc", "tools", "util", "utils"}
MOST_LINES = 300
UNIT = re.compile(
    r"(_(s|ms|us|ns|bytes|mj|w|mhz|c|percent|per_s|gbps|share|ratio)"
    r"|(^|_)(alpha|confidence|interval|level|power|probability|ratio|share|tolerance|weight))$"
)


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_is_short_and_says_what_it_is_for(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= MOST_LINES
    assert path.stem not in JUNK
    if text.strip():
        assert ast.get_docstring(ast.parse(text)), "the first line says what the file is for"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_float_field_names_its_unit(path: Path) -> None:
    text = path.read_text()
    lines = text.splitlines()
    classes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]
    for field in [field for node in classes for field in node.body]:
        if isinstance(field, ast.AnnAssign) and _is_float(field.annotation):
            name = ast.unparse(field.target)
            excused = "# house: unit is" in lines[field.lineno - 1]
            assert excused or UNIT.search(name), f"line {field.lineno}: {name} names no unit"


def _is_float(annotation: ast.expr) -> bool:
    return ast.unparse(annotation) in {"float", "float | None"}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_the_public_names_are_listed_and_true(path: Path) -> None:
    tree = ast.parse(path.read_text())
    if path.name == "__init__.py" and path.parent != SOURCE:
        assert not tree.body, "a package's __init__ is empty"
        return
    if path.name == "__main__.py":
        return
    listed = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    assert len(listed) == 1, "one __all__ a file"
    assert len(listed[0]) <= 15
    if path.name == "__init__.py":
        return  # lazy: tests/unit/test_public_names.py compares it with what is visible
    defined = {name for node in tree.body for name in _defined_by(node)}
    assert set(listed[0]) <= defined
    public = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    }
    assert public <= set(listed[0]), "what is not in __all__ starts with an underscore"


def _defined_by(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [ast.unparse(target) for target in node.targets]
    if isinstance(node, ast.AnnAssign):
        return [ast.unparse(node.target)]
    return []
