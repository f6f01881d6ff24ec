"""Energy is measured of finalists only, and judged beside their time."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from tests.helpers.fake_device import fake_workload

from burnish.errors import UsageError
from burnish.evaluate.bench import Bench, Candidate
from burnish.evaluate.compiled import Compiled, Compiler
from burnish.measure.confirm import Confirmation
from burnish.measure.evidence import Evidence
from burnish.measure.race import Race
from burnish.model.binary import Binary, Facts
from burnish.model.control import Choice, Control, Layer, Risk
from burnish.model.frozen import FrozenMap
from burnish.model.objective import Limit, Objective
from burnish.model.space import Config, Space
from burnish.model.trial import Status, Trial
from burnish.model.verdict import Outcome
from burnish.tuning.device import choose_device
from burnish.tuning.measured import Confirmed, Shortlist, conclude_measured
from burnish.tuning.task import Task
from burnish.verify.judge import Finding

SPACE = Space(
    (Control("x", Layer.USER, Choice((0, 1, 2, 3)), 0, Risk.EXACT, "A number.", "this test"),)
)
NOISE = 0.001


@dataclass
class Scripted:
    """A bench whose finalists take what is written down for them."""

    times_us: Sequence[float]
    energies_mj: Sequence[float]
    metered: list[int] = field(default_factory=list)
    baseline_us: float = 100.0

    def finalists(self, able: list[Candidate]) -> tuple[list[Candidate], Race]:
        return able, cast("Race", None)

    def final_check(self, _candidate: Candidate) -> Finding:
        return Finding(Status.OK, "")

    def confirm(self, right: Sequence[Candidate], _ran: Race) -> Confirmation:
        return evidence("runtime", [100.0, 100.0, *self._of(right, self.times_us)], 60)

    def confirm_energy(self, right: Sequence[Candidate]) -> Confirmation:
        self.metered = [one.trial.number for one in right]
        return evidence("energy", [20.0, 20.0, *self._of(right, self.energies_mj)], 5)

    @staticmethod
    def _of(right: Sequence[Candidate], figures: Sequence[float]) -> list[float]:
        return [figures[one.trial.number - 1] for one in right]


def evidence(metric: str, figures: Sequence[float], rounds: int) -> Confirmation:
    rng = np.random.default_rng(0)
    shape = 3, rounds, len(figures), 1
    taken = np.array(figures)[None, None, :, None] * np.exp(rng.normal(0, NOISE, shape))
    return Confirmation(Evidence(metric, taken, (fake_workload(),), ("",) * len(figures)), ())


def conclude(bench: Scripted, *minimize: str) -> Confirmed:
    trials = [
        Trial(number, config, Status.OK, FrozenMap({"runtime": time_us}), f"digest {number}")
        for number, (config, time_us) in enumerate(
            zip(map(of, range(4)), (100.0, *bench.times_us), strict=False)
        )
    ]
    shortlist = Shortlist()
    for trial in trials:
        shortlist.keep(trial, built(trial.config))
    compiler = SimpleNamespace(
        compile=lambda config: Compiled(config, Status.REFUSED),
        bound=SimpleNamespace(space=SPACE),
    )
    return conclude_measured(
        trials, Objective(minimize), cast("Bench", bench), cast("Compiler", compiler), shortlist
    )


def of(number: int) -> Config:
    return SPACE.config({"x": number})


def built(config: Config) -> Compiled:
    binary = Binary(f"digest {config['x']}", Facts(32, 0, 0, 100, 1600, 0), b"")
    return Compiled(config, Status.OK, binary)


def test_energy_alone_is_searched_by_time_and_judged_by_energy() -> None:
    bench = Scripted(times_us=(95.0, 99.0), energies_mj=(19.0, 16.0))
    found = conclude(bench, "energy")
    (winner,) = found.winners
    assert winner.trial.number == 2
    assert (winner.verdict.metric, winner.verdict.outcome) == ("energy", Outcome.BETTER)
    assert winner.verdict.ratio == pytest.approx(20 / 16, rel=0.01)
    (other,) = winner.others
    assert other.metric == "runtime"
    assert other.ratio == pytest.approx(100 / 99, rel=0.01)
    assert [one.evidence.metric for one in found.confirmations] == ["runtime", "energy"]


def test_a_faster_and_a_thriftier_build_are_both_on_the_front() -> None:
    found = conclude(Scripted(times_us=(90.0, 97.0), energies_mj=(19.9, 17.0)), "runtime", "energy")
    assert [winner.trial.number for winner in found.winners] == [1, 2]
    assert [winner.verdict.outcome for winner in found.winners] == [Outcome.BETTER] * 2
    assert not found.remarks


def test_a_point_that_dominates_is_said_to() -> None:
    found = conclude(Scripted(times_us=(90.0, 97.0), energies_mj=(17.0, 19.9)), "runtime", "energy")
    assert [winner.trial.number for winner in found.winners] == [1]
    assert found.remarks == ("one point dominates: trial 1 in runtime and energy",)


def test_a_slower_build_that_saves_energy_is_a_point() -> None:
    found = conclude(Scripted(times_us=(100.4,), energies_mj=(15.0,)), "runtime", "energy")
    (winner,) = found.winners
    assert (winner.verdict.metric, winner.verdict.outcome) == ("energy", Outcome.BETTER)


def test_only_the_fastest_finalists_are_metered() -> None:
    bench = Scripted(times_us=(97.0, 90.0, 95.0), energies_mj=(20.0, 20.0, 20.0))
    conclude(bench, "energy", "runtime")
    assert bench.metered == [2, 3]


def test_energy_cannot_bound_trials() -> None:

    with pytest.raises(UsageError, match="only finalists"):
        _ = Task(Path("k.ptx"), limits=(Limit("energy", 1.0),)).objective


def test_the_host_counts_no_energy() -> None:

    with pytest.raises(UsageError, match="the host counts none"):
        choose_device(Task(Path("k.c"), minimize=("energy",)))
