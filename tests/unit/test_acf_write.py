import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.acf.atomic import write_whole
from burnish.acf.model import Acf, Evidence, Launch, Shape, Tuned, TunedCode, WorkloadEvidence
from burnish.acf.read import load, read
from burnish.acf.write import dump, save
from burnish.errors import AcfError, InternalError
from burnish.model.frozen import FrozenMap
from burnish.model.verdict import Outcome

DATA = Path(__file__).parents[1] / "data" / "acf"
PTX = ".version 8.8\n.visible .entry stencil(\n\t.param .u64 in\n)\n{\n\tret;\n}\n"
STENCIL = Tuned(
    key="ptx:" + "0123456789abcdef" * 4,
    entry="stencil",
    arch="sm_90",
    baseline_compiler="ptxas 13.5.37",
    baseline_options=(),
    code=TunedCode("ptxas 13.3.73", ("--maxrregcount=255",), "fedcba9876543210" * 4, PTX),
    controls=FrozenMap(
        {
            "ptx.load[2].cache": "L1::no_allocate",
            "ptx.block[1].schedule": "late/16/771",
            "ptxas.maxrregcount": 255,
            "ptxas.fmad": False,
            "user.scale": 0.5,
        }
    ),
    evidence=Evidence(
        verdict=Outcome.BETTER,
        metric="runtime",
        baseline=99.6,
        tuned=87.2,
        ratio=1.142,
        interval=(1.137, 1.147),
        reason="better on every workload",
        figures=FrozenMap({"registers": (40.0, 48.0), "energy": (7.25, 6.5)}),
        workloads=(
            WorkloadEvidence("512", 1.142, (1.137, 1.147)),
            WorkloadEvidence("640", 1.128, (1.12, 1.136), held_out=True),
        ),
        rounds=180,
        regime="cold",
        device="NVIDIA H200",
        driver="580.65.06",
        date="2026-11-30T09:30:00Z",
        study="stencil-7",
        burnish="0.1.0",
    ),
    disjoint=((0, 1), (0, 3)),
)
SCALE = Tuned(
    key="ptx:" + "89abcdef01234567" * 4,
    entry="_Z4scalePfi",
    arch="sm_90a",
    baseline_compiler="ptxas 13.5.37",
    baseline_options=("--compile-only", "--maxrregcount=64"),
    code=TunedCode(
        compiler="ptxas 13.5.37",
        options=("--compile-only", "--maxrregcount=64"),
        binary_sha256="a" * 64,
        opaque=b"\x00\x01NVIDIA's own\xff",
    ),
    evidence=Evidence(Outcome.BETTER, "registers", 40, 32),
    shapes=(
        Shape(((1, 64), None, (1, 1))),
        Shape((None, (2, 2**31 - 1), None), ((2, (-4, 1024)), (10, (0, 0)))),
    ),
    launch=Launch(warps=8, shared_bytes=0, cluster=(2, 1, 1), scratch=(4096, 128)),
)
DOT = Tuned(
    key="c:" + "f" * 64,
    entry="dot",
    arch="x86_64",
    baseline_compiler="gcc 12.2.0",
    baseline_options=("-O3",),
    code=TunedCode("gcc 12.2.0", ("-O3", "--param=max-unroll-times=4"), "b" * 64),
    controls=FrozenMap({"host.max-unroll-times": 4}),
    evidence=Evidence(Outcome.UNSURE, "spills", 0.5, 0),
)
FULL = Acf((STENCIL, SCALE, DOT))
STRICT = Acf(
    (
        Tuned(
            key="ptx:" + "0" * 64,
            entry="k",
            arch="sm_90a",
            baseline_compiler="ptxas 13.5.37",
            baseline_options=(),
            code=TunedCode("ptxas 13.5.37", ("--opt-level=1",), ""),
        ),
    ),
    strict=True,
)


def without_payload(text: str) -> list[str]:
    """The lines but the packed PTX, whose bytes depend on the machine's zlib."""
    return [line for line in text.splitlines() if not line.startswith("ptx = ")]


@pytest.mark.parametrize(("name", "acf"), [("full", FULL), ("strict", STRICT)])
def test_the_golden_files_mean_what_they_always_meant(name: str, acf: Acf) -> None:
    text = (DATA / f"{name}.acf").read_text()
    assert read(text, name) == acf
    assert without_payload(dump(acf)) == without_payload(text)
    kinds = {key: type(value) for key, value in read(text, name).tuned[0].controls.items()}
    assert kinds == {key: type(value) for key, value in acf.tuned[0].controls.items()}


def test_writing_what_was_read_changes_nothing() -> None:
    text = dump(FULL)
    assert dump(read(text, "full")) == text


@pytest.mark.parametrize(
    "acf",
    [
        Acf(()),
        Acf((STRICT.tuned[0],)),
        Acf((replace(STENCIL, key="stencil"),)),
        Acf((replace(STENCIL, controls=FrozenMap({"a": float("nan")})),)),
    ],
)
def test_what_could_not_be_read_is_not_written(acf: Acf) -> None:
    with pytest.raises(AcfError):
        dump(acf)


def test_text_that_is_no_unicode_is_not_written() -> None:
    broken = Tuned("ptx:" + "0" * 64, "k", "sm_90", "ptxas 13", ("\ud800",), STENCIL.code)
    with pytest.raises(AcfError, match="Unicode"):
        dump(Acf((broken,), strict=True))


def test_a_text_that_would_say_something_else_is_an_internal_error() -> None:
    shape = Shape(scalars=((10, (0, 0)), (2, (0, 0))))  # not in order
    unordered = Tuned("ptx:" + "0" * 64, "k", "s", "ptxas 13", (), STENCIL.code, shapes=(shape,))
    with pytest.raises(InternalError):
        dump(Acf((unordered,), strict=True))


def test_a_saved_file_is_whole_readable_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "kernel.acf"
    path.write_text("old")
    mask = os.umask(0o027)
    try:
        save(FULL, path)
    finally:
        os.umask(mask)
    assert load(path) == FULL
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(AcfError, match=r"no/kernel\.acf: cannot be written: No such file"):
        save(FULL, tmp_path / "no" / "kernel.acf")
    with pytest.raises(AcfError, match="cannot be written"):
        save(FULL, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_followed_and_kept(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", b"data", mode=0o755)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"data"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o755
