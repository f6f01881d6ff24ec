"""Triton with the shims: a shelf reaches kernels that Triton had compiled and kept before."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.apply import Bench, tuned_block

from burnish.acf.model import TunedCode
from burnish.apply.shims import write
from burnish.cubin.digest import binary_digest
from burnish.model.code import Code
from burnish.ptx.module import parse
from burnish.ptx.replace import payload
from burnish.settings import load
from burnish.toolchain.discover import identify
from burnish.toolchain.places import Place
from burnish.toolchain.ptxas import Assembled, assemble

pytestmark = pytest.mark.triton

ODD_OPTION = "--regAllocOptLevel=2"  # not in any help text; newer Tritons give it
PROGRAM = """\
import sys
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def twice(p, B: tl.constexpr):
    at = p + tl.program_id(0) * B + tl.arange(0, B)
    tl.store(at, tl.load(at) * 2.0)

source = ASTSource(fn=twice, signature={"p": "*fp32", "B": "constexpr"}, constexprs={(1,): 256})
made = triton.compile(source, target=GPUTarget("cuda", 90, 32))
open("k.ptx", "w").write(made.asm["ptx"])
open("k.cubin", "wb").write(made.asm["cubin"])
"""


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="no Triton here")
def test_a_shelf_reaches_kernels_that_triton_kept(tmp_path: Path) -> None:
    write(tmp_path / "shims", load())
    (tmp_path / "triton").mkdir()
    bench = Bench.make(
        tmp_path,
        TRITON_PTXAS_PATH=str(tmp_path / "shims" / "triton-ptxas"),
        TRITON_PTXAS_BLACKWELL_PATH=str(tmp_path / "shims" / "triton-ptxas-blackwell"),
        TRITON_CACHE_DIR=str(tmp_path / "triton"),
    )
    (bench.folder / "program.py").write_text(PROGRAM)

    def digest(**environment: str) -> str:
        done = bench.run(sys.executable, "program.py", **environment)
        assert done.returncode == 0, done.stderr
        assert "burnish" not in done.stderr
        return binary_digest((bench.folder / "k.cubin").read_bytes(), "twice")

    plain = digest()
    text = (bench.folder / "k.ptx").read_text()
    tuned = text.replace("add.f32", "add.rz.f32").replace("mul.f32", "mul.rz.f32")
    (bench.folder / "shelf").mkdir()
    shelf = {"BURNISH_SHELF": str(bench.folder / "shelf")}
    for name in ("ptxas", "ptxas-blackwell"):  # this Triton takes one of them for sm_90
        script = (tmp_path / "shims" / f"triton-{name}").read_text()
        real = next(line for line in script.splitlines() if line.startswith("real="))[5:]
        tool = identify(load(), Place("ptxas", Path(real.strip("'")), "Triton"))
        assert tool is not None
        options = (ODD_OPTION,) if ODD_OPTION in text_of_triton() else ()
        made = assemble(tool, tuned, Code(tool.name, options), "sm_90a", folder=tmp_path)
        assert isinstance(made, Assembled)
        code = TunedCode(
            tool.name,
            options,
            binary_digest(made.cubin, "twice"),
            payload(parse(text), parse(tuned), "twice"),
        )
        block = replace(
            tuned_block("twice", code, text, arch="sm_90a"),
            baseline_compiler=tool.name,
            baseline_options=options,
        )
        bench.acf(f"shelf/{name}.acf", block)
    assert digest(**shelf) not in {plain, ""}
    assert digest() == plain, "without the shelf, what Triton kept before"


def text_of_triton() -> str:
    """The text that says how this Triton calls ptxas."""
    found = importlib.util.find_spec("triton.backends.nvidia.compiler")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).read_text()
