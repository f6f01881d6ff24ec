"""Setups and jobs for workers that own a card, real or fake."""

from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.cuda_checks import image_of, opened, places_of, resident
from tests.helpers.fakecuda.build import load_driver

from burnish import settings
from burnish.devices.cuda import open_cuda
from burnish.devices.cuda_device import CudaDevice
from burnish.devices.port import Image, Program, Regime
from burnish.devices.worker import Fault, Worker, WorkerFailure, stage
from burnish.model.code import Code
from burnish.model.workload import Buffer, Role, Scalar, Workload
from burnish.toolchain.discover import find_one
from burnish.toolchain.ptxas import Assembled, assemble
from burnish.verify.examiner import Examiner
from burnish.verify.judge import Finding
from burnish.verify.paper import Plan

__all__ = [
    "HOSTILE",
    "REASONS",
    "cubin_of",
    "examine",
    "fault_in_a_worker",
    "free_bytes",
    "open_fake",
    "run_fault",
    "run_twice_plus_one",
    "time_good",
]

HOSTILE = Path(__file__).parent / "hostile"
SIZES = (1000, 4096)
# What the checks say of a kernel, in part; those that fault or hang have no say.
REASONS = {
    "good": "same bits as the plain kernel",
    "slow": "same bits as the plain kernel",
    "out_of_bounds": "4 bytes round out changed, the nearest 0 bytes behind its end",
    "before_the_start": "4 bytes round out changed, the nearest 1 bytes before its start",
    "changes_its_input": "changes its input in",
    "half_output": "out: ",
    "uninitialised": "out: ",
    "uninitialised_shared": "out",
    "accumulates": "out: ",
    "second_launch": "out: ",
    "cached_result": "out: ",
    "last_workload": "workload 4096",
    "not_deterministic": "out",
}
FREE = np.uint8(0xA5)  # what guard zones hold
POISONS = (np.nan, 12.5)


def cubin_of(ptx: Path, arch: str, folder: Path) -> bytes:
    """Machine code of a PTX file, by the preferred ptxas."""
    tool = find_one(settings.load(), "ptxas")
    if tool is None:
        pytest.skip("no ptxas")
    made = assemble(tool, ptx.read_text(), Code(tool.name, ()), arch, folder=folder)
    assert isinstance(made, Assembled), made.message
    return made.cubin


def twice_plus_one(n: int) -> Workload:
    """The workload of `tests/helpers/hostile`."""
    given = Buffer("in", "f32", (n,), Role.IN, "normal")
    arguments = (given, Buffer("out", "f32", (n,), Role.OUT))
    number = Scalar("n", "i32", n)
    grid = (-(-n // 256), 1, 1)
    return Workload(str(n), (*arguments, number), grid=grid, block=(256, 1, 1))


def run_twice_plus_one(device: CudaDevice, image: bytes, launches: int = 2) -> frozenset[str]:
    """Check a kernel on several sizes, inputs and poisons; what was found, in words."""
    stage("load")
    program = device.load(image, "kernel")
    found: set[str] = set()
    for n, seed, poison in product(SIZES, range(2), POISONS):
        found |= _found(device, program, n, (seed, poison), launches)
    program.close()
    return frozenset(found or {"right"})


def _found(
    device: CudaDevice, program: Program, n: int, case: tuple[int, float], launches: int
) -> set[str]:
    work, places = twice_plus_one(n), places_of(twice_plus_one(n))
    session, found = device.open(work, places, Regime.WARM), set[str]()
    data = np.random.default_rng(case[0]).standard_normal(n, np.float32)
    given, right = image_of(data, places["in"]), image_of(2 * data + 1, places["out"])
    held = resident(session).keep("in", given)
    assert held is not None
    blank = image_of(np.full(n, case[1], np.float32), places["out"])
    session.upload({"in": given, "out": blank})
    for _ in range(launches):
        stage("run")
        session.launch(program)
        found |= _judged(session.download("out"), right, places["out"].data_offset)
    if resident(session).differing("in", held):
        found.add("input changed")
    session.close()
    return found


def _judged(image: Image, right: Image, guard: int) -> set[str]:
    found = set()
    if not np.array_equal(image[guard:-guard], right[guard:-guard]):
        found.add("wrong")
    if (image[:guard] != FREE).any() or (image[-guard:] != FREE).any():
        found.add("guard of out")
    return found


def examine(device: CudaDevice, image: bytes, good: bytes) -> Finding:
    """Check a kernel against the good one, as a study does at its end."""
    stage("load")
    plain, program = device.load(good, "kernel"), device.load(image, "kernel")
    examiner = Examiner(device, plain, [twice_plus_one(n) for n in SIZES], Plan())
    examiner.prepare()
    stage("run")
    return examiner.examine(program, is_final=True)


def time_good(device: CudaDevice, image: bytes) -> float:
    """Time of a large launch, in µs."""
    work = twice_plus_one(1 << 24)
    session = device.open(work, places_of(work), Regime.COLD)
    program = device.load(image, "kernel")
    spent = session.time_us(program, 21)
    program.close()
    session.close()
    return spent


def free_bytes(device: CudaDevice) -> int:
    """Free memory of the card."""
    return device.memory_bytes()


def open_fake(folder: Path) -> CudaDevice:
    """Open the fake card, in a worker."""
    load_driver(folder)
    return open_cuda(0)


def run_fault(image: bytes, code: int, device: CudaDevice) -> None:
    """Launch what fails with an error of that number."""
    arguments = (Buffer("y", "i32", (64,), Role.OUT), Scalar("code", "i32", code))
    opened(device, Workload("fault", arguments), {}).launch(device.load(image, "fault"))


def fault_in_a_worker(folder: Path, code: int) -> str:
    """Run a fault in a worker with the fake card; what the failure says."""
    image = (folder / "plain.so").read_bytes()
    with Worker(partial(open_fake, folder)) as worker:
        with pytest.raises(WorkerFailure) as caught:
            worker.call(partial(run_fault, image, code), 60)
        assert caught.value.kind is Fault.ERROR
        assert caught.value.error is not None
        return str(caught.value.error)
