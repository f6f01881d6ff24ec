"""Workers: whatever a job does, the caller gets an answer and nothing is left behind."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.helpers import jobs
from tests.helpers.processes import lives, wait_for

from burnish.devices.peer import Start
from burnish.devices.worker import Fault, Worker, WorkerFailure, stage
from burnish.errors import DeviceError, UsageError

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def worker() -> Iterator[Worker[jobs.Made]]:
    with Worker(jobs.make) as started:
        yield started


def failure_of(
    worker: Worker[jobs.Made], job: Callable[[jobs.Made], object], limit_s: float = 30.0
) -> WorkerFailure:
    with pytest.raises(WorkerFailure) as caught:
        worker.call(job, limit_s)
    return caught.value


def test_the_setup_is_made_once_and_every_job_gets_it(worker: Worker[jobs.Made]) -> None:
    assert [worker.call(jobs.use, 30) for _ in range(3)] == [1, 2, 3]


def test_jobs_run_in_another_process(worker: Worker[jobs.Made]) -> None:
    assert worker.call(jobs.pid, 30) == worker.pid != os.getpid()


@pytest.mark.parametrize("job", [jobs.spin, jobs.spin_in_c])
def test_a_hang_ends_at_the_limit_and_names_its_stage(
    worker: Worker[jobs.Made], job: Callable[[jobs.Made], None]
) -> None:
    worker.call(jobs.use, 30)
    pid = worker.pid
    started = time.perf_counter()
    failure = failure_of(worker, job, 0.2)
    assert time.perf_counter() - started < 5
    assert (failure.kind, failure.stage) == (Fault.HANG, "run")
    assert "0.2 s" in str(failure)
    assert not lives(pid)


def test_a_long_job_that_speaks_is_no_hang(worker: Worker[jobs.Made]) -> None:
    worker.call(jobs.use, 30)
    assert worker.call(partial(jobs.tick, seconds=0.05, ticks=10), 60, silence_s=2) == "done"


def test_silence_is_a_hang_long_before_the_limit(worker: Worker[jobs.Made]) -> None:
    worker.call(jobs.use, 30)
    with pytest.raises(WorkerFailure) as caught:
        worker.call(jobs.spin, 600, silence_s=0.3)
    assert caught.value.kind is Fault.HANG


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (jobs.segfault, "SIGSEGV"),
        (partial(jobs.leave, code=5), "exit code 5"),
        (partial(jobs.leave, code=0), "exit code 0"),
        (partial(jobs.kill_self, number=signal.SIGKILL), "SIGKILL"),
        (partial(jobs.kill_self, number=signal.SIGRTMIN + 3), f"signal {signal.SIGRTMIN + 3}"),
        (jobs.hang_up, "closed its channel"),
    ],
)
def test_a_death_says_of_what(
    worker: Worker[jobs.Made], job: Callable[[jobs.Made], object], words: str
) -> None:
    failure = failure_of(worker, job)
    assert failure.kind is Fault.DIED
    assert words in failure.message


def test_after_a_death_the_next_call_has_a_fresh_worker(worker: Worker[jobs.Made]) -> None:
    worker.call(jobs.use, 30)
    old = worker.pid
    assert failure_of(worker, jobs.segfault).stage == "run"
    assert worker.call(jobs.use, 30) == 1
    assert worker.pid != old
    assert worker.number == 2


def test_an_exception_comes_back_and_the_worker_stays(worker: Worker[jobs.Made]) -> None:
    worker.call(jobs.use, 30)
    failure = failure_of(worker, jobs.divide)
    assert (failure.kind, failure.stage) == (Fault.ERROR, "sum")
    assert failure.message == "ZeroDivisionError: division by zero"
    assert "in divide" in failure.trace
    assert failure.error is None
    assert worker.call(jobs.use, 30) == 2


def test_an_own_error_is_the_cause(worker: Worker[jobs.Made]) -> None:
    failure = failure_of(worker, jobs.refuse)
    assert isinstance(failure.error, DeviceError)
    assert str(failure.error) == "launch refused"


def test_sys_exit_is_an_exception_like_any_other(worker: Worker[jobs.Made]) -> None:
    assert failure_of(worker, jobs.ask_to_leave).message == "SystemExit: 3"


def test_an_answer_that_cannot_be_sent_is_an_error(worker: Worker[jobs.Made]) -> None:
    worker.call(jobs.use, 30)
    assert "a lock, cannot be sent" in failure_of(worker, jobs.unsendable).message
    assert "cannot be read" in failure_of(worker, jobs.unreadable).message
    assert worker.call(jobs.use, 30) == 2


def test_a_job_that_cannot_be_sent_is_a_usage_error(worker: Worker[jobs.Made]) -> None:
    with pytest.raises(UsageError, match="define it at the top of a module"):
        worker.call(lambda made: made.uses, 30)


def test_large_jobs_and_answers_pass(worker: Worker[jobs.Made]) -> None:
    size = 50_000_000
    assert len(worker.call(partial(jobs.huge, size=size), 60)) == size
    assert worker.call(partial(jobs.size_of, data=bytes(size)), 60) == size


def test_a_large_job_to_a_dead_worker_is_a_death(worker: Worker[jobs.Made]) -> None:
    worker.call(jobs.use, 30)
    os.kill(worker.pid, signal.SIGKILL)
    failure = failure_of(worker, partial(jobs.size_of, data=bytes(50_000_000)))
    assert failure.kind is Fault.DIED


def test_a_stage_may_say_how_long_it_takes(worker: Worker[jobs.Made]) -> None:
    worker.call(jobs.use, 30)
    assert worker.call(partial(jobs.linger, seconds=0.6, within_s=30), 60) == "done"
    failure = failure_of(worker, partial(jobs.linger, seconds=30, within_s=0.3), 60)
    assert (failure.kind, failure.stage) == (Fault.HANG, "quick")
    assert failure.message == "nothing was heard of it for 0.3 s"


def test_what_a_stage_says_holds_no_longer_than_the_stage(worker: Worker[jobs.Made]) -> None:
    worker.call(jobs.use, 30)
    assert worker.call(partial(jobs.linger, seconds=0.5, within_s=0.9), 60) == "done"


@pytest.mark.parametrize(
    ("setup", "words"),
    [
        (jobs.fail_to_make, "DeviceError: no device here"),
        (jobs.hang_in_setup, "nothing was heard"),
        (jobs.die_in_setup, "exit code 7"),
    ],
)
def test_a_failed_setup_is_told_apart(setup: Callable[[], jobs.Made], words: str) -> None:
    limit_s = 1.5 if setup is jobs.hang_in_setup else 60
    with Worker(setup, Start(limit_s=limit_s)) as worker:
        failure = failure_of(worker, jobs.use)
        assert failure.kind is Fault.SETUP
        assert words in failure.message


def test_a_failed_setup_keeps_its_cause() -> None:
    with Worker(jobs.fail_to_make) as worker:
        assert isinstance(failure_of(worker, jobs.use).error, DeviceError)


def test_everything_that_a_hung_job_started_is_killed(
    worker: Worker[jobs.Made], tmp_path: Path
) -> None:
    notes = tmp_path / "pids"
    worker.call(jobs.use, 30)
    with pytest.raises(WorkerFailure) as caught:
        worker.call(partial(jobs.start_family, notes=str(notes)), 60, silence_s=2)
    assert caught.value.stage == "waiting"
    pids = [int(pid) for pid in notes.read_text().split()]
    assert len(pids) == 4
    assert not [pid for pid in pids if lives(pid)]


def test_a_worker_that_ignores_signals_dies_too(worker: Worker[jobs.Made]) -> None:
    pid = worker.pid
    assert failure_of(worker, jobs.ignore_signals, 0.5).kind is Fault.HANG
    assert not lives(pid)


def test_closing_leaves_no_process() -> None:
    with Worker(jobs.make, Start(spare=True)) as worker:
        worker.call(jobs.use, 30)
        pids = [peer.pid for peer in worker._peers]  # noqa: SLF001
        assert len(pids) == 2
    assert not [pid for pid in pids if lives(pid)]


def test_a_forgotten_worker_is_ended() -> None:
    worker = Worker(jobs.make)
    pid = worker.pid
    worker.call(jobs.use, 30)
    del worker
    assert not lives(pid)


def test_a_worker_outlives_the_thread_that_started_it() -> None:
    started: list[Worker[jobs.Made]] = []
    thread = threading.Thread(target=lambda: started.append(Worker(jobs.make)))
    thread.start()
    thread.join()
    with started[0] as worker:
        assert worker.call(jobs.use, 30) == 1
        time.sleep(0.2)
        assert worker.call(jobs.use, 30) == 2


def test_an_interrupted_call_gives_the_worker_up(worker: Worker[jobs.Made]) -> None:
    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    worker.call(jobs.use, 30)
    old = worker.pid
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            worker.call(jobs.spin, 30)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not lives(old)
    assert worker.call(jobs.use, 30) == 1


@pytest.mark.slow
def test_with_a_spare_a_restart_takes_less_than_150_ms() -> None:
    best_s = float("inf")
    with Worker(jobs.make, Start(spare=True)) as worker:
        worker.call(jobs.use, 30)
        for turn in range(1, 9):  # a busy machine needs longer until the spare is ready
            time.sleep(0.4 * turn)
            failure_of(worker, jobs.segfault)
            started = time.perf_counter()
            assert worker.call(jobs.use, 30) == 1
            best_s = min(best_s, time.perf_counter() - started)
            if best_s < 0.15:
                return
    pytest.fail(f"the fastest restart took {best_s:.3f} s")


def test_a_stage_outside_of_a_worker_is_nothing() -> None:
    stage("anything")


# What scripts of users do.

FAMILY = """
    import sys
    from functools import partial
    from burnish.devices.worker import Worker
    from tests.helpers import jobs
    Worker(jobs.make).call(partial(jobs.start_family, notes=sys.argv[1]), 1000)
"""


def run_script(tmp_path: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        script(tmp_path, code, *arguments),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def script(tmp_path: Path, code: str, *arguments: str) -> list[str]:
    path = tmp_path / "user_script.py"
    path.write_text(textwrap.dedent(code))
    return [sys.executable, str(path), *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{SOURCE.parent}"}


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_when_the_parent_is_killed_its_worker_and_group_die(
    tmp_path: Path, how: signal.Signals
) -> None:
    notes = tmp_path / "pids"
    parent = subprocess.Popen(script(tmp_path, FAMILY, str(notes)), env=environment())
    assert wait_for(notes.exists, 60)
    worker, child, *outside = [int(pid) for pid in notes.read_text().split()]
    assert lives(worker)
    parent.send_signal(how)
    parent.wait()
    try:
        assert wait_for(lambda: not lives(worker) and not lives(child), 5)
    finally:
        for pid in outside:  # they left the group, and nobody is left to look for them
            os.kill(pid, signal.SIGKILL)


def test_when_the_parent_dies_a_worker_that_never_yields_dies(tmp_path: Path) -> None:
    code = """
        from burnish.devices.worker import Worker
        from tests.helpers import jobs
        import threading
        def work():
            worker = Worker(jobs.make)  # not in the main thread
            print(worker.call(jobs.pid, 60), flush=True)
            worker.call(jobs.spin_in_c, 1000)
        threading.Thread(target=work).start()
    """
    argv = script(tmp_path, code)
    with subprocess.Popen(argv, env=environment(), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.2)
        assert lives(pid)
        parent.kill()
    assert wait_for(lambda: not lives(pid), 5)


def test_a_script_without_a_guard_may_start_workers(tmp_path: Path) -> None:
    code = """
        print("started")
        from burnish.devices.worker import Worker
        from tests.helpers import jobs
        with Worker(jobs.make) as worker:
            print(worker.call(jobs.use, 60))
    """
    done = run_script(tmp_path, code)
    assert (done.returncode, done.stdout.split()) == (0, ["started", "1"]), done.stderr


def test_a_function_of_the_script_itself_can_be_a_job(tmp_path: Path) -> None:
    code = """
        import sys
        from burnish.devices.worker import Worker
        class Answer:
            def __init__(self, text): self.text = text
        def make(): return 20
        def job(made): return Answer(f"{made + 1} {sys.argv[1]} {__name__}")
        if __name__ == "__main__":
            with Worker(make) as worker:
                answer = worker.call(job, 60)
                print(type(answer) is Answer, answer.text)
    """
    done = run_script(tmp_path, code, "word")
    assert done.stdout == "True 21 word __mp_main__\n", done.stderr


def test_a_script_that_would_start_itself_again_is_told_what_to_do(tmp_path: Path) -> None:
    code = """
        from burnish.devices.worker import Worker, WorkerFailure
        def make(): return 20
        def job(made): return made + 1
        try:
            print(Worker(make).call(job, 60))
        except WorkerFailure as failure:
            print(failure.error)
    """
    done = run_script(tmp_path, code)
    assert "if __name__ == '__main__'" in done.stdout, done.stdout + done.stderr


def test_a_fork_of_the_parent_ends_without_taking_the_worker_along(tmp_path: Path) -> None:
    code = """
        import os, sys
        from burnish.devices.worker import Worker
        from tests.helpers import jobs
        worker = Worker(jobs.make)
        worker.call(jobs.use, 60)
        if os.fork() == 0:
            sys.exit(0)
        os.wait()
        print(worker.call(jobs.use, 60))
    """
    assert run_script(tmp_path, code).stdout == "2\n"


def test_a_function_of_no_file_is_refused_in_words(tmp_path: Path) -> None:
    code = "from burnish.devices.worker import *\ndef f(): return 1\nWorker(f).call(repr, 60)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert "put it into a file" in done.stderr


@pytest.mark.parametrize("quiet", [False, True])
def test_what_a_worker_prints_never_reaches_our_output(
    tmp_path: Path,
    quiet: bool,  # noqa: FBT001
) -> None:
    code = f"""
        from burnish.devices.peer import Start
        from burnish.devices.worker import Worker
        from tests.helpers import jobs
        with Worker(jobs.make, Start(quiet={quiet})) as worker:
            worker.call(jobs.talk, 60)
    """
    done = run_script(tmp_path, code)
    assert (done.returncode, done.stdout) == (0, "")
    assert ("from c" in done.stderr, "from python" in done.stderr) == (not quiet, not quiet)
