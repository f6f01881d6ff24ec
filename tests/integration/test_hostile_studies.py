"""Hostile C kernels as candidates of whole studies: out for the right reason, nobody is harmed."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest
from benchmarks.host_studies import WHICH, Shelf, study
from tests.helpers.c import HOSTILE, hostile, library
from tests.helpers.fake_device import TIMERS, FakeDevice, Script, fake_workload, open_fake
from tests.helpers.processes import lives, wait_for

from burnish.model.result import Result
from burnish.model.trial import Status, Trial
from burnish.model.verdict import Outcome
from burnish.model.workload import Buffer, Role, Scalar, Workload

pytestmark = pytest.mark.slow

REASONS = {
    "accumulates": (Status.WRONG, "reads out before anybody wrote it"),
    "cached_result": (Status.WRONG, "gives the answer to the inputs before"),
    "deep_stack": (Status.FAULT, "SIGSEGV"),
    "exits": (Status.FAULT, "exit code 0"),
    "faults_now_and_then": (Status.FAULT, "SIGSEGV"),
    "forks": (Status.HANG, "nothing was heard"),
    "half_output": (Status.WRONG, "never written"),
    "illegal_address": (Status.FAULT, "SIGSEGV"),
    "infinite_loop": (Status.HANG, "nothing was heard"),
    "last_workload": (Status.WRONG, "workload 5000"),
    "not_deterministic": (Status.UNSTABLE, "other bits on each launch"),
    "out_of_bounds": (Status.WRONG, "behind its end"),
    "second_launch": (Status.UNSTABLE, "right on the first launch, wrong on the next one"),
    "uninitialised": (Status.WRONG, "reads out before anybody wrote it"),
}
HARMLESS = {"changes_floats", "good", "prints"}  # what they do is undone, or thrown away
SLOW = library((HOSTILE / "good.c").read_text(), ("-O0",))  # others come to the end of a study
GOES = 3
BEFORE, AFTER = "good before ", "good after "
LATE = """
void kernel(const float *in, float *out, int n) {
    static int launches;
    for (int i = 0; i < n; i++) out[i] = 2 * in[i] + 1;
    if (++launches > %d) out[n - 1] += 1;
}
"""


def shelf_of(names: list[str]) -> Shelf:
    """Each hostile one between two good ones, which have other digests and the same code."""
    images = {"plain": hostile("good")}
    for name in names:
        images[BEFORE + name] = hostile("good")
        images[name] = hostile(name)
        images[AFTER + name] = hostile("good")
    return Shelf(images, "kernel")


def workload(n: int, *, held_out: bool = False) -> Workload:
    arguments = (
        Buffer("in", "f32", (n,), fill="normal"),
        Buffer("out", "f32", (n,), Role.OUT),
        Scalar("n", "i32", n),
    )
    return Workload(str(n), arguments, held_out=held_out)


def processes() -> list[int]:
    """All that carry the mark of one of our workers, and still live."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and lives(int(folder.name)):
            try:
                said = (folder / "environ").read_bytes()
            except OSError:
                continue
            if f"{os.getpid()}.w".encode() in said:
                found.append(int(folder.name))
    return found


@pytest.fixture(scope="module")
def ended() -> tuple[Result, dict[str, Trial]]:
    """A study of good and hostile candidates; anew where others took this machine's cores."""
    found = hostile_study()
    for _ in range(GOES - 1):
        if not found[0].winners or baseline_after(found[0]) == baseline_before(found[0]):
            break
        found = hostile_study()
    return found


def baseline_before(result: Result) -> object:
    """The plain build's time before the search, as near as two medians are on calm cores."""
    return pytest.approx(result.baseline.figures["runtime"], rel=0.5)


def baseline_after(result: Result) -> float:
    """Its time in fresh processes after the search."""
    return result.winners[0].verdict.baseline


def hostile_study() -> tuple[Result, dict[str, Trial]]:
    trials: dict[str, Trial] = {}

    def see(trial: Trial) -> None:
        trials[str(trial.config[WHICH])] = trial

    result = study(shelf_of(list(REASONS)), [workload(1000), workload(5000)], observe=see)
    return result, trials


@pytest.fixture(autouse=True)
def _leaves_no_process() -> Iterator[None]:
    yield
    assert wait_for(lambda: not processes()), processes()


@pytest.mark.parametrize("name", REASONS)
def test_a_hostile_candidate_is_out_for_its_reason(
    ended: tuple[Result, dict[str, Trial]], name: str
) -> None:
    status, words = REASONS[name]
    trial = ended[1][name]
    assert (trial.status, words in trial.message) == (status, True), trial
    assert "runtime" not in trial.figures


def test_good_neighbours_and_their_times_are_unharmed(
    ended: tuple[Result, dict[str, Trial]],
) -> None:
    result, trials = ended
    good = [trial for name, trial in trials.items() if name.startswith((BEFORE, AFTER))]
    assert len(good) == 2 * len(REASONS)
    assert {(trial.status, trial.message) for trial in good} == {(Status.OK, "")}
    plain_us = result.baseline.figures["runtime"]
    assert median(trial.figures["runtime"] for trial in good) == pytest.approx(plain_us, rel=0.1)


def test_the_study_ends_with_a_verdict_on_a_good_one(
    ended: tuple[Result, dict[str, Trial]],
) -> None:
    result, trials = ended
    assert result.outcome in {Outcome.SAME, Outcome.UNSURE}
    (winner,) = result.winners
    assert trials[str(winner.trial.config[WHICH])].status is Status.OK
    assert baseline_after(result) == baseline_before(result)
    assert dict(result.counts.failed) == Counter(status.value for status, _ in REASONS.values())


def test_what_is_wrong_on_a_held_out_workload_only_is_out_after_the_search() -> None:
    shelf = Shelf({"plain": SLOW, "hostile": hostile("last_workload")}, "kernel")
    result = study(shelf, [workload(1000), workload(5000, held_out=True)])
    assert result.outcome is not Outcome.BETTER
    assert not result.winners
    (remark,) = [one for one in result.remarks if one.startswith("trial 1 is out: wrong")]
    assert "workload 5000" in remark


def test_what_turns_wrong_while_it_is_timed_is_found_by_the_check_after_it() -> None:
    late = library(LATE % 1000, ("-O1",))
    shelf = Shelf({"plain": SLOW, "late": late}, "kernel")
    result = study(shelf, [workload(1000)])
    (winner,) = result.winners
    assert winner.verdict.outcome is Outcome.WRONG
    assert "wrong after it was timed" in winner.verdict.reason


def test_every_hostile_source_is_shown_here() -> None:
    assert {path.stem for path in HOSTILE.glob("*.c")} == set(REASONS) | HARMLESS


def test_a_candidate_whose_time_cannot_be_is_out_and_says_so() -> None:
    scripts = {"plain": Script()} | {name: Script(timer=name) for name in TIMERS}
    scripts["good"] = Script(time_us=99.9)
    shelf = Shelf({name: script.image for name, script in scripts.items()}, "kernel")
    trials: dict[str, Trial] = {}

    def see(trial: Trial) -> None:
        trials[str(trial.config[WHICH])] = trial

    result = study(shelf, [fake_workload()], observe=see, open_device=open_fake)
    for name in TIMERS:
        assert trials[name].status is Status.TIMER
        assert "the timer says" in trials[name].message
        assert "runtime" not in trials[name].figures
    assert trials["good"].status is Status.OK
    assert dict(result.counts.failed) == {"timer": len(TIMERS)}


@pytest.mark.parametrize("timer", TIMERS)
def test_a_timer_that_fails_later_wins_nothing(timer: str) -> None:
    script = Script(time_us=50, timer=timer, timer_from=30)  # after screening and race
    shelf = Shelf({"plain": Script().image, "late": script.image}, "kernel")
    result = study(shelf, [fake_workload()], open_device=FakeDevice)
    assert [winner.verdict.outcome for winner in result.winners] == [Outcome.WRONG]
    assert "the timer says" in result.winners[0].verdict.reason
