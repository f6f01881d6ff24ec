"""`burnish ptxas` with a real ptxas: the tuned code comes out, or the plain one."""

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.apply import PTX, Bench, tuned_block

from burnish.acf.model import Tuned, TunedCode
from burnish.cubin.digest import binary_digest
from burnish.model.code import Code
from burnish.model.toolchain import Tool
from burnish.ptx.module import parse
from burnish.ptx.replace import payload
from burnish.settings import load
from burnish.toolchain.discover import find_one
from burnish.toolchain.ptxas import Assembled, assemble

pytestmark = pytest.mark.toolchain

ARGV = ("-arch=sm_90", "k.ptx", "-o", "k.cubin")
TUNED = PTX.replace("0f3F800000", "0f40400000")  # of add


@pytest.fixture(scope="module")
def tool() -> Tool:
    found = find_one(load(), "ptxas")
    if found is None:
        pytest.skip("no ptxas here")
    return found


@pytest.fixture
def bench(tmp_path: Path, tool: Tool) -> Bench:
    found = Bench.make(tmp_path, BURNISH_PTXAS=str(tool.path))
    (found.folder / "k.ptx").write_text(PTX)
    return found


def cubin(tool: Tool, text: str, folder: Path, *options: str) -> bytes:
    made = assemble(tool, text, Code(tool.name, options), "sm_90", folder=folder)
    assert isinstance(made, Assembled)
    return made.cubin


def block(tool: Tool, folder: Path, entry: str, *options: str, text: str = TUNED) -> Tuned:
    digest = binary_digest(cubin(tool, text, folder, *options), entry)
    ptx = payload(parse(PTX), parse(text), entry) if text != PTX else ""
    tuned = tuned_block(entry, TunedCode(tool.name, options, digest, ptx))
    return replace(tuned, baseline_compiler=tool.name)


def digests(bench: Bench) -> list[str]:
    data = (bench.folder / "k.cubin").read_bytes()
    return [binary_digest(data, entry) for entry in ("add", "mul")]


def test_one_entry_is_replaced_and_the_other_is_as_it_was(
    bench: Bench, tool: Tool, tmp_path: Path
) -> None:
    tuned = block(tool, tmp_path, "add")
    bench.acf("k.acf", tuned)
    plain = cubin(tool, PTX, tmp_path)
    done = bench.burnish("--apply-controls=k.acf", *ARGV)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert digests(bench) == [tuned.code.binary_sha256, binary_digest(plain, "mul")]
    assert tuned.code.binary_sha256 != binary_digest(plain, "add")
    assert bench.leftovers() == []


def test_options_are_replaced_where_every_entry_says_so(
    bench: Bench, tool: Tool, tmp_path: Path
) -> None:
    blocks = [block(tool, tmp_path, entry, "--opt-level=1", text=PTX) for entry in ("add", "mul")]
    bench.acf("k.acf", *blocks)
    done = bench.burnish("--apply-controls=k.acf", *ARGV, "-v")
    assert done.returncode == 0
    assert digests(bench) == [one.code.binary_sha256 for one in blocks]
    assert done.stderr.startswith("ptxas info")
    assert "Compiling entry function 'add'" in done.stderr
    assert "burnish" not in done.stderr


def test_a_relocatable_build_has_blocks_of_its_own(
    bench: Bench, tool: Tool, tmp_path: Path
) -> None:
    tuned = block(tool, tmp_path, "add", "--compile-only")
    bench.acf("k.acf", replace(tuned, baseline_options=("--compile-only",)))
    assert bench.burnish("--apply-controls=k.acf", *ARGV, "-c").stderr == ""
    assert digests(bench)[0] == tuned.code.binary_sha256
    done = bench.burnish("--apply-controls=k.acf", *ARGV)
    assert "was tuned for builds with --compile-only, and this one has none" in done.stderr


def test_the_shelf_serves_a_build_that_knows_nothing_of_burnish(
    bench: Bench, tool: Tool, tmp_path: Path
) -> None:
    tuned = block(tool, tmp_path, "add")
    (bench.folder / "shelf").mkdir()
    bench.acf("shelf/k.acf", tuned)
    done = bench.burnish(*ARGV, BURNISH_SHELF="shelf")
    assert (done.returncode, done.stderr) == (0, "")
    assert digests(bench)[0] == tuned.code.binary_sha256


def test_tuned_ptx_that_does_not_assemble_leaves_the_build_plain(
    bench: Bench, tool: Tool, tmp_path: Path
) -> None:
    tuned = block(tool, tmp_path, "add")
    broken = tuned.code.ptx.replace("add.f32", "add.f31")
    bench.acf("k.acf", replace(tuned, code=replace(tuned.code, ptx=broken)))
    stays_plain(bench, tool, "failed on the tuned PTX (ptxas k.ptx, line")


def test_other_code_than_was_tuned_leaves_the_build_plain(
    bench: Bench, tool: Tool, tmp_path: Path
) -> None:
    tuned = block(tool, tmp_path, "add")
    bench.acf("k.acf", replace(tuned, code=replace(tuned.code, binary_sha256="0" * 64)))
    stays_plain(bench, tool, "k.acf: add: other code came out than was tuned")


def stays_plain(bench: Bench, tool: Tool, says: str) -> None:
    done = bench.burnish("--apply-controls=k.acf", *ARGV)
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert says in done.stderr, done.stderr
    plain = cubin(tool, PTX, bench.folder)
    assert digests(bench) == [binary_digest(plain, entry) for entry in ("add", "mul")]
    (bench.folder / "k.cubin").unlink()
    done = bench.burnish("--apply-controls=k.acf", *ARGV, "--strict-controls")
    assert done.returncode == 1
    assert says in done.stderr
    assert not (bench.folder / "k.cubin").exists()


def test_ptx_newer_than_the_named_compiler_is_lowered(
    bench: Bench, tool: Tool, tmp_path: Path
) -> None:
    newer = PTX.replace(".version 8.0", ".version 99.0")
    (bench.folder / "k.ptx").write_text(newer)
    code = TunedCode(tool.name, ("--opt-level=1",), "")
    digest = {
        entry: binary_digest(cubin(tool, PTX, tmp_path, "--opt-level=1"), entry)
        for entry in ("add", "mul")
    }
    blocks = [
        replace(
            tuned_block(entry, replace(code, binary_sha256=digest[entry])),
            baseline_compiler=tool.name,
        )
        for entry in ("add", "mul")
    ]
    bench.acf("k.acf", *blocks)
    done = bench.burnish("--apply-controls=k.acf", *ARGV)
    assert (done.returncode, done.stderr) == (0, "")
    assert digests(bench) == list(digest.values())


def test_an_output_that_cannot_be_written_is_the_real_ptxas_to_complain_about(
    bench: Bench, tool: Tool, tmp_path: Path
) -> None:
    bench.acf("k.acf", block(tool, tmp_path, "add"))
    argv = ("-arch=sm_90", "k.ptx", "-o", "no/k.cubin")
    done = bench.burnish("--apply-controls=k.acf", *argv)
    plain = bench.run(str(tool.path), *argv)
    assert done.returncode == plain.returncode != 0
    first, *rest = done.stderr.splitlines()
    assert first == (
        "burnish: no/k.cubin: cannot be written: No such file or directory; building plain"
    )
    assert rest == plain.stderr.splitlines()


@pytest.fixture
def small_disk(bench: Bench) -> Iterator[Path]:
    disk = bench.folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a file system cannot be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_leaves_nothing_of_ours(
    bench: Bench, tool: Tool, tmp_path: Path, small_disk: Path
) -> None:
    bench.acf("k.acf", block(tool, tmp_path, "add"))
    argv = ["--apply-controls=k.acf", "-arch=sm_90", "k.ptx", "-o", "disk/k.cubin"]
    done = bench.burnish(*argv, "--strict-controls")
    assert done.returncode == 1
    assert "disk/k.cubin: cannot be written: No space left on device" in done.stderr
    assert list(small_disk.iterdir()) == []
    done = bench.burnish(*argv)
    plain = bench.run(str(tool.path), *argv[1:])
    assert done.returncode == plain.returncode
    assert "building plain" in done.stderr
    assert [path.name for path in small_disk.iterdir() if path.name != "k.cubin"] == []


def test_many_builds_at_once_do_not_meet(bench: Bench, tool: Tool, tmp_path: Path) -> None:
    tuned = block(tool, tmp_path, "add")
    (bench.folder / "shelf").mkdir()

    def one(number: int) -> str:
        bench.acf("shelf/k.acf", tuned)
        name = f"{number % 3}.cubin"
        done = bench.burnish("-arch=sm_90", "k.ptx", "-o", name, BURNISH_SHELF="shelf")
        assert (done.returncode, done.stderr) == (0, "")
        return binary_digest((bench.folder / name).read_bytes(), "add")

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(one, range(12))) == {tuned.code.binary_sha256}
    assert bench.leftovers() == []
