"""A process that may hang or die: it makes a device once and runs jobs with it.

Jobs are functions that can be pickled; they get what the setup made. Whatever a job does, `call`
comes back: with its answer, or with a `WorkerFailure` that says what happened and where. A worker
that hung or died is gone with everything it started; the next call starts a fresh one.

The parent's main module is imported by a worker only where a job is defined in it, so scripts
need no ``if __name__ == "__main__":`` unless they hand out functions of their own.
"""

import weakref
from collections.abc import Callable
from enum import StrEnum
from types import TracebackType
from typing import Generic, Self, TypeVar, cast

from burnish.devices.channel import BROKEN, Closed, Silent, pack, unpack
from burnish.devices.peer import Patience, Peer, Start
from burnish.devices.serving import Letter, Report, importing_main, report_stage
from burnish.errors import BurnishError, UsageError

__all__ = ["NO_WORKER", "Fault", "Worker", "WorkerFailure", "check_sendable", "stage"]

S = TypeVar("S")
T = TypeVar("T")

_GRACE_S = 1.0
_MOST_SAID = 200
_USUAL = Start()

NO_WORKER = "a worker cannot be set up: "
"""What the message of a failure of kind SETUP begins with."""


class Fault(StrEnum):
    """What kind of failure it was."""

    HANG = "hang"  # no answer in time
    DIED = "died"  # the process ended
    ERROR = "error"  # the job raised
    SETUP = "setup"  # the worker could not be made


class WorkerFailure(Exception):  # noqa: N818 - routine, and as often a result as it is raised
    """A job did not come to its end.

    Where the job raised one of Burnish's own errors, that error is its ``__cause__``.

    Attributes:
        kind: What happened.
        stage: The last stage that the job spoke of.
        message: In words.
        trace: The worker's traceback, where something raised.
        silent_s: How long nothing was heard, where that is what happened; else 0.
    """

    silent_s = 0.0

    def __init__(self, kind: Fault, stage: str, message: str, trace: str = "") -> None:
        super().__init__(f"{message} (in stage {stage})" if stage else message)
        self.kind = kind
        self.stage = stage
        self.message = message
        self.trace = trace

    @property
    def error(self) -> BurnishError | None:
        """Burnish's own error that the job raised, if that is what happened."""
        return self.__cause__ if isinstance(self.__cause__, BurnishError) else None


def stage(name: str, *, within_s: float = float("inf")) -> None:
    """Say, in a job, that a stage of it begins: so that a hang is known by its place.

    Does nothing outside of a worker.

    Args:
        name: The stage.
        within_s: How long it may take; what takes longer is a hang.
    """
    report_stage(name, within_s)


def check_sendable(call: object) -> None:
    """Check that a function can be sent to a worker.

    Raises:
        UsageError: It cannot.
    """
    _packed(call)


class Worker(Generic[S]):
    """A worker and, once that is gone, its successors. For one thread at a time.

    Args:
        setup: Makes what jobs get, in the worker. Called again in every fresh process.
        start: How processes are started.

    Raises:
        UsageError: The setup cannot be sent to another process.
    """

    def __init__(self, setup: Callable[[], S], start: Start = _USUAL) -> None:
        if importing_main():
            raise UsageError(
                "a worker imports this script to call a function that is defined in it, and the "
                "script starts workers itself: put that under `if __name__ == '__main__':`"
            )
        self._setup = _packed(setup)
        self._start = start
        self._peers: list[Peer] = []  # the working one first, then the one that stands by
        self._imported = False
        self._ready = False
        self.jobs = 0
        self.number = 0
        weakref.finalize(self, _end, self._peers, 0.0)
        self._fill()

    @property
    def pid(self) -> int:
        """Process number of the worker."""
        return self._peers[0].pid

    def prepare(self) -> None:
        """Wait until all is imported, so that it disturbs nobody later; `call` does so too.

        Raises:
            WorkerFailure: Of kind SETUP.
        """
        if not self._imported:
            self._fill()
            self._set_up(b"", Patience(self._start.limit_s))
            self._imported = True

    def open(self) -> None:
        """Wait until it is set up; `call` does so too.

        Raises:
            WorkerFailure: Of kind SETUP.
        """
        if self._ready:
            return
        self.prepare()
        self.jobs = 0
        self.number += 1
        self._set_up(Letter.GO, Patience(self._start.limit_s))
        self._ready = True

    def call(self, job: Callable[[S], T], limit_s: float, *, silence_s: float = float("inf")) -> T:
        """Run a job.

        Args:
            job: A function that can be pickled.
            limit_s: Time for the job; a worker that has to be started has its own limit.
            silence_s: Most time between two stages.

        Raises:
            WorkerFailure: It did not come to its end.
            UsageError: The job cannot be sent to another process.
        """
        body = _packed(job)
        self.open()
        self.jobs += 1
        answer = self._converse(Letter.JOB, body, Patience(limit_s, silence_s))
        try:
            return cast("T", unpack(answer))
        except BROKEN as error:
            raise WorkerFailure(Fault.ERROR, "", f"the answer cannot be read: {error}") from None

    def restart(self) -> None:
        """Replace the process by a fresh one, which is set up by the next call."""
        self._discard()
        self._fill()

    def close(self) -> None:
        """End it. A later call would start it again."""
        self._imported = self._ready = False
        _end(self._peers, _GRACE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _fill(self) -> None:
        while len(self._peers) < (2 if self._start.spare else 1):
            self._peers.append(Peer(self._setup, self._start))

    def _set_up(self, letter: bytes, patience: Patience) -> None:
        try:
            self._converse(letter, b"", patience)
        except WorkerFailure as failure:
            self._discard()
            message = f"{NO_WORKER}{failure.message}"
            found = WorkerFailure(Fault.SETUP, failure.stage, message, failure.trace)
            found.silent_s = failure.silent_s
            raise found from failure.error

    def _converse(self, letter: bytes, body: bytes, patience: Patience) -> bytes:
        peer = self._peers[0]
        try:
            good, answer = peer.ask(letter, body, patience) if letter else peer.answer(patience)
        except Silent:
            self._discard()
            silent_s = min(patience.limit_s, patience.silence_s, peer.within_s)
            message = f"nothing was heard of it for {silent_s:.3g} s"
            failure = WorkerFailure(Fault.HANG, peer.stage, message)
            failure.silent_s = silent_s
            raise failure from None
        except Closed:
            fate = peer.fate()
            self._discard()
            raise WorkerFailure(Fault.DIED, peer.stage, fate) from None
        except BaseException:  # such as Ctrl-C: nobody knows where the conversation stands
            self._discard()
            raise
        if not good:
            raise _raised(peer.stage, answer)
        return answer

    def _discard(self) -> None:
        self._imported = self._ready = False
        if self._peers:
            self._peers.pop(0).end()


def _packed(call: object) -> bytes:
    try:
        return pack(call)
    except Exception as error:  # noqa: BLE001 - whatever a class's own reduce raises
        shown, why = (str(said)[:_MOST_SAID] for said in (repr(call), error))
        raise UsageError(
            f"{shown} cannot be sent to a worker: {why}; define it at the top of a module"
        ) from None


def _raised(stage_name: str, body: bytes) -> WorkerFailure:
    try:
        report = unpack(body)
    except BROKEN as error:
        return WorkerFailure(Fault.ERROR, stage_name, f"the report cannot be read: {error}")
    assert isinstance(report, Report)
    failure = WorkerFailure(Fault.ERROR, stage_name, report.message, report.trace)
    if report.error:
        failure.__cause__ = _own(report.error)
    return failure


def _own(body: bytes) -> BurnishError | None:
    try:
        error = unpack(body)
    except BROKEN:
        return None
    return error if isinstance(error, BurnishError) else None


def _end(peers: list[Peer], grace_s: float) -> None:
    while peers:
        peers.pop().end(grace_s)
