"""What a user's objective answers, and what becomes of it."""

import math
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from types import TracebackType
from typing import Final, Self, TypeAlias

from burnish.devices.worker import Fault, Worker, WorkerFailure
from burnish.evaluate.compiled import Compiled, trial_of
from burnish.model.frozen import FrozenMap
from burnish.model.trial import Status, Trial

__all__ = ["INVALID", "Answers", "Objective"]


class _Invalid:
    """The type of `INVALID`."""

    def __reduce__(self) -> str:
        return "INVALID"

    def __repr__(self) -> str:
        return "burnish.INVALID"


INVALID: Final = _Invalid()
"""What an objective returns where a config cannot be used."""

Answer: TypeAlias = float | tuple[float, ...] | Mapping[str, float] | _Invalid
Objective: TypeAlias = Callable[[str], Answer]

_NO_LIMIT_S = 86_400.0
_MOST_MESSAGE = 2000
_SINGLE = ("objective",)
_WANTED = "return a float, a tuple of floats, or a mapping from names to floats"

# A failure's status and reason, or figures in the order of the names.
_Outcome = tuple[Status, str] | FrozenMap[float]


class Answers:
    """Calls an objective, here or in workers, once for every binary, and judges the answer.

    Attributes:
        names: Names of the figures; fixed by the first good answer.
    """

    def __init__(self, objective: Objective, workers: int, limit_s: float | None) -> None:
        self.names: tuple[str, ...] = ()
        self._objective = objective
        self._workers = workers
        self._limit_s = limit_s or _NO_LIMIT_S
        self._idle: SimpleQueue[Worker[None]] = SimpleQueue()
        self._early: dict[str, Future[_Outcome]] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        for _ in range(self._workers):
            self._idle.put(Worker(_nothing))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for _ in range(self._workers):
            self._idle.get().close()

    def call_early(self, digest: str, blob: Callable[[], str]) -> None:
        """With workers, call the objective on this thread, unless that binary has its answer."""
        if not self._workers:
            return
        with self._lock:
            mine = digest not in self._early
            future = self._early.setdefault(digest, Future())
        if mine:
            future.set_result(self._call_in_worker(blob()))
        future.result()

    def judge(
        self,
        number: int,
        compiled: Compiled,
        known: Mapping[str, Trial],
        plain: Compiled,
        blob: Callable[[], str],
    ) -> Trial:
        """The trial of a compiled config, the objective's answer included."""
        trial = trial_of(number, compiled, known, plain)
        if trial.status is not Status.OK:
            return trial
        early = self._early.get(trial.binary)
        outcome = early.result() if early is not None else _called(self._objective, blob())
        if isinstance(outcome, FrozenMap):
            outcome = self._checked(outcome)
        if isinstance(outcome, FrozenMap):
            return replace(trial, figures=outcome)
        status, message = outcome
        return replace(trial, status=status, message=message[:_MOST_MESSAGE], figures=FrozenMap())

    def _checked(self, figures: FrozenMap[float]) -> _Outcome:
        names = tuple(figures)
        self.names = self.names or names
        if set(names) != set(self.names):
            return Status.MALFORMED, (
                f"the objective answered {_listed(names)}, but {_listed(self.names)} before"
            )
        return FrozenMap({name: figures[name] for name in self.names})

    def _call_in_worker(self, blob: str) -> _Outcome:
        worker = self._idle.get()
        try:
            return worker.call(partial(_called_in_worker, self._objective, blob), self._limit_s)
        except WorkerFailure as failure:
            worker.restart()
            if failure.kind is Fault.HANG:
                return Status.TIMEOUT, f"the objective took more than {self._limit_s:g} s"
            return Status.RAISED, f"the objective ended its process: {failure.message}"
        finally:
            self._idle.put(worker)


def _nothing() -> None:
    """The state of a worker that needs none."""


def _called_in_worker(objective: Objective, blob: str, _state: None) -> _Outcome:
    return _called(objective, blob)


def _called(objective: Objective, blob: str) -> _Outcome:
    try:
        answer = objective(blob)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's code may raise anything
        at = traceback.extract_tb(error.__traceback__)[-1]
        said = "".join(traceback.format_exception_only(error)).strip()
        return Status.RAISED, f"{said} ({at.filename}:{at.lineno})"
    if isinstance(answer, _Invalid):
        return Status.INVALID, "the objective returned INVALID"
    return _figures(answer)


def _figures(answer: object) -> _Outcome:
    named = _named(answer)
    if named is None:
        kind = type(answer).__name__
        return Status.MALFORMED, f"the objective returned a {kind}; {_WANTED}"
    figures: dict[str, float] = {}
    for name, value in named.items():
        number = _number(value)
        if number is None or not math.isfinite(number):
            return (
                Status.MALFORMED,
                f"the objective returned {value!r} for {name}: no finite number",
            )
        figures[str(name)] = number
    return FrozenMap(figures)


def _named(answer: object) -> Mapping[object, object] | None:
    if isinstance(answer, Mapping):
        return answer or None
    if isinstance(answer, tuple | list):
        return {f"objective_{place}": value for place, value in enumerate(answer)} or None
    return None if _number(answer) is None else {_SINGLE[0]: answer}


def _number(value: object) -> float | None:
    if isinstance(value, str | bytes | bool):
        return None
    try:
        return float(value)  # type: ignore[arg-type]  # numpy's numbers have no common type
    except Exception:  # noqa: BLE001 - a user's class may raise anything
        return None


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "nothing"
