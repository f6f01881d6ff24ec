"""Replay of a recorded space: a folder of CSV tables stands for compiler and device.

A table (`NAME.csv.gz`) has a column a parameter, `time_ms` and `status`; `index.json` lists the
parameters' values. A config that is not in the table is forbidden.
"""

import csv
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from random import Random

from burnish.model.control import Choice, Control, Layer, Risk
from burnish.model.frozen import FrozenMap
from burnish.model.space import Config, Space
from burnish.model.trial import Status, Trial
from burnish.search.engine import Engine

__all__ = ["Replay", "load", "search"]


@dataclass(frozen=True)
class Replay:
    """A recorded space.

    Attributes:
        times_ms: Config to time, None where it failed.
    """

    space: Space
    times_ms: dict[Config, float | None]

    @property
    def best_ms(self) -> float:
        return min(time for time in self.times_ms.values() if time is not None)

    def trial(self, number: int, config: Config) -> Trial:
        time_ms = self.times_ms[config]
        if time_ms is None:
            return Trial(number, config, Status.REFUSED)
        return Trial(number, config, Status.OK, FrozenMap({"runtime": time_ms * 1000.0}))


def load(folder: Path, file: str, *, start: int = 0) -> Replay:
    """Read a table; the default is one of its configs that work, picked by ``start``."""
    (entry,) = (
        entry for entry in json.loads((folder / "index.json").read_text()) if entry["file"] == file
    )
    domains: dict[str, list[int]] = entry["tune_params"]
    with gzip.open(folder / file, "rt") as text:
        rows = list(csv.DictReader(text))
    timed = [
        (
            Config({name: int(row[name]) for name in domains}),
            float(row["time_ms"]) if row["status"] == "ok" else None,
        )
        for row in rows
    ]
    times_ms = dict(timed)
    works = [config for config, time_ms in timed if time_ms is not None]
    default = works[0] if start == 0 else Random(start).choice(works)
    controls = tuple(
        Control(
            name=name,
            layer=Layer.USER,
            domain=Choice(tuple(values), is_ordered=len(values) > 2),
            default=default[name],
            risk=Risk.EXACT,
            meaning="",
            source="",
        )
        for name, values in domains.items()
    )
    return Replay(Space(controls, constraints=(times_ms.__contains__,)), times_ms)


def search(replay: Replay, engine: Engine, evaluations: int, jobs: int = 1) -> list[float]:
    """Best over optimum after each evaluation; ``jobs`` configs are in flight."""
    optimum_ms = replay.best_ms
    best_ms, curve, flying = float("inf"), list[float](), list[Trial]()
    for number in range(evaluations):
        config = engine.ask()
        if config is None:
            break
        flying.append(replay.trial(number, config))
        if flying[-1].status is Status.OK:
            best_ms = min(best_ms, flying[-1].figures["runtime"] / 1000.0)
        curve.append(best_ms / optimum_ms)
        if len(flying) >= jobs:
            engine.tell(flying.pop(0))
    return curve + curve[-1:] * (evaluations - len(curve))
