"""Starts the children that are not run to their end: workers, which live until they are killed.

Such a child leads its own session. Its standard input is the channel to us, and descriptor 3 the
reading end of a pipe that nobody writes to: it closes when we are gone, however that came.
A child is always ended by `Child.kill`, also where it ended by itself: only then is its number
given back, so that until then its group cannot be mistaken for another one.
"""

import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from burnish.toolchain import strays

__all__ = ["LIFELINE", "UNKNOWN", "Channels", "Child", "spawn"]

LIFELINE = 3
UNKNOWN = 256  # no exit code and no signal: the program around us ignores SIGCHLD

_numbers = count()
_STRAYS_S = 1.0
_STEP_S = 0.0005


@dataclass(frozen=True, slots=True)
class Channels:
    """What a child gets beside its arguments.

    Attributes:
        stdin: Descriptor that becomes its standard input.
        lifeline: Descriptor that becomes its number 3.
        quiet: Whether its output and errors are thrown away; else both go to our errors.
    """

    stdin: int
    lifeline: int
    quiet: bool = False


class Child:
    """A child that runs, or waits to be reaped.

    Attributes:
        pid: Its number, which is that of its session and group too.
    """

    __slots__ = ("_code", "_token", "pid")

    def __init__(self, pid: int, token: str) -> None:
        self.pid = pid
        self._token = token.encode()
        self._code: int | None = None

    def code(self) -> int | None:
        """Its exit code, minus the number of the signal that ended it, or None: it runs."""
        if self._code is not None:
            return self._code
        try:
            ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return UNKNOWN
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def kill(self, within_s: float) -> bool:
        """End it, its group and whatever left its group. May be called again.

        Returns:
            Whether it is over; a process that hangs in the kernel may not be.
        """
        if self._code is not None:
            return True
        for end in (os.killpg, os.kill):
            try:
                end(self.pid, signal.SIGKILL)
            except OSError:  # nobody there
                continue
        deadline = time.perf_counter() + within_s
        while self.code() is None:
            if time.perf_counter() > deadline:
                return False
            time.sleep(_STEP_S)
        self._reap()
        strays.end(self._token, frozenset(), _STRAYS_S)
        return True

    def _reap(self) -> None:
        try:
            _, status = os.waitpid(self.pid, 0)
        except ChildProcessError:
            self._code = UNKNOWN
        else:
            self._code = os.waitstatus_to_exitcode(status)


def spawn(argv: Sequence[str], channels: Channels, environment: Mapping[str, str]) -> Child:
    """Start a program.

    Args:
        argv: Program (its whole path) and arguments.
        channels: Its descriptors.
        environment: What is laid over our own environment.

    Raises:
        OSError: It cannot be started.
    """
    token = f"{os.getpid()}.w{next(_numbers)}"
    said = {**os.environ, **environment}  # noqa: TID251 - as process.py: passed on, not read
    said[strays.MARK] = f"{said.get(strays.MARK, '')}:{token}"
    # posix_spawn, not fork: a parent with many threads and gigabytes starts it in a millisecond.
    pid = os.posix_spawn(
        argv[0],
        list(argv),
        said,
        file_actions=_actions(channels),
        setsid=True,
        setsigmask=(),
        setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
    )
    return Child(pid, token)


def _actions(channels: Channels) -> list[tuple[int, int, str, int, int] | tuple[int, int, int]]:
    errors = 2
    actions: list[tuple[int, int, str, int, int] | tuple[int, int, int]] = [
        (os.POSIX_SPAWN_DUP2, channels.stdin, 0),
        (os.POSIX_SPAWN_DUP2, channels.lifeline, LIFELINE),
    ]
    if channels.quiet or not _is_open(errors):
        actions.append((os.POSIX_SPAWN_OPEN, errors, os.devnull, os.O_WRONLY, 0))
    actions.append((os.POSIX_SPAWN_DUP2, errors, 1))
    return actions


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
