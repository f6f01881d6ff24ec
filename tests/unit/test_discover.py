import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.helpers import fake_ptxas

from burnish.errors import ToolchainError
from burnish.settings import Settings, load
from burnish.toolchain import discover, places, probe
from burnish.toolchain.discover import find, find_one
from burnish.toolchain.index import Index, Known
from burnish.toolchain.process import run

Make = Callable[..., Settings]

PROGRAM = """
#include <stdio.h>
int main(void) {{ FILE *log = fopen("{log}", "a"); fputs("asked\\n", log); fclose(log);
  puts("Cuda compilation tools, release {release}, V{version}"); return {code}; }}
"""


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A Python without packages."""
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "env" / "bin" / "python"))


@pytest.fixture
def settings(tmp_path: Path) -> Make:
    def make(*path: Path, **said: Path) -> Settings:
        environment = {name: str(value) for name, value in said.items()}
        joined = ":".join(map(str, path))
        return load({"HOME": str(tmp_path / "home"), "PATH": joined, **environment})

    return make


def fake(folder: Path, version: str) -> Path:
    return fake_ptxas.install(folder, version=version).tool.path


def program(path: Path, version: str, code: int = 0) -> Path:
    """Compile a program that says it is a ptxas; it notes how often it is asked."""
    path.parent.mkdir(parents=True, exist_ok=True)
    source = path.with_name(f"{path.name}.c")
    release = version.rpartition(".")[0]
    log = path.with_name("log")
    source.write_text(PROGRAM.format(log=log, release=release, version=version, code=code))
    assert run(["gcc", "-o", f"{path}.new", str(source)]).ok
    Path(f"{path}.new").replace(path)
    return path


def asked(folder: Path) -> int:
    log = folder / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def versions(settings: Settings) -> list[tuple[str, str]]:
    return [(tool.version, tool.origin) for tool in find(settings).all("ptxas")]


def test_places_are_preferred_in_this_order(settings: Make, tmp_path: Path) -> None:
    packages = tmp_path / "env" / "lib" / _python() / "site-packages"
    fake(packages / "nvidia" / "cuda_nvcc" / "bin", "12.4.131")
    fake(packages / "nvidia" / "cu13" / "bin", "13.2.51")
    fake(tmp_path / "home" / ".cache" / "burnish" / "toolchains" / "ptxas-12.9.86", "12.9.86")
    fake(tmp_path / "home" / ".cache" / "burnish" / "toolchains" / "ptxas-13.3.73", "13.3.73")
    fake(tmp_path / "cuda" / "bin", "13.0.88")
    fake(tmp_path / "one", "13.4.92")
    fake(tmp_path / "two", "12.8.93")
    fake(packages / "triton" / "backends" / "nvidia" / "bin", "13.5.37")
    own = fake(tmp_path / "own", "12.6.85")
    found = versions(
        settings(tmp_path / "one", tmp_path / "two", CUDA_HOME=tmp_path / "cuda", BURNISH_PTXAS=own)
    )
    assert found == [
        ("12.6.85", "BURNISH_PTXAS"),
        ("13.2.51", "package nvidia/cu13"),
        ("12.4.131", "package nvidia/cuda_nvcc"),
        ("13.3.73", "added"),
        ("12.9.86", "added"),
        ("13.0.88", "CUDA_HOME"),
        ("13.4.92", "PATH"),
        ("12.8.93", "PATH"),
        ("13.5.37", "Triton"),
    ]


def _python() -> str:
    return f"python{sys.version_info.major}.{sys.version_info.minor}"


def test_a_version_counts_once_at_its_preferred_place(settings: Make, tmp_path: Path) -> None:
    fake(tmp_path / "cuda" / "bin", "13.0.88")
    fake(tmp_path / "one", "13.0.88")
    said = settings(tmp_path / "one", CUDA_HOME=tmp_path / "cuda")
    assert versions(said) == [("13.0.88", "CUDA_HOME")]


def test_triton_brings_two(settings: Make, tmp_path: Path) -> None:
    folder = tmp_path / "env" / "lib" / _python() / "site-packages/triton/backends/nvidia/bin"
    fake(tmp_path / "other", "13.4.59")
    fake(folder, "12.9.86")
    shutil.copy(tmp_path / "other" / "ptxas", folder / "ptxas-blackwell")
    assert versions(settings()) == [("13.4.59", "Triton"), ("12.9.86", "Triton")]


def test_nothing_found_says_how_to_get_one(settings: Make) -> None:
    toolchain = find(settings())
    assert toolchain.tools == ()
    with pytest.raises(ToolchainError, match=r"burnish toolchain add ptxas==13\.3\.73"):
        toolchain.first("ptxas", "13.3.73")


@pytest.mark.parametrize(
    "text",
    [
        '#!/bin/sh\n{mark}\nexec {real} "$@"\n',
        "not a program",
        "#!/bin/sh\nexit 1\n",
        "#!/bin/sh\necho no version at all\n",
        '#!/bin/sh\nexec /nowhere/ptxas "$@"\n',
        "",
    ],
)
def test_shims_and_what_is_no_compiler_are_passed_over(
    settings: Make, tmp_path: Path, text: str
) -> None:
    real = fake(tmp_path / "real", "13.0.88")
    first = tmp_path / "first" / "ptxas"
    first.parent.mkdir()
    first.write_text(text.format(mark=probe.SHIM_MARK.decode(), real=real))
    first.chmod(0o755)
    found = find(settings(tmp_path / "first", tmp_path / "real")).all("ptxas")
    assert [tool.path for tool in found] == [real]


def test_a_folder_named_like_a_compiler_is_passed_over(settings: Make, tmp_path: Path) -> None:
    (tmp_path / "ptxas").mkdir()
    assert versions(settings(tmp_path)) == []


def test_a_wrapper_is_followed_to_the_program(settings: Make, tmp_path: Path) -> None:
    real = program(tmp_path / "deep" / "ptxas", "13.0.88")
    middle = tmp_path / "middle" / "ptxas"
    middle.parent.mkdir()
    middle.write_text(f"#!/bin/sh\n# a wrapper\nexec '{real}' \"$@\"\n")
    middle.chmod(0o755)
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "ptxas").symlink_to(middle)
    tool = find(settings(tmp_path / "first")).first("ptxas")
    assert tool.path == real
    assert tool.sha256 == probe.digest(probe.Program(real, real))


def test_a_wrapper_that_does_more_is_started_itself(settings: Make, tmp_path: Path) -> None:
    real = program(tmp_path / "deep" / "ptxas", "13.0.88")
    wrapper = tmp_path / "ptxas"
    wrapper.write_text(f'#!/bin/sh\nexport A=b\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    assert find(settings(tmp_path)).first("ptxas").path == wrapper


def test_a_compiler_cache_under_its_name_is_passed_over(settings: Make, tmp_path: Path) -> None:
    cache = program(tmp_path / "ccache" / "ccache", "13.0.88")
    (tmp_path / "ptxas").symlink_to(cache)
    assert versions(settings(tmp_path)) == []


def test_a_program_is_asked_once(settings: Make, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "ptxas", "13.0.88")
    said = settings(tmp_path / "bin")
    first = find(said)
    assert asked(tmp_path / "bin") == 1
    assert find(said) == first
    assert find_one(said, "ptxas") == find_one(said, "ptxas", "13.0.88") == first.first("ptxas")
    assert asked(tmp_path / "bin") == 1


def test_a_program_that_changed_is_asked_again(settings: Make, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "ptxas", "13.0.88")
    said = settings(tmp_path / "bin")
    before = find(said).first("ptxas")
    program(tmp_path / "bin" / "ptxas", "13.3.73")
    after = find(said).first("ptxas")
    assert (before.version, after.version) == ("13.0.88", "13.3.73")
    assert before.sha256 != after.sha256


def test_a_program_that_fails_is_no_compiler(settings: Make, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "ptxas", "13.0.88", code=1)
    assert versions(settings(tmp_path / "bin")) == []


def test_a_cache_that_cannot_be_written_is_done_without(settings: Make, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "ptxas", "13.0.88")
    (tmp_path / "file").write_text("")
    said = settings(tmp_path / "bin", BURNISH_CACHE=tmp_path / "file")
    assert versions(said) == versions(said) == [("13.0.88", "PATH")]


def test_a_damaged_index_is_begun_anew(settings: Make, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "ptxas", "13.0.88")
    said = settings(tmp_path / "bin")
    for text in ("burnish-programs/1\nptxas\tx\n\t\t\t\n", "\0\xff", "burnish-programs/9\n"):
        said.cache.mkdir(parents=True, exist_ok=True)
        (said.cache / "programs.tsv").write_text(text)
        assert versions(said) == [("13.0.88", "PATH")]


def test_find_one_looks_at_no_more_than_it_must(settings: Make, tmp_path: Path) -> None:
    program(tmp_path / "one" / "ptxas", "13.0.88")
    program(tmp_path / "two" / "ptxas", "13.3.73")
    said = settings(tmp_path / "one", tmp_path / "two")
    found = find_one(said, "ptxas")
    assert found is not None
    assert found.version == "13.0.88"
    assert asked(tmp_path / "two") == 0
    assert find_one(said, "ptxas", "12.0.1") is None


def test_gcc_and_its_numbered_sisters_are_found(settings: Make, tmp_path: Path) -> None:
    gcc = shutil.which("gcc")
    assert gcc is not None
    for name in ("gcc", "gcc-99", "gcc-ar", "gcc-ar-12"):
        (tmp_path / name).symlink_to(gcc)
    tools = find(settings(tmp_path), ("gcc",)).tools
    assert len(tools) == 1
    assert tools[0].version.split(".")[0].isdigit()
    names = [place.path.name for group in places.groups(settings(tmp_path)) for place in group]
    assert set(names) & {"gcc", "gcc-99", "gcc-ar", "gcc-ar-12"} == {"gcc", "gcc-99"}


@pytest.mark.parametrize(
    ("kind", "said", "version"),
    [
        ("clang", "Debian clang version 19.1.7 (3~deb12u1)\nTarget: x86_64", "19.1.7"),
        ("llc", "Debian LLVM version 14.0.6\n  Optimized build.", "14.0.6"),
        ("gcc", "12.2.0\n12\n", "12.2.0"),
        ("nvcc", "Cuda compilation tools, release 12.4, V12.4.131\n", "12.4.131"),
        ("ptxas", "ptxas of the future", ""),
    ],
)
def test_versions_are_read(tmp_path: Path, kind: str, said: str, version: str) -> None:
    script = tmp_path / kind
    (tmp_path / "said").write_text(said)
    script.write_text(f"#!/bin/sh\ncat {tmp_path}/said\ntrue\n")
    script.chmod(0o755)
    assert probe.version(probe.Program(script, None), kind) == version


def test_a_tool_without_help_is_an_error(tmp_path: Path) -> None:
    broken = fake_ptxas.install(tmp_path)
    broken.tool.path.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(ToolchainError, match="does not answer --help"):
        discover.architectures(broken.tool)


def test_an_index_keeps_what_others_wrote(tmp_path: Path) -> None:
    one, two = Index(tmp_path / "index"), Index(tmp_path / "index")
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    one.put("ptxas", tmp_path / "a", Known("1.0", "00", "a"))
    two.put("ptxas", tmp_path / "b", Known("2.0", "11", "b"))
    one.save()
    two.save()
    fresh = Index(tmp_path / "index")
    assert fresh.get("ptxas", tmp_path / "a") == Known("1.0", "00", "a")
    assert fresh.get("ptxas", tmp_path / "b") == Known("2.0", "11", "b")
    assert fresh.get("nvcc", tmp_path / "b") is None
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_names_that_do_not_fit_in_a_line_are_not_remembered(tmp_path: Path) -> None:
    odd = tmp_path / "a\tb"
    odd.write_text("")
    index = Index(tmp_path / "index")
    index.put("ptxas", odd, Known("1.0", "00", "a"))
    index.save()
    assert Index(tmp_path / "index").get("ptxas", odd) is None
