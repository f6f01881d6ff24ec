"""The model of PTX against what NVIDIA's headers say of it, and against ptxas."""

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.helpers.toolkit import assembled, compiled, program

from burnish.cubin.digest import binary_digest
from burnish.errors import KernelError
from burnish.ptx.body import Body, parse_body, tidied
from burnish.ptx.flow import edges
from burnish.ptx.instruction import Instruction
from burnish.ptx.module import parse

pytestmark = pytest.mark.toolchain

ROOT = Path(__file__).parents[2]
START = ".version 8.8\n.target sm_100a\n.address_size 64\n"
TYPES = {"r": "b32", "l": "b64", "h": "b16", "f": "f32", "d": "f64", "q": "b128"}
WRITTEN = r'"((?:[^"\\]|\\.)*)"'
ASM = re.compile(
    rf"\basm\s*(?:volatile)?\s*\(((?:\s*{WRITTEN})+)"
    r"\s*:([^:;]*?):([^:;]*?)(?::\s*(\"memory\")?\s*)?\);"
)
OPERAND = re.compile(r'"([=+]?)(\w+)"\s*\(')
SOURCES = [
    *sorted((ROOT / "examples" / "kernels").glob("*.cu")),
    *(ROOT / "tests" / "data" / f"{name}.cu" for name in ("axpy", "mixed", "tiles")),
]


@cache
def statements() -> list[tuple[str, str, str, str]]:
    """Code, outputs, inputs and what else is said to change."""
    headers = program("nvcc").parents[1] / "include" / "cccl" / "cuda" / "__ptx"
    found = {}
    for path in headers.rglob("*.h"):
        for match in ASM.finditer(re.sub(r"//[^\n]*", "", path.read_text())):
            code = "".join(re.findall(WRITTEN, match[1])).replace("\\n", "\n").replace("\\t", "\t")
            found[code, match[3], match[4]] = (code, match[3], match[4], match[5] or "")
    if len(found) < 1000:
        pytest.skip("this toolkit has no cuda::ptx headers")
    return list(found.values())


def test_effects_are_those_that_the_headers_declare() -> None:
    wrong = [problem for one in statements() for problem in problems(*one)]
    assert not wrong, f"{len(wrong)}, such as {wrong[:3]}"


def test_what_is_pinned_is_known_or_new() -> None:
    bodies = [in_a_body(code, ["%q0"] * 999, ["b32"]) for code, _, _, _ in statements()]
    pinned = {one.opcode for body in bodies for one in body or () if one.pinned}
    volatile_registers = {"mov"}
    assert pinned <= {"exit", "fabric", "setmaxnreg", "trap"} | volatile_registers


def problems(code: str, outputs: str, inputs: str, clobbers: str) -> Iterator[str]:
    """Where the model and an assembly statement in a header differ."""
    constraints = OPERAND.findall(outputs) + OPERAND.findall(inputs)
    names = [f"%q{n}" if kind in TYPES else "64" for n, (_, kind) in enumerate(constraints)]
    split = len(OPERAND.findall(outputs))
    body = in_a_body(code, names, [TYPES.get(kind, "") for _, kind in constraints])
    if body is None or any(one.pinned for one in body):
        return
    used = set(re.findall(r"%q\d+", " ".join(one.text for one in body)))
    writes = set().union(*(one.writes for one in body))
    reads = set().union(*(one.reads for one in body))
    if {name for name in writes if name[:2] == "%q"} != used.intersection(names[:split]):
        yield f"writes {sorted(writes)}: {code}"
    both = {name for name, (how, _) in zip(names, constraints, strict=True) if how == "+"}
    if used & (both | set(names[split:])) - reads:
        yield f"does not read {sorted(used & set(names[split:]) - reads)}: {code}"
    if clobbers and not any(one.fences or one.loads or one.stores for one in body):
        yield f"leaves memory alone: {code}"


def in_a_body(code: str, names: list[str], types: list[str]) -> list[Instruction] | None:
    """An assembly statement as the compiler would put it into a kernel, taken apart."""
    placed = re.sub(r"%(%|\d+)", lambda m: "%" if m[1] == "%" else names[int(m[1])], code)
    registers = [f".reg .{t} {n};" for n, t in zip(names, types, strict=False) if t]
    text = f"{START}.entry k() {{ {' '.join(registers)}\n{placed};\n}}"
    try:
        body = parse_body(parse(text).entry("k"))
    except KernelError:  # one half of a group
        return None
    return [one for one in body.statements if isinstance(one, Instruction)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_any_order_that_keeps_dependences_assembles(path: Path, tmp_path: Path) -> None:
    text = compiled(path.read_text(), tmp_path / path.name, "-arch=sm_90a", "-lineinfo")
    for seed in range(2):
        rng = random.Random(seed)
        assert assembled(shuffled(text, rng), "sm_90a", tmp_path) != b""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_the_code_is_the_same_without_marks(path: Path, tmp_path: Path) -> None:
    text = compiled(path.read_text(), tmp_path / path.name, "-arch=sm_90a", "-lineinfo")
    module = parse(text)
    plain = assembled(text, "sm_90a", tmp_path)
    for entry in module.entries:
        start, end = entry.span
        bare = f"{text[:start]}{parse_body(tidied(entry)).text}{text[end:]}"
        assert not re.search(r"\.loc\s", parse(bare).entry(entry.name).text)
        tidy = assembled(bare, "sm_90a", tmp_path)
        assert binary_digest(tidy, entry.name) == binary_digest(plain, entry.name)


def shuffled(text: str, rng: random.Random) -> str:
    """A module with every block of every function in a random order."""
    for function in reversed(parse(text).functions):
        if function.is_defined:
            start, end = function.span
            body = parse_body(tidied(function))
            text = f"{text[:start]}{printed(body, rng)}{text[end:]}"
    return text


def printed(body: Body, rng: random.Random) -> str:
    order = list(range(len(body.statements)))
    for block in body.blocks:
        order[block.first : block.last] = random_order(body, block.index, rng)
    chunks = [body.statements[number].lead + body.statements[number].text for number in order]
    return "".join([body.header, *chunks, body.tail])


def random_order(body: Body, index: int, rng: random.Random) -> list[int]:
    block = body.blocks[index]
    before: dict[int, set[int]] = {number: set() for number in range(block.first, block.last)}
    for earlier, later in edges(body, block):
        before[later].add(earlier)
    found: list[int] = []
    while before:
        number = rng.choice([number for number, needs in before.items() if not needs])
        found.append(number)
        del before[number]
        for needs in before.values():
            needs.discard(number)
    return found
