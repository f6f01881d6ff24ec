"""What is done about candidates that hang, crash or poison their worker.

A fault is routine. The worker is replaced, the plain build runs in the fresh one to prove that
the device is well, and the candidate gets one more try where an earlier one may have poisoned its
worker. What faults by itself is quarantined by its digest: it never runs again.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType, TracebackType
from typing import Generic, Self, TypeVar

from burnish.devices.peer import Start
from burnish.devices.worker import NO_WORKER, Fault, Worker, WorkerFailure
from burnish.errors import DeviceError, LaunchError

__all__ = ["OPENING", "Supervisor", "run_limit"]

S = TypeVar("S")
T = TypeVar("T")

OPENING = "opening the device"
"""The stage of a setup in which a failure is the device's."""

_LEAST_S = 2.0
_TIMES_BASELINE = 50.0
_TRIES = 2
# Stages of a setup that may hang have limits of their own; large inputs take minutes to make.
_START = Start(quiet=True, spare=True, limit_s=600.0)


def run_limit(baseline_s: float, least_s: float = _LEAST_S) -> float:
    """How long a candidate's job may take, in s, where the plain build's took ``baseline_s``.

    Fifty times that: a candidate so slow is of no use, and a busy machine is not that slow.
    """
    return max(least_s, _TIMES_BASELINE * baseline_s)


class Supervisor(Generic[S]):
    """Runs candidates' jobs in a worker, and outlives whatever they do. For one thread.

    Args:
        setup: Makes the device, in the worker.
        crash_cap: Most faults of a session.
        start: How workers are started.

    Attributes:
        faults: How many there were.
    """

    def __init__(
        self, setup: Callable[[], S], *, crash_cap: int = 100, start: Start = _START
    ) -> None:
        self._worker = Worker(setup, start)
        self._crash_cap = crash_cap
        self._proof: tuple[Callable[[S], object], float] | None = None
        self._ran: set[str] = set()
        self._suspected: set[str] = set()
        self._quarantine: dict[str, WorkerFailure] = {}
        self.faults = 0

    @property
    def generation(self) -> int:
        """Number of the worker: what was measured in one that faulted later is not to be kept."""
        return self._worker.number

    @property
    def quarantine(self) -> Mapping[str, WorkerFailure]:
        """What never runs again: digest to the reason."""
        return MappingProxyType(self._quarantine)

    def prove_with(self, job: Callable[[S], T], limit_s: float) -> T:
        """Give the job that proves the device well: a run of the plain build, with a check.

        Returns:
            What it answers now.

        Raises:
            DeviceError: It fails now.
            LaunchError: It says what is wrong with the plain build.
        """
        self._proof = (job, limit_s)
        return self._proved(job, limit_s)

    def attempt(
        self, digest: str, job: Callable[[S], T], limit_s: float, *, silence_s: float = float("inf")
    ) -> T | WorkerFailure:
        """Run a candidate's job.

        Args:
            digest: The candidate's binary digest.
            job: The job; what it raises other than `DeviceError` is no fault of the device.
            limit_s: Time for the job.
            silence_s: Most time between two of its stages.

        Returns:
            The job's answer, or why there is none.

        Raises:
            DeviceError: The device is not well, or there were more faults than the cap.
        """
        if digest in self._quarantine:
            return self._quarantine[digest]
        may_be_poisoned = bool(self._ran - {digest}) and digest not in self._suspected
        outcome = self._run(digest, job, limit_s, silence_s)
        if may_be_poisoned and _is_fault(outcome):
            self._suspected.add(digest)
            outcome = self._run(digest, job, limit_s, silence_s)
        if isinstance(outcome, WorkerFailure) and _is_fault(outcome):
            self._quarantine[digest] = outcome
        return outcome

    def close(self) -> None:
        """End the worker."""
        self._worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _run(
        self, digest: str, job: Callable[[S], T], limit_s: float, silence_s: float
    ) -> T | WorkerFailure:
        """Run a job once; after a fault, the device is known to be well again."""
        self._open()
        self._ran.add(digest)
        try:
            return self._worker.call(job, limit_s, silence_s=silence_s)
        except WorkerFailure as failure:
            if _is_fault(failure):
                self._count(digest, failure)
                self._renew()
                self._prove()
            return failure

    def _renew(self) -> None:
        self._worker.restart()
        self._ran.clear()

    def _count(self, digest: str, failure: WorkerFailure) -> None:
        self.faults += 1
        if self.faults > self._crash_cap:
            raise DeviceError(
                f"{self.faults} runs hung or ended their worker, and the cap is "
                f"{self._crash_cap}; the last one, {digest[:16]}: {failure}"
            ) from failure

    def _open(self) -> None:
        """Have a worker that is set up; it may fail once.

        Raises:
            LaunchError: The very first one hangs in what is not the device's.
        """
        for turn in range(_TRIES):
            try:
                self._worker.open()
            except WorkerFailure as failure:
                _raise_if_not_of_device(failure)
                if self.generation == 1 and failure.silent_s and not _is_device(failure):
                    raise LaunchError(_why_so_long(failure)) from failure
                if turn + 1 == _TRIES:
                    raise DeviceError(_why_not_open(failure)) from failure
            else:
                return

    def _prove(self) -> None:
        """See the plain build run again, where there is a job for that."""
        if self._proof is not None:
            self._proved(*self._proof)

    def _proved(self, job: Callable[[S], T], limit_s: float) -> T:
        """Run the job that proves the device well; it may fail once."""
        turn = 1
        while True:
            self._open()
            try:
                return self._worker.call(job, limit_s)
            except WorkerFailure as failure:
                self._renew()
                _raise_if_not_of_device(failure)
                if turn == _TRIES or not _is_fault(failure):
                    words = "the device is not well: the plain build fails in a fresh worker"
                    raise DeviceError(f"{words}: {failure}") from failure
            turn += 1


def _raise_if_not_of_device(failure: WorkerFailure) -> None:
    """Raise an error that is no device's fault: once more would tell the same."""
    error = failure.error
    if error is not None and not isinstance(error, DeviceError):
        raise error from None


def _is_device(failure: WorkerFailure) -> bool:
    return failure.stage in {"", OPENING}


def _why_so_long(failure: WorkerFailure) -> str:
    return (
        f"{failure.stage} takes longer than {failure.silent_s:.3g} s: it hangs, or has too much "
        "to do for a kernel that is launched hundreds of times; make the workload smaller"
    )


def _why_not_open(failure: WorkerFailure) -> str:
    if _is_device(failure):
        return f"the device cannot be opened: {failure}"
    return f"{failure.stage} fails: {failure.message.removeprefix(NO_WORKER)}"


def _is_fault(outcome: object) -> bool:
    """Whether the worker is gone or may be poisoned."""
    if not isinstance(outcome, WorkerFailure):
        return False
    return outcome.kind is not Fault.ERROR or isinstance(outcome.error, DeviceError)
