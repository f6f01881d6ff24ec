"""The CUDA device on a card: what the fake driver cannot show."""

from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.helpers import cuda_checks as checks

from burnish.devices.port import Place, Regime, Session
from burnish.model.workload import Buffer, Role, Scalar, Workload

if TYPE_CHECKING:
    from burnish.devices.cuda_device import CudaDevice

Cubin = Callable[[str], bytes]

MIB = 1 << 20


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__)
def test_a_cuda_device(
    check: Callable[["CudaDevice", checks.Load], None], card: "CudaDevice", load: checks.Load
) -> None:
    check(card, load)


def copying(megabytes: int) -> Workload:
    """A copy that reads and writes so many MiB each."""
    n = megabytes * MIB // 16
    arguments = (
        Buffer("from", "f32", (4 * n,)),
        Buffer("to", "f32", (4 * n,), Role.OUT),
        Scalar("n", "i32", n),
    )
    return Workload(f"{megabytes} MiB", arguments, grid=(132 * 8, 1, 1), block=(256, 1, 1))


def opened(card: "CudaDevice", work: Workload, regime: Regime) -> Session:
    places = checks.places_of(work)
    session = card.open(work, places, regime)
    rng = np.random.default_rng(3)
    fill = {
        name: rng.integers(0, 255, place.total_bytes, np.uint8) for name, place in places.items()
    }
    session.upload(fill)
    return session


def test_clusters_read_each_others_shared_memory(card: "CudaDevice", cubin: Cubin) -> None:
    program = card.load(cubin("hopper"), "neighbours")
    for size in (2, 4, 8, 16):
        out = Buffer("out", "i32", (32,), Role.OUT)
        work = Workload("c", (out,), grid=(32, 1, 1), block=(64, 1, 1), cluster=(size, 1, 1))
        found = checks.launched(card, program, work, {}, "out").view(np.int32)
        rank = np.arange(32) % size
        seen = (np.arange(32) - rank + (rank + 1) % size) * 10
        assert found.tolist() == (seen * 100 + size).tolist(), f"clusters of {size}"


def test_a_cooperative_grid_meets(card: "CudaDevice", cubin: Cubin) -> None:
    parts, out = Buffer("parts", "i32", (264,), Role.OUT), Buffer("out", "i32", (264,), Role.OUT)
    work = Workload("t", (parts, out), grid=(264, 1, 1), block=(128, 1, 1), cooperative=True)
    program = card.load(cubin("hopper"), "together")
    found = checks.launched(card, program, work, {}, "out").view(np.int32)
    assert set(found.tolist()) == {264 * 265 // 2}
    session = opened(card, work, Regime.WARM)
    assert session.time_us(program, 5) > 0


def test_thousands_of_programs_do_not_grow_memory(card: "CudaDevice", load: checks.Load) -> None:
    session = checks.opened(card, checks.axpy(), {})
    free = []
    for number in range(2000):
        program = load("axpy")
        session.launch(program)
        program.close()
        if number in {199, 1999}:
            free.append(card.memory_bytes())
    assert free[0] - free[1] <= 4 * MIB


def test_a_card_says_what_it_is_and_that_it_is_well(card: "CudaDevice") -> None:
    target, state = card.target(), card.state()
    assert target.device.startswith("NVIDIA")
    assert target.driver.count(".") >= 1
    card.require_healthy()
    assert state.clock_mhz
    assert state.power_w
    assert 100 < card.bandwidth_gbps() < 20_000


def test_nobody_else_is_on_the_card_while_we_are(card: "CudaDevice") -> None:
    assert card.others() == ()


def test_a_copy_is_timed_near_the_cards_own_copy(card: "CudaDevice", load: checks.Load) -> None:
    work = copying(256)
    spent_us = opened(card, work, Regime.COLD).time_us(load("copy"), 11)
    gbps = 2 * 256 * MIB / spent_us / 1000
    assert 0.5 < gbps / card.bandwidth_gbps() < 1.05


def test_what_fits_the_cache_is_slower_when_cold(card: "CudaDevice", load: checks.Load) -> None:
    work, program = copying(8), load("copy")
    warm = opened(card, work, Regime.WARM).time_us(program, 20)
    cold = opened(card, work, Regime.COLD).time_us(program, 20)
    assert warm < 0.8 * cold, f"warm {warm:.2f} µs, cold {cold:.2f} µs"


def test_a_graph_times_short_launches_below_what_events_see(
    card: "CudaDevice", load: checks.Load
) -> None:
    work = replace(copying(1), grid=(64, 1, 1))
    session, program = opened(card, work, Regime.WARM), load("copy")
    assert 0.5 < session.time_us(program, 20) < 30
    assert str(getattr(session, "method", "")).startswith("graph of")


def test_the_same_program_twice_takes_the_same_time(card: "CudaDevice", load: checks.Load) -> None:
    session, one, two = opened(card, copying(128), Regime.COLD), load("copy"), load("copy")
    times: dict[int, list[float]] = {0: [], 1: []}
    for turn in range(40):
        for which in (turn % 2, 1 - turn % 2):
            times[which].append(session.time_us((one, two)[which], 3))
    ratio = median(a / b for a, b in zip(times[0], times[1], strict=True))
    assert ratio == pytest.approx(1, abs=0.01)


def test_energy_of_a_window(card: "CudaDevice", load: checks.Load) -> None:
    from burnish.devices.cuda_session import CudaSession

    session: Session = opened(card, copying(128), Regime.WARM)
    assert isinstance(session, CudaSession)
    window = card.energy_window(session, load("copy"), 1.0)
    watts = window.energy_mj / 1000 / window.span_s
    assert 0.9 < window.span_s < 3
    assert window.launches > 1000
    assert 80 < watts < 1500


def test_checking_on_the_card_is_fast(card: "CudaDevice") -> None:
    import time

    work = Workload("big", (Buffer("b", "u8", (256 * MIB,), Role.OUT),))
    place = Place(256 * MIB, 0, 256 * MIB)
    session = card.open(work, {"b": place}, Regime.WARM)
    kept = checks.resident(session)
    held = kept.snapshot("b")
    assert held is not None
    kept.differing("b", held)
    start = time.perf_counter()
    for _ in range(10):
        kept.put("b", held)
        assert kept.differing("b", held) == 0
    assert (time.perf_counter() - start) / 10 < 0.01
