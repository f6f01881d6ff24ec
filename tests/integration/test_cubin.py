"""Cubins of real compilers: facts and places against NVIDIA's own tools, digests across builds."""

import re
from pathlib import Path

import pytest
from tests.helpers.toolkit import assembled, compiled, retargeted, said

from burnish.cubin.constants import places
from burnish.cubin.digest import binary_digest
from burnish.cubin.elf import Elf
from burnish.cubin.facts import entries, entry_section, facts
from burnish.model.names import bind, neutral
from burnish.ptx.module import parse

pytestmark = pytest.mark.toolchain

DATA = Path(__file__).parents[1] / "data"
ARCH = "sm_90a"
ARCHS = ["sm_80", "sm_90", "sm_90a", "sm_100", "sm_120"]
FILES = ["axpy", "constants", "mixed", "tiles"]
MIXED_CU = (DATA / "mixed.cu").read_text()
USAGE = re.compile(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)")
INSTRUCTION = re.compile(
    r"/\*[0-9a-f]{4,5}\*/\s+(?P<text>[^;]*);\s*/\* 0x(?P<low>[0-9a-f]{16}) \*/"
    r"\n\s*/\* 0x(?P<high>[0-9a-f]{16}) \*/"
)
BANK = re.compile(r"(?<![\w.])c\[0x([34])\]\s*\[(U?R[\dZ]+)?(?:\.\w+)?\+?(0x[0-9a-f]+)?\]")
OTHER_KERNEL = """#include <cstdio>
__device__ int first[4]; __constant__ int constants_before[5];
extern "C" __global__ void other(int* p) {
  printf("other %d\\n", first[1]);
  p[0] = first[p[1]] + constants_before[p[0]];
  *p = sqrtf(*p) / 1.3f;
}
#line 1
"""


def built(name: str, arch: str, folder: Path, *options: str) -> bytes:
    return assembled(retargeted((DATA / f"{name}.ptx").read_text(), arch), arch, folder, *options)


def digests(cubin: bytes) -> dict[str, str]:
    """Digests by neutral name."""
    return {neutral(name, bind(name)): binary_digest(cubin, name) for name in entries(cubin)}


@pytest.fixture(params=["sm_80", "sm_90a", "sm_120"])
def arch(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("arch", ARCHS)
def test_facts_are_those_that_cuobjdump_prints(arch: str, tmp_path: Path) -> None:
    seen = 0
    for name in FILES:
        cubin = built(name, arch, tmp_path)
        (tmp_path / "k.cubin").write_bytes(cubin)
        for entry, *numbers in USAGE.findall(
            said("cuobjdump", "-res-usage", str(tmp_path / "k.cubin"))
        ):
            found = facts(cubin, entry, 0)
            ours = [found.registers, found.stack_bytes, found.shared_bytes]
            assert ours == [int(number) for number in numbers], (name, entry)
            seen += 1
    assert seen >= 10


def test_instructions_are_those_before_the_padding(arch: str, tmp_path: Path) -> None:
    cubin = built("tiles", arch, tmp_path)
    (tmp_path / "k.cubin").write_bytes(cubin)
    listing = INSTRUCTION.findall(said("cuobjdump", "-sass", str(tmp_path / "k.cubin")))
    last = max(number for number, (text, *_) in enumerate(listing) if text.strip() != "NOP")
    assert listing[last][0].startswith("BRA ")
    found = facts(cubin, "tiles", 0)
    assert found.instructions == last
    assert found.code_bytes == 16 * len(listing)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100", "sm_120"])
def test_places_of_shared_banks_are_those_that_cuobjdump_prints(arch: str, tmp_path: Path) -> None:
    seen = 0
    for name in ("constants", "mixed"):
        cubin = built(name, arch, tmp_path)
        (tmp_path / "k.cubin").write_bytes(cubin)
        parts = said("cuobjdump", "-sass", str(tmp_path / "k.cubin")).split("Function : ")[1:]
        for part in parts:
            entry = part.split()[0]
            code = Elf(cubin).contents(entry_section(Elf(cubin), entry))
            printed = {
                (number, int(bank[1]), int(bank[3] or "0", 16))
                for number, found in enumerate(INSTRUCTION.finditer(part))
                if (bank := BANK.search(found["text"])) and not _is_indexed(bank)
            }
            ours = {(place.word, place.bank, place.offset) for place in places(code, _nothing)}
            assert ours == printed, entry
            seen += len(printed)
    assert seen > 20


def _is_indexed(bank: "re.Match[str]") -> bool:
    """An address by an index in a register: the index is elsewhere in the code."""
    return bank[1] == "4" and bank[2] not in {None, "RZ", "URZ"}


def _nothing(_: int) -> bool:
    return False


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """PTX of one source, built in different ways."""
    folder = tmp_path_factory.mktemp("mixed")
    place = folder / "mixed.cu"
    numbered = "#line 1\n" + MIXED_CU
    elsewhere = f'#line 1 "{place}"\n{MIXED_CU}'
    return {
        "plain": compiled(numbered, place, "-arch=sm_80"),
        "line information": compiled(numbered, place, "-arch=sm_80", "-lineinfo"),
        "another file": compiled(elsewhere, folder / "deep" / "another.cu", "-arch=sm_80"),
        "another kernel before": compiled(OTHER_KERNEL + MIXED_CU, place, "-arch=sm_80"),
    }


@pytest.mark.parametrize("change", ["line information", "another file", "another kernel before"])
def test_what_leaves_the_code_the_same_keeps_the_digests(
    sources: dict[str, str], arch: str, change: str, tmp_path: Path
) -> None:
    expected = digests(assembled(retargeted(sources["plain"], arch), arch, tmp_path))
    options = ["--generate-line-info"] if change == "line information" else []
    cubin = assembled(retargeted(sources[change], arch), arch, tmp_path, *options)
    found = digests(cubin)
    assert bool(found.pop("other", "")) == (change == "another kernel before")
    assert found == expected
    assert (b".debug_line" in cubin) == (change == "line information")


@pytest.mark.parametrize("options", [("-O3", "-v"), ("--opt-level=3",), ("-w", "-O3")])
def test_other_words_for_the_same_options_keep_the_digests(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    expected, found = built("mixed", ARCH, tmp_path), built("mixed", ARCH, tmp_path, *options)
    assert found != expected, "ptxas writes its command line into the file"
    assert digests(found) == digests(expected)


@pytest.mark.parametrize("options", [("-maxrregcount=24",), ("-O1",)], ids=" ".join)
def test_another_limit_or_level_changes_a_digest(
    arch: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    expected = digests(built("mixed", arch, tmp_path))
    found = digests(built("mixed", arch, tmp_path, *options))
    assert found["_Z7stacked7OptionsPf"] != expected["_Z7stacked7OptionsPf"]


def test_the_order_of_kernels_does_not_count(arch: str, tmp_path: Path) -> None:
    text = retargeted((DATA / "mixed.ptx").read_text(), arch)
    once, again = assembled(text, arch, tmp_path), assembled(text, arch, tmp_path)
    assert digests(once) == digests(again)
    first = parse(text).entries[0]
    moved = text[: first.span[0]] + text[first.span[1] :] + "\n" + first.text + "\n"
    assert digests(assembled(moved, arch, tmp_path)) == digests(once)


def test_relocatable_code_has_a_digest_too(arch: str, tmp_path: Path) -> None:
    whole = digests(built("mixed", arch, tmp_path))
    parts = digests(built("mixed", arch, tmp_path, "-c"))
    assert set(whole) <= set(parts)
    assert parts == digests(built("mixed", arch, tmp_path, "-c"))
    assert parts["_Z7choosesPfi"] != whole["_Z7choosesPfi"]
