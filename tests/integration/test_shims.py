"""The shims: what they cost nothing, when Python is asked, and that nvcc uses them."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.apply import PTX, Bench, tuned_block
from tests.helpers.fake_ptxas import Fake, install

from burnish.acf.model import TunedCode
from burnish.apply.again import FOLDER
from burnish.apply.scripts import ptxas_script, triton_script
from burnish.apply.shims import write
from burnish.cubin.digest import binary_digest
from burnish.errors import ToolchainError, UsageError
from burnish.model.toolchain import Tool
from burnish.ptx.digest import entry_digest
from burnish.ptx.module import parse
from burnish.ptx.replace import payload
from burnish.settings import load
from burnish.toolchain.cache import CompileCache
from burnish.toolchain.discover import find_one

ARGV = ("-arch=sm_90", "k.ptx", "-o", "k.cubin")
CODE = TunedCode("ptxas 13.5.37", ("--maxrregcount=32",), "")
ODD = "a 'folder' with \"quotes\" & $signs"


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    found = install(tmp_path / "real")
    found.always('echo "$*" > "$out"; echo said; echo warned >&2')
    return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    found = Bench.make(tmp_path)
    (found.folder / "k.ptx").write_text(PTX)
    return found


@pytest.fixture
def shim(fake: Fake, tmp_path: Path) -> str:
    path = tmp_path / ODD / "ptxas"
    path.parent.mkdir()
    path.write_text(ptxas_script(fake.tool.path))
    path.chmod(0o755)
    return str(path)


def without_python(shim: str) -> str:
    """The same shim, of which Python is never started: it is gone."""
    path = Path(shim)
    path.write_text(path.read_text().replace(sys.executable, "/no/python"))
    return shim


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["--version"],
        [*ARGV, "-v"],
        [*ARGV, "with space", "a'b", 'c"d', "", "$HOME", "*", "\\n", "new\nline"],
        [*ARGV, "-optf", "plain options"],
        [*ARGV, "-optf=missing"],
    ],
)
def test_without_an_acf_the_real_ptxas_is_started_at_once(
    bench: Bench, fake: Fake, shim: str, argv: list[str]
) -> None:
    fake.always('for word in "$@"; do printf "<%s>" "$word"; done; exit 9')
    (bench.folder / "plain options").write_text("-v --fmad=false")
    real = bench.run(str(fake.tool.path), *argv)
    done = bench.run(without_python(shim), *argv)
    assert (done.returncode, done.stdout, done.stderr) == (real.returncode, real.stdout, "")


@pytest.mark.parametrize(
    "argv",
    [
        ["--apply-controls", "k.acf"],
        ["-apply-controls=k.acf"],
        ["--apply-controls=k.acf"],
        ["--strict-controls"],
        ["--allow", "conditional"],
        ["--allow=conditional"],
        ["-optf", "my options"],
        ["--options-file=my options"],
        ["--options-file", "nested"],
        ["-optf=one,two"],
    ],
)
def test_python_is_asked_where_there_may_be_an_acf(
    bench: Bench, shim: str, argv: list[str]
) -> None:
    (bench.folder / "my options").write_text('-v --apply-controls "k.acf"')
    (bench.folder / "nested").write_text("-optf other")
    done = bench.run(without_python(shim), *ARGV, *argv)
    assert done.stderr.startswith("burnish: /no/python is gone, write the shims again")
    assert bench.run(without_python(shim), *ARGV, BURNISH_SHELF="s").stderr.startswith("burnish:")


def test_a_shim_in_a_folder_with_an_odd_name_applies_an_acf(
    bench: Bench, fake: Fake, shim: str
) -> None:
    blocks = [tuned_block(entry, CODE) for entry in ("add", "mul")]
    bench.acf("my 'k'.acf", *blocks, strict=True)
    done = bench.run(shim, *ARGV, "--apply-controls", "my 'k'.acf")
    assert (done.returncode, done.stdout, done.stderr) == (0, "said\n", "warned\n")
    assert "--maxrregcount=32" in fake.calls()[0]


def test_the_environment_can_name_another_real_ptxas(
    bench: Bench, shim: str, tmp_path: Path
) -> None:
    other = install(tmp_path / "other")
    assert bench.run(shim, *ARGV, BURNISH_PTXAS=str(other.tool.path)).returncode == 0
    assert len(other.calls()) == 1


def test_a_shim_that_is_named_as_the_real_ptxas_does_not_go_in_circles(
    bench: Bench, fake: Fake, shim: str
) -> None:
    assert bench.run(shim, *ARGV, BURNISH_PTXAS=shim).returncode == 0
    assert len(fake.calls()) == 1
    done = bench.run(shim, *ARGV, BURNISH_PTXAS=shim, BURNISH_SHELF=".")
    assert done.returncode == 1
    assert "is no ptxas that can be started (a shim?); name the real one" in done.stderr


def test_the_version_for_triton_follows_the_shelf(bench: Bench, fake: Fake, tmp_path: Path) -> None:
    path = tmp_path / "triton-ptxas"
    path.write_text(triton_script(fake.tool.path))
    path.chmod(0o755)
    shelf = tmp_path / "shelf"
    shelf.mkdir()

    def version(**environment: str) -> str:
        done = bench.run(str(path), "--version", **environment)
        assert done.returncode == 0
        return done.stdout

    plain = version()
    assert plain == (fake.folder / "version").read_text(), "without a shelf, the real one's"
    empty = version(BURNISH_SHELF=str(shelf))
    assert empty.startswith(plain)
    (shelf / "k.acf").write_text("anything")
    full = version(BURNISH_SHELF=str(shelf))
    allowed = version(BURNISH_SHELF=str(shelf), BURNISH_ALLOW="conditional")
    assert len({plain, empty, full, allowed}) == 4
    assert full == version(BURNISH_SHELF=str(shelf))
    assert bench.run(str(path), *ARGV).returncode == 0, "it compiles too"


def settings_for(fake: Fake, folder: Path) -> dict[str, str]:
    return {"BURNISH_PTXAS": str(fake.tool.path), "HOME": str(folder), "PATH": ""}


def test_writing_twice_is_as_good_as_once_and_other_files_are_safe(
    fake: Fake, tmp_path: Path
) -> None:
    settings = load(settings_for(fake, tmp_path))
    folder = tmp_path / "shims"
    lines = write(folder, settings)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert write(folder, settings) == lines
    assert {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()} == before
    assert set(before) == {"ptxas", "triton-ptxas", "triton-ptxas-blackwell"}
    (folder / "ptxas").write_text("#!/bin/sh\nmine\n")
    with pytest.raises(UsageError, match="is no shim of Burnish"):
        write(folder, settings)
    assert (folder / "ptxas").read_text() == "#!/bin/sh\nmine\n"


def test_what_to_put_on_the_path_is_said_for_a_shell(fake: Fake, tmp_path: Path) -> None:
    lines = write(tmp_path / ODD, load(settings_for(fake, tmp_path)))
    script = "\n".join([*(line for line in lines if "…" not in line), "command -v ptxas"])
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout in {f"{tmp_path / ODD / name}\n" for name in ("ptxas", "toolkit/bin/ptxas")}


def test_a_folder_that_cannot_be_written_is_a_usage_error(fake: Fake, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        write(tmp_path / "file" / "shims", load(settings_for(fake, tmp_path)))


def test_without_a_ptxas_there_are_no_shims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burnish.apply.shims.find_one", lambda *_: None)
    with pytest.raises(ToolchainError, match="no ptxas was found"):
        write(tmp_path, load({"PATH": ""}))


@pytest.mark.toolchain
@pytest.mark.parametrize("argv", [[], ["--apply-controls=shelf/k.acf"]])
def test_a_build_that_was_done_before_is_done_from_memory(
    bench: Bench, tmp_path: Path, argv: list[str]
) -> None:
    ptxas = find_one(load(), "ptxas")
    if ptxas is None:
        pytest.skip("no ptxas here")
    shim = tmp_path / "ptxas"
    shim.write_text(ptxas_script(ptxas.path))
    shim.chmod(0o755)
    code = TunedCode(ptxas.name, ("--opt-level=0",), "")
    bench.run(str(ptxas.path), "-O0", *ARGV)
    cubin = (bench.folder / "k.cubin").read_bytes()
    blocks = [
        replace(
            tuned_block(entry, replace(code, binary_sha256=binary_digest(cubin, entry))),
            baseline_compiler=ptxas.name,
        )
        for entry in ("add", "mul")
    ]
    (bench.folder / "shelf").mkdir()
    bench.acf("shelf/k.acf", *blocks)
    command = [str(shim), *ARGV, "-v", *argv]
    first = bench.run(*command, BURNISH_SHELF="shelf")
    built = (bench.folder / "k.cubin").read_bytes()
    assert binary_digest(built, "add") == binary_digest(cubin, "add")
    cache = tmp_path / "home" / ".cache" / "burnish" / FOLDER
    [entry] = [path for path in cache.rglob("*") if path.is_file()]
    for _ in range(2):
        (bench.folder / "k.cubin").unlink()
        again = bench.run(*command, BURNISH_SHELF="shelf")
        assert (again.returncode, again.stderr) == (first.returncode, first.stderr)
        assert (bench.folder / "k.cubin").read_bytes() == built
    # Proof that it came from there: what is there comes out.
    record = entry.read_bytes()[24:].replace(built, bytes(len(built)))
    CompileCache(cache, 1 << 20).put(entry.parent.name + entry.name, record)
    bench.run(*command, BURNISH_SHELF="shelf")
    assert (bench.folder / "k.cubin").read_bytes() == bytes(len(built))


CUDA = """\
extern "C" __global__ void twice(float *data) { data[threadIdx.x] *= 2.0f; }
#ifdef MAIN
int main() { twice<<<1, 32>>>(nullptr); return 0; }
#endif
"""


@pytest.fixture(scope="module")
def nvcc() -> Tool:
    found = find_one(load(), "nvcc")
    if found is None or not found.path.with_name("nvcc.profile").is_file():
        pytest.skip("no nvcc with a toolkit here")
    return found


@pytest.fixture
def toolkit(nvcc: Tool, tmp_path: Path) -> Path:
    assert nvcc.path.exists()
    write(tmp_path / "my shims", load())
    return tmp_path / "my shims" / "toolkit"


@pytest.mark.toolchain
@pytest.mark.parametrize("by_path", [False, True])
def test_nvcc_of_the_toolkit_uses_our_ptxas(
    nvcc: Tool, toolkit: Path, bench: Bench, *, by_path: bool
) -> None:
    ptxas = find_one(
        load({"PATH": "", "BURNISH_PTXAS": str(nvcc.path.with_name("ptxas"))}), "ptxas"
    )
    assert ptxas is not None
    (bench.folder / "t.cu").write_text(CUDA)
    program = "nvcc" if by_path else str(toolkit / "bin" / "nvcc")
    path = f"{toolkit / 'bin'}:/usr/bin:/bin"

    def build(output: str, **environment: str) -> subprocess.CompletedProcess[str]:
        argv = ["/usr/bin/env", program, "-arch=sm_90", "t.cu", *output.split()]
        done = bench.run(*argv, PATH=path, **environment)
        assert done.returncode == 0, done.stderr
        return done

    build("-ptx -o t.ptx")
    text = (bench.folder / "t.ptx").read_text()
    bench.run(str(ptxas.path), "-arch=sm_90", "-O0", "t.ptx", "-o", "tuned.cubin")
    digest = binary_digest((bench.folder / "tuned.cubin").read_bytes(), "twice")
    code = TunedCode(ptxas.name, ("--opt-level=0",), digest)
    block = tuned_block("twice", code, text)
    assert block.key == entry_digest(parse(text), "twice")
    (bench.folder / "shelf").mkdir()
    bench.acf("shelf/t.acf", block)
    build("-cubin -o plain.cubin")
    shelf = str(bench.folder / "shelf")
    done = build("-cubin -o shelf.cubin", BURNISH_SHELF=shelf)
    assert done.stderr == ""
    plain = binary_digest((bench.folder / "plain.cubin").read_bytes(), "twice")
    tuned = binary_digest((bench.folder / "shelf.cubin").read_bytes(), "twice")
    assert plain != tuned == digest
    build("-cubin -o acf.cubin -Xptxas --apply-controls=shelf/t.acf")
    assert binary_digest((bench.folder / "acf.cubin").read_bytes(), "twice") == digest


STATIC = """\
namespace { __device__ float factor = 2.0f; }
static __global__ void scale(float *data) { data[threadIdx.x] *= factor; }
void launch(float *data) { scale<<<1, 32>>>(data); }
"""


@pytest.mark.toolchain
def test_a_private_kernel_is_found_again_in_a_file_of_another_name(
    nvcc: Tool, toolkit: Path, bench: Bench
) -> None:
    ptxas = find_one(
        load({"PATH": "", "BURNISH_PTXAS": str(nvcc.path.with_name("ptxas"))}), "ptxas"
    )
    assert ptxas is not None
    (bench.folder / "t.cu").write_text(STATIC)
    (bench.folder / "u.cu").write_text(STATIC)
    program = str(toolkit / "bin" / "nvcc")

    def build(*argv: str, **environment: str) -> None:
        done = bench.run(program, "-arch=sm_90", *argv, PATH="/usr/bin:/bin", **environment)
        assert (done.returncode, done.stderr) == (0, "")

    build("-ptx", "t.cu", "-o", "t.ptx")
    text = (bench.folder / "t.ptx").read_text()
    [entry] = [found.name for found in parse(text).entries]
    faster = text.replace("mul.f32", "mul.rz.f32")
    (bench.folder / "tuned.ptx").write_text(faster)
    bench.run(str(ptxas.path), "-arch=sm_90", "tuned.ptx", "-o", "tuned.cubin")
    digest = binary_digest((bench.folder / "tuned.cubin").read_bytes(), entry)
    code = TunedCode(ptxas.name, (), digest, payload(parse(text), parse(faster), entry))
    (bench.folder / "shelf").mkdir()
    bench.acf("shelf/t.acf", replace(tuned_block(entry, code, text), baseline_compiler=ptxas.name))
    build("-cubin", "u.cu", "-o", "u.cubin", BURNISH_SHELF=str(bench.folder / "shelf"))
    built = (bench.folder / "u.cubin").read_bytes()
    assert binary_digest(built, entry) == digest


@pytest.mark.toolchain
def test_of_a_fat_build_each_half_takes_its_own_block(
    nvcc: Tool, toolkit: Path, bench: Bench
) -> None:
    ptxas = find_one(
        load({"PATH": "", "BURNISH_PTXAS": str(nvcc.path.with_name("ptxas"))}), "ptxas"
    )
    assert ptxas is not None
    (bench.folder / "t.cu").write_text(CUDA)
    program = str(toolkit / "bin" / "nvcc")
    sides = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in (80, 90)]

    def build(*argv: str, **environment: str) -> None:
        done = bench.run(program, *argv, PATH="/usr/bin:/bin", **environment)
        assert (done.returncode, done.stderr) == (0, "")

    build("-ptx", "-arch=sm_90", "t.cu", "-o", "t.ptx")
    text = (bench.folder / "t.ptx").read_text()
    bench.run(str(ptxas.path), "-arch=sm_90", "-O0", "t.ptx", "-o", "tuned.cubin")
    digest = binary_digest((bench.folder / "tuned.cubin").read_bytes(), "twice")
    block = tuned_block("twice", TunedCode(ptxas.name, ("--opt-level=0",), digest), text)
    (bench.folder / "shelf").mkdir()
    bench.acf("shelf/t.acf", replace(block, baseline_compiler=ptxas.name))
    shelf = str(bench.folder / "shelf")
    build(*sides, "-fatbin", "--keep", "t.cu", "-o", "plain.fatbin")
    plain = {
        arch: binary_digest((bench.folder / f"t.compute_{arch}.cubin").read_bytes(), "twice")
        for arch in (80, 90)
    }
    strict = {"BURNISH_SHELF": shelf, "BURNISH_STRICT": "1"}
    build(*sides, "-fatbin", "--keep", "t.cu", "-o", "tuned.fatbin", **strict)
    tuned = {
        arch: binary_digest((bench.folder / f"t.compute_{arch}.cubin").read_bytes(), "twice")
        for arch in (80, 90)
    }
    assert tuned == {80: plain[80], 90: digest}
    assert plain[90] != digest


@pytest.mark.toolchain
def test_the_toolkit_links_a_whole_program(toolkit: Path, bench: Bench) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no g++ here")
    (bench.folder / "t.cu").write_text(CUDA)
    argv = [str(toolkit / "bin" / "nvcc"), "-arch=sm_90", "-DMAIN", "t.cu", "-o", "t"]
    done = bench.run(*argv, PATH="/usr/bin:/bin")
    assert done.returncode == 0, done.stderr
    assert (bench.folder / "t").exists()


@pytest.mark.toolchain
def test_a_renewed_toolkit_drops_dead_links_and_keeps_what_is_not_ours(
    toolkit: Path, tmp_path: Path
) -> None:
    (toolkit / "bin" / "old").symlink_to("/no/such/tool")
    (toolkit / "notes").write_text("mine")
    write(tmp_path / "my shims", load())
    assert not (toolkit / "bin" / "old").is_symlink()
    assert (toolkit / "notes").read_text() == "mine"
    (toolkit / "bin" / "nvlink").unlink()
    (toolkit / "bin" / "nvlink").write_text("mine")
    with pytest.raises(UsageError, match="is in the way"):
        write(tmp_path / "my shims", load())
