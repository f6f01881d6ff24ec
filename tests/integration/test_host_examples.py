"""The C examples: that there is something to find in two of them, with the same bits."""

import platform
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.host_jobs import GUARD, image_of, places_of

from burnish.bundle.launch import read_launch
from burnish.devices.host import HostDevice, HostSession
from burnish.devices.port import Regime
from burnish.model.binary import Binary
from burnish.model.toolchain import Tool
from burnish.model.workload import Buffer, Role, Workload
from burnish.spaces.c_kernel import c_kernel
from burnish.toolchain.gcc import Gcc
from burnish.verify.cases import Case
from burnish.verify.inputs import make_inputs

EXAMPLES = Path(__file__).parents[2] / "examples"
TOOL = Tool("gcc", "0", Path(shutil.which("gcc") or "gcc").resolve(), "", "PATH")
BETTER = ("-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno")


def open_session(device: HostDevice, workload: Workload) -> HostSession:
    buffers = [one for one in workload.arguments if isinstance(one, Buffer)]
    places = places_of(workload.arguments)
    made = make_inputs(workload, Case(0))
    session = device.open(workload, places, Regime.COLD)
    session.upload(
        {
            one.name: image_of(np.ascontiguousarray(made[one.name]), places[one.name])
            for one in buffers
            if one.role is Role.IN
        }
    )
    return session


def answer(session: HostSession, workload: Workload) -> bytes:
    return b"".join(
        session.download(one.name)[GUARD:-GUARD].tobytes()
        for one in workload.arguments
        if isinstance(one, Buffer) and one.role is Role.OUT
    )


def built(gcc: Gcc, text: str, options: Sequence[str]) -> Binary:
    made = gcc.build(text, options)
    assert isinstance(made, Binary)
    return made


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the options are those of x86-64")
@pytest.mark.parametrize(("name", "least"), [("nbody", 1.5), ("matmul", 1.05)])
def test_there_is_something_to_find(tmp_path: Path, name: str, least: float) -> None:
    gcc = Gcc(TOOL, tmp_path)
    kernel = c_kernel(EXAMPLES / f"{name}.c", gcc)
    launch = read_launch(EXAMPLES / f"{name}.toml")
    assert launch.entry == kernel.entry
    device = HostDevice(0)
    programs = [
        device.load(built(gcc, kernel.text, options).image, kernel.entry)
        for options in (kernel.options, BETTER)
    ]
    workload = launch.workloads[0]
    session = open_session(device, workload)
    answers = set()
    times_us: list[list[float]] = [[], []]
    for _ in range(20):
        for program, times in zip(programs, times_us, strict=True):
            times.append(session.time_us(program, 1))
            answers.add(answer(session, workload))
    assert len(answers) == 1
    assert min(times_us[0]) > least * min(times_us[1])


def test_every_example_runs_as_its_launch_file_says(tmp_path: Path) -> None:
    gcc = Gcc(TOOL, tmp_path)
    device = HostDevice(0)
    for name in ("nbody", "matmul", "chase"):
        kernel = c_kernel(EXAMPLES / f"{name}.c", gcc)
        program = device.load(built(gcc, kernel.text, ("-O1",)).image, kernel.entry)
        for workload in read_launch(EXAMPLES / f"{name}.toml").workloads:
            session = open_session(device, workload)
            session.launch(program)
            assert any(answer(session, workload))
