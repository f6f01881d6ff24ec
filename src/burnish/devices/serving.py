"""The worker's side: makes its device once, then runs the jobs that its parent sends.

It dies with its parent, whatever the parent died of and whatever runs here at that time: the
kernel is asked to kill our whole group when the parent's end of a pipe closes. That needs no
thread of ours, so that code which never gives the interpreter back cannot stop it.
"""

import ctypes
import fcntl
import os
import resource
import runpy
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import cast

from burnish.devices.channel import Pipe, pack, unpack
from burnish.errors import BurnishError
from burnish.toolchain.spawn import LIFELINE

__all__ = ["Letter", "Main", "Report", "importing_main", "report_stage", "serve"]

_F_SETSIG = 10  # Linux; the fcntl module does not name it
_PR_SET_PDEATHSIG = 1
_COPY = "__mp_main__"  # as multiprocessing calls its copy of a main module: scripts know it
_MOST_MESSAGE = 4000
_MOST_TRACE = 16000


class Letter:
    """The first byte of a message."""

    SETUP = b"s"  # to the worker: where main is, and the setup
    GO = b"g"  # run the setup
    JOB = b"j"
    STAGE = b"t"  # to the parent
    DONE = b"d"  # the setup was read, or was run, or the answer to a job
    FAILED = b"f"


@dataclass(frozen=True, slots=True)
class Main:
    """Where the parent's main module comes from, for jobs that are defined in it.

    Attributes:
        module: Its name where it was started by name (``python -m``); else empty.
        path: Its file; empty in an interactive session.
        argv: The parent's arguments, which a script may read when it is imported.
    """

    module: str
    path: str
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What a job raised.

    Attributes:
        message: Type and text.
        trace: The traceback.
        error: The error itself where it is one of Burnish's own, pickled; else empty.
    """

    message: str
    trace: str
    error: bytes = b""


class _Here:
    """What this process is."""

    pipe: Pipe | None = None  # None: no worker
    is_importing = False


def report_stage(name: str, within_s: float) -> None:
    """Tell the parent that a stage begins; nothing happens in a process that is no worker."""
    if _Here.pipe is not None:
        _Here.pipe.send(Letter.STAGE, f"{within_s}\0{name}".encode())


def importing_main() -> bool:
    """Whether this process is a worker that is importing its parent's script just now."""
    return _Here.is_importing


def serve(parent: int, *, watch_thread: bool) -> None:
    """Run jobs until the parent hangs up.

    Args:
        parent: Process number of the parent.
        watch_thread: Whether to die with the thread that started us, too. Right only where
            that is the parent's main thread.
    """
    _die_with(parent, watch_thread=watch_thread)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _Here.pipe = Pipe(_take_stdin())
    try:
        _Server(_Here.pipe).run()
    except OSError:  # the parent hung up while we spoke
        os._exit(0)


class _Server:
    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._main = Main("", "", ())
        self._setup: object = None
        self._made: object = None

    def run(self) -> None:
        _, body = self._pipe.receive()
        if not body or not self._step(partial(self._read, body)):
            return
        if self._pipe.receive()[0] != Letter.GO or not self._step(self._make):
            return
        while True:
            letter, job = self._pipe.receive()
            if letter != Letter.JOB:
                return
            self._step(partial(self._work, job))

    def _step(self, act: Callable[[], bytes]) -> bool:
        """Do something and tell the parent what came of it."""
        try:
            answer = act()
        except BaseException as error:  # noqa: BLE001 - others' code; what it raises is an answer
            self._pipe.send(Letter.FAILED, pack(_report(error)))
            return False
        self._pipe.send(Letter.DONE, answer)
        return True

    def _read(self, body: bytes) -> bytes:
        said = unpack(body)
        assert isinstance(said, tuple)
        self._main, setup = said
        sys.argv[:] = self._main.argv
        self._setup = self._unpack(setup)
        return b""

    def _make(self) -> bytes:
        self._made = cast("Callable[[], object]", self._setup)()
        return b""

    def _work(self, body: bytes) -> bytes:
        answer = cast("Callable[[object], object]", self._unpack(body))(self._made)
        try:
            return pack(answer)
        except Exception as error:
            kind = type(answer).__qualname__
            raise TypeError(f"the answer, a {kind}, cannot be sent: {error}") from error

    def _unpack(self, body: bytes) -> object:
        return unpack(body, partial(_import, self._main))


def _import(main: Main) -> None:
    """Import the parent's main module under another name, once, as our own main module."""
    if _COPY in sys.modules or _Here.is_importing:
        return
    if not main.module and not main.path:
        raise ImportError(
            "a worker cannot call what is defined in an interactive session; put it into a file"
        )
    copy = ModuleType(_COPY)
    _Here.is_importing = True
    try:
        if main.module:
            names = runpy.run_module(main.module, run_name=_COPY, alter_sys=True)
        else:
            names = runpy.run_path(main.path, run_name=_COPY)
    finally:
        _Here.is_importing = False
    copy.__dict__.update(names)
    sys.modules["__main__"] = sys.modules[_COPY] = copy


def _report(error: BaseException) -> Report:
    try:
        message = f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - an error that cannot say what it is
        message = type(error).__name__
    trace = "".join(traceback.format_exception(error))
    return Report(message[:_MOST_MESSAGE], trace[-_MOST_TRACE:], _own(error))


def _own(error: BaseException) -> bytes:
    if not isinstance(error, BurnishError):
        return b""
    try:
        return pack(error)
    except Exception:  # noqa: BLE001 - the message has to do
        return b""


def _take_stdin() -> int:
    """Move the channel away from where programs that we start would read."""
    channel = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return channel


def _die_with(parent: int, *, watch_thread: bool) -> None:
    fcntl.fcntl(LIFELINE, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(LIFELINE, _F_SETSIG, int(signal.SIGKILL))
    flags = fcntl.fcntl(LIFELINE, fcntl.F_GETFL)
    fcntl.fcntl(LIFELINE, fcntl.F_SETFL, flags | os.O_ASYNC)
    os.set_inheritable(LIFELINE, False)  # noqa: FBT003 - the library's own argument
    if watch_thread:
        # A second way, where no other process can hold the pipe open. It kills us when the
        # parent's *thread* ends (prctl(2)), hence not from a pool's thread.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)
