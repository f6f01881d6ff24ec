"""A study's result for people, and the same as a document with stable keys."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from burnish.model.objective import METRICS
from burnish.model.result import Result, Winner, WorkloadRatio
from burnish.model.verdict import Outcome

__all__ = ["document", "table", "verified"]

_MOST_CONTROLS = 12


def table(result: Result, files: Sequence[Path]) -> RenderableType:
    """What `burnish tune` prints: figures before and after, decisions, verdict, next step."""
    counts = result.counts
    failed = ", ".join(f"{number} {status}" for status, number in counts.failed.items())
    lines: list[RenderableType] = [
        Text(f"study {result.study}"),
        Text(
            f"{counts.asked} configs asked, {counts.distinct} distinct binaries"
            + (f", failed: {failed}" if failed else "")
        ),
    ]
    lines += _found(result)
    lines += [Text(""), Text(_sentence(result), style="bold")]
    lines += [Text(f"wrote {file}") for file in files]
    if files and result.outcome is Outcome.BETTER:
        verb = "cc" if result.toolchain[0].startswith("gcc ") else "ptxas"
        lines.append(
            Text(f"to apply it: burnish {verb} … --apply-controls {shlex.quote(str(files[0]))}")
        )
    return Group(*lines)


def verified(result: Result) -> RenderableType:
    """What `burnish verify` prints: figures, each workload's ratio, verdict."""
    return Group(*_found(result), Text(""), Text(_answer(result), style="bold"))


def _found(result: Result) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for winner in result.winners:
        lines += [
            Text(""),
            _figures(result, winner),
            *_workloads(result, winner),
            *_decisions(result, winner),
            Text(winner.verdict.reason),
            *(Text(f"{one.metric}: {one.outcome}: {one.reason}") for one in winner.others),
        ]
    if result.resolution is not None:
        low, high = result.resolution
        lines.append(Text(f"the plain build against its own copy: {low:.4f} to {high:.4f}"))
    return [*lines, *(Text(remark) for remark in result.remarks)]


def _figures(result: Result, winner: Winner) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for title, side in (("metric", "left"), ("baseline", "right"), ("tuned", "right")):
        grid.add_column(title, justify="right" if side == "right" else "left")
    grid.add_column("unit")
    before, after = _both(result, winner)
    for name, metric in METRICS.items():
        if name in before and name in after:
            grid.add_row(name, f"{before[name]:.6g}", f"{after[name]:.6g}", metric.unit)
    return grid


def _both(result: Result, winner: Winner) -> tuple[dict[str, float], dict[str, float]]:
    """Figures of the plain build and of a winner: those of the verdict where it was measured.

    A figure of the search is never shown beside a verdict that rests on fresh data.
    """
    before, after = dict(result.baseline.figures), dict(winner.trial.figures)
    for verdict in (winner.verdict, *winner.others):
        if verdict.ratio is not None:
            before[verdict.metric], after[verdict.metric] = verdict.baseline, verdict.tuned
    return before, after


def _workloads(result: Result, winner: Winner) -> list[RenderableType]:
    if not winner.workloads:
        return []
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("workload", "ratio", "interval", "", ""):
        grid.add_column(title)
    for one in winner.workloads:
        low, high = one.interval
        held_out = "held out" if one.held_out else ""
        speed = _speed(one, result.bandwidth_gbps)
        grid.add_row(one.name, f"{one.ratio:.4f}", f"{low:.4f} to {high:.4f}", held_out, speed)
    return [grid]


def _speed(one: WorkloadRatio, bandwidth_gbps: float | None) -> str:
    """How near the card's roof the tuned build is: what it moves and computes in a second."""
    said = []
    moved_gbps, computed_gflops = _gbps(one), _gflops(one)
    if moved_gbps is not None:
        share = f", {moved_gbps / bandwidth_gbps:.0%} of a copy's" if bandwidth_gbps else ""
        said.append(f"{moved_gbps:.0f} GB/s{share}")
    if computed_gflops is not None:
        said.append(f"{computed_gflops:.0f} GFLOP/s")
    return ", ".join(said)


def _gbps(one: WorkloadRatio) -> float | None:
    """What the tuned build moves at least; None where nobody said how many bytes."""
    return None if one.moved_bytes is None else one.moved_bytes / one.tuned / 1e3


def _gflops(one: WorkloadRatio) -> float | None:
    return None if one.operations is None else one.operations / one.tuned / 1e3


def _decisions(result: Result, winner: Winner) -> list[RenderableType]:
    changed = [f"{name} = {value}" for name, value in winner.controls.items()]
    if len(changed) > _MOST_CONTROLS:
        rest = len(changed) - _MOST_CONTROLS
        changed = [*changed[:_MOST_CONTROLS], f"… and {rest} more (burnish show)"]
    if changed:
        return [Text("decided: " + ", ".join(changed))]
    if winner.trial.binary == result.baseline.binary:
        return [Text("decided: nothing: the plain build is best")]
    return []  # a controls file need not say what it decides


def _sentence(result: Result) -> str:
    if result.interrupted:
        return "interrupted: no verdict yet"
    if result.outcome is Outcome.BETTER:
        return "BETTER than the plain build"
    return f"no win ({result.outcome}): the plain build is as good as anything that was found"


def _answer(result: Result) -> str:
    if result.outcome is Outcome.BETTER:
        return "BETTER than the plain build, here and now"
    if result.outcome is Outcome.WRONG:
        return "WRONG: its answers are not those of the plain build; do not use it here"
    return f"no win here ({result.outcome})"


def document(result: Result, files: Sequence[Path], seed: int) -> dict[str, object]:
    """Everything that is printed, with stable keys, ready for JSON."""
    counts = result.counts
    first = result.winners[0] if result.winners else None
    before, after = _both(result, first) if first else (dict(result.baseline.figures), {})
    return {
        "status": "interrupted" if result.interrupted else "done",
        "study": result.study,
        "seed": seed,
        "verdict": result.outcome.value,
        "ratio": first.verdict.ratio if first else None,
        "interval": first.verdict.interval if first else None,
        "reason": first.verdict.reason if first else "",
        "baseline": before,
        "tuned": after,
        "resolution": result.resolution,
        "methods": dict(result.methods),
        "bandwidth_gbps": result.bandwidth_gbps,
        "remarks": list(result.remarks),
        "controls": dict(first.controls) if first else {},
        "digests": {
            "baseline": result.baseline.binary,
            "tuned": first.trial.binary if first else "",
        },
        "evaluations": {
            "asked": counts.asked,
            "distinct": counts.distinct,
            "compiled": counts.compiled,
            "checked": counts.checked,
            "screened": counts.screened,
            "confirmed": counts.confirmed,
            "failed": dict(counts.failed),
        },
        "seconds": dict(result.seconds),
        "toolchain": list(result.toolchain),
        "device": result.device,
        "driver": result.driver,
        "winners": [_winner(result, winner) for winner in result.winners],
        "files": [str(file) for file in files],
    }


def _winner(result: Result, winner: Winner) -> dict[str, object]:
    return {
        "trial": winner.trial.number,
        "verdict": winner.verdict.outcome.value,
        "metric": winner.verdict.metric,
        "ratio": winner.verdict.ratio,
        "interval": winner.verdict.interval,
        "reason": winner.verdict.reason,
        "others": [
            {
                "metric": one.metric,
                "verdict": one.outcome.value,
                "ratio": one.ratio,
                "interval": one.interval,
                "baseline": one.baseline,
                "tuned": one.tuned,
            }
            for one in winner.others
        ],
        "figures": _both(result, winner)[1],
        "workloads": [
            {
                "name": one.name,
                "ratio": one.ratio,
                "interval": list(one.interval),
                "held_out": one.held_out,
                "baseline": one.baseline,
                "tuned": one.tuned,
                "gbps": _gbps(one),
                "gflops": _gflops(one),
            }
            for one in winner.workloads
        ],
        "rounds": winner.rounds,
        "controls": dict(winner.controls),
        "binary": winner.trial.binary,
    }
