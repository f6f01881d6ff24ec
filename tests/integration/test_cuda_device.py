"""The CUDA device on a driver without a card: everything but the card itself."""

import ctypes
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.helpers import cuda_checks as checks

from burnish.devices.port import Device, Program, Regime
from burnish.errors import DeviceError

if TYPE_CHECKING:  # importing it would load the real driver, where there is one
    from burnish.devices.cuda_device import CudaDevice

pytestmark = pytest.mark.toolchain


@pytest.fixture
def load(fake_card: Device, fake_folder: Path) -> Callable[[str], Program]:
    return partial(fake_card.load, (fake_folder / "plain.so").read_bytes())


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__)
def test_a_cuda_device(
    check: Callable[[Device, checks.Load], None], fake_card: Device, load: checks.Load
) -> None:
    check(fake_card, load)


def test_a_card_says_what_it_is_and_that_it_is_well(fake_card: "CudaDevice") -> None:
    assert (fake_card.target().arch, fake_card.target().device) == ("sm_90a", "Fake GPU")
    fake_card.require_healthy()
    assert fake_card.bandwidth_gbps() > 0
    assert fake_card.others() == ()
    assert fake_card.state().clock_mhz is None, "no management library, no figures, no error"


def test_loading_hundreds_of_programs_leaves_nothing(
    fake_card: Device, load: checks.Load, fake_driver: ctypes.CDLL
) -> None:
    before = fake_driver.fake_modules()
    session = checks.opened(fake_card, checks.axpy(), {})
    for _ in range(300):
        program = load("axpy")
        session.launch(program)
        program.close()
    assert fake_driver.fake_modules() == before
    assert fake_driver.fake_graphs() == 0


def test_a_fault_is_named_with_its_stage_and_is_sticky(
    fake_folder: Path, fake_card: "CudaDevice"
) -> None:
    from tests.helpers.cuda_jobs import fault_in_a_worker

    failure = fault_in_a_worker(fake_folder, 700)
    assert "running fault: CUDA_ERROR_ILLEGAL_ADDRESS (700)" in failure
    assert "sticky" in failure
    fake_card.require_healthy()  # ours is another process


def test_the_driver_refuses_and_the_stage_is_named(
    fake_driver: ctypes.CDLL, fake_card: Device, load: checks.Load
) -> None:
    fake_driver.fake_fail(b"cuModuleLoadData", 209)
    with pytest.raises(DeviceError, match=r"loading axpy: CUDA_ERROR_NO_BINARY_FOR_GPU \(209\)"):
        load("axpy")
    program, session = load("axpy"), checks.opened(fake_card, checks.axpy(), {})
    fake_driver.fake_fail(b"cuLaunchKernelEx", 701)
    with pytest.raises(DeviceError, match=r"launching axpy: CUDA_ERROR_LAUNCH_OUT_OF_RES"):
        session.launch(program)
    session.launch(program)


def test_where_memory_is_short_images_stay_on_the_host(
    fake_driver: ctypes.CDLL, fake_card: Device, load: checks.Load
) -> None:
    work, places = checks.axpy(), checks.places_of(checks.axpy(), guard=1 << 20)
    place = places["y"]
    session = fake_card.open(work, places, Regime.COLD)
    x = np.ones(checks.N, np.float32)
    fake_driver.fake_total_bytes(fake_driver.fake_live_bytes() + (1 << 29) + 1000)
    try:
        session.upload({"x": checks.image_of(x, place), "y": checks.image_of(x, place)})
        assert checks.resident(session).snapshot("y") is None
        session.launch(load("axpy"))
        session.restore()
        assert np.array_equal(session.download("y"), checks.image_of(x, place))
        with pytest.raises(DeviceError, match="are left on the card"):
            fake_card.open(work, places, Regime.COLD)
    finally:
        fake_driver.fake_total_bytes(768 << 20)


def test_clusters_and_cooperation_reach_the_driver(
    fake_driver: ctypes.CDLL, fake_card: Device, load: checks.Load
) -> None:
    plain = checks.axpy()
    for cluster, together in (((2, 1, 1), False), ((1, 1, 1), True), ((2, 4, 2), True)):
        work = replace(plain, grid=(8, 4, 2), cluster=cluster, cooperative=together)
        checks.opened(fake_card, work, {"x": checks.X}).launch(load("axpy"))
        said = cluster if cluster != (1, 1, 1) else (0, 0, 0)
        assert [fake_driver.fake_last(i) for i in range(4)] == [*said, together]


def test_energy_is_read_on_the_ticks_of_the_counter(
    fake_card: "CudaDevice", load: checks.Load
) -> None:
    from burnish.devices.cuda_energy import energy_window
    from burnish.devices.cuda_session import CudaSession

    session = checks.opened(fake_card, checks.axpy(), {"x": checks.X})
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
