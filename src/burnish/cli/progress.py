"""Progress of a search: on stderr, and only where a person looks on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from burnish.model.trial import Status, Trial
from burnish.tuning.task import Task

__all__ = ["watching"]

_FIRST = "building and running the plain build"


@contextmanager
def watching(task: Task) -> Iterator[Callable[[Trial], None]]:
    """Show a search's course while the block runs; gives what is to be told of each trial."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _trial: None
        return
    with Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        TextColumn("{task.completed} binaries  {task.fields[story]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as progress:
        bar = progress.add_task(task.kernel.name, total=task.most_evaluations, story=_FIRST)
        yield _Story(progress, bar, task).tell


class _Story:
    """What the line beside the bar says."""

    def __init__(self, progress: Progress, bar: int, task: Task) -> None:
        self._progress = progress
        self._bar = progress.task_ids[bar]
        self._metric = task.objective.minimize[0]
        self._asked = self._distinct = self._failed = 0
        self._best: Trial | None = None

    def tell(self, trial: Trial) -> None:
        """Count a trial."""
        self._asked += 1
        self._failed += trial.status.failed
        self._distinct += trial.status is not Status.DUPLICATE and bool(trial.binary)
        figure = trial.figures.get(self._metric)
        if trial.status is Status.OK and figure is not None:
            best = self._best.figures[self._metric] if self._best else figure
            self._best = trial if self._best is None or figure < best else self._best
        shown = self._best.figures[self._metric] if self._best else float("nan")
        story = f"{self._asked} asked, {self._failed} failed, best {self._metric} {shown:g}"
        self._progress.update(self._bar, completed=self._distinct, story=story)
