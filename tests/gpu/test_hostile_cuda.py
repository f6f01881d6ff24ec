"""Hostile CUDA kernels: told apart by what they do, and nobody is harmed."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.helpers.cuda_jobs import (
    HOSTILE,
    REASONS,
    cubin_of,
    examine,
    free_bytes,
    run_twice_plus_one,
    time_good,
)

from burnish.devices.cuda import open_cuda, require_healthy
from burnish.devices.supervise import Supervisor
from burnish.devices.worker import Fault, WorkerFailure
from burnish.verify.judge import Finding

if TYPE_CHECKING:
    from burnish.devices.cuda_device import CudaDevice

RIGHT = frozenset({"right"})

Hostile = Callable[[str], bytes]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    folder = tmp_path_factory.mktemp("hostile")
    return lambda name: cubin_of(HOSTILE / f"{name}.ptx", "sm_90a", folder)


@pytest.fixture(scope="module")
def supervisor(hostile: Hostile) -> Iterator[Supervisor["CudaDevice"]]:
    with Supervisor(partial(open_cuda, 0)) as started:
        started.prove_with(partial(run_twice_plus_one, image=hostile("good")), 60)
        yield started


@pytest.fixture(autouse=True)
def neighbours_are_not_harmed(
    supervisor: Supervisor["CudaDevice"], hostile: Hostile
) -> Iterator[None]:
    good = hostile("good")
    before = supervisor.attempt("good", partial(time_good, image=good), 60)
    yield
    assert supervisor.attempt("good", partial(run_twice_plus_one, image=good), 60) == RIGHT
    assert supervisor.attempt("health", require_healthy, 60) is None
    after = supervisor.attempt("good", partial(time_good, image=good), 60)
    assert isinstance(before, float)
    assert isinstance(after, float)
    assert after == pytest.approx(before, rel=0.15)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("illegal_address", "CUDA_ERROR_ILLEGAL_ADDRESS"),
        ("misaligned_address", "CUDA_ERROR_MISALIGNED_ADDRESS"),
        ("traps", "CUDA_ERROR_LAUNCH_FAILED"),
    ],
)
def test_a_fault_is_named(
    supervisor: Supervisor["CudaDevice"], hostile: Hostile, name: str, words: str
) -> None:
    outcome = supervisor.attempt(name, partial(run_twice_plus_one, image=hostile(name)), 60)
    assert isinstance(outcome, WorkerFailure)
    assert (outcome.kind, outcome.stage) == (Fault.ERROR, "run")
    assert words in outcome.message
    assert "sticky" in outcome.message
    assert name in supervisor.quarantine


def test_a_hang_is_ended_and_the_card_is_well_again(
    supervisor: Supervisor["CudaDevice"], hostile: Hostile
) -> None:
    job = partial(run_twice_plus_one, image=hostile("infinite_loop"))
    outcome = supervisor.attempt("infinite_loop", job, 3)
    assert isinstance(outcome, WorkerFailure)
    assert (outcome.kind, outcome.stage) == (Fault.HANG, "run")


def test_a_rare_fault_is_found_among_many_launches(
    supervisor: Supervisor["CudaDevice"], hostile: Hostile
) -> None:
    job = partial(run_twice_plus_one, image=hostile("faults_now_and_then"), launches=1000)
    outcome = supervisor.attempt("faults_now_and_then", job, 60)
    assert isinstance(outcome, WorkerFailure)
    assert "CUDA_ERROR_LAUNCH_FAILED" in outcome.message


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("good", "right"),
        ("slow", "right"),
        ("out_of_bounds", "guard of out"),
        ("before_the_start", "guard of out"),
        ("changes_its_input", "input changed"),
        ("half_output", "wrong"),
        ("uninitialised", "wrong"),
        ("uninitialised_shared", "wrong"),
        ("not_deterministic", "wrong"),
        ("accumulates", "wrong"),
        ("second_launch", "wrong"),
        ("cached_result", "wrong"),
        ("last_workload", "wrong"),
    ],
)
def test_what_answers_wrongly_is_seen(
    supervisor: Supervisor["CudaDevice"], hostile: Hostile, name: str, found: str
) -> None:
    outcome = supervisor.attempt(name, partial(run_twice_plus_one, image=hostile(name)), 120)
    assert not isinstance(outcome, WorkerFailure)
    assert found in outcome
    assert ("right" in outcome) == (found == "right")


@pytest.mark.parametrize("name", REASONS)
def test_the_checks_of_a_study_say_what_is_wrong(
    supervisor: Supervisor["CudaDevice"], hostile: Hostile, name: str
) -> None:
    job = partial(examine, image=hostile(name), good=hostile("good"))
    outcome = supervisor.attempt(f"examined {name}", job, 120)
    assert isinstance(outcome, Finding)
    assert outcome.is_right == (name in {"good", "slow"})
    assert REASONS[name] in outcome.message


def test_no_memory_stays_taken_after_faults(
    supervisor: Supervisor["CudaDevice"], hostile: Hostile
) -> None:
    before = supervisor.attempt("free", free_bytes, 60)
    for number in range(3):
        job = partial(run_twice_plus_one, image=hostile("illegal_address"))
        supervisor.attempt(f"again {number}", job, 60)
    after = supervisor.attempt("free", free_bytes, 60)
    assert isinstance(before, int)
    assert isinstance(after, int)
    assert before - after < 64 << 20


def test_the_ptx_of_hostile_kernels_is_complete() -> None:
    sources = {path.stem for path in HOSTILE.glob("*.cu")}
    assert {path.stem for path in Path(HOSTILE).glob("*.ptx")} == sources
