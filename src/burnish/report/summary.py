"""A study's result for people, and the same as a document with stable keys."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from burnish.model.objective import METRICS
from burnish.model.result import Result, Winner
from burnish.model.verdict import Outcome

__all__ = ["document", "table"]

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
    for winner in result.winners:
        lines += [
            Text(""),
            _figures(result, winner),
            _decisions(winner),
            Text(winner.verdict.reason),
        ]
    lines += [Text(""), Text(_sentence(result), style="bold")]
    lines += [Text(f"wrote {file}") for file in files]
    if files and result.outcome is Outcome.BETTER:
        lines.append(Text(f"to apply it: burnish ptxas … --apply-controls {files[0]}"))
    return Group(*lines)


def _figures(result: Result, winner: Winner) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for title, side in (("metric", "left"), ("baseline", "right"), ("tuned", "right")):
        grid.add_column(title, justify="right" if side == "right" else "left")
    grid.add_column("unit")
    for name, metric in METRICS.items():
        before = result.baseline.figures.get(name)
        after = winner.trial.figures.get(name)
        if before is not None and after is not None:
            grid.add_row(name, f"{before:g}", f"{after:g}", metric.unit)
    return grid


def _decisions(winner: Winner) -> Text:
    changed = [f"{name} = {value}" for name, value in winner.controls.items()]
    if len(changed) > _MOST_CONTROLS:
        rest = len(changed) - _MOST_CONTROLS
        changed = [*changed[:_MOST_CONTROLS], f"… and {rest} more (burnish show)"]
    return Text("decided: " + (", ".join(changed) or "nothing: the plain build is best"))


def _sentence(result: Result) -> str:
    if result.interrupted:
        return "interrupted: no verdict yet"
    if result.outcome is Outcome.BETTER:
        return "BETTER than the plain build"
    return f"no win ({result.outcome}): the plain build is as good as anything that was found"


def document(result: Result, files: Sequence[Path], seed: int) -> dict[str, object]:
    """Everything that is printed, with stable keys, ready for JSON."""
    counts = result.counts
    first = result.winners[0] if result.winners else None
    return {
        "status": "interrupted" if result.interrupted else "done",
        "study": result.study,
        "seed": seed,
        "verdict": result.outcome.value,
        "ratio": first.verdict.ratio if first else None,
        "interval": first.verdict.interval if first else None,
        "reason": first.verdict.reason if first else "",
        "baseline": dict(result.baseline.figures),
        "tuned": dict(first.trial.figures) if first else {},
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
        "winners": [_winner(winner) for winner in result.winners],
        "files": [str(file) for file in files],
    }


def _winner(winner: Winner) -> dict[str, object]:
    return {
        "trial": winner.trial.number,
        "verdict": winner.verdict.outcome.value,
        "metric": winner.verdict.metric,
        "ratio": winner.verdict.ratio,
        "interval": winner.verdict.interval,
        "reason": winner.verdict.reason,
        "figures": dict(winner.trial.figures),
        "controls": dict(winner.controls),
        "binary": winner.trial.binary,
    }
