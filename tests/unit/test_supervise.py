"""What becomes of candidates that fault, and of their neighbours."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.helpers import jobs

from burnish.devices.supervise import Supervisor, run_limit
from burnish.devices.worker import Fault, WorkerFailure
from burnish.errors import DeviceError, LaunchError


@pytest.fixture
def supervisor() -> Iterator[Supervisor[jobs.Made]]:
    with Supervisor(jobs.make, crash_cap=5) as started:
        yield started


def kind_of(outcome: object) -> Fault:
    assert isinstance(outcome, WorkerFailure)
    return outcome.kind


def test_a_limit_follows_the_baseline_and_has_a_floor() -> None:
    assert run_limit(0.001) == 2.0
    assert run_limit(0.1) == 5.0


def test_a_candidate_that_faults_in_a_fresh_worker_gets_no_second_try(
    supervisor: Supervisor[jobs.Made], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    job = partial(jobs.note_and_die, log=str(log))
    assert kind_of(supervisor.attempt("bad", job, 30)) is Fault.DIED
    assert log.read_text() == "x"
    assert supervisor.faults == 1


def test_what_is_quarantined_never_runs_again(
    supervisor: Supervisor[jobs.Made], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    job = partial(jobs.note_and_die, log=str(log))
    first = supervisor.attempt("bad", job, 30)
    assert supervisor.attempt("bad", job, 30) is first
    assert log.read_text() == "x"
    assert supervisor.quarantine["bad"] is first


def test_a_neighbour_of_a_fault_goes_on_in_a_fresh_worker(
    supervisor: Supervisor[jobs.Made],
) -> None:
    assert supervisor.attempt("good", jobs.use, 30) == 1
    before = supervisor.generation
    assert kind_of(supervisor.attempt("bad", jobs.spin, 0.3)) is Fault.HANG
    assert supervisor.attempt("good", jobs.use, 30) == 1
    assert supervisor.generation > before


def test_a_victim_of_an_earlier_candidate_is_tried_again(
    supervisor: Supervisor[jobs.Made],
) -> None:
    supervisor.attempt("poisoner", jobs.poison, 30)
    assert supervisor.attempt("victim", jobs.die_of_poison, 30) == "well"
    assert supervisor.faults == 1
    assert not supervisor.quarantine


def test_who_faults_again_after_its_second_try_is_quarantined(
    supervisor: Supervisor[jobs.Made],
) -> None:
    supervisor.attempt("poisoner", jobs.poison, 30)
    assert supervisor.attempt("now and then", jobs.die_of_poison, 30) == "well"
    supervisor.attempt("other", jobs.poison, 30)
    assert kind_of(supervisor.attempt("now and then", jobs.die_of_poison, 30)) is Fault.DIED
    assert "now and then" in supervisor.quarantine


def test_a_refused_launch_is_a_fault_of_the_device(supervisor: Supervisor[jobs.Made]) -> None:
    supervisor.attempt("good", jobs.use, 30)
    assert kind_of(supervisor.attempt("bad", jobs.refuse, 30)) is Fault.ERROR
    assert supervisor.attempt("good", jobs.use, 30) == 1


def test_any_other_exception_costs_no_worker(supervisor: Supervisor[jobs.Made]) -> None:
    supervisor.attempt("good", jobs.use, 30)
    assert kind_of(supervisor.attempt("odd", jobs.divide, 30)) is Fault.ERROR
    assert supervisor.attempt("good", jobs.use, 30) == 2
    assert not supervisor.quarantine


def test_too_many_faults_end_the_session() -> None:
    with Supervisor(jobs.make, crash_cap=1) as supervisor:
        supervisor.attempt("one", jobs.segfault, 30)
        with pytest.raises(DeviceError, match=r"cap is 1.*SIGSEGV"):
            supervisor.attempt("two", jobs.segfault, 30)


def test_after_a_fault_the_plain_build_must_run(
    supervisor: Supervisor[jobs.Made], tmp_path: Path
) -> None:
    sick = tmp_path / "sick"
    supervisor.prove_with(partial(jobs.run_unless, sick=str(sick)), 30)
    supervisor.attempt("bad", jobs.segfault, 30)
    sick.touch()
    with pytest.raises(DeviceError, match="plain build fails in a fresh worker"):
        supervisor.attempt("worse", jobs.segfault, 30)


def test_a_plain_build_that_fails_once_is_tried_again(
    supervisor: Supervisor[jobs.Made], tmp_path: Path
) -> None:
    sick = tmp_path / "sick"
    supervisor.prove_with(partial(jobs.run_unless, sick=str(sick), heal=True), 30)
    sick.touch()
    assert kind_of(supervisor.attempt("bad", jobs.segfault, 30)) is Fault.DIED


def test_what_is_wrong_with_the_kernel_is_not_said_of_the_device(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with (
        Supervisor(partial(jobs.fail_to_fit, str(log))) as supervisor,
        pytest.raises(LaunchError, match=r"^workload 'a': writes out of bounds$"),
    ):
        supervisor.attempt("good", jobs.use, 30)
    assert log.read_text() == "x"  # once more would tell the same


def test_what_the_plain_build_s_own_run_shows_of_it_is_not_said_of_the_device(
    supervisor: Supervisor[jobs.Made],
) -> None:
    with pytest.raises(LaunchError, match=r"^the baseline is not repeatable$"):
        supervisor.prove_with(jobs.differ, 30)


def test_a_plain_build_that_crashes_is_not_called_a_device_that_cannot_be_opened() -> None:
    with (
        Supervisor(jobs.crash_in_the_plain_build) as supervisor,
        pytest.raises(DeviceError, match=r"^running the plain build fails: killed by SIGSEGV"),
    ):
        supervisor.attempt("good", jobs.use, 30)


def test_a_plain_build_that_hangs_is_tried_once_and_the_limit_is_named(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with (
        Supervisor(partial(jobs.hang_in_the_plain_build, str(log))) as supervisor,
        pytest.raises(
            LaunchError, match=r"^running the plain build takes longer than 0\.5 s: it hangs, or"
        ),
    ):
        supervisor.attempt("good", jobs.use, 30)
    assert log.read_text() == "x"


def test_a_device_that_cannot_be_opened_is_nobody_elses_fault() -> None:
    with (
        Supervisor(jobs.fail_to_make) as supervisor,
        pytest.raises(DeviceError, match=r"cannot be opened.*no device here"),
    ):
        supervisor.attempt("good", jobs.use, 30)
