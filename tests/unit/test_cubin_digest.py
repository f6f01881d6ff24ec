import re
from pathlib import Path

import pytest

from burnish.cubin.constants import Place, places
from burnish.cubin.digest import binary_digest
from burnish.cubin.elf import Elf
from burnish.cubin.facts import entries

DATA = Path(__file__).parents[1] / "data"
AXPY = (DATA / "axpy.cubin").read_bytes()
MIXED = (DATA / "mixed.cubin").read_bytes()
AXPY_DIGEST = binary_digest(AXPY, "axpy")
BEFORE = {name: binary_digest(MIXED, name) for name in entries(MIXED)}
HIDDEN = next(name for name in BEFORE if "hidden" in name)


def span(data: bytes, section: str) -> slice:
    found = Elf(data).by_name[section]
    return slice(found.offset, found.offset + found.size)


def flipped(data: bytes, offset: int) -> bytes:
    return data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :]


def changed(data: bytes) -> set[str]:
    return {name for name in BEFORE if binary_digest(data, name) != BEFORE[name]}


def test_a_digest_is_hex_and_stays_what_it_was() -> None:
    assert re.fullmatch(r"[0-9a-f]{64}", AXPY_DIGEST)
    assert AXPY_DIGEST == "feee79ebf64e93994bbb92a91cabaa093f872abf26f5b85d36185cd2de876a6d"


def test_entries_differ() -> None:
    assert len(set(BEFORE.values())) == 5


def test_any_byte_of_the_code_counts() -> None:
    code = span(AXPY, ".text.axpy")
    for offset in range(code.start, code.stop, 3):
        assert binary_digest(flipped(AXPY, offset), "axpy") != AXPY_DIGEST, offset - code.start


@pytest.mark.parametrize("name", [name for name in BEFORE if "stacked" not in name])
def test_any_byte_of_code_with_shared_banks_counts_and_for_no_other_entry(name: str) -> None:
    code = span(MIXED, f".text.{name}")
    for offset in range(code.start, code.stop, 13):
        assert binary_digest(flipped(MIXED, offset), name) != BEFORE[name]
    assert changed(flipped(MIXED, code.start)) == {name}


@pytest.mark.parametrize(
    "section", [".note.nv.tkinfo", ".note.nv.cuinfo", ".debug_frame", ".nv.compat", ".nv.callgraph"]
)
def test_notes_and_debug_data_do_not_count(section: str) -> None:
    where = span(MIXED, section)
    for offset in range(where.start, where.stop, 5):
        assert not changed(flipped(MIXED, offset))


def test_initial_values_count_where_they_are_reached() -> None:
    elf = Elf(MIXED)
    where = span(MIXED, ".nv.global.init")
    at = {symbol.name.split("pointer")[-1]: symbol.value for symbol in elf.symbols}
    assert changed(flipped(MIXED, where.start + at["5tableE"])) == {HIDDEN}
    assert changed(flipped(MIXED, where.start + at["$str"])) == {"_Z5talksPfi"}


def test_what_a_launch_depends_on_counts() -> None:
    where = span(MIXED, ".nv.info._Z5talksPfi")
    most_threads = MIXED.index((128).to_bytes(4, "little"), where.start, where.stop)
    assert changed(flipped(MIXED, most_threads)) == {"_Z5talksPfi"}
    version = MIXED.index(b"\x04\x37\x04\x00", where.start, where.stop) + 4
    assert not changed(flipped(MIXED, version))


def test_registers_and_stack_count() -> None:
    elf = Elf(MIXED)
    where = span(MIXED, ".nv.info")
    number = next(
        index for index, symbol in enumerate(elf.symbols) if symbol.name == "_Z8reversedPf"
    )
    for kind in (0x2F, 0x11, 0x12):
        head = bytes([4, kind, 8, 0]) + number.to_bytes(4, "little")
        value = MIXED.index(head, where.start, where.stop) + len(head)
        assert changed(flipped(MIXED, value)) == {"_Z8reversedPf"}


def test_the_size_of_shared_memory_counts() -> None:
    elf = Elf(MIXED)
    section = elf.by_name[".nv.shared._Z8reversedPf"]
    table = int.from_bytes(MIXED[40:48], "little")
    size_high = table + 64 * section.index + 32 + 1
    assert changed(flipped(MIXED, size_high)) == {"_Z8reversedPf"}


def test_names_count_but_not_the_file_they_tell_of() -> None:
    assert not changed(MIXED)
    other_hash = re.sub(rb"(?<=_)[0-9a-f]{8}(?=_8_mixed_cu)", b"01234567", MIXED)
    assert other_hash != MIXED
    name = re.sub(r"[0-9a-f]{8}(?=_8_mixed_cu)", "01234567", HIDDEN)
    assert binary_digest(other_hash, name) == BEFORE[HIDDEN]
    renamed = MIXED.replace(b"\0functions\0", b"\0functionz\0")
    assert changed(renamed) == {"_Z7choosesPfi"}


def test_places_of_shared_banks_are_found() -> None:
    ldc = 0x01000A00FF027B82  # LDC.64 R2, c[0x4][0x28]
    indexed = 0x0100000000027B82  # LDC.64 R2, c[0x4][R0]
    move = 0x0000004000007802  # MOV R0, 0x40
    ldcu = 0x01000500FF0477AC  # LDCU.64 UR4, c[0x4][0x28]
    user = 0x00C0000004047ABB  # ULDC UR4, c[0x3][UR4]
    own = 0x00008400FF017B82  # LDC R1, c[0x0][0x210]
    code = b"".join(
        low.to_bytes(8, "little") + bytes(8) for low in (ldc, move, own, indexed, ldcu, user)
    )
    low_mask, lower_mask = (1 << 54) - (1 << 38), (1 << 54) - (1 << 37)
    assert places(code, lambda offset: offset in {0x28, 0x40}) == (
        Place(0, low_mask, 4, 0x28),
        Place(1, 0xFFFFFFFF << 32, 4, 0x40),
        Place(4, lower_mask, 4, 0x28),
        Place(5, low_mask, 3, 0),
    )
    assert [place.word for place in places(code, lambda _: False)] == [0, 4, 5]
