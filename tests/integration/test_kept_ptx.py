"""The PTX in the repository is what its sources compile to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.toolchain, pytest.mark.slow]

ROOT = Path(__file__).parents[2]


def test_the_kept_ptx_is_up_to_date() -> None:
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_ptx.py"), "--check"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if "nvcc was not found" in done.stderr:
        pytest.skip("no nvcc")
    assert done.returncode == 0, done.stdout + done.stderr
