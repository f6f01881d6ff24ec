import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.apply.again import FOLDER, Memory
from burnish.apply.scripts import ptxas_script
from burnish.settings import load

ARGV = ["-arch=sm_90", "--apply-controls=k.acf", "k.ptx", "-o", "k.cubin"]
KNOWN = (b"out", b"ptxas k.ptx, line 3; err\n\0", b"\x7fELF\n\n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("k.acf", "tuned"), ("k.ptx", "plain"), ("l.ptx", "other")):
        (tmp_path / name).write_text(text)
    (tmp_path / "shelf").mkdir()
    shutil.copy(sys.executable, tmp_path / "real")
    return tmp_path


def memory(argv: list[str] | None = None, **changes: str) -> Memory:
    standard = {"real": "real", "shelf": "shelf", "allow": "", "strict": "", "cache": "cache"}
    return Memory(list({**standard, **changes}.values()), ARGV if argv is None else argv)


def keep(one: Memory) -> None:
    one.keep(*KNOWN)


def test_what_was_kept_is_known_to_the_next_build(folder: Path) -> None:
    assert memory().recall() is None
    keep(memory())
    assert memory().recall() == KNOWN
    (folder / "k.cubin").write_text("an output changes nothing")
    assert memory().recall() == KNOWN


def test_a_plain_build_is_known_too(folder: Path) -> None:
    assert folder.is_dir()
    memory().keep(b"", b"", b"")
    assert memory().recall() == (b"", b"", b"")


@pytest.mark.parametrize("name", ["k.acf", "k.ptx", "shelf/a.acf", "real"])
def test_a_changed_file_makes_another_build(folder: Path, name: str) -> None:
    if name.startswith("shelf"):
        (folder / name).write_text("before")
    keep(memory())
    data = (folder / name).read_bytes()
    (folder / f"{name}.new").write_bytes(data[:-1] + b"!")
    (folder / f"{name}.new").replace(folder / name)
    assert memory().recall() is None


def test_names_of_files_do_not_count_and_messages_follow_them(folder: Path) -> None:
    """nvcc gives its files other names at every build."""
    keep(memory())
    (folder / "tmp 7.ptx").write_text("plain")
    (folder / "other.acf").write_text("tuned")
    argv = ["-arch=sm_90", "--apply-controls=other.acf", "tmp 7.ptx", "-o=l.cubin"]
    assert memory(argv).recall() == (b"out", b"ptxas tmp 7.ptx, line 3; err\n\0", b"\x7fELF\n\n")
    assert memory(argv).output == "l.cubin"
    assert memory().output == "k.cubin"
    assert memory(argv[:3]).output == "elf.o"


def test_another_command_or_environment_is_another_build(folder: Path) -> None:
    assert folder.is_dir()
    keep(memory())
    for other in (
        memory([*ARGV, "-v"]),
        memory([word.replace("k.ptx", "l.ptx") for word in ARGV]),
        memory(allow="conditional"),
        memory(strict="1"),
        memory(shelf=""),
    ):
        assert other.recall() is None


@pytest.mark.parametrize(
    "argv",
    [
        ["-arch=sm_90", "-", "-o", "k.cubin"],
        ["-optf", "options", "k.ptx"],
        ["--options-file=options", "k.ptx"],
    ],
)
def test_where_not_all_files_are_known_nothing_is_kept(folder: Path, argv: list[str]) -> None:
    keep(memory(argv))
    assert memory(argv).recall() is None
    assert not (folder / "cache").exists()


def test_behind_a_script_or_without_a_shelf_folder_nothing_is_kept(folder: Path) -> None:
    (folder / "script").write_text("#!/bin/sh\nexec real\n")
    for one in (memory(real="script"), memory(real="missing"), memory(shelf="missing")):
        keep(one)
        assert one.recall() is None
    assert not (folder / "cache").exists()


def test_a_file_that_changed_during_the_build_spoils_it(folder: Path) -> None:
    begun = memory()
    (folder / "k.ptx").write_text("saved again")
    keep(begun)
    assert memory().recall() is None
    assert not (folder / "cache").exists()


@pytest.mark.parametrize("damage", [b"", b"rubbish", None])
def test_a_damaged_entry_is_none(folder: Path, damage: bytes | None) -> None:
    keep(memory())
    [entry] = [path for path in (folder / "cache" / FOLDER).rglob("*") if path.is_file()]
    entry.write_bytes(entry.read_bytes()[:-1] if damage is None else damage)
    assert memory().recall() is None


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"HOME": "/home/me"},
        {"HOME": "/home/me", "XDG_CACHE_HOME": "/xdg"},
        {"HOME": "/home/me", "XDG_CACHE_HOME": "/xdg", "BURNISH_CACHE": "/own"},
    ],
)
def test_the_shell_finds_the_cache_where_the_settings_have_it(environment: dict[str, str]) -> None:
    [line] = [line for line in ptxas_script(Path("/real")).splitlines() if line[:6] == "cache="]
    argv = ["/bin/sh", "-c", f'{line}; printf %s "$cache"']
    said = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)
    assert said.stdout == str(load(environment).cache)
