"""Without a device: smaller is better by anything, and a plain build above a limit is worse."""

from types import SimpleNamespace
from typing import cast

import pytest

from burnish.evaluate.compiled import Compiled, Compiler
from burnish.model.control import Choice, Control, Layer, Risk
from burnish.model.frozen import FrozenMap
from burnish.model.objective import Objective
from burnish.model.result import Winner
from burnish.model.space import Config, Space
from burnish.model.trial import Status, Trial
from burnish.model.verdict import Outcome
from burnish.tuning.conclude import static_winners

SPACE = Space(
    (Control("x", Layer.USER, Choice((0, 1, 2, 3)), 0, Risk.EXACT, "A number.", "this test"),)
)


def compile_nothing(config: Config) -> Compiled:
    return Compiled(config, Status.REFUSED)


COMPILER = cast(
    "Compiler",
    SimpleNamespace(bound=SimpleNamespace(space=SPACE), compile=compile_nothing),
)


def winners(
    *figures: dict[str, float],
    minimize: tuple[str, ...] = ("registers",),
    plain: Status = Status.OK,
) -> tuple[Winner, ...]:
    trials = [
        Trial(
            number,
            SPACE.config({"x": number}),
            Status.OK if number else plain,
            FrozenMap(figure),
            f"digest {number}",
        )
        for number, figure in enumerate(figures)
    ]
    return static_winners(trials, Objective(minimize), COMPILER)


@pytest.mark.parametrize(
    ("tuned", "outcome", "reason"),
    [
        (39, Outcome.BETTER, "registers 40 → 39; not run on a device"),
        (40, Outcome.SAME, "no config has fewer registers than the plain build"),
        (41, Outcome.SAME, "no config has fewer registers than the plain build"),
    ],
)
def test_a_static_metric_is_better_by_anything(tuned: float, outcome: Outcome, reason: str) -> None:
    (winner,) = winners({"registers": 40}, {"registers": tuned})
    verdict = winner.verdict
    assert (verdict.outcome, verdict.metric, verdict.reason) == (outcome, "registers", reason)
    assert (verdict.baseline, verdict.tuned) == (40, min(40, tuned))
    assert verdict.ratio is None
    assert verdict.interval is None
    assert dict(winner.controls) == ({"x": 1} if outcome is Outcome.BETTER else {})


def test_whatever_keeps_the_limits_is_better_than_a_plain_build_that_does_not() -> None:
    (winner,) = winners({"registers": 40}, {"registers": 41}, plain=Status.OVER_LIMIT)
    assert winner.verdict.outcome is Outcome.BETTER
    assert (winner.verdict.baseline, winner.verdict.tuned) == (40, 41)


def test_a_point_of_a_front_is_better_where_one_of_its_figures_is() -> None:
    found = winners(
        {"registers": 40, "spills": 8},
        {"registers": 50, "spills": 0},
        {"registers": 32, "spills": 64},
        {"registers": 60, "spills": 4},
        minimize=("registers", "spills"),
    )
    assert [(one.trial.number, one.verdict.metric) for one in found] == [
        (2, "registers"),
        (1, "spills"),
    ]
    assert {one.verdict.outcome for one in found} == {Outcome.BETTER}
