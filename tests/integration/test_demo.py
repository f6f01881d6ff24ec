"""What the README shows works as it is shown."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.toolchain, pytest.mark.slow]

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment with a home and a cache of its own, and this Python's programs first."""
    home = {
        "HOME": str(tmp_path),
        "BURNISH_CACHE": str(tmp_path / "cache"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    return {**os.environ, **home}


def test_the_demo_ends_with_the_digest_of_the_tuned_trial(environment: dict[str, str]) -> None:
    done = subprocess.run(
        ["sh", str(EXAMPLES / "demo.sh")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The build's binary is the tuned trial's" in done.stdout
    before, after = map(int, re.findall(r"\((\d+) → (\d+) registers\)", done.stdout)[0])
    assert after < before


def test_the_users_own_objective_beats_the_default_through_the_shims(
    environment: dict[str, str], tmp_path: Path
) -> None:
    burnish = Path(sys.executable).with_name("burnish")
    subprocess.run(
        [burnish, "shims", tmp_path / "shims"], env=environment, check=True, capture_output=True
    )
    environment["PATH"] = f"{tmp_path / 'shims'}:{environment['PATH']}"
    done = subprocess.run(
        [sys.executable, EXAMPLES / "own_objective.py"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    front = [(int(a), int(b)) for a, b in re.findall(r"(\d+) registers, (\d+) bytes", done.stdout)]
    plain = int(re.findall(r"plain build: (\d+) registers", done.stdout)[0])
    assert min(spilled for _, spilled in front) == 0
    assert min(registers for registers, spilled in front if spilled == 0) < plain
    assert (tmp_path / "lattice_boltzmann.acf").read_text().startswith('format = "burnish-acf/1"')
