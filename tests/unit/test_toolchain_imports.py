import sys
from pathlib import Path

import pytest

from burnish.toolchain.process import run

SOURCE = Path(__file__).parents[2] / "src"
MODULES = [
    f"burnish.toolchain.{name}"
    for name in ("cache", "discover", "options", "process", "ptxas", "strays")
]
SLOW = {"argparse", "asyncio", "json", "logging", "shutil", "tempfile", "zipfile"}


@pytest.mark.parametrize("module", MODULES)
def test_a_build_loads_only_the_standard_library_and_nothing_slow(module: str) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r}); before = set(sys.modules)\n"
        f"import {module}\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    outcome = run([sys.executable, "-I", "-S", "-c", code])
    assert outcome.ok, outcome.stderr
    loaded = set(outcome.stdout.decode().split())
    assert loaded - sys.stdlib_module_names == {"burnish"}
    assert not loaded & SLOW
