"""What a build or a user's program imports is the standard library and Burnish, nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PACKAGES = ("acf", "apply", "cubin", "model", "ptx", "toolchain")
SCRIPT = """
import importlib, sys
sys.path.append({source!r})
for name in {names!r}:
    importlib.import_module(name)
print(*sorted(sys.modules))
"""


def loaded(*names: str) -> set[str]:
    script = SCRIPT.format(source=str(SOURCE), names=names)
    argv = [sys.executable, "-I", "-S", "-W", "error", "-c", script]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def modules_of(package: str) -> list[str]:
    files = sorted((SOURCE / "burnish" / package).glob("[a-z]*.py"))
    return [f"burnish.{package}.{file.stem}" for file in files]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_of_the_build_needs_only_the_standard_library(package: str) -> None:
    names = modules_of(package)
    assert names
    tops = {name.partition(".")[0] for name in loaded(*names)}
    assert tops - {"burnish", "__main__"} <= sys.stdlib_module_names


def test_the_settings_and_errors_too() -> None:
    tops = {name.partition(".")[0] for name in loaded("burnish.settings", "burnish.errors")}
    assert tops - {"burnish", "__main__"} <= sys.stdlib_module_names


def test_a_build_loads_nothing_that_only_tuning_needs() -> None:
    own = {name.split(".")[1] for name in loaded("burnish.apply.ptxas") if name.count(".")} & {
        file.stem for file in (SOURCE / "burnish").iterdir()
    }
    assert own <= {*PACKAGES, "errors", "settings"}


def test_a_build_from_memory_loads_next_to_nothing() -> None:
    """Each of these costs more than all that is left."""
    heavy = {"dataclasses", "enum", "pathlib", "re", "subprocess", "tomllib", "typing"}
    names = loaded("burnish.apply.again")
    assert not heavy & names
    assert {name for name in names if name.startswith("burnish.")} == {
        "burnish.acf",
        "burnish.acf.atomic",
        "burnish.apply",
        "burnish.apply.again",
        "burnish.apply.deliver",
    }
