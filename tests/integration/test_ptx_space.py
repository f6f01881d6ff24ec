"""The space of a PTX kernel on a real ptxas: what is offered, and what it does to the code."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers import fake_ptxas

from burnish.errors import KernelError, SpaceError, UsageError
from burnish.evaluate.compiled import check_canary
from burnish.evaluate.ptx import PtxCompiler
from burnish.model.control import Layer, Risk
from burnish.settings import load
from burnish.spaces.ptx import PtxSpace
from burnish.tuning.prepare import compiler_of
from burnish.tuning.prepare import open_space as open_any
from burnish.tuning.task import Task

pytestmark = pytest.mark.toolchain

KERNEL = Path(__file__).parents[2] / "examples" / "lattice_boltzmann.ptx"
BARE = """.version 8.0
.target sm_90
.address_size 64
.visible .entry {name}(.param .u64 {name}_p)
{directives}
{{
  .reg .b64 %rd<3>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [{name}_p];
  ld.global.f32 %f1, [%rd1];
  add.f32 %f2, %f1, %f1;
  {extra}
  st.global.f32 [%rd1], %f2;
  ret;
}}
"""


def open_space(task: Task) -> PtxSpace:
    bound = open_any(task, Path("unused"))
    assert isinstance(bound, PtxSpace)
    return bound


def space_of(
    folder: Path, *, directives: str = "", extra: str = "", options: Iterable[str] = ()
) -> PtxSpace:
    file = folder / "k.ptx"
    file.write_text(BARE.format(name="k", directives=directives, extra=extra))
    return open_space(Task(kernel=file, device="none", options=tuple(options)))


def compiler(bound: PtxSpace, folder: Path) -> PtxCompiler:
    made = compiler_of(bound, folder, replace(load(), cache=folder / "cache"))
    assert isinstance(made, PtxCompiler)
    return made


def test_the_default_config_is_the_plain_build(tmp_path: Path) -> None:
    bound = open_space(Task(kernel=KERNEL, device="none"))
    plain = check_canary(compiler(bound, tmp_path))
    assert plain.binary is not None
    assert plain.figures["registers"] == 64
    assert bound.baseline.options == ()


def test_exact_spaces_offer_no_value_that_may_round(tmp_path: Path) -> None:
    names = {control.name for control in space_of(tmp_path).space}
    assert names.isdisjoint({"ptxas.opt-level", "ptxas.fmad", "ptxas.Ofast-compile"})


def test_allowing_rounding_offers_them() -> None:
    task = Task(kernel=KERNEL, device="none", allow=frozenset({Risk.ROUNDING}))
    names = {control.name for control in open_space(task).space}
    assert names >= {"ptxas.opt-level", "ptxas.fmad", "ptxas.Ofast-compile"}


def test_float_atomics_are_offered_to_kernels_that_have_some(tmp_path: Path) -> None:
    def offered(extra: str) -> bool:
        file = tmp_path / "k.ptx"
        file.write_text(BARE.format(name="k", directives="", extra=extra))
        task = Task(kernel=file, device="none", allow=frozenset({Risk.ROUNDING}))
        return "ptxas.optimize-float-atomics" in open_space(task).space

    assert offered("red.global.add.f32 [%rd1], %f2;")
    assert not offered("")


def test_a_register_limit_overrides_the_entrys_block_size(tmp_path: Path) -> None:
    bound = open_space(Task(kernel=KERNEL, device="none"))
    config = bound.space.config({"ptxas.maxrregcount": 32})
    assert bound.code_of(config).options == (
        "--maxrregcount=32",
        "--override-directive-values",
    )
    compiled = compiler(bound, tmp_path).compile(config)
    assert compiled.figures["registers"] == 32


def test_reqntid_is_treated_like_maxntid(tmp_path: Path) -> None:
    bound = space_of(tmp_path, directives=".reqntid 128, 1, 1")
    config = bound.space.config({"ptxas.maxrregcount": 24})
    assert "--override-directive-values" in bound.code_of(config).options


def test_kernels_that_set_their_registers_get_no_limit(tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    text = BARE.format(
        name="k", directives=".maxntid 128", extra="setmaxnreg.inc.sync.aligned.u32 128;"
    )
    file.write_text(text.replace(".target sm_90", ".target sm_90a"))
    names = {control.name for control in open_space(Task(kernel=file, device="none")).space}
    assert names.isdisjoint({"ptxas.maxrregcount", "ptxas.minnctapersm"})


def test_the_plain_builds_own_options_are_the_defaults(tmp_path: Path) -> None:
    bound = space_of(tmp_path, options=["-maxrregcount", "40", "-dlcm=cg"])
    assert bound.space.default["ptxas.maxrregcount"] == 40
    assert bound.space.default["ptxas.def-load-cache"] == "cg"
    assert bound.baseline.options == ("--def-load-cache=cg", "--maxrregcount=40")


def test_options_that_are_no_control_stay(tmp_path: Path) -> None:
    bound = space_of(tmp_path, options=["--position-independent-code=true"])
    config = bound.space.config({"ptxas.def-load-cache": "cg"})
    assert "--position-independent-code=true" in bound.code_of(config).options


def test_every_single_value_of_the_space_assembles(tmp_path: Path) -> None:
    task = Task(kernel=KERNEL, device="none", allow=frozenset({Risk.ROUNDING}))
    bound = open_space(task)
    compile_config = compiler(bound, tmp_path).compile
    for control in bound.space:
        for number in range(control.domain.size):
            config = bound.space.config({control.name: control.domain.at(number)})
            compiled = compile_config(config)
            assert compiled.binary is not None, f"{control.name}: {compiled.message}"


def test_a_file_of_several_entries_is_refused_with_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "two.ptx"
    first = BARE.format(name="k", directives="", extra="")
    second = BARE.format(name="m", directives="", extra="").split(".address_size 64\n")[1]
    file.write_text(first + second)
    for entry in ("", "m"):
        with pytest.raises(KernelError) as caught:
            open_space(Task(kernel=file, device="none", entry=entry))
        said = "two.ptx: 2 entries (k, m), and a compiler's options hold for all of them at once: "
        assert said in str(caught.value)
        assert "--entry" not in str(caught.value)


def test_nothing_left_to_decide_is_said(tmp_path: Path) -> None:
    task = Task(kernel=KERNEL, device="none", layers=frozenset({Layer.TRITON}))
    with pytest.raises(SpaceError, match="nothing is left"):
        open_space(task)
    assert tmp_path.exists()


def test_an_opaque_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no \*\.acf"):
        open_space(Task(kernel=KERNEL, device="none", opaque=tmp_path))


def test_opaque_files_are_choices_only_where_unproven_ones_are_allowed(tmp_path: Path) -> None:
    (tmp_path / "a.acf").write_bytes(b"\0opaque")
    task = Task(kernel=KERNEL, device="none", opaque=tmp_path)
    assert "opaque.file" not in open_space(task).space
    bold = replace(task, allow=frozenset({Risk.UNPROVEN}))
    bound = open_space(bold)
    config = bound.space.config({"opaque.file": "a.acf"})
    assert bound.code_of(config).opaque == b"\0opaque"
    assert bound.baseline.opaque == b""


def test_a_ptxas_that_refuses_the_kernel_is_no_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = fake_ptxas.install(tmp_path / "old", version="12.4.131")
    refusing.always(fake_ptxas.refuse("this PTX is too new"))
    monkeypatch.setenv("PATH", f"{refusing.tool.path.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    bound = open_space(Task(kernel=KERNEL, device="none"))
    assert "12.4.131" not in {tool.version for tool in bound.toolchain.all("ptxas")}
