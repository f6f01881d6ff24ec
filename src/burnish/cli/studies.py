"""``burnish studies``: what the store holds."""

from rich.table import Table

from burnish.cli.options import Json, Store
from burnish.cli.screen import OUT, write_json
from burnish.settings import load
from burnish.store.store import open_store

__all__ = ["studies"]


def studies(store: Store = "", json: Json = None) -> int:
    """List the stored studies."""
    with open_store(store or load().store) as opened:
        rows = [
            {
                "study": study.name,
                "kernel": study.kernel,
                "objective": study.objective,
                "status": study.status,
                "trials": study.trials,
                "created": study.created,
            }
            for study in opened.studies()
        ]
    if str(json) != "-":
        table = Table(box=None, pad_edge=False, header_style="bold")
        for title in ("study", "kernel", "objective", "status", "trials", "created"):
            table.add_column(title, justify="right" if title == "trials" else "left")
        for row in rows:
            table.add_row(*(str(value) for value in row.values()))
        OUT.print(table if rows else "no studies yet")
    write_json(json, {"studies": rows})
    return 0
