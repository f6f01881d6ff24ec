"""`burnish.tune`: the whole way from a kernel to an ACF."""

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from burnish.errors import InterruptedStudyError
from burnish.evaluate import Compiled, PtxCompiler, check_canary, over_limit, trial_of
from burnish.model.result import Result, Winner
from burnish.model.trial import Trial
from burnish.model.verdict import Outcome
from burnish.search.engine import make
from burnish.settings import Settings, load
from burnish.store.store import Store, open_store
from burnish.tuning.artefact import check_output, save_winners
from burnish.tuning.conclude import pruned, static_winners
from burnish.tuning.loop import Budget, Loop, count, stage_seconds
from burnish.tuning.prepare import compiler_of, open_space
from burnish.tuning.study import begin
from burnish.tuning.task import Task

__all__ = ["tune"]

Observer = Callable[[Trial], None]


def tune(
    task: Task, *, observe: Observer = lambda _trial: None, settings: Settings | None = None
) -> tuple[Result, tuple[Path, ...]]:
    """Search for a better build of a kernel, and write what was found.

    Args:
        task: What to tune, and how.
        observe: Told of every trial as it ends.
        settings: The environment's say; read from the environment by default.

    Returns:
        What was found, and the ACFs that were written.

    Raises:
        UsageError: The task asks for something that cannot be.
        KernelError: The kernel cannot be tuned.
        ToolchainError: The plain build fails, or controls do not reach the compiler.
        StoreError: The store cannot be used, or holds another study of that name.
    """
    settings = settings or load()
    objective = task.objective
    check_output(task.output, len(objective.minimize))
    bound = open_space(task, settings)
    with (
        tempfile.TemporaryDirectory(prefix="burnish-") as folder,
        open_store(task.store or settings.store) as store,
    ):
        compiler = compiler_of(bound, Path(folder), settings)
        plain = check_canary(compiler)
        study, recorded = begin(task, bound, store)
        loop = Loop(
            engine=make(task.engine, bound.space, task.seed, objective.minimize),
            compile=compiler.compile,
            judge=partial(_judge, task, plain),
            record=partial(_append, store, study),
            observe=observe,
        )
        loop.run(Budget(task.most_evaluations, task.wall_s), task.workers, recorded)
        store.mark(study, "interrupted" if loop.interrupted else "done")
        if not loop.trials:
            raise InterruptedStudyError("stopped before the first trial; nothing was found yet")
        result = _conclude(task, compiler, loop, study)
        if task.output is None or loop.interrupted:
            return result, ()
        files = save_winners(
            task.output, bound, result.winners, baseline=result.baseline, study=study
        )
        return result, files


def _judge(
    task: Task, plain: Compiled, number: int, compiled: Compiled, known: Mapping[str, Trial]
) -> Trial:
    return over_limit(trial_of(number, compiled, known, plain), task.limits)


def _append(store: Store, study: str, trial: Trial) -> None:
    store.append(study, [trial])


def _conclude(task: Task, compiler: PtxCompiler, loop: Loop, study: str) -> Result:
    bound = compiler.bound
    winners: tuple[Winner, ...] = ()
    if loop.trials and not loop.interrupted:
        winners = static_winners(
            loop.trials,
            task.objective,
            lambda trial: pruned(trial, bound.space, compiler.compile),
            bound.space,
        )
    better = any(winner.verdict.outcome is Outcome.BETTER for winner in winners)
    return Result(
        study=study,
        outcome=Outcome.BETTER if better else Outcome.SAME,
        baseline=loop.trials[0],
        winners=winners,
        counts=count(loop.trials),
        seconds=stage_seconds(loop.trials),
        toolchain=tuple(tool.name for tool in bound.toolchain.tools),
        interrupted=loop.interrupted,
    )
