import os
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from burnish.acf.model import Acf, Evidence, Shape, Tuned, TunedCode
from burnish.acf.shelf import Shelf
from burnish.acf.write import dump, save
from burnish.model.verdict import Outcome

EVIDENCE = Evidence(Outcome.BETTER, "registers", 40, 32)


def tuned(digit: str, entry: str = "k", options: tuple[str, ...] = ()) -> Tuned:
    code = TunedCode("ptxas 13.3.73", ("--maxrregcount=32",), digit * 64)
    return Tuned(
        f"ptx:{digit * 64}", entry, "sm_90", "ptxas 13.5.37", options, code, evidence=EVIDENCE
    )


class Watched(Shelf):
    """A shelf that keeps what it warned about."""

    def __init__(self, folder: Path) -> None:
        self.warnings: list[str] = []
        super().__init__(folder, self.warnings.append)

    def get(self, block: Tuned) -> Tuned | None:
        return self.find(block.key, block.arch, block.baseline_compiler, block.baseline_options)


@pytest.fixture
def shelf(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_a_block_is_found_by_its_whole_plain_build(shelf: Watched, tmp_path: Path) -> None:
    block = tuned("1", options=("--fmad=false",))
    save(Acf((tuned("2"), block)), tmp_path / "a.acf")
    assert shelf.get(block) == block
    assert shelf.get(replace(block, arch="sm_90a")) is None
    assert shelf.get(replace(block, baseline_compiler="ptxas 13.3.73")) is None
    assert shelf.get(replace(block, baseline_options=())) is None
    assert shelf.get(tuned("3")) is None
    assert shelf.warnings == []


def test_files_may_come_change_and_go(shelf: Watched, tmp_path: Path) -> None:
    assert shelf.get(tuned("1")) is None
    save(Acf((tuned("1"),)), tmp_path / "a.acf")
    assert shelf.get(tuned("1")) == tuned("1")
    save(Acf((tuned("2"),)), tmp_path / "a.acf")
    assert shelf.get(tuned("1")) is None
    assert shelf.get(tuned("2")) == tuned("2")
    (tmp_path / "a.acf").unlink()
    assert shelf.get(tuned("2")) is None
    assert shelf.warnings == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"rubbish\n",
        b"\x7fELF\0",
        dump(Acf((tuned("1"),)))[:-20].encode(),
        dump(Acf((tuned("1"),))).replace("arch", "ark").encode(),
        dump(Acf((tuned("1"),), strict=True)).encode(),
    ],
)
def test_a_bad_file_is_a_miss_and_warned_about_once(
    shelf: Watched, tmp_path: Path, data: bytes
) -> None:
    (tmp_path / "a.acf").write_bytes(data)
    save(Acf((tuned("2"),)), tmp_path / "b.acf")
    for _ in range(3):
        assert shelf.get(tuned("1")) is None
        assert shelf.get(tuned("2")) == tuned("2")
    assert len(shelf.warnings) == 1
    assert str(tmp_path / "a.acf") in shelf.warnings[0]


def test_of_two_blocks_for_one_build_the_first_file_by_name_counts(
    shelf: Watched, tmp_path: Path
) -> None:
    first = tuned("1")
    second = replace(first, code=replace(first.code, options=("--maxrregcount=64",)))
    save(Acf((second,)), tmp_path / "b.acf")
    save(Acf((first,)), tmp_path / "a.acf")
    save(Acf((first,)), tmp_path / "c.acf")
    for _ in range(2):
        assert shelf.get(first) == first
    assert shelf.warnings == [f"{tmp_path / 'b.acf'}: k: a.acf has it too, and is taken"]


def test_shape_variants_are_for_those_who_know_the_launch(shelf: Watched, tmp_path: Path) -> None:
    small = replace(tuned("1"), shapes=(Shape(((1, 8), None, None)),))
    save(Acf((small,)), tmp_path / "a.acf")
    assert shelf.get(small) is None
    variants = shelf.variants(small.key, small.arch, small.baseline_compiler, ())
    assert [found.tuned for found in variants] == [small]


def test_blocks_can_be_asked_for_by_key_or_by_entry(shelf: Watched, tmp_path: Path) -> None:
    save(Acf((tuned("1"), tuned("2", "other"))), tmp_path / "a.acf")
    about = shelf.about(tuned("2").key, "k")
    assert [found.tuned.entry for found in about] == ["k", "other"]
    assert {found.path for found in about} == {tmp_path / "a.acf"}


def test_only_acf_files_are_looked_at(shelf: Watched, tmp_path: Path) -> None:
    (tmp_path / "README").write_text("rubbish")
    (tmp_path / ".a.acf.1.2").write_text("rubbish")
    assert shelf.get(tuned("1")) is None
    assert shelf.warnings == []


def test_a_shelf_that_is_not_there_is_warned_about_once(tmp_path: Path) -> None:
    shelf = Watched(tmp_path / "no")
    assert shelf.get(tuned("1")) is None
    assert shelf.get(tuned("1")) is None
    assert shelf.warnings == [f"{tmp_path / 'no'}: there is no such shelf (BURNISH_SHELF)"]
    (tmp_path / "file").write_text("")
    other = Watched(tmp_path / "file")
    assert other.get(tuned("1")) is None
    assert "cannot be read" in other.warnings[0]


def test_a_dangling_link_or_a_folder_is_no_harm(shelf: Watched, tmp_path: Path) -> None:
    (tmp_path / "a.acf").symlink_to(tmp_path / "gone")
    (tmp_path / "b.acf").mkdir()
    save(Acf((tuned("1"),)), tmp_path / "c.acf")
    assert shelf.get(tuned("1")) == tuned("1")


@pytest.mark.slow
def test_readers_never_see_half_of_what_others_write(shelf: Watched, tmp_path: Path) -> None:
    blocks = [tuned("1"), replace(tuned("1"), evidence=replace(EVIDENCE, study="long" * 900))]
    save(Acf((blocks[0],)), tmp_path / "a.acf")

    def write() -> None:
        for number in range(200):
            save(Acf((blocks[number % 2],)), tmp_path / "a.acf")

    writers = [Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert shelf.get(tuned("1")) in blocks
    assert shelf.warnings == []


def test_the_digest_follows_names_and_contents(shelf: Watched, tmp_path: Path) -> None:
    empty = shelf.digest()
    save(Acf((tuned("1"),)), tmp_path / "a.acf")
    one = shelf.digest()
    os.utime(tmp_path / "a.acf", (0, 0))
    assert shelf.digest() == one != empty
    (tmp_path / "a.acf").rename(tmp_path / "b.acf")
    assert shelf.digest() not in {one, empty}
