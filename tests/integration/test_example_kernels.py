"""The example kernels compute what they say: on the fake driver, against numpy in float64."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.helpers.cuda_checks import image_of, places_of, values_of
from tests.helpers.example_references import REFERENCES, SMALL
from tests.helpers.fakecuda.build import build_kernels

from burnish import settings
from burnish.bundle.launch import read_launch
from burnish.bundle.parameters import c_parameters, check_arguments
from burnish.devices.port import Device, Regime
from burnish.model.code import Code
from burnish.model.workload import Argument, Buffer, Scalar, Workload
from burnish.toolchain.discover import find_one
from burnish.toolchain.nvcc import translate
from burnish.toolchain.ptxas import Assembled, assemble

pytestmark = pytest.mark.toolchain

FOLDER = Path(__file__).parents[2] / "examples" / "kernels"
SOURCES = sorted(FOLDER.glob("*.cu"))


def shrunk(work: Workload, entry: str) -> Workload:
    numbers, shapes, grid = SMALL[entry]

    def small(argument: Argument) -> Argument:
        if isinstance(argument, Buffer):
            return replace(argument, shape=shapes[argument.name])
        if isinstance(argument, Scalar) and argument.name in numbers:
            return replace(argument, value=numbers[argument.name])
        return argument

    return replace(work, arguments=tuple(map(small, work.arguments)), grid=grid)


def contents(buffer: Buffer, rng: np.random.Generator) -> NDArray[np.generic]:
    if buffer.role == "out":
        return np.full(buffer.shape, np.nan, np.float32)
    if buffer.name == "starts":
        inner = np.sort(rng.integers(0, 900, buffer.shape[0] - 2))
        return np.array([0, *inner, 900], np.int32)
    if buffer.dtype == "i32":
        return rng.integers(0, 37, buffer.shape, np.int32)
    return rng.standard_normal(buffer.shape, np.float32)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_kernel_computes_what_it_says(source: Path, fake_card: Device, tmp_path: Path) -> None:
    entry = source.stem
    work = shrunk(read_launch(source.with_suffix(".toml")).workloads[0], entry)
    build_kernels(source, tmp_path / "kernel.so")
    places, rng = places_of(work), np.random.default_rng(7)
    buffers = [one for one in work.arguments if isinstance(one, Buffer)]
    given = {one.name: contents(one, rng) for one in buffers}
    session = fake_card.open(work, places, Regime.WARM)
    session.upload({name: image_of(values, places[name]) for name, values in given.items()})
    session.launch(fake_card.load((tmp_path / "kernel.so").read_bytes(), entry))
    out = next(one for one in buffers if one.role == "out")
    found = values_of(session.download(out.name), places[out.name]).reshape(out.shape)
    wide = {name: values.astype(np.float64) for name, values in given.items()}
    np.testing.assert_allclose(found, REFERENCES[entry](wide), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_launch_file_fits_its_kernel_and_keeps_two_workloads_back(source: Path) -> None:
    file = read_launch(source.with_suffix(".toml"))
    parameters = c_parameters(source.read_text(), file.entry)
    for work in file.workloads:
        check_arguments(work.arguments, parameters)
        assert work.moved_bytes
        assert work.operations
    assert sum(work.held_out for work in file.workloads) == 2
    assert any(not work.held_out for work in file.workloads)


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_kernel_builds_for_a_card_without_spills(source: Path, tmp_path: Path) -> None:
    found = settings.load()
    nvcc, ptxas = find_one(found, "nvcc"), find_one(found, "ptxas")
    if nvcc is None or ptxas is None:
        pytest.skip("no nvcc or no ptxas")
    made = translate(nvcc, source, ["-O3"], "sm_90a", folder=tmp_path)
    code = Code(ptxas.name, made.normal.options)
    built = assemble(ptxas, made.ptx, code, made.normal.arch, folder=tmp_path)
    assert isinstance(built, Assembled)
    assert not any(built.spills.values())
    assert not made.warnings
