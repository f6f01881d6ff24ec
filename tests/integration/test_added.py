import os
from pathlib import Path

import pytest

from burnish.errors import ToolchainError
from burnish.model.code import Code
from burnish.settings import load
from burnish.toolchain import added
from burnish.toolchain.discover import find_one
from burnish.toolchain.ptxas import Assembled, assemble

pytestmark = [pytest.mark.toolchain, pytest.mark.slow]

PTX = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"


def test_a_real_older_ptxas_comes_out_of_the_index_and_assembles(tmp_path: Path) -> None:
    settings = load({**os.environ, "BURNISH_CACHE": str(tmp_path / "cache")})
    try:
        tool = added.add("ptxas==12.6.85", settings)  # the smallest package, 21 MB
    except ToolchainError as error:
        if "cannot be reached" in str(error) or "has no pip" in str(error):
            pytest.skip(str(error))
        raise
    assert find_one(settings, "ptxas", "12.6.85") == tool
    made = assemble(tool, PTX, Code(tool.name, ()), "sm_90", folder=tmp_path)
    assert isinstance(made, Assembled)  # newer PTX than it knows
    assert sorted(path.name for path in tool.path.parent.iterdir()) == ["License.txt", "ptxas"]
