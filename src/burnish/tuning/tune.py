"""`burnish.tune`: the whole way from a kernel to an ACF."""

import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.errors import InterruptedStudyError
from burnish.evaluate.bench import Bench
from burnish.evaluate.compiled import (
    Compiled,
    Compiler,
    build_limit_s,
    check_canary,
    over_limit,
    trial_of,
)
from burnish.model.objective import Objective
from burnish.model.result import Result, Winner
from burnish.model.space import Config
from burnish.model.trial import Trial
from burnish.model.verdict import Outcome
from burnish.search.engine import make
from burnish.search.start import HeadStart
from burnish.settings import Settings, load
from burnish.store.store import Store, open_store
from burnish.toolchain.strays import end_orphans
from burnish.tuning.artefact import check_outputs, save_winners
from burnish.tuning.bench import bench_of
from burnish.tuning.conclude import static_winners
from burnish.tuning.device import choose_device
from burnish.tuning.loop import Budget, Loop, count, stage_seconds
from burnish.tuning.measured import Confirmed, Shortlist, conclude_measured
from burnish.tuning.prepare import Measured, compiler_of, open_space, read_workloads
from burnish.tuning.start import starting_configs
from burnish.tuning.study import begin, stoppable
from burnish.tuning.task import Task

__all__ = ["Run", "tune"]

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
        LaunchError: The launch file, or the plain build's answers, cannot be used.
        ToolchainError: The plain build fails, or controls do not reach the compiler.
        StoreError: The store cannot be used, or holds another study of that name.
        DeviceError: The device is missing or not well.
        InterruptedStudyError: The user stopped it before the first trial, or while what was
            found was confirmed.
    """
    settings = settings or load()
    device = choose_device(task)
    task = replace(task, device=device.kind, regime=task.regime or device.regime.value)
    check_outputs(task)
    end_orphans()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="burnish-")))
        bound = open_space(task, folder, settings)
        launch = read_workloads(task, bound.kernel) if device.open else None
        start = starting_configs(task.start_from, bound.kernel.entry, bound.space)
        compiler = compiler_of(bound, folder, settings)
        plain = check_canary(compiler)
        compiler = compiler.within(build_limit_s(plain))
        store = stack.enter_context(open_store(task.store or settings.store))
        study, recorded = begin(task, bound, Measured(device, launch), store)
        stack.enter_context(stoppable(study, store))
        run = Run(task, compiler, plain, store, study, observe, start)
        if launch is None or plain.binary is None:
            result = run.static(recorded)
        else:
            bench = stack.enter_context(
                bench_of(task, device, plain.binary, bound.kernel.entry, launch.workloads)
            )
            result = replace(
                run.measured(recorded, bench), device=device.name, driver=device.driver
            )
        if task.output is None or result.interrupted:
            return result, ()
        return result, save_winners(task.output, bound, result, task.regime if launch else "")


@dataclass(frozen=True)
class Run:
    """One run of a study, from the first trial to the result.

    Attributes:
        task: What is wanted of the search.
        compiler: Makes machine code of configs.
        plain: The plain build.
        store: Keeps trials and what was confirmed.
        study: Name of the study in it.
        observe: Told of every trial as it ends.
        start: Configs to try first.
    """

    task: Task
    compiler: Compiler
    plain: Compiled
    store: Store
    study: str
    observe: Observer
    start: tuple[Config, ...] = ()

    def static(self, recorded: list[Trial]) -> Result:
        """Search and judge without a device."""

        def judge(number: int, compiled: Compiled, known: Mapping[str, Trial]) -> Trial:
            trial = trial_of(number, compiled, known, self.plain)
            return over_limit(trial, self.task.limits)

        loop = self._searched(judge, recorded)
        winners: tuple[Winner, ...] = ()
        if not loop.interrupted:
            winners = static_winners(loop.trials, self.task.objective, self.compiler)
        return self._result(loop, Confirmed(winners))

    def measured(self, recorded: list[Trial], bench: Bench) -> Result:
        """Search on a device, and confirm on fresh data."""
        shortlist = Shortlist()

        def judge(number: int, compiled: Compiled, known: Mapping[str, Trial]) -> Trial:
            trial = bench.judge(number, compiled, known, self.plain)
            trial = over_limit(trial, self.task.limits)
            shortlist.keep(trial, compiled)
            return trial

        loop = self._searched(judge, recorded, overlap=self.task.device != "host")
        started = time.perf_counter()
        confirmed = Confirmed()
        if not loop.interrupted:
            confirmed = conclude_measured(
                loop.trials, self.task.objective, bench, self.compiler, shortlist
            )
            self._keep(confirmed)
        result = self._result(loop, confirmed)
        seconds = result.seconds.replace({"confirming": time.perf_counter() - started})
        return replace(
            result,
            counts=replace(result.counts, confirmed=bench.confirmed),
            seconds=seconds,
            methods=bench.scale.methods,
            bandwidth_gbps=bench.scale.bandwidth_gbps,
            remarks=(*result.remarks, *bench.scale.notes),
        )

    def _searched(
        self,
        judge: Callable[[int, Compiled, Mapping[str, Trial]], Trial],
        recorded: list[Trial],
        *,
        overlap: bool = True,
    ) -> Loop:
        space, objective = self.compiler.bound.space, self.task.objective
        loop = Loop(
            engine=HeadStart(
                make(self.task.engine, space, self.task.seed, objective.searched), self.start
            ),
            compile=self.compiler.compile,
            judge=judge,
            record=lambda trial: self.store.append(self.study, [trial]),
            observe=self.observe,
            overlap=overlap,
        )
        budget = Budget(self.task.most_evaluations, self.task.wall_s)
        loop.run(budget, self.task.workers, recorded)
        self.store.mark(self.study, "interrupted" if loop.interrupted else "done")
        if not loop.trials:
            raise InterruptedStudyError("stopped before the first trial", self.study)
        return loop

    def _result(self, loop: Loop, confirmed: Confirmed) -> Result:
        said = [remark for one in confirmed.confirmations for remark in one.evidence.remarks]
        wrong = [f"trial {number} is out: {why}" for number, why in confirmed.wrong]
        return Result(
            study=self.study,
            outcome=_outcome(confirmed, self.task.objective),
            baseline=loop.trials[0],
            winners=confirmed.winners,
            counts=count(loop.trials),
            seconds=stage_seconds(loop.trials).replace({"searching": loop.wall_s}),
            toolchain=tuple(tool.name for tool in self.compiler.bound.toolchain.tools),
            resolution=confirmed.resolution,
            remarks=(*wrong, *confirmed.remarks, *dict.fromkeys(said)),
            interrupted=loop.interrupted,
        )

    def _keep(self, confirmed: Confirmed) -> None:
        """Store what was confirmed, raw."""
        for confirmation in confirmed.confirmations:
            evidence = confirmation.evidence
            self.store.record(
                self.study,
                "confirmation",
                {
                    "metric": evidence.metric,
                    "figures": evidence.figures.tolist(),
                    "workloads": [workload.name for workload in evidence.workloads],
                    "faults": list(evidence.faults),
                    "remarks": list(evidence.remarks),
                    "trials": [winner.trial.number for winner in confirmed.winners],
                    "verdicts": [winner.verdict.outcome.value for winner in confirmed.winners],
                },
            )


def _outcome(confirmed: Confirmed, objective: Objective) -> Outcome:
    outcomes = [winner.verdict.outcome for winner in confirmed.winners]
    if Outcome.BETTER in outcomes or not outcomes or len(objective.minimize) > 1:
        return Outcome.BETTER if Outcome.BETTER in outcomes else Outcome.SAME
    return outcomes[0]
