"""`burnish verify`: a controls file is checked and measured again, here and now."""

import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.bundle.launch import read_launch
from burnish.errors import UsageError
from burnish.evaluate.bench import Bench, Candidate
from burnish.evaluate.compiled import Compiled, check_canary
from burnish.measure.verdict import judge
from burnish.model.binary import Binary
from burnish.model.control import Risk
from burnish.model.frozen import FrozenMap
from burnish.model.result import Counts, Result, Winner
from burnish.model.trial import Status, Trial
from burnish.model.verdict import Outcome, Verdict
from burnish.settings import Settings, load
from burnish.toolchain.strays import end_orphans
from burnish.tuning.bench import bench_of
from burnish.tuning.device import choose_device
from burnish.tuning.held import apply_block, build_block, check_disjoint, demand_of_block
from burnish.tuning.measured import winner_of
from burnish.tuning.prepare import bind, compiler_of, read_workloads
from burnish.tuning.task import Task

__all__ = ["verify"]

_METRIC = "runtime"


def verify(task: Task, file: Path, *, settings: Settings | None = None) -> Result:
    """Check the answers of what a controls file makes of a kernel, and measure it.

    Args:
        task: The kernel, its launch file, the device.
        file: The controls file.
        settings: The environment's say; read from the environment by default.

    Returns:
        What was found, as of a search that tried one config.

    Raises:
        UsageError: The task asks for something that cannot be.
        AcfError: The file cannot be read, or no block of it applies; says why.
        KernelError: The kernel cannot be read.
        LaunchError: The launch file, or the plain build's answers, cannot be used.
        ToolchainError: A compiler is missing, or the plain build fails.
        DeviceError: The device is missing or not well.
    """
    settings = settings or load()
    device = choose_device(task)
    if device.open is None:
        raise UsageError("--device none: what is verified is run; name the host or a card")
    if task.launch is None:
        raise UsageError(f"running {task.kernel} needs --launch FILE, which says with what")
    entry = task.entry or read_launch(task.launch).entry
    task = replace(
        task,
        device=device.kind,
        regime=task.regime or device.regime.value,
        allow=frozenset(Risk),
    )
    end_orphans()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="burnish-")))
        applied = apply_block(task, file, entry, folder, settings)
        bound = bind(task, applied.kernel, applied.toolchain)
        launch = read_workloads(task, applied.kernel)
        check_disjoint(applied.block, launch.workloads)
        compiler = compiler_of(bound, folder, settings)
        plain = check_canary(compiler)
        built = build_block(applied, compiler)
        assert plain.binary is not None, "the canary saw to it"
        assert built.binary is not None, "an AcfError otherwise"
        bench = stack.enter_context(bench_of(task, device, plain.binary, entry, launch.workloads))
        demand = demand_of_block(applied.block, bound)
        run = _Run(bench, plain, built, Candidate(_trial(1, built), built.binary, demand))
        result = run.result(plain.binary)
    return replace(
        result,
        winners=tuple(replace(one, controls=applied.block.controls) for one in result.winners),
        toolchain=tuple(tool.name for tool in bound.toolchain.tools),
        device=device.name,
        driver=device.driver,
    )


def _trial(number: int, compiled: Compiled) -> Trial:
    digest = compiled.binary.digest if compiled.binary else ""
    return Trial(number, compiled.config, Status.OK, compiled.figures, digest)


@dataclass(frozen=True)
class _Run:
    """One candidate on a bench."""

    bench: Bench
    plain: Compiled
    built: Compiled
    candidate: Candidate

    def result(self, plain: Binary) -> Result:
        """Check, then measure."""
        started = time.perf_counter()
        finding = self.bench.final_check(self.candidate)
        checked = time.perf_counter()
        seconds = {"check": checked - started}
        if not finding.is_right:
            return self._result(self._verdict(Outcome.WRONG, finding.message), seconds)
        if self.candidate.binary.digest == plain.digest:
            same = "the machine code is that of the plain build"
            return self._result(self._verdict(Outcome.SAME, same), seconds)
        return self._measured(seconds, checked)

    def _measured(self, seconds: dict[str, float], started: float) -> Result:
        hopeful = replace(
            self.candidate.trial,
            figures=FrozenMap({**self.built.figures, _METRIC: self.bench.baseline_us}),
        )
        # A race of one tells how noisy it is here, and so how many rounds it takes.
        _, ran = self.bench.finalists([replace(self.candidate, trial=hopeful)])
        confirmation = self.bench.confirm([self.candidate], ran)
        judgement = judge(confirmation.evidence)
        winner = winner_of(self.candidate.trial, 0, confirmation, judgement)
        seconds["confirm"] = time.perf_counter() - started
        found = self._result(winner, seconds)
        remarks = (*found.remarks, *confirmation.evidence.remarks)
        return replace(found, resolution=judgement.resolution, remarks=remarks)

    def _verdict(self, outcome: Outcome, reason: str) -> Winner:
        unknown = float("nan")
        baseline_us = self.bench.baseline_us
        return Winner(
            self.candidate.trial, Verdict(outcome, _METRIC, baseline_us, unknown, reason=reason)
        )

    def _result(self, winner: Winner, seconds: dict[str, float]) -> Result:
        compiled = sum(one.seconds.get("compile", 0.0) for one in (self.plain, self.built))
        counts = Counts(1, 1, 1, 1, 0, self.bench.confirmed)
        if winner.verdict.outcome is Outcome.WRONG:
            counts = replace(counts, failed=FrozenMap({Status.WRONG.value: 1}))
        return Result(
            study="",
            outcome=winner.verdict.outcome,
            baseline=_trial(0, self.plain),
            winners=(winner,),
            counts=counts,
            seconds=FrozenMap({"compile": compiled, **seconds}),
            remarks=tuple(self.bench.scale.notes),
        )
