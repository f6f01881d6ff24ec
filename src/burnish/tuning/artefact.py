"""Winners become ACFs: one file, or one a point of the front."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from burnish import __version__
from burnish.acf.model import Acf, Evidence, Tuned, TunedCode, WorkloadEvidence
from burnish.acf.write import save
from burnish.errors import UsageError
from burnish.model.code import Code
from burnish.model.frozen import FrozenMap
from burnish.model.result import Result, Winner
from burnish.model.verdict import Outcome
from burnish.ptx.module import parse
from burnish.ptx.replace import payload
from burnish.spaces.bound import BoundSpace
from burnish.tuning.task import Task

__all__ = ["block_of", "check_outputs", "save_winners"]

_MOST_OF_A_NAME = 100
_METRICS = ("registers", "spills", "instructions", "code-size")


def check_outputs(task: Task) -> None:
    """Refuse, before the search, an output that could not or must not be written after it.

    Raises:
        UsageError: The folder is missing or read-only, or the output is of the wrong kind, or
            a file that the task reads.
    """
    output, metrics = task.output, len(task.objective.minimize)
    if output is None:
        return
    try:
        _check_output(output, metrics)
        for file in filter(None, (task.kernel, task.launch, *task.start_from)):
            if output.exists() and file.exists() and output.samefile(file):
                raise UsageError(f"-o {output}: is what is read, and would be lost; name another")
    except OSError as error:
        raise UsageError(f"-o {output}: cannot be written ({error.strerror})") from None


def _check_output(output: Path, metrics: int) -> None:
    if metrics > 1 and output.exists() and not output.is_dir():
        raise UsageError(f"-o {output}: several --minimize give several ACFs; name a folder")
    if metrics == 1 and output.is_dir():
        raise UsageError(f"-o {output}: is a folder; name a file such as {output / 'kernel.acf'}")
    folder = output if metrics > 1 else output.parent
    folder.mkdir(parents=metrics > 1, exist_ok=True)
    probe = folder / f".{output.name[:_MOST_OF_A_NAME]}.{os.getpid()}.burnish"
    probe.touch()
    probe.unlink()


def block_of(bound: BoundSpace, code: Code, digest: str) -> Tuned:
    """The block of an ACF that makes a build do what ``code`` says."""
    kernel = bound.kernel
    tuned_ptx = payload(parse(kernel.text), parse(code.ptx), kernel.entry) if code.ptx else ""
    return Tuned(
        key=kernel.key,
        entry=kernel.entry,
        arch=kernel.arch,
        baseline_compiler=bound.code_of(bound.space.default).compiler,
        baseline_options=kernel.options,
        code=TunedCode(code.compiler, code.options, digest, tuned_ptx, code.opaque),
    )


def save_winners(output: Path, bound: BoundSpace, result: Result, regime: str) -> tuple[Path, ...]:
    """Write an ACF for every winner that is BETTER; returns the files.

    Args:
        output: The file, or the folder where there may be several.
        bound: The space that the winners come from.
        result: What was found.
        regime: Under which was measured; empty where nothing was.
    """
    files = []
    for winner in result.winners:
        if winner.verdict.outcome is not Outcome.BETTER:
            continue
        config = bound.space.config(dict(winner.controls))
        block = replace(
            block_of(bound, bound.code_of(config), winner.trial.binary),
            controls=winner.controls,
            evidence=_evidence(winner, result, regime),
        )
        file = output / f"{bound.kernel.entry}-{winner.trial.number}.acf"
        file = file if output.is_dir() else output
        save(Acf((block,)), file)
        files.append(file)
    return tuple(files)


def _evidence(winner: Winner, result: Result, regime: str) -> Evidence:
    verdict, baseline = winner.verdict, result.baseline
    figures = {
        name: (baseline.figures[name], winner.trial.figures[name])
        for name in _METRICS
        if name in baseline.figures and name in winner.trial.figures
    }
    figures |= {one.metric: (one.baseline, one.tuned) for one in winner.others}
    return Evidence(
        verdict=verdict.outcome,
        metric=verdict.metric,
        baseline=verdict.baseline,
        tuned=verdict.tuned,
        ratio=verdict.ratio,
        interval=verdict.interval,
        reason=verdict.reason,
        figures=FrozenMap(figures),
        workloads=tuple(
            WorkloadEvidence(one.name, one.ratio, one.interval, one.held_out)
            for one in winner.workloads
        ),
        rounds=winner.rounds,
        regime=regime,
        device=result.device,
        driver=result.driver,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        study=result.study,
        burnish=__version__,
    )
