"""Hostile C kernels under supervision: rejected for the right reason, and nobody is harmed.

What crashes or hangs is the worker's business and is shown here. What answers wrongly is that of
`burnish.verify`; here it is shown that it runs to its end.
"""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.helpers.c import HOSTILE, hostile
from tests.helpers.host_jobs import run_twice_plus_one
from tests.helpers.processes import lives, wait_for

from burnish.devices.host import HostDevice, open_host
from burnish.devices.supervise import Supervisor
from burnish.devices.worker import Fault, WorkerFailure

RIGHT = (True, True)
good = partial(run_twice_plus_one, image=hostile("good"))


@pytest.fixture(scope="module")
def shared() -> Iterator[Supervisor[HostDevice]]:
    with Supervisor(partial(open_host, pin=False)) as started:
        started.prove_with(good, 60)
        yield started


@pytest.fixture
def supervisor(shared: Supervisor[HostDevice]) -> Iterator[Supervisor[HostDevice]]:
    assert shared.attempt("neighbour", good, 60) == RIGHT
    yield shared
    assert shared.attempt("neighbour", good, 60) == RIGHT
    assert shared.attempt("plain build", good, 60) == RIGHT


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("infinite_loop", Fault.HANG, "nothing was heard"),
        ("illegal_address", Fault.DIED, "SIGSEGV"),
        ("exits", Fault.DIED, "exit code 0"),
        ("deep_stack", Fault.DIED, "SIGSEGV"),
    ],
)
def test_what_crashes_or_hangs_is_told_apart_and_quarantined(
    supervisor: Supervisor[HostDevice], name: str, kind: Fault, words: str
) -> None:
    job = partial(run_twice_plus_one, image=hostile(name))
    limit_s = 1.0 if kind is Fault.HANG else 60
    outcome = supervisor.attempt(name, job, limit_s)
    assert isinstance(outcome, WorkerFailure)
    assert (outcome.kind, outcome.stage) == (kind, "run")
    assert words in outcome.message
    assert name in supervisor.quarantine


def test_a_fault_of_one_launch_in_50_is_found_among_many_launches(
    supervisor: Supervisor[HostDevice],
) -> None:
    image = hostile("faults_now_and_then")
    job = partial(run_twice_plus_one, image=image, launches=1000, n=10)
    outcome = supervisor.attempt("now and then", job, 60)
    assert isinstance(outcome, WorkerFailure)
    assert outcome.kind is Fault.DIED
    assert "now and then" in supervisor.quarantine


def test_a_kernel_that_faults_now_and_then_is_out_at_its_second_fault(
    supervisor: Supervisor[HostDevice],
) -> None:
    """Few launches a job: most jobs pass, and yet it does not live for long."""
    job = partial(run_twice_plus_one, image=hostile("faults_now_and_then"), launches=20, n=10)
    before = supervisor.faults
    for _ in range(100):
        supervisor.attempt("neighbour", good, 60)
        outcome = supervisor.attempt("rarely", job, 60)
        if isinstance(outcome, WorkerFailure):
            break
    assert "rarely" in supervisor.quarantine
    assert supervisor.faults - before <= 2


def test_processes_that_a_kernel_forked_are_gone(supervisor: Supervisor[HostDevice]) -> None:
    job = partial(run_twice_plus_one, image=hostile("forks"))
    before = set(family())
    outcome = supervisor.attempt("forks", job, 1.0)
    assert isinstance(outcome, WorkerFailure)
    # The worker and the spare took over; none of the old ones is left.
    assert wait_for(lambda: len(family()) <= len(before), 5), (before, family())


def family() -> list[int]:
    """Processes that carry the mark of one of our workers (`burnish.toolchain.spawn`)."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and lives(int(folder.name)):
            try:
                said = (folder / "environ").read_bytes()
            except OSError:
                continue
            if f"{os.getpid()}.w".encode() in said:
                found.append(int(folder.name))
    return found


@pytest.mark.parametrize(
    "name",
    [
        "accumulates",
        "cached_result",
        "changes_floats",
        "half_output",
        "last_workload",
        "not_deterministic",
        "out_of_bounds",
        "prints",
        "second_launch",
        "uninitialised",
    ],
)
def test_what_only_answers_wrongly_runs_to_its_end(
    supervisor: Supervisor[HostDevice], name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    job = partial(run_twice_plus_one, image=hostile(name), launches=2, n=5000)
    outcome = supervisor.attempt(name, job, 60)
    assert isinstance(outcome, tuple)
    is_right = outcome == RIGHT
    assert is_right == (name in {"cached_result", "changes_floats", "prints"})
    assert capfd.readouterr() == ("", "")


def test_every_hostile_source_is_shown_here() -> None:
    text = Path(__file__).read_text()
    assert not [path for path in HOSTILE.glob("*.c") if f'"{path.stem}"' not in text]
