"""Which study a run belongs to: a new one, or the stored one that it goes on with."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import count

from burnish.errors import InterruptedStudyError, UsageError
from burnish.model.trial import Trial
from burnish.spaces.bound import BoundSpace
from burnish.store.store import Store
from burnish.store.study import Study
from burnish.tuning.prepare import Measured, inputs_of
from burnish.tuning.task import Task

__all__ = ["begin", "stoppable"]

_MOST_OF_A_NAME = 120


def begin(
    task: Task, bound: BoundSpace, measured: Measured, store: Store
) -> tuple[str, list[Trial]]:
    """Create the task's study, or go on with it.

    Returns:
        Its name, and the trials that are stored already.

    Raises:
        UsageError: It is there, and the task does not say to go on with it; or the other way.
        StoreError: The stored study of that name has other inputs; the message names them.
    """
    inputs = inputs_of(task, bound, measured)
    stored = store.studies()
    mine = [study for study in stored if study.inputs == inputs] if task.resume else []
    names = {study.name for study in stored}
    name = task.study or (_latest(mine) if mine else _made_up(task, bound, names))
    taken = name in names
    if taken and not task.resume:
        raise UsageError(f"study {name!r} is stored; add --resume to go on with it, or rename")
    if task.resume and not taken:
        raise UsageError(f"--resume: no study {name!r} is stored; see burnish studies")
    store.create(
        Study(
            name=name,
            kernel=_printable(bound.kernel.name),
            objective=", ".join(task.objective.minimize),
            inputs=inputs,
        )
    )
    return name, store.trials(name, bound.space) if taken else []


@contextmanager
def stoppable(name: str, store: Store) -> Iterator[None]:
    """A stored study that the user may stop at any moment, outside of its search too.

    Raises:
        InterruptedStudyError: The user did.
    """
    try:
        yield
    except KeyboardInterrupt:
        store.mark(name, "interrupted")
        raise InterruptedStudyError("stopped; what was found is stored", name) from None


def _latest(studies: Sequence[Study]) -> str:
    return max(studies, key=lambda study: study.updated).name


def _made_up(task: Task, bound: BoundSpace, taken: Collection[str]) -> str:
    """A name for a new study."""
    stem = _printable(f"{task.kernel.stem}-{bound.kernel.entry}")[:_MOST_OF_A_NAME]
    return next(name for number in count(1) if (name := f"{stem}-{number}") not in taken)


def _printable(name: str) -> str:
    """A name that can be typed and stored: that of a file may be any bytes."""
    return "".join(letter if letter.isprintable() else "_" for letter in name)
