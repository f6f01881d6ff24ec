import struct
from pathlib import Path

import pytest

from burnish.cubin.digest import binary_digest
from burnish.cubin.elf import Elf, Relocation
from burnish.cubin.facts import entries, facts, instruction_count
from burnish.cubin.info import Attribute, Kind, attributes
from burnish.errors import KernelError
from burnish.model.binary import Facts

DATA = Path(__file__).parents[1] / "data"
AXPY = (DATA / "axpy.cubin").read_bytes()
MIXED = (DATA / "mixed.cubin").read_bytes()
NOP = struct.pack("<QQ", 0x0000000000007918, 0x000FC00000000000)
BRANCH_80 = struct.pack("<QQ", 0xFFFFFFF000007947, 0x000FC0000383FFFF)
BRANCH_90 = struct.pack("<QQ", 0xFFFFFFFC00FC7947, 0x000FC0000383FFFF)
EXIT = struct.pack("<QQ", 0x000000000000794D, 0x000FEA0003800000)


def test_sections_and_symbols_are_read() -> None:
    elf = Elf(AXPY)
    text = elf.by_name[".text.axpy"]
    assert text.size % 128 == 0
    assert elf.section(text.index) is text
    assert elf.by_name[".nv.constant0.axpy"].info == text.index
    axpy = next(symbol for symbol in elf.symbols if symbol.name == "axpy")
    assert (axpy.section, axpy.kind, axpy.binding, axpy.size) == (text.index, 2, 1, text.size)


def test_relocations_are_read_with_the_section_that_they_change() -> None:
    elf = Elf(MIXED)
    rows = elf.relocations[elf.by_name[".nv.constant4"].index]
    assert [row.offset for row in rows] == list(range(0, 8 * len(rows), 8))
    assert rows[0] == Relocation(0, 2, rows[0].symbol, 0)
    names = {elf.symbol(row.symbol).name for row in rows}
    assert {"value", "pointer", "functions", "vprintf", "__assertfail"} <= names


def test_memory_without_bytes_has_a_size_and_no_contents() -> None:
    elf = Elf(MIXED)
    section = elf.by_name[".nv.shared._Z8reversedPf"]
    assert section.is_empty_in_file
    assert section.size == 2048
    assert elf.contents(section) == b""


def test_attributes_are_read() -> None:
    elf = Elf(MIXED)
    found = attributes(elf, elf.by_name[".nv.info._Z5talksPfi"])
    words = {attribute.kind: attribute.words() for attribute in found}
    assert words[Kind.MAX_THREADS] == (128, 1, 1)
    assert len(words[Kind.EXTERNS]) == 2
    assert Attribute(Kind.NUM_BARRIERS, b"\1\0") in found


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no 64-bit ELF file"),
        (b"\x7fELF", "no 64-bit ELF file"),
        (b"\x7fELF\x01\x01\x01" + bytes(100), "no 64-bit ELF file"),
        (AXPY[:40], "the ELF header ends at byte 64, the file at 40; it is cut off"),
        (AXPY[:-1], "the program header table ends at byte"),
        (AXPY[:64], "it is cut off"),
        (AXPY[:0x40] + AXPY[0x41:], "it is cut off"),
    ],
)
def test_what_is_no_whole_cubin_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        Elf(data)


def test_numbers_that_are_not_there_are_refused() -> None:
    elf = Elf(AXPY)
    with pytest.raises(KernelError, match="no section 9999"):
        elf.section(9999)
    with pytest.raises(KernelError, match="no symbol -1"):
        elf.symbol(-1)


def test_entries_are_listed() -> None:
    assert entries(AXPY) == ("axpy",)
    assert [name.split("Z")[-1][:6] for name in entries(MIXED)] == [
        "7choos",
        "5talks",
        "7stack",
        "N39_GL",
        "8rever",
    ]


def test_facts_are_read() -> None:
    assert facts(AXPY, "axpy", 12) == Facts(
        registers=10,
        spill_bytes=12,
        stack_bytes=0,
        instructions=19,
        code_bytes=512,
        shared_bytes=0,
    )
    assert facts(MIXED, "_Z8reversedPf", 0).shared_bytes == 2048
    assert facts(MIXED, "_Z7stacked7OptionsPf", 0).stack_bytes == 128


@pytest.mark.parametrize("read", [lambda data, name: facts(data, name, 0), binary_digest])
def test_an_entry_that_is_not_there_is_refused_with_those_that_are(read: object) -> None:
    assert callable(read)
    with pytest.raises(KernelError, match="no entry 'axpz' in this cubin; it has: axpy"):
        read(AXPY, "axpz")


@pytest.mark.parametrize(
    ("code", "count"),
    [
        (b"", 0),
        (EXIT, 1),
        (EXIT + BRANCH_90 + NOP * 5, 1),
        (EXIT + BRANCH_80 + NOP, 1),
        (NOP + EXIT + NOP, 2),
        (EXIT + BRANCH_90 + BRANCH_90, 2),
        (EXIT + BRANCH_90 + EXIT + NOP, 3),
        (NOP * 3, 0),
        (EXIT + b"\0" * 7, 1),
    ],
)
def test_padding_at_the_end_is_not_counted(code: bytes, count: int) -> None:
    assert instruction_count(code) == count
