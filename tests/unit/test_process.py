import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.helpers import fake_ptxas
from tests.helpers.processes import wait_for

from burnish.errors import ToolchainError
from burnish.toolchain import process, strays
from burnish.toolchain.process import End, Limits, kill_all, run

SOURCE = str(Path(__file__).parents[2] / "src")


def sh(script: str, limits: Limits = process.STANDARD, cwd: Path | None = None) -> process.Outcome:
    return run(["/bin/sh", "-c", script], limits=limits, cwd=cwd)


def python(code: str, limits: Limits = process.STANDARD) -> process.Outcome:
    text = f"import sys; sys.path.insert(0, {SOURCE!r})\n{code}"
    return run([sys.executable, "-I", "-S", "-c", text], limits=limits)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def children() -> list[str]:
    """Pids of our own children, zombies too."""
    tasks = Path("/proc/self/task").iterdir()
    return [pid for task in tasks for pid in (task / "children").read_text().split()]


def test_output_errors_and_the_code_come_back() -> None:
    outcome = sh("printf out; printf err >&2; exit 7")
    assert (outcome.end, outcome.code) == (End.EXITED, 7)
    assert (outcome.stdout, outcome.stderr) == (b"out", b"err")
    assert not outcome.ok
    assert outcome.wall_ms > 0


def test_code_0_is_ok() -> None:
    assert sh("exit 0").ok


def test_more_output_than_a_pipe_holds_comes_back_whole() -> None:
    outcome = sh("head -c 900000 /dev/zero; head -c 100000 /dev/zero >&2")
    assert (len(outcome.stdout), len(outcome.stderr)) == (900_000, 100_000)
    assert outcome.ok


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["/nowhere/program"], b"/nowhere/program"),
        (["/etc/passwd"], b"Permission denied"),
        (["/bin/sh\0"], b"null byte"),
    ],
)
def test_what_cannot_be_started_is_missing(argv: list[str], reason: bytes) -> None:
    outcome = run(argv)
    assert (outcome.end, outcome.code) == (End.MISSING, 127)
    assert reason in outcome.stderr


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    outcome = run(["/bin/true"], cwd=tmp_path / "gone")
    assert outcome.end is End.MISSING
    assert b"gone" in outcome.stderr


def test_a_signal_is_told_by_its_number() -> None:
    outcome = sh("kill -SEGV $$")
    assert (outcome.end, outcome.code) == (End.SIGNALLED, signal.SIGSEGV)


def test_standard_input_is_empty() -> None:
    assert sh("cat").stdout == b""


def test_the_environment_is_ours_or_what_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURNISH_TEST", "ours")
    assert sh("printf %s $BURNISH_TEST").stdout == b"ours"
    outcome = run(["/bin/sh", "-c", "printf %s-$HOME $A"], environment={"A": "given"})
    assert outcome.stdout == b"given-"


def test_it_runs_in_its_own_session() -> None:
    outcome = sh("exec cat /proc/self/stat")
    fields = outcome.stdout.rpartition(b")")[2].split()
    assert int(fields[2]) == int(fields[3]) != os.getpgrp()


def test_cpu_time_is_that_of_the_child(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        idle = pool.submit(sh, "sleep 0.3")
        busy = sh("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", cwd=tmp_path)
    assert busy.cpu_ms > 20
    assert idle.result().cpu_ms < 20
    assert idle.result().wall_ms > 290


def test_a_hanging_program_is_killed_with_its_children(tmp_path: Path) -> None:
    fake = fake_ptxas.install(tmp_path)
    fake.always(fake_ptxas.leave_child(parent="wait"))
    outcome = run([str(fake.tool.path)], limits=Limits(wall_s=0.2))
    assert outcome.end is End.TIMEOUT
    assert 190 < outcome.wall_ms < 2000
    assert not fake_ptxas.alive(fake)


ESCAPES = [
    "sleep",
    "setsid sleep",
    "env -i setsid sleep",
    "exec >/dev/null 2>&1; setsid sleep",
]


@pytest.mark.parametrize("how", ESCAPES)
@pytest.mark.parametrize("parent", ["exit 0", "kill -9 $$", "wait", "head -c 3000000 /dev/zero"])
def test_no_child_outlives_the_run(tmp_path: Path, how: str, parent: str) -> None:
    fake = fake_ptxas.install(tmp_path)
    fake.always(fake_ptxas.leave_child(how, parent=parent))
    limits = Limits(wall_s=0.3 if parent == "wait" else 20.0)
    outcome = run([str(fake.tool.path)], limits=limits)
    expected = {"exit 0": End.EXITED, "kill -9 $$": End.SIGNALLED, "wait": End.TIMEOUT}
    wanted = expected.get(parent, End.EXITED if "exec" in how else End.OUTPUT)
    assert outcome.end is wanted
    assert outcome.wall_ms < 3000
    assert not fake_ptxas.alive(fake)


def test_a_daemon_without_pipes_is_found_once_its_parent_hangs(tmp_path: Path) -> None:
    fake = fake_ptxas.install(tmp_path)
    daemon = (
        f"'{sys.executable}' -c 'import subprocess, sys; "
        'subprocess.Popen(["sleep", sys.argv[1]], start_new_session=True, '
        "stdin=-3, stdout=-3, stderr=-3)'"
    )
    fake.always(f'{daemon} "$mark"; sleep "$mark"')
    outcome = run([str(fake.tool.path)], limits=Limits(wall_s=1.0))
    assert outcome.end is End.TIMEOUT
    assert not fake_ptxas.alive(fake)


def test_output_past_the_bound_ends_it_and_is_not_kept() -> None:
    started = time.perf_counter()
    outcome = sh("cat /dev/zero", Limits(output_bytes=5000))
    assert outcome.end is End.OUTPUT
    assert len(outcome.stdout) == 5000
    assert time.perf_counter() - started < 2


def test_the_bound_is_on_both_streams_together() -> None:
    assert sh("printf 12345; printf 67890 >&2", Limits(output_bytes=10)).ok
    outcome = sh("printf 12345; printf 678901 >&2", Limits(output_bytes=10))
    assert outcome.end is End.OUTPUT
    assert len(outcome.stdout) + len(outcome.stderr) == 10


def test_an_endless_stray_writer_cannot_hold_us(tmp_path: Path) -> None:
    fake = fake_ptxas.install(tmp_path)
    fake.always("setsid sh -c 'while :; do echo x; done' \"$mark\" & exit 0")
    outcome = run([str(fake.tool.path)], limits=Limits(wall_s=2.0, output_bytes=1 << 16))
    assert outcome.end in {End.EXITED, End.OUTPUT}
    assert outcome.wall_ms < 3000
    assert not fake_ptxas.alive(fake)


def test_memory_has_a_limit() -> None:
    code = "import time; time.sleep(0.1); block = bytearray(800_000_000); print(len(block))"
    assert python(code).ok
    starved = python(code, Limits(memory_bytes=300_000_000))
    assert not starved.ok
    assert b"MemoryError" in starved.stderr


def test_a_file_has_a_limit(tmp_path: Path) -> None:
    script = "sleep 0.1; exec head -c 5000000 /dev/zero > big"
    outcome = sh(script, Limits(file_bytes=1_000_000), cwd=tmp_path)
    assert (outcome.end, outcome.code) == (End.SIGNALLED, signal.SIGXFSZ)
    assert (tmp_path / "big").stat().st_size == 1_000_000


def test_a_crash_writes_no_core_file() -> None:
    assert sh("sleep 0.1; ulimit -Sc; ulimit -Hc").stdout == b"0\n0\n"


def test_a_kernel_without_pidfd_is_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(_pid: int) -> int:
        raise OSError

    monkeypatch.setattr(os, "pidfd_open", refuse)
    assert sh("printf a; sleep 0.05; printf b").stdout == b"ab"
    assert sh("exec >&- 2>&-; sleep 0.05; exit 4").code == 4
    assert sh("sleep 9", Limits(wall_s=0.1)).end is End.TIMEOUT
    fake = fake_ptxas.install(tmp_path)
    fake.always(fake_ptxas.leave_child("setsid sleep"))
    assert run([str(fake.tool.path)]).ok
    assert not fake_ptxas.alive(fake)


def test_nothing_is_left_open_and_no_zombie_stays(tmp_path: Path) -> None:
    sh("exit 0")
    before, others = open_files(), children()
    for script in ("exit 1", "kill -9 $$", "sleep 9", "cat /dev/zero", "setsid sleep 9 &"):
        sh(script, Limits(wall_s=0.1, output_bytes=1000))
    run(["/nowhere"])
    run(["/bin/true"], cwd=tmp_path / "gone")
    assert open_files() == before
    assert set(children()) <= set(others)  # another test of this process may have its own


def test_no_descriptor_left_means_missing_and_none_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pipe
    made: list[int] = []

    def pipe() -> tuple[int, int]:
        if len(made) == 2:
            raise OSError(24, "Too many open files")
        made.append(1)
        return real()

    before = open_files()
    monkeypatch.setattr(os, "pipe", pipe)
    outcome = sh("exit 0")
    assert outcome.end is End.MISSING
    assert b"Too many open files" in outcome.stderr
    assert open_files() == before


def test_many_threads_get_their_own_answers() -> None:
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda number: sh(f"echo {number}; exit {number % 5}"), range(80)))
    assert [int(outcome.stdout) for outcome in outcomes] == list(range(80))
    assert [outcome.code for outcome in outcomes] == [number % 5 for number in range(80)]


def test_kill_all_ends_what_other_threads_run(tmp_path: Path) -> None:
    fake = fake_ptxas.install(tmp_path)
    fake.always(fake_ptxas.leave_child("setsid sleep", parent=fake_ptxas.hang()))
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(run, [str(fake.tool.path)]) for _ in range(4)]
        assert wait_for(lambda: len(fake_ptxas.alive(fake)) == 8)
        assert kill_all() == 4
        outcomes = [done.result(timeout=5) for done in runs]
    assert {outcome.end for outcome in outcomes} == {End.SIGNALLED}
    assert not fake_ptxas.alive(fake)
    assert kill_all() == 0


def test_an_interrupt_leaves_no_process(tmp_path: Path) -> None:
    fake = fake_ptxas.install(tmp_path)
    fake.always(fake_ptxas.leave_child(parent="wait"))
    code = (
        "import os, signal, threading\n"
        "from burnish.toolchain.process import run\n"
        "threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        f"run([{str(fake.tool.path)!r}])\n"
    )
    outcome = python(code)
    assert b"KeyboardInterrupt" in outcome.stderr
    assert not fake_ptxas.alive(fake)


def test_what_a_killed_child_ran_through_this_module_dies_too(tmp_path: Path) -> None:
    fake = fake_ptxas.install(tmp_path)
    fake.always(fake_ptxas.hang())
    code = f"from burnish.toolchain.process import run\nrun([{str(fake.tool.path)!r}])"
    with ThreadPoolExecutor(1) as pool:
        outer = pool.submit(python, code)
        assert wait_for(lambda: bool(fake_ptxas.alive(fake)))
        kill_all()
        assert outer.result(timeout=5).end is End.SIGNALLED
    assert not fake_ptxas.alive(fake)


def test_what_a_killed_process_left_can_be_ended_later(tmp_path: Path) -> None:
    fake = fake_ptxas.install(tmp_path)
    fake.always(fake_ptxas.leave_child("setsid sleep", parent=fake_ptxas.hang()))
    code = (
        f"import sys; sys.path.insert(0, {SOURCE!r})\n"
        f"from burnish.toolchain.process import run\nrun([{str(fake.tool.path)!r}])"
    )
    study = subprocess.Popen([sys.executable, "-I", "-S", "-c", code])
    assert wait_for(lambda: len(fake_ptxas.alive(fake)) == 2)
    strays.end_orphans()
    assert len(fake_ptxas.alive(fake)) == 2  # their owner lives
    study.kill()
    study.wait()
    assert strays.end_orphans() >= 2
    assert wait_for(lambda: not fake_ptxas.alive(fake))


def test_replace_becomes_the_other_program() -> None:
    code = (
        "from burnish.toolchain.process import replace\n"
        "replace(['/bin/sh', '-c', 'echo $A; grep SigIgn /proc/$$/status; exit 5'], {'A': 'b'})"
    )
    outcome = python(code)
    assert outcome.code == 5
    first, ignored = outcome.stdout.split(b"\n", 1)
    assert first == b"b"
    assert not int(ignored.split()[1], 16) & (1 << (signal.SIGPIPE - 1))


def test_replace_says_what_cannot_be_started() -> None:
    saved = [signal.getsignal(number) for number in (signal.SIGPIPE, signal.SIGXFSZ)]
    try:
        with pytest.raises(ToolchainError, match="/nowhere/ptxas cannot be started: No such file"):
            process.replace(["/nowhere/ptxas"])
    finally:
        for number, handler in zip((signal.SIGPIPE, signal.SIGXFSZ), saved, strict=True):
            signal.signal(number, handler)


def test_a_program_around_us_may_ignore_its_children(tmp_path: Path) -> None:
    code = (
        "import signal\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from burnish.toolchain.process import run\n"
        "print(run(['/bin/true']).end, run(['/bin/echo', 'x']).stdout)"
    )
    outcome = python(code)
    assert outcome.stdout.count(b"x") == 1, outcome
    assert threading.active_count() >= 1
    assert list(tmp_path.iterdir()) == []


def test_children_get_their_memory_at_the_same_addresses_every_time() -> None:
    def stack() -> bytes:
        return run(["sed", "-n", "/stack/p", "/proc/self/maps"]).stdout

    assert stack() == stack() == stack()


def test_the_parent_keeps_its_own_address_randomisation() -> None:
    run(["true"])
    assert Path("/proc/self/personality").read_text().strip() == "00000000"
