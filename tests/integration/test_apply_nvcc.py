"""`burnish nvcc`: the program that a user's build makes holds the tuned kernel."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.cubin.digest import binary_digest

pytestmark = [pytest.mark.toolchain, pytest.mark.slow]

EXAMPLE = Path(__file__).parents[2] / "examples" / "lattice_boltzmann.cu"
SOURCE = EXAMPLE.read_text() + "int main() { return 0; }\n"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(tmp_path), "BURNISH_CACHE": str(tmp_path / "cache")}


def burnish(
    environment: dict[str, str], folder: Path, *words: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "burnish", *words],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_build_by_nvcc_gives_the_digest_that_was_tuned(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "k.cu").write_text(SOURCE)
    told = burnish(
        environment, tmp_path, "tune", "k.cu", "--device", "none", "--minimize", "registers",
        "--evaluations", "25", "-o", "k.acf", "--json", "k.json", "--arch", "sm_90a",
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    tuned = json.loads((tmp_path / "k.json").read_text())["digests"]["tuned"]
    built = burnish(
        environment, tmp_path, "nvcc", "-cubin", "-arch=sm_90a", "k.cu", "-o", "k.cubin",
        "--apply-controls", "k.acf", "--strict-controls",
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    assert binary_digest((tmp_path / "k.cubin").read_bytes(), "lattice_boltzmann") == tuned
    program = burnish(
        environment, tmp_path, "nvcc", "-arch=sm_90a", "-o", "app", "k.cu",
        "--apply-controls=k.acf", "--strict-controls",
    )  # fmt: skip
    assert program.returncode == 0, program.stderr
    assert subprocess.run([tmp_path / "app"], check=False).returncode == 0


def test_an_acf_of_another_kernel_leaves_the_build_plain_unless_strict(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "k.cu").write_text(SOURCE)
    (tmp_path / "k.acf").write_text('format = "burnish-acf/1"\n')
    words = ("nvcc", "-cubin", "-arch=sm_90a", "k.cu", "-o", "k.cubin", "--apply-controls", "k.acf")
    plain = burnish(environment, tmp_path, *words)
    assert plain.returncode == 0
    assert "building plain" in plain.stderr
    assert (tmp_path / "k.cubin").exists()
    (tmp_path / "k.cubin").unlink()
    strict = burnish(environment, tmp_path, *words, "--strict-controls")
    assert strict.returncode != 0
    assert not (tmp_path / "k.cubin").exists()


def test_an_acf_of_one_architecture_serves_a_fat_build_and_no_other_one(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "k.cu").write_text(
        'extern "C" __global__ void k(const float *x, float *y, int n) {\n'
        "  float s = 0;\n"
        "  for (int i = 0; i < n; i++) s += x[i * threadIdx.x] * x[i];\n"
        "  y[threadIdx.x] = s;\n}\n"
    )
    sides = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in (80, 90)]
    told = burnish(
        environment, tmp_path, "tune", "k.cu", "--device", "none", "--minimize", "instructions",
        "--evaluations", "12", "--jobs", "2", "-o", "k.acf", "--", sides[1],
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    words = ("k.cu", "--apply-controls", "k.acf", "--strict-controls")
    fat = burnish(environment, tmp_path, "nvcc", *sides, "-fatbin", "-o", "k.fatbin", *words)
    assert fat.returncode == 0, fat.stderr
    assert "no block is for k on sm_80; building plain" in fat.stderr
    other = burnish(environment, tmp_path, "nvcc", sides[0], "-cubin", "-o", "k.cubin", *words)
    assert other.returncode != 0
    assert "no block is for k on sm_80; nothing was built" in other.stderr
    assert not (tmp_path / "k.cubin").exists()
