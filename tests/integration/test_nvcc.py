"""CUDA C++ to PTX with a real nvcc: the user's options decide, and errors are named by line."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from burnish import settings
from burnish.errors import KernelError, ToolchainError, UsageError
from burnish.model.code import Code
from burnish.model.toolchain import Tool
from burnish.ptx.digest import entry_digest
from burnish.ptx.module import parse
from burnish.toolchain.discover import find_one, identify
from burnish.toolchain.mangled import chosen
from burnish.toolchain.nvcc import ptxas_beside, translate
from burnish.toolchain.places import Place
from burnish.toolchain.ptxas import Assembled, assemble

pytestmark = pytest.mark.toolchain

SOURCE = """\
#include <cuda_fp16.h>
#ifndef FACTOR
#define FACTOR 2
#endif
template <class T>
__global__ void scale(T* a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = a[i] * T(FACTOR) / T(3);
}
template __global__ void scale<float>(float*, int);
template __global__ void scale<double>(double*, int);
namespace {
__global__ void hidden(float* a) { a[threadIdx.x] += 1; }
}
static __global__ void fixed(__half* a) { a[threadIdx.x] = __hadd(a[threadIdx.x], a[0]); }
void launch(float* a, __half* b) { hidden<<<1, 32>>>(a); fixed<<<1, 32>>>(b); }
"""


@pytest.fixture(scope="module")
def nvcc() -> Tool:
    found = find_one(settings.load(), "nvcc")
    if found is None:
        pytest.skip("no nvcc")
    return found


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "work"
    assert not list((tmp_path / "work").glob("*")), "temporary files were left"


def test_every_entry_is_there_and_can_be_named(nvcc: Tool, source: Path, folder: Path) -> None:
    made = translate(nvcc, source, ["-O3", "-std=c++17"], "sm_90a", folder=folder)
    names = [entry.name for entry in parse(made.ptx).entries]
    assert len(names) == 4
    assert chosen(names, "scale<float>") == "_Z5scaleIfEvPT_i"
    assert "hidden" in chosen(names, "hidden")
    assert made.normal.arch == "sm_90a"
    assert made.normal.options == ()
    assert parse(made.ptx).target == "sm_90a"


def test_options_of_the_build_decide(nvcc: Tool, source: Path, folder: Path) -> None:
    options = ["-DFACTOR=7", "--use_fast_math", "-maxrregcount=40", "-Xptxas", "-v,-dlcm=cg"]
    made = translate(nvcc, source, [*options, "-o", "app", "-lineinfo"], "sm_80", folder=folder)
    assert made.normal.arch == "sm_80"
    assert made.normal.options == ("--def-load-cache=cg", "--maxrregcount=40")
    plain = translate(nvcc, source, [], "sm_80", folder=folder)
    entry = "_Z5scaleIfEvPT_i"
    assert entry_digest(parse(made.ptx), entry) != entry_digest(parse(plain.ptx), entry)
    relocatable = translate(nvcc, source, ["-dc"], "sm_80", folder=folder)
    assert relocatable.normal.options == ("--compile-only",)


def test_an_architecture_is_chosen_among_those_of_the_build(
    nvcc: Tool, source: Path, folder: Path
) -> None:
    fat = ["-gencode=arch=compute_80,code=sm_86", "-gencode", "arch=compute_90,code=sm_90"]
    made = translate(nvcc, source, fat, "sm_86", folder=folder)
    assert (made.normal.arch, parse(made.ptx).target) == ("sm_86", "sm_80")
    with pytest.raises(UsageError, match=r"compile for sm_86, sm_90; choose with --arch"):
        translate(nvcc, source, fat, folder=folder)
    with pytest.raises(UsageError, match=r"compile for sm_86, sm_90, not for sm_90a"):
        translate(nvcc, source, fat, "sm_90a", folder=folder)
    with pytest.raises(UsageError, match="no machine code by ptxas"):
        translate(nvcc, source, ["-arch=compute_90", "-code=compute_90"], folder=folder)


def test_what_does_not_compile_is_named_by_its_line(
    nvcc: Tool, tmp_path: Path, folder: Path
) -> None:
    wrong = tmp_path / "wrong.cu"
    wrong.write_text("__global__ void k(float* a)\n{\n    a[0] = nothing;\n    a[1] = less;\n}\n")
    with pytest.raises(
        KernelError, match=r'wrong\.cu\(3\): identifier "nothing" is undefined \(and 1 more\)'
    ):
        translate(nvcc, wrong, [], "sm_90", folder=folder)
    wrong.write_text('#include "missing.h"\n')
    with pytest.raises(KernelError, match=r"wrong\.cu:1: missing\.h: No such file"):
        translate(nvcc, wrong, [], "sm_90", folder=folder)
    with pytest.raises(KernelError, match="nonsense"):
        translate(nvcc, wrong, ["--nonsense"], "sm_90", folder=folder)
    with pytest.raises(UsageError, match=r"other\.cu: the options after"):
        translate(nvcc, wrong, ["-O3", "other.cu"], "sm_90", folder=folder)
    gone = replace(nvcc, path=tmp_path / "nvcc")
    with pytest.raises(ToolchainError, match="cannot be started"):
        translate(gone, wrong, [], "sm_90", folder=folder)


def test_the_ptx_and_the_code_are_those_of_the_whole_build(
    nvcc: Tool, source: Path, folder: Path, tmp_path: Path
) -> None:
    """What is tuned is what `nvcc -o app` would run."""
    options = ["-O3", "--use_fast_math", "-gencode=arch=compute_90a,code=sm_90a"]
    kept = tmp_path / "kept"
    kept.mkdir()
    argv = [str(nvcc.path), *options, "--keep", "--keep-dir", str(kept), "-c", str(source)]
    subprocess.run([*argv, "-o", str(tmp_path / "k.o")], check=True, capture_output=True)
    made = translate(nvcc, source, options, folder=folder)
    theirs, ours = parse(next(kept.glob("*.ptx")).read_text()), parse(made.ptx)
    pairs = list(zip(theirs.entries, ours.entries, strict=True))
    assert len(pairs) == 4
    for left, right in pairs:
        assert entry_digest(theirs, left.name) == entry_digest(ours, right.name)
    tool = identify(settings.load(), Place("ptxas", ptxas_beside(nvcc), "beside nvcc"))
    assert tool is not None
    code = Code(tool.name, made.normal.options)
    built = assemble(tool, theirs.text, code, made.normal.arch, folder=tmp_path)
    assert isinstance(built, Assembled)
