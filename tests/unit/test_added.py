import os
import sys
import time
import zipfile
from pathlib import Path

import pytest
from tests.helpers import fake_ptxas

from burnish.errors import ToolchainError, UsageError
from burnish.settings import Settings, load
from burnish.toolchain import added
from burnish.toolchain.discover import find
from burnish.toolchain.process import run

NO_VERSION = """WARNING: something
ERROR: Could not find a version that satisfies the requirement nvidia-cuda-nvcc==13.9.9 \
(from versions: 0.0.0a0, 13.0.88, 13.4.46rc1, 13.5.37)
ERROR: No matching distribution found for nvidia-cuda-nvcc==13.9.9
"""
NO_INDEX = """WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError'
ERROR: Could not find a version that satisfies the requirement x (from versions: none)
ERROR: No matching distribution found for x
"""


class Pip:
    """A Python whose pip is a script: it hands out a wheel, or fails as it is told to."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.python = folder / "python"
        self.behave('cp "$here"/*.whl "$dest"')

    def behave(self, script: str) -> None:
        text = (
            f"#!/bin/sh\nhere='{self.folder}'\n"
            'echo "$*" >> "$here/calls"\n'
            'while [ $# -gt 0 ]; do [ "$1" = --dest ] && dest=$2; shift; done\n'
            f'mkdir -p "$dest"\n{script}\n'
        )
        self.python.write_text(text)
        self.python.chmod(0o755)

    def say(self, text: str, code: int = 1) -> None:
        (self.folder / "said").write_text(text)
        self.behave(f'cat "$here/said" >&2; exit {code}')

    def offer(self, version: str, program: str = "nvidia/cu13/bin/ptxas") -> None:
        fake = fake_ptxas.install(self.folder / version, version=version)
        with zipfile.ZipFile(self.folder / f"nvcc-{version}.whl", "w") as wheel:
            wheel.write(fake.tool.path, program)
            wheel.writestr("nvidia/cu13/bin/nvlink", "much more")
            wheel.writestr("nvidia/cu13/include/License.h", "no licence")
            wheel.writestr("nvcc.dist-info/licenses/License.txt", "the licence")

    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pip:
    made = Pip(tmp_path / "pip")
    monkeypatch.setattr(sys, "executable", str(made.python))
    monkeypatch.setattr(sys, "path", [])
    return made


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"HOME": str(tmp_path), "BURNISH_CACHE": str(tmp_path / "cache"), "PATH": ""})


def kept(settings: Settings) -> list[str]:
    folder = settings.cache / "toolchains"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_the_program_and_its_licence_are_kept_and_nothing_else(
    pip: Pip, settings: Settings
) -> None:
    pip.offer("13.3.73")
    tool = added.add("ptxas==13.3.73", settings)
    assert (tool.name, tool.origin) == ("ptxas 13.3.73", "added")
    assert kept(settings) == ["ptxas-13.3.73/License.txt", "ptxas-13.3.73/ptxas"]
    assert run([str(tool.path), "--version"]).ok
    assert "nvidia-cuda-nvcc==13.3.73" in pip.calls()[0]
    assert added.added(settings) == find(settings).all("ptxas") == (tool,)


def test_older_versions_come_from_the_older_package(pip: Pip, settings: Settings) -> None:
    pip.offer("12.4.131", "nvidia/cuda_nvcc/bin/ptxas")
    assert added.add(" ptxas == 12.4.131 ", settings).version == "12.4.131"
    assert pip.calls()[0].endswith("nvidia-cuda-nvcc-cu12==12.4.131")


def test_what_is_there_is_not_fetched_again(pip: Pip, settings: Settings) -> None:
    pip.offer("13.3.73")
    first = added.add("ptxas==13.3.73", settings)
    assert added.add("ptxas==13.3.73", settings) == first
    assert len(pip.calls()) == 1


def test_a_broken_one_is_replaced(pip: Pip, settings: Settings) -> None:
    pip.offer("13.3.73")
    tool = added.add("ptxas==13.3.73", settings)
    tool.path.write_text("broken")
    assert added.added(settings) == ()
    assert added.add("ptxas==13.3.73", settings).version == "13.3.73"
    assert kept(settings) == ["ptxas-13.3.73/License.txt", "ptxas-13.3.73/ptxas"]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (NO_VERSION, "does not exist; there are: 13.0.88, 13.5.37"),
        (NO_INDEX, "the package index cannot be reached"),
        ("/x/python: No module named pip", "has no pip; try: .* -m ensurepip"),
        ("one\nERROR: Disk quota exceeded\n", "pip says: ERROR: Disk quota exceeded"),
        ("", "pip ended with code 1"),
    ],
)
def test_what_pip_cannot_do_is_said_in_one_line(
    pip: Pip, settings: Settings, said: str, message: str
) -> None:
    pip.say(said)
    with pytest.raises(ToolchainError, match=message) as caught:
        added.add("ptxas==13.9.9", settings)
    assert "\n" not in str(caught.value)
    assert kept(settings) == []


def test_a_python_that_is_gone_is_said(pip: Pip, settings: Settings) -> None:
    pip.python.unlink()
    with pytest.raises(ToolchainError, match="has no pip"):
        added.add("ptxas==13.3.73", settings)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ('echo rubbish > "$dest/x.whl"', "x.whl is damaged"),
        ("true", "pip ended with code 0"),
    ],
)
def test_what_is_no_wheel_is_refused(
    pip: Pip, settings: Settings, script: str, message: str
) -> None:
    pip.behave(script)
    with pytest.raises(ToolchainError, match=message):
        added.add("ptxas==13.3.73", settings)
    assert kept(settings) == []


def test_a_wheel_of_another_version_is_refused(pip: Pip, settings: Settings) -> None:
    pip.offer("13.0.88")
    with pytest.raises(ToolchainError, match=r"holds ptxas 13\.0\.88, not ptxas 13\.3\.73"):
        added.add("ptxas==13.3.73", settings)
    assert kept(settings) == []


def test_a_wheel_without_the_program_is_refused(pip: Pip, settings: Settings) -> None:
    pip.offer("13.3.73", "nvidia/cu13/bin/notptxas")
    with pytest.raises(ToolchainError, match="holds no bin/ptxas"):
        added.add("ptxas==13.3.73", settings)
    assert kept(settings) == []


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ("ptxas", "no requirement such as"),
        ("ptxas>=13", "no requirement such as"),
        ("ptxas==latest", "no requirement such as"),
        ("../x==13.0.1", "no requirement such as"),
        ("gcc==13.1.0", "gcc cannot be added; these can: ptxas"),
        ("ptxas==11.8.89", "too old"),
    ],
)
def test_other_requirements_are_usage_errors(
    pip: Pip, settings: Settings, requirement: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        added.add(requirement, settings)
    assert pip.calls() == []


def test_a_cache_that_cannot_be_written_is_said(pip: Pip, settings: Settings) -> None:
    pip.offer("13.3.73")
    settings.cache.write_text("a file")
    with pytest.raises(ToolchainError, match=r"toolchains: (Not a directory|File exists)"):
        added.add("ptxas==13.3.73", settings)


@pytest.mark.parametrize("name", ["ptxas==13.3.73", "ptxas 13.3.73", "ptxas-13.3.73"])
def test_an_added_one_can_be_removed(pip: Pip, settings: Settings, name: str) -> None:
    pip.offer("13.3.73")
    added.add("ptxas==13.3.73", settings)
    added.remove(name, settings)
    assert added.added(settings) == ()
    assert kept(settings) == []


@pytest.mark.parametrize("name", ["ptxas==13.0.88", "", "..", "ptxas"])
def test_only_what_was_added_can_be_removed(pip: Pip, settings: Settings, name: str) -> None:
    with pytest.raises(UsageError, match=r"was not added .added: none"):
        added.remove(name, settings)
    pip.offer("13.3.73")
    added.add("ptxas==13.3.73", settings)
    with pytest.raises(UsageError, match=r"was not added .added: ptxas==13\.3\.73"):
        added.remove(name, settings)


def test_what_killed_ones_left_goes_in_time(pip: Pip, settings: Settings) -> None:
    pip.offer("13.3.73")
    folder = settings.cache / "toolchains"
    for name, age_s in ((".new-1-1", 7200), (".new-1-2", 10)):
        (folder / name).mkdir(parents=True)
        then_ns = time.time_ns() - age_s * 10**9
        os.utime(folder / name, ns=(then_ns, then_ns))
    added.add("ptxas==13.3.73", settings)
    assert sorted(path.name for path in folder.iterdir()) == [".new-1-2", "ptxas-13.3.73"]
