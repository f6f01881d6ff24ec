"""The CUDA device on a driver without a card: everything but the card itself."""

import ctypes
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.helpers import cuda_checks as checks
from tests.helpers.fakecuda.build import FOLDER, build_driver, build_kernels, load_driver

from burnish.devices.cuda import card_names
from burnish.devices.port import Device, Program, Regime
from burnish.errors import DeviceError

if TYPE_CHECKING:  # importing it would load the real driver, where there is one
    from burnish.devices.cuda_device import CudaDevice

pytestmark = pytest.mark.toolchain

ROOT = FOLDER.parents[2]
KERNELS = ROOT / "src" / "burnish" / "devices" / "kernels.cu"
PLAIN = ROOT / "tests" / "gpu" / "kernels" / "plain.cu"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the driver, Burnish's kernels and the test kernels, for the CPU."""
    if card_names():
        pytest.skip("this machine has a card: tests/gpu checks the device on it")
    folder = tmp_path_factory.mktemp("fakecuda")
    nvidia = pytest.importorskip("nvidia")
    found = [Path(path) / "cu13" / "include" for path in nvidia.__path__]
    build_driver(folder / "libcuda.so.1", next(path for path in found if path.exists()))
    build_kernels(KERNELS, folder / "kernels.so")
    build_kernels(PLAIN, folder / "plain.so")
    return folder


@pytest.fixture(scope="session")
def fake(built: Path) -> ctypes.CDLL:
    return load_driver(built)


@pytest.fixture
def device(fake: ctypes.CDLL) -> Iterator["CudaDevice"]:
    from burnish.devices.cuda import open_cuda

    opened = open_cuda(0)
    yield opened
    opened.close()
    assert fake.fake_live_bytes() == 0, "memory was left on the card"


@pytest.fixture
def load(device: Device, built: Path) -> Callable[[str], Program]:
    return partial(device.load, (built / "plain.so").read_bytes())


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__)
def test_a_cuda_device(
    check: Callable[[Device, checks.Load], None], device: Device, load: checks.Load
) -> None:
    check(device, load)


def test_a_card_says_what_it_is_and_that_it_is_well(device: "CudaDevice") -> None:
    assert (device.target().arch, device.target().device) == ("sm_90a", "Fake GPU")
    device.require_healthy()
    assert device.bandwidth_gbps() > 0
    assert device.others() == ()
    assert device.state().clock_mhz is None, "no management library, no figures, no error"


def test_loading_hundreds_of_programs_leaves_nothing(
    device: Device, load: checks.Load, fake: ctypes.CDLL
) -> None:
    before = fake.fake_modules()
    session = checks.opened(device, checks.axpy(), {})
    for _ in range(300):
        program = load("axpy")
        session.launch(program)
        program.close()
    assert fake.fake_modules() == before
    assert fake.fake_graphs() == 0


def test_a_fault_is_named_with_its_stage_and_is_sticky(built: Path, device: "CudaDevice") -> None:
    from tests.helpers.cuda_jobs import fault_in_a_worker

    failure = fault_in_a_worker(built, 700)
    assert "running fault: CUDA_ERROR_ILLEGAL_ADDRESS (700)" in failure
    assert "sticky" in failure
    device.require_healthy()  # ours is another process


def test_the_driver_refuses_and_the_stage_is_named(
    fake: ctypes.CDLL, device: Device, load: checks.Load
) -> None:
    fake.fake_fail(b"cuModuleLoadData", 209)
    with pytest.raises(DeviceError, match=r"loading axpy: CUDA_ERROR_NO_BINARY_FOR_GPU \(209\)"):
        load("axpy")
    program, session = load("axpy"), checks.opened(device, checks.axpy(), {})
    fake.fake_fail(b"cuLaunchKernelEx", 701)
    with pytest.raises(DeviceError, match=r"launching axpy: CUDA_ERROR_LAUNCH_OUT_OF_RES"):
        session.launch(program)
    session.launch(program)


def test_where_memory_is_short_images_stay_on_the_host(
    fake: ctypes.CDLL, device: Device, load: checks.Load
) -> None:
    work, places = checks.axpy(), checks.places_of(checks.axpy(), guard=1 << 20)
    place = places["y"]
    session = device.open(work, places, Regime.COLD)
    x = np.ones(checks.N, np.float32)
    fake.fake_total_bytes(fake.fake_live_bytes() + (1 << 29) + 1000)
    try:
        session.upload({"x": checks.image_of(x, place), "y": checks.image_of(x, place)})
        assert checks.resident(session).snapshot("y") is None
        session.launch(load("axpy"))
        session.restore()
        assert np.array_equal(session.download("y"), checks.image_of(x, place))
        with pytest.raises(DeviceError, match="are left on the card"):
            device.open(work, places, Regime.COLD)
    finally:
        fake.fake_total_bytes(768 << 20)


def test_clusters_and_cooperation_reach_the_driver(
    fake: ctypes.CDLL, device: Device, load: checks.Load
) -> None:
    plain = checks.axpy()
    for cluster, together in (((2, 1, 1), False), ((1, 1, 1), True), ((2, 4, 2), True)):
        work = replace(plain, grid=(8, 4, 2), cluster=cluster, cooperative=together)
        checks.opened(device, work, {"x": checks.X}).launch(load("axpy"))
        said = cluster if cluster != (1, 1, 1) else (0, 0, 0)
        assert [fake.fake_last(i) for i in range(4)] == [*said, together]


def test_energy_is_read_on_the_ticks_of_the_counter(
    device: "CudaDevice", load: checks.Load
) -> None:
    from burnish.devices.cuda_energy import energy_window
    from burnish.devices.cuda_session import CudaSession

    session = checks.opened(device, checks.axpy(), {"x": checks.X})
    assert isinstance(session, CudaSession)
    launch = session.queue(load("axpy"))
    stream = session._card.stream  # noqa: SLF001

    def counter_mj() -> float:
        return 100.0 * (time.perf_counter_ns() // 20_000_000)  # 5 W, told every 20 ms

    window = energy_window(stream, launch, counter_mj, 0.1)
    assert 0.1 <= window.span_s < 0.5
    assert window.energy_mj == pytest.approx(5000 * window.span_s, rel=0.1)
    assert window.launches > 10
    with pytest.raises(DeviceError, match="no energy counter"):
        energy_window(stream, launch, lambda: None, 0.1)
