"""A controls file held against PTX: the block that applies, and the machine code that it makes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.helpers.c_acf import write

from burnish.acf.model import Evidence, Tuned
from burnish.errors import AcfError, LaunchError
from burnish.evaluate.compiled import Compiler
from burnish.model.code import Code
from burnish.model.control import Risk
from burnish.model.frozen import FrozenMap
from burnish.model.verdict import Outcome
from burnish.model.workload import Buffer, Role, Scalar, Workload
from burnish.settings import Settings, load
from burnish.tuning.artefact import block_of
from burnish.tuning.held import apply_block, build_block, check_disjoint, demand_of_block
from burnish.tuning.prepare import bind, compiler_of, open_space
from burnish.tuning.task import Task

pytestmark = pytest.mark.toolchain

KERNEL = Path(__file__).parents[2] / "examples" / "lattice_boltzmann.ptx"
ENTRY = "lattice_boltzmann"
OTHER = ("--opt-level=1",)


@dataclass(frozen=True)
class Desk:
    """The kernel with its compiler."""

    settings: Settings
    folder: Path
    task: Task
    compiler: Compiler

    def block(self, options: tuple[str, ...] = (), ptx: str = "") -> Tuned:
        bound = self.compiler.bound
        plain = bound.code_of(bound.space.default)
        code = Code(plain.compiler, options or plain.options, ptx)
        built = self.compiler.build(bound.space.default, code)
        assert built.binary is not None, built.message
        evidence = Evidence(Outcome.BETTER, "registers", 2.0, 1.0)
        return replace(block_of(bound, code, built.binary.digest), evidence=evidence)

    def built(self, *blocks: Tuned) -> str:
        file = write(self.folder / "k.acf", *blocks)
        applied = apply_block(self.task, file, ENTRY, self.folder, self.settings)
        bound = bind(self.task, applied.kernel, applied.toolchain)
        made = build_block(applied, compiler_of(bound, self.folder, self.settings))
        assert made.binary is not None
        return made.binary.digest


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BURNISH_CACHE", str(folder / "cache"))
        settings = load()
        task = Task(kernel=KERNEL, device="none", allow=frozenset(Risk))
        bound = open_space(task, folder, settings)
        yield Desk(settings, folder, task, compiler_of(bound, folder, settings))


def test_options_and_ptx_of_a_block_give_the_code_that_was_tuned(desk: Desk) -> None:
    text = desk.compiler.bound.kernel.text
    other = text.replace(".maxntid 128, 1, 1", ".maxntid 128, 1, 1\n.maxnreg 64")
    assert other != text
    blocks = [desk.block(), desk.block(OTHER), desk.block(ptx=other)]
    assert blocks[2].code.ptx
    assert [desk.built(block) for block in blocks] == [one.code.binary_sha256 for one in blocks]
    assert len({one.code.binary_sha256 for one in blocks}) == 3


def test_of_several_blocks_the_first_that_fits_is_taken(desk: Desk) -> None:
    fits = desk.block(OTHER)
    elsewhere = replace(fits, arch="sm_80")
    stale = replace(desk.block(), key="ptx:" + "0" * 64)
    assert desk.built(elsewhere, stale, fits, desk.block()) == fits.code.binary_sha256


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"key": "ptx:" + "0" * 64}, "not the one that was tuned"),
        ({"baseline_compiler": "ptxas 12.4.99"}, "was tuned for ptxas 12.4.99"),
        ({"entry": "other"}, "no block is for lattice_boltzmann; it has: other"),
    ],
)
def test_what_does_not_fit_is_said(desk: Desk, change: dict[str, str], says: str) -> None:
    block = replace(desk.block(OTHER), **change)  # type: ignore[arg-type]
    with pytest.raises(AcfError, match=f"k.acf: .*{says}"):
        desk.built(block)


def test_a_damaged_payload_and_other_code_are_told_apart(desk: Desk) -> None:
    block = desk.block(OTHER)
    for code, says in [
        (replace(block.code, ptx=".version 8.0\n.nonsense"), "the tuned PTX does not fit"),
        (replace(block.code, options=("--opt-level=0",)), "other code came out"),
    ]:
        with pytest.raises(AcfError, match=says):
            desk.built(replace(block, code=code))


def test_buffers_that_must_not_overlap_are_looked_at(desk: Desk) -> None:
    block = replace(desk.block(), disjoint=((0, 1),))
    whole = Buffer("whole", "f32", (8,))
    apart = Workload("apart", (whole, Buffer("other", "f32", (8,), Role.OUT)))
    part = Workload("part", (whole, Buffer("view", "f32", (4,), Role.OUT, view_of="whole")))
    check_disjoint(block, [apart, Workload("short", (Scalar("n", "i32", 1),))])
    with pytest.raises(LaunchError, match="'part': parameters 0 and 1 share memory"):
        check_disjoint(block, [apart, part])
    assert demand_of_block(block, desk.compiler.bound) is Risk.CONDITIONAL


@pytest.mark.parametrize(
    ("controls", "demand"),
    [
        ({}, Risk.EXACT),
        ({"ptxas.maxrregcount": 96}, Risk.EXACT),
        ({"ptxas.opt-level": 1}, Risk.ROUNDING),
        ({"ptxas.opt-level": 1, "ptx.no-such-control": True}, Risk.UNPROVEN),
    ],
)
def test_answers_must_show_what_the_riskiest_decision_demands(
    desk: Desk, controls: dict[str, bool | int | float | str], demand: Risk
) -> None:
    block = replace(desk.block(), controls=FrozenMap(controls))
    assert demand_of_block(block, desk.compiler.bound) is demand
