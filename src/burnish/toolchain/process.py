"""The only place that starts processes.

A child gets its own session, its own limits, closed input and memory at fixed addresses. However
it ends, nothing of it is left: its group is killed, and so are processes that left the group
(`burnish.toolchain.strays`). What it prints is kept up to a bound; one byte more ends it. Safe to
call from many threads.

No ``preexec_fn``: it would forbid vfork, which costs milliseconds a start.
"""

import os
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import count
from pathlib import Path
from typing import NoReturn

from burnish.errors import ToolchainError
from burnish.toolchain import strays
from burnish.toolchain.addresses import fixed_addresses
from burnish.toolchain.pipes import Pipes

__all__ = ["STANDARD", "End", "Limits", "Outcome", "kill_all", "replace", "run"]

_TICK_S = 0.005  # how often a child is looked at where the kernel has no pidfd
_GRACE_S = 0.02  # what a killed group needs until its pipes close
_STRAYS_S = 1.0
_LONGEST_S = 3600.0  # poll(2) takes an int of ms
_NOT_STARTED = 127

_lock = threading.Lock()
_live: set[int] = set()
_numbers = count()


class End(Enum):
    """How a process came to its end."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMEOUT = "timeout"
    OUTPUT = "output"  # it printed more than its bound
    MISSING = "missing"  # it could not be started


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process may use.

    Attributes:
        wall_s: Time from start to end.
        memory_bytes: Address space of each process; None: no limit.
        output_bytes: Standard output and error together.
        file_bytes: Any file that it writes.
    """

    wall_s: float = 60.0
    memory_bytes: int | None = None
    output_bytes: int = 1 << 20
    file_bytes: int = 1 << 30


STANDARD = Limits()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a process.

    Attributes:
        end: How it ended.
        code: Exit code; the signal's number where one ended it; 127 where nothing started.
        stdout: What it printed, up to the bound.
        stderr: The same; where nothing started, the reason.
        cpu_ms: User and system time of the process and of the children it waited for.
        wall_ms: Time from before the start to the end.
    """

    end: End
    code: int
    stdout: bytes
    stderr: bytes
    cpu_ms: float
    wall_ms: float

    @property
    def ok(self) -> bool:
        """Whether it exited with code 0."""
        return self.end is End.EXITED and self.code == 0


def run(
    argv: Sequence[str],
    *,
    limits: Limits = STANDARD,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Run a program to its end, whatever that is. Never raises for what the program does.

    Args:
        argv: Program and arguments; no shell reads them.
        limits: What it may use.
        cwd: Folder to run in; None: the current one.
        environment: Its whole environment; None: ours.
    """
    started_s = time.perf_counter()
    pipes = Pipes(limits.output_bytes)
    try:
        try:
            pipes.open()
            child = _Child(argv, pipes, cwd, environment)
        except (OSError, ValueError) as error:
            wall_ms = (time.perf_counter() - started_s) * 1e3
            return Outcome(End.MISSING, _NOT_STARTED, b"", str(error).encode(), 0.0, wall_ms)
        end = child.run(limits, started_s)
        wall_ms = (time.perf_counter() - started_s) * 1e3
        output, errors = bytes(pipes.texts[0]), bytes(pipes.texts[1])
        return Outcome(end, abs(child.code), output, errors, child.cpu_ms, wall_ms)
    finally:
        pipes.close()


def kill_all() -> int:
    """Kill every group that runs now, from any thread; their `run` calls return soon after.

    What is queued and not started yet is the caller's to cancel first.

    Returns:
        How many groups were killed.
    """
    with _lock:
        for pid in _live:
            _kill_group(pid)
        return len(_live)


def replace(argv: Sequence[str], environment: Mapping[str, str] | None = None) -> NoReturn:
    """Become another program (exec), as if it had been started in our place.

    Raises:
        ToolchainError: It cannot be started.
    """
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python; a program must not inherit it
        signal.signal(ignored, signal.SIG_DFL)
    try:
        said = os.environ if environment is None else environment
        os.execve(argv[0], list(argv), said)  # noqa: S606 - no shell is what we want
    except OSError as error:
        raise ToolchainError(f"{argv[0]} cannot be started: {error.strerror}") from None


class _Child:
    """One child with its group; reaped exactly once."""

    __slots__ = ("_pidfd", "_pipes", "_token", "code", "cpu_ms", "pid")

    def __init__(
        self,
        argv: Sequence[str],
        pipes: Pipes,
        cwd: Path | None,
        environment: Mapping[str, str] | None,
    ) -> None:
        said = dict(os.environ if environment is None else environment)
        token = f"{os.getpid()}.{next(_numbers)}"
        # Tokens add up, so that ours is found in a child of a child that uses this module too.
        said[strays.MARK] = f"{said.get(strays.MARK, '')}:{token}"
        self._token = token.encode()
        self._pipes = pipes
        self._pidfd = -1
        self.code = 0
        self.cpu_ms = 0.0
        with _lock:  # kill_all sees every child that was started before it
            self.pid = _start(argv, pipes, cwd, said)
            _live.add(self.pid)
        pipes.close_writers()

    def run(self, limits: Limits, started_s: float) -> End:
        """Wait for the end, or make it; leave nothing behind."""
        end = End.SIGNALLED
        try:
            _limit(self.pid, limits)
            end = self._watch(started_s + limits.wall_s)
        finally:
            self._reap()
            self._sweep(thorough=end is not End.EXITED or self.code < 0)
        if self._pipes.full and end is End.EXITED:
            return End.OUTPUT
        return End.SIGNALLED if end is End.EXITED and self.code < 0 else end

    def _watch(self, deadline_s: float) -> End:
        self._pidfd = _open_pidfd(self.pid)
        tick_s = _TICK_S if self._pidfd < 0 else float("inf")
        if self._pidfd >= 0:
            self._pipes.watch(self._pidfd)
        while not self._pipes.full:
            left_s = deadline_s - time.perf_counter()
            if left_s <= 0:
                return End.TIMEOUT
            woken = self._pipes.step(min(left_s, tick_s, _LONGEST_S))
            if woken or (self._pidfd < 0 and _is_over(self.pid)):
                return End.EXITED
        return End.OUTPUT

    def _reap(self) -> None:
        if self._pidfd >= 0:
            self._pipes.unwatch(self._pidfd)
            os.close(self._pidfd)
        # Not reaped yet, the child keeps the number of its group from being given away.
        _kill_group(self.pid)
        with _lock:
            _live.discard(self.pid)
        try:
            _, status, usage = os.wait4(self.pid, 0)
        except ChildProcessError:  # the program around us ignores SIGCHLD: nobody knows
            self.code = _NOT_STARTED
            return
        self.code = os.waitstatus_to_exitcode(status)
        self.cpu_ms = (usage.ru_utime + usage.ru_stime) * 1e3

    def _sweep(self, *, thorough: bool) -> None:
        """Read what is left, and end who still holds a pipe."""
        self._pipes.drain(0.0)
        if self._pipes.held and not self._pipes.full:
            self._pipes.drain(_GRACE_S)
        if thorough or self._pipes.held:
            strays.end(self._token, self._pipes.inodes, _STRAYS_S)
            self._pipes.drain(_GRACE_S)


def _start(
    argv: Sequence[str], pipes: Pipes, cwd: Path | None, environment: Mapping[str, str]
) -> int:
    output, errors, silent = pipes.writers
    with fixed_addresses():
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            cwd=cwd,
            env=environment,
            pass_fds=(silent,),
            start_new_session=True,
        )
    process.returncode = 0  # we reap it ourselves; without this its __del__ would complain
    return process.pid


def _limit(pid: int, limits: Limits) -> None:
    """Set limits from outside; a child that is over already needs none."""
    wanted = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, limits.file_bytes)]
    if limits.memory_bytes is not None:
        wanted.append((resource.RLIMIT_AS, limits.memory_bytes))
    for kind, most in wanted:
        try:
            resource.prlimit(pid, kind, (most, most))
        except (OSError, ValueError):  # ValueError: a hard limit of ours is lower already
            continue


def _open_pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except OSError:  # an old kernel, or a sandbox without it
        return -1


def _is_over(pid: int) -> bool:
    """Whether a child is over; it stays unreaped."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:  # nobody left in it
        return
