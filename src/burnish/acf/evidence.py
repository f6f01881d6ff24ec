"""The evidence of a tuned block, out of its table."""

from burnish.acf.fields import Table
from burnish.acf.model import Evidence, WorkloadEvidence
from burnish.model.frozen import FrozenMap
from burnish.model.verdict import Outcome

__all__ = ["evidence_of"]

_VERDICTS = "|".join(outcome for outcome in Outcome if outcome is not Outcome.WRONG)
_DATE = r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?"


def evidence_of(table: Table) -> Evidence:
    """The evidence that a table describes.

    Raises:
        FieldError: A key is unknown, missing, or its value cannot be.
    """
    measured = "ratio" in table or "interval" in table
    evidence = Evidence(
        verdict=Outcome(table.text("verdict", _VERDICTS)),
        metric=table.text("metric"),
        baseline=table.number("baseline"),
        tuned=table.number("tuned"),
        ratio=_ratio(table) if measured else None,
        interval=_interval(table) if measured else None,
        reason=_optional(table, "reason"),
        figures=_figures(table.table("figures")) if "figures" in table else FrozenMap(),
        workloads=tuple(_workload(item) for item in table.tables("workloads"))
        if "workloads" in table
        else (),
        rounds=table.whole("rounds", 0) if "rounds" in table else 0,
        regime=_optional(table, "regime", "cold|warm"),
        device=_optional(table, "device"),
        driver=_optional(table, "driver"),
        date=_optional(table, "date", _DATE),
        study=_optional(table, "study"),
        burnish=_optional(table, "burnish"),
    )
    table.done()
    return evidence


def _optional(table: Table, key: str, pattern: str = ".+") -> str:
    return table.text(key, pattern) if key in table else ""


def _ratio(table: Table) -> float:
    ratio = table.number("ratio")
    if ratio <= 0:
        raise table.fault("ratio", f"{ratio} is not above 0")
    return ratio


def _interval(table: Table) -> tuple[float, float]:
    low, high = table.pair("interval")
    if not 0 < low <= high:
        raise table.fault("interval", f"[{low}, {high}] must be above 0, the lower bound first")
    return low, high


def _figures(table: Table) -> FrozenMap[tuple[float, float]]:
    return FrozenMap({metric: table.pair(metric) for metric in table})


def _workload(table: Table) -> WorkloadEvidence:
    workload = WorkloadEvidence(
        name=table.text("name"),
        ratio=_ratio(table),
        interval=_interval(table),
        held_out=table.flag("held_out") if "held_out" in table else False,
    )
    table.done()
    return workload
