"""One worker process as its parent sees it: how it is started, spoken with and ended."""

import math
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from burnish.devices.channel import Channel, Closed, pack
from burnish.devices.serving import Letter, Main
from burnish.errors import DeviceError
from burnish.model.frozen import FrozenMap
from burnish.toolchain.spawn import UNKNOWN, Channels, Child, spawn

__all__ = ["Patience", "Peer", "Start"]

_KILL_S = 10.0  # a process in the kernel (a driver call) may need that long to die
_END_S = 0.5
_STEP_S = 0.0005
_CODE = (
    "import sys; sys.path[:] = {path!r}; from burnish.devices.serving import serve; serve({who})"
)


@dataclass(frozen=True, slots=True)
class Start:
    """How workers are started.

    Attributes:
        quiet: Whether what they print is thrown away; else it goes to our standard error.
        spare: Whether a second process, with everything imported, stands by to take over.
        limit_s: For starting, importing and the setup together.
        environment: What is laid over our own environment.
    """

    quiet: bool = False
    spare: bool = False
    limit_s: float = 60.0
    environment: Mapping[str, str] = field(default_factory=FrozenMap)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long an answer may take.

    Attributes:
        limit_s: From question to answer.
        silence_s: From one word (a stage, or the answer) to the next.
    """

    limit_s: float
    silence_s: float = float("inf")


class Peer:
    """A worker process.

    Attributes:
        stage: The last stage that it spoke of since the last question; empty before.
        within_s: How long that may take, as it said.
    """

    __slots__ = ("_channel", "_child", "_lifeline", "_owner", "stage", "within_s")

    def __init__(self, setup: bytes, start: Start) -> None:
        """Start it and tell it the setup; it reads that, says so and waits.

        Raises:
            DeviceError: No process can be started.
        """
        self._begin("", math.inf)
        self._owner = os.getpid()
        ours, theirs = socket.socketpair()
        reader, self._lifeline = os.pipe()
        try:
            self._child = _spawn(theirs.fileno(), reader, start)
        except OSError as error:
            ours.close()
            os.close(self._lifeline)
            raise DeviceError(f"no worker can be started: {error}") from None
        finally:
            theirs.close()
            os.close(reader)
        self._channel = Channel(ours, lambda: self._child.code() is not None)
        deadline_s = time.perf_counter() + start.limit_s
        try:
            self._channel.send(Letter.SETUP, pack((_main(), setup)), deadline_s)
        except Closed:
            return  # the first answer, which is waited for, never comes: said there

    @property
    def pid(self) -> int:
        """Its process number."""
        return self._child.pid

    def answer(self, patience: Patience) -> tuple[bool, bytes]:
        """Wait for an answer: whether it went well, and the body.

        Raises:
            Closed: It is gone.
            Silent: It took too long.
        """
        self._begin("", math.inf)
        deadline_s = time.perf_counter() + patience.limit_s
        while True:
            silent_s = time.perf_counter() + min(patience.silence_s, self.within_s)
            letter, body = self._channel.receive(min(deadline_s, silent_s))
            if letter == Letter.STAGE:
                self._begin(*_said(body))
            elif letter in {Letter.DONE, Letter.FAILED}:
                return letter == Letter.DONE, body
            else:  # it wrote over its own messages
                raise Closed

    def ask(self, letter: bytes, body: bytes, patience: Patience) -> tuple[bool, bytes]:
        """Send a question and wait for the answer; raises as `answer` does."""
        started_s = time.perf_counter()
        self._begin("", math.inf)
        self._channel.send(letter, body, started_s + min(patience.limit_s, patience.silence_s))
        left_s = patience.limit_s - (time.perf_counter() - started_s)
        return self.answer(Patience(left_s, patience.silence_s))

    def _begin(self, stage: str, within_s: float) -> None:
        self.stage, self.within_s = stage, within_s

    def fate(self) -> str:
        """How it ended, in words; one that still runs is given a moment to end."""
        deadline_s = time.perf_counter() + _END_S
        while (code := self._child.code()) is None and time.perf_counter() < deadline_s:
            time.sleep(_STEP_S)
        if code is None:
            return "it closed its channel and went on"
        if code == UNKNOWN:
            return "it ended, nobody knows how (SIGCHLD is ignored)"
        return f"killed by {_named(-code)}" if code < 0 else f"it ended with exit code {code}"

    def end(self, grace_s: float = 0.0) -> None:
        """End it, with all that it started; it gets a moment to end by itself.

        Raises:
            DeviceError: It does not die.
        """
        if os.getpid() != self._owner:  # a fork of ours: not its child
            return
        self._channel.close()
        deadline_s = time.perf_counter() + grace_s
        while self._child.code() is None and time.perf_counter() < deadline_s:
            time.sleep(_STEP_S)
        over = self._child.kill(_KILL_S)
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        if not over:
            raise DeviceError(
                f"worker {self.pid} does not die: it hangs in the kernel, so its device is not "
                "usable; look at the system's log, and restart the machine or the driver"
            )


def _spawn(channel: int, lifeline: int, start: Start) -> Child:
    # Only the main thread lives as long as its process, so only its workers may die with it.
    in_main = threading.current_thread() is threading.main_thread()
    code = _CODE.format(path=sys.path, who=f"{os.getpid()}, watch_thread={in_main}")
    channels = Channels(stdin=channel, lifeline=lifeline, quiet=start.quiet)
    return spawn([sys.executable, "-c", code], channels, start.environment)


def _main() -> Main:
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    path = getattr(main, "__file__", None)
    return Main(
        module=spec.name if spec is not None else "",
        path=str(Path(path).absolute()) if isinstance(path, str) else "",
        argv=tuple(sys.argv),
    )


def _said(body: bytes) -> tuple[str, float]:
    """A stage and how long it may take."""
    within_s, _, stage = body.decode(errors="replace").partition("\0")
    try:
        return stage, float(within_s)
    except ValueError:  # it wrote over its own messages
        raise Closed from None


def _named(number: int) -> str:
    try:
        which = signal.Signals(number)
    except ValueError:
        return f"signal {number}"
    meaning = {
        signal.SIGKILL: "by somebody else, or by the system for lack of memory",
        signal.SIGSEGV: "an address that is not its own",
        signal.SIGBUS: "a bad address",
        signal.SIGFPE: "a division by zero or the like",
        signal.SIGILL: "an instruction that this machine does not know",
        signal.SIGABRT: "it gave up by itself",
    }
    return f"{which.name} ({meaning[which]})" if which in meaning else which.name
