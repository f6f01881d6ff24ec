"""Hostile CUDA kernels on the fake card: found out by the checks, for the true reason."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.helpers.fakecuda.build import build_kernels

from burnish.devices.supervise import Supervisor
from burnish.devices.worker import Fault, WorkerFailure
from burnish.verify.judge import Finding

if TYPE_CHECKING:
    from burnish.devices.cuda_device import CudaDevice

pytest.importorskip("cuda.bindings")

from tests.helpers.cuda_jobs import HOSTILE, REASONS, examine, open_fake, run_twice_plus_one

pytestmark = [pytest.mark.toolchain, pytest.mark.slow]

Hostile = Callable[[str], bytes]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    folder = tmp_path_factory.mktemp("hostile")

    @cache
    def built(name: str) -> bytes:
        build_kernels(HOSTILE / f"{name}.cu", folder / f"{name}.so")
        return (folder / f"{name}.so").read_bytes()

    return built


@pytest.fixture(scope="module")
def supervisor(fake_folder: Path, hostile: Hostile) -> Iterator[Supervisor["CudaDevice"]]:
    with Supervisor(partial(open_fake, fake_folder)) as started:
        started.prove_with(partial(run_twice_plus_one, image=hostile("good")), 60)
        yield started


@pytest.mark.parametrize(
    "name", [name for name in REASONS if name not in {"slow", "not_deterministic"}]
)
def test_what_answers_wrongly_is_found_out(
    supervisor: Supervisor["CudaDevice"], hostile: Hostile, name: str
) -> None:
    job = partial(examine, image=hostile(name), good=hostile("good"))
    outcome = supervisor.attempt(name, job, 60)
    assert isinstance(outcome, Finding)
    assert outcome.is_right == (name == "good")
    assert REASONS[name] in outcome.message


def test_a_hang_is_ended_by_its_stage(
    supervisor: Supervisor["CudaDevice"], hostile: Hostile
) -> None:
    job = partial(run_twice_plus_one, image=hostile("infinite_loop"))
    outcome = supervisor.attempt("infinite_loop", job, 3)
    assert isinstance(outcome, WorkerFailure)
    assert (outcome.kind, outcome.stage) == (Fault.HANG, "run")
