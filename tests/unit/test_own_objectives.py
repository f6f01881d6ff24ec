"""Whatever an objective of the user's own does is a trial with its reason, or one clear error."""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import pytest

from burnish.errors import UsageError
from burnish.evaluate.compiled import Compiled
from burnish.model.binary import Binary, Facts
from burnish.model.frozen import FrozenMap
from burnish.model.space import Config
from burnish.model.trial import Status, Trial
from burnish.own.answers import INVALID, Answers, Objective
from burnish.own.search import Search

if TYPE_CHECKING:
    from burnish.spaces.ptx import PtxSpace

COMPILED = Compiled(
    Config({}), Status.OK, Binary("digest", Facts(0, 0, 0, 0, 0, 0), b""), FrozenMap({})
)


def answered(objective: Callable[[str], object]) -> Trial:
    answers = Answers(cast("Objective", objective), 0, None)
    return answers.judge(0, COMPILED, {}, COMPILED, lambda: "00")


class Unfloatable:
    def __float__(self) -> float:
        raise KeyError("of all things")


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def raising(error: BaseException) -> Callable[[str], object]:
    def objective(_blob: str) -> object:
        raise error

    return objective


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "5",
        b"5",
        True,
        (),
        {},
        (1.0, None),
        float("nan"),
        float("inf"),
        10**400,
        Unfloatable(),
    ],
)
def test_what_is_no_figure_is_a_malformed_trial(answer: object) -> None:
    trial = answered(lambda _blob: answer)
    assert trial.status is Status.MALFORMED
    assert trial.message.startswith("the objective returned")
    assert not trial.figures


@pytest.mark.parametrize(
    "error", [ValueError("no"), SystemExit(3), UnspeakableError(), RecursionError()]
)
def test_what_an_objective_raises_is_a_trial(error: BaseException) -> None:
    trial = answered(raising(error))
    assert trial.status is Status.RAISED
    assert type(error).__name__ in trial.message


def test_ctrl_c_in_an_objective_is_not_its_answer() -> None:
    with pytest.raises(KeyboardInterrupt):
        answered(raising(KeyboardInterrupt()))


def test_an_invalid_config_and_a_good_one() -> None:
    assert answered(lambda _blob: INVALID).status is Status.INVALID
    assert answered(lambda _blob: {"a": 1}).figures == FrozenMap({"a": 1.0})


def good(_blob: str) -> float:
    return 1.0


@pytest.mark.parametrize(
    ("workers", "limit_s", "says"),
    [
        (-1, None, "workers=-1"),
        (1, -1.0, "limit_s=-1"),
        (1, 0.0, "limit_s=0"),
        (1, float("nan"), "limit_s=nan"),
        (0, 5.0, "needs workers=N"),
    ],
)
def test_workers_and_limits_that_cannot_be_are_refused(
    workers: int, limit_s: float | None, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        Search(good, cast("PtxSpace", None), workers=workers, limit_s=limit_s)


def test_an_objective_that_no_worker_can_get_is_refused_at_once_in_a_short_line() -> None:
    with pytest.raises(UsageError, match="top of a module") as refused:
        Search(lambda _blob: 1.0, cast("PtxSpace", None), workers=1)
    assert len(str(refused.value)) < 500
