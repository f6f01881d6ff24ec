"""Whole studies of the C examples on this machine: a win where there is one, else none."""

import platform
from pathlib import Path

import pytest
from benchmarks.host_studies import example_study, null_study

from burnish.model.verdict import Outcome

pytestmark = pytest.mark.slow

BUDGET_S = 25.0
MOST_S = 180.0  # 60 on cores of its own: benchmarks/host_studies.py holds it to that


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the gain is that of x86-64's options")
@pytest.mark.parametrize("name", ["nbody", "matmul"])
def test_a_host_search_beats_o3_and_confirms_it(name: str) -> None:
    row = example_study(name, 0, BUDGET_S)
    assert row["verdict"] == Outcome.BETTER.value, row
    assert int(str(row["rounds"])) >= 180
    assert float(str(row["wall_s"])) < MOST_S, row


def test_where_nothing_can_be_gained_the_answer_is_no_win(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path))
    row = example_study("chase", 0, 10.0)
    assert row["verdict"] != Outcome.BETTER.value, row
    assert row["confirmed"] or not row["ratio"]


@pytest.mark.parametrize("seed", range(20))
def test_of_equal_candidates_none_is_accepted_after_the_whole_way(seed: int) -> None:
    row = null_study(seed)
    assert row["verdict"] != Outcome.BETTER.value, row
    assert row["distinct"] == row["screened"] == 101
    assert row["confirmed"]
    assert row["failed"] == {}
