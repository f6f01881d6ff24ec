"""Trials and studies as rows of the tables, and back."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeAlias

from sqlalchemy import RowMapping

from burnish.errors import StoreError
from burnish.model.control import Value
from burnish.model.frozen import FrozenMap
from burnish.model.space import Config
from burnish.model.trial import Status, Trial
from burnish.store.study import Json, Study, StudyStatus

__all__ = ["MESSAGE_MOST", "clean", "dumped", "loaded", "now", "row_of", "study_from", "trial_from"]

# What a compiler, a check or an objective says is cut here; the start of it tells the reason.
MESSAGE_MOST = 4_000
_FIGURES_MOST = 100

_ENCODER = json.JSONEncoder(separators=(",", ":"), default=dict)

Cell: TypeAlias = str | int | None


def row_of(study: str, trial: Trial, base: Mapping[str, Value]) -> dict[str, Cell]:
    """The row of a trial, whose config is kept as its differences from ``base``."""
    return {
        "study": study,
        "number": trial.number,
        "changes": dumped(_changes(base, trial.config)),
        "status": trial.status.value,
        "figures": dumped(_first(trial.figures)),
        "binary": clean(trial.binary),
        "duplicate_of": trial.duplicate_of,
        "message": clean(trial.message),
        "rounds": trial.rounds,
        "seconds": dumped(_first(trial.seconds)),
        "made": now(),
    }


def trial_from(row: RowMapping, base: Mapping[str, Value]) -> Trial:
    """The trial of a row.

    Raises:
        StoreError: The row holds what no Burnish of this schema writes.
    """
    try:
        changes: dict[str, Value | None] = json.loads(row["changes"])
        config = {name: value for name, value in {**base, **changes}.items() if value is not None}
        return Trial(
            number=row["number"],
            config=Config(config),
            status=Status(row["status"]),
            figures=FrozenMap(json.loads(row["figures"])),
            binary=row["binary"],
            duplicate_of=row["duplicate_of"],
            message=row["message"],
            rounds=row["rounds"],
            seconds=FrozenMap(json.loads(row["seconds"])),
        )
    except (TypeError, ValueError) as error:
        raise StoreError(
            f"trial {row['number']} of study {row['study']!r} is damaged ({error}); "
            "start a new study"
        ) from None


def study_from(row: RowMapping) -> Study:
    """The study of a row that also has ``trials``, their count, and ``latest``, their time."""
    return Study(
        name=row["name"],
        kernel=row["kernel"],
        objective=row["objective"],
        inputs=FrozenMap(json.loads(row["inputs"])),
        about=FrozenMap(json.loads(row["about"])),
        status=StudyStatus(row["status"]),
        created=row["created"],
        updated=max(row["updated"], row["latest"] or ""),
        trials=row["trials"],
    )


def dumped(value: Json) -> str:
    """JSON in one line; plain ASCII, so that no text can hurt a database.

    Raises:
        StoreError: The value is not JSON.
    """
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError) as error:
        raise StoreError(f"cannot be stored as JSON: {error}") from None


def now() -> str:
    """The time, as the store writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def loaded(text: str) -> Json:
    """The value of what `dumped` wrote."""
    value: Json = json.loads(text)
    return value


def clean(text: str) -> str:
    """The text, bounded, and without what some database cannot hold (NUL, half characters)."""
    if len(text) > MESSAGE_MOST:
        text = text[: MESSAGE_MOST - 1] + "…"
    return (
        text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
    )


def _first(figures: Mapping[str, float]) -> dict[str, float]:
    return dict(list(figures.items())[:_FIGURES_MOST])


def _changes(base: Mapping[str, Value], config: Mapping[str, Value]) -> dict[str, Value | None]:
    gone: dict[str, Value | None] = dict.fromkeys(base.keys() - config.keys())
    return gone | {
        name: value
        for name, value in config.items()
        if (old := base.get(name)) is not value and (old != value or type(old) is not type(value))
    }
