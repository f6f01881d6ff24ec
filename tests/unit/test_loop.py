"""The loop: repeatable, resumable, and right about budgets, whatever compiling does."""

import random
import time
from collections.abc import Callable

import pytest

from burnish.errors import StoreError
from burnish.evaluate.compiled import Compiled, trial_of
from burnish.model.binary import Binary, Facts
from burnish.model.control import Choice, Control, Layer, Range, Risk
from burnish.model.frozen import FrozenMap
from burnish.model.space import Config, Space
from burnish.model.trial import Status, Trial
from burnish.search.engine import make
from burnish.tuning.loop import Budget, Loop, count

JOBS = 4


def control(name: str, domain: Choice | Range) -> Control:
    return Control(name, Layer.USER, domain, domain.at(0), Risk.EXACT, "for tests", "none")


SPACE = Space(
    (
        control("a", Range(0, 30)),
        control("b", Choice(("x", "y", "z"))),
        control("c", Choice((False, True))),
    )
)
NO_FACTS = Facts(0, 0, 0, 0, 0, 0)


def compile_config(config: Config) -> Compiled:
    """Every third value of ``a`` is refused; ``c`` changes nothing."""
    if int(config["a"]) % 3 == 2:
        return Compiled(config, Status.REFUSED, message="no")
    time.sleep(random.random() / 2000)  # compiles end in any order
    figure = float(abs(int(config["a"]) - 17) + len(str(config["b"])))
    digest = f"{config['a']}{config['b']}"
    return Compiled(
        config, Status.OK, Binary(digest, NO_FACTS, b""), FrozenMap({"registers": figure})
    )


def slowly(config: Config) -> Compiled:
    time.sleep(0.05)
    return compile_config(config)


PLAIN = compile_config(SPACE.default)


def loop(record: Callable[[Trial], None] = lambda _: None, seed: int = 1) -> Loop:
    return Loop(
        engine=make("evolution", SPACE, seed, ("registers",)),
        compile=compile_config,
        judge=lambda number, compiled, known: trial_of(number, compiled, known, PLAIN),
        record=record,
    )


def run(budget: Budget, seed: int = 1, recorded: list[Trial] | None = None) -> list[Trial]:
    made = loop(seed=seed)
    made.run(budget, JOBS, recorded or [])
    return made.trials


def without_seconds(trials: list[Trial]) -> list[tuple[object, ...]]:
    return [(t.number, t.config, t.status, t.binary, t.figures, t.duplicate_of) for t in trials]


def test_one_seed_gives_the_same_study_twice() -> None:
    first, second = run(Budget(evaluations=40)), run(Budget(evaluations=40))
    assert without_seconds(first) == without_seconds(second)


def test_another_seed_gives_another_study() -> None:
    first, second = run(Budget(evaluations=40)), run(Budget(evaluations=40), seed=2)
    assert without_seconds(first) != without_seconds(second)


def test_the_first_trial_is_the_plain_build() -> None:
    assert run(Budget(evaluations=1))[0].config == SPACE.default


def test_the_budget_counts_distinct_binaries_only() -> None:
    trials = run(Budget(evaluations=25))
    assert len({trial.binary for trial in trials if trial.binary}) == 25
    assert trials[-1].status is Status.OK


def test_a_known_binary_is_a_duplicate_of_the_first_trial_that_had_it() -> None:
    trials = run(Budget(evaluations=40))
    repeated = [trial for trial in trials if trial.status is Status.DUPLICATE]
    assert repeated
    for trial in repeated:
        assert trial.duplicate_of is not None
        first = trials[trial.duplicate_of]
        assert first.binary == trial.binary
        assert first.status is Status.OK
        assert first.figures == trial.figures


def test_no_config_is_asked_twice() -> None:
    trials = run(Budget(evaluations=60))
    assert len({trial.config for trial in trials}) == len(trials)


@pytest.mark.parametrize("after", [0, 1, 7, 30])
def test_a_resumed_study_is_the_uninterrupted_one(after: int) -> None:
    whole = run(Budget(evaluations=40))
    resumed = run(Budget(evaluations=40), recorded=whole[:after])
    assert without_seconds(resumed) == without_seconds(whole)


def test_what_is_recorded_is_not_compiled_again() -> None:
    whole = run(Budget(evaluations=30))
    made = loop(record=lambda trial: pytest.fail(f"trial {trial.number} was made again"))
    made.run(Budget(evaluations=30), JOBS, whole)
    assert len(made.trials) == len(whole)


def test_trials_of_another_search_are_refused() -> None:
    other = run(Budget(evaluations=30), seed=2)
    with pytest.raises(StoreError, match="another config"):
        run(Budget(evaluations=30), recorded=other)


def test_an_exhausted_space_ends_the_search() -> None:
    trials = run(Budget(evaluations=10_000))
    assert len(trials) == SPACE.size


def test_time_ends_the_search() -> None:
    started = time.monotonic()
    made = loop()
    made.compile = slowly
    made.run(Budget(wall_s=0.3), JOBS)
    assert 0 < len(made.trials) < SPACE.size
    assert time.monotonic() - started < 2


def test_an_interruption_keeps_what_was_found() -> None:
    stored: list[Trial] = []

    def record(trial: Trial) -> None:
        if trial.number == 9:
            raise KeyboardInterrupt
        stored.append(trial)

    made = loop(record=record)
    made.run(Budget(evaluations=100), JOBS)
    assert made.interrupted
    assert [trial.number for trial in made.trials] == list(range(9))
    assert len(stored) == 9


def test_counts_speak_of_every_trial() -> None:
    trials = run(Budget(evaluations=30))
    counts = count(trials)
    assert counts.asked == len(trials)
    assert counts.distinct == 30
    assert sum(counts.failed.values()) + counts.compiled == counts.asked
    assert set(counts.failed) == {"refused"}
