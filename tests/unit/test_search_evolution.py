from itertools import pairwise
from random import Random
from statistics import median

import pytest
from tests.helpers.search_spaces import control, run, sites

from burnish.model.control import Choice, Range
from burnish.model.frozen import FrozenMap
from burnish.model.space import Config, Space
from burnish.model.trial import Status, Trial
from burnish.search.credit import Credit
from burnish.search.engine import make
from burnish.search.pareto import front, hypervolume
from burnish.search.population import Member, Population


def rugged(seed: int) -> tuple[Space, dict[tuple[str, int], float]]:
    rng = Random(seed)
    space = Space(
        tuple(
            control(f"c{place}", Choice(tuple(range(6)), is_ordered=place % 2 == 0), 0)
            for place in range(12)
        )
    )
    return space, {(item.name, n): rng.random() for item in space for n in range(6)}


def cost_of(effects: dict[tuple[str, int], float], config: Config) -> float:
    values = [int(value) for value in config.values()]
    alone = sum(effects[name, int(value)] for name, value in config.items())
    return alone + 0.3 * sum(abs(a - b) % 3 for a, b in pairwise(values))


def best_of(engine: str, seed: int, evaluations: int) -> float:
    space, effects = rugged(seed)

    def evaluate(number: int, config: Config) -> Trial:
        figures = FrozenMap({"cost": cost_of(effects, config)})
        return Trial(number, config, Status.OK, figures)

    trials = run(make(engine, space, seed, ("cost",)), evaluate, evaluations=evaluations, jobs=4)
    return min(trial.figures["cost"] for trial in trials)


def test_evolution_beats_random_search_clearly() -> None:
    gains = [best_of("random", seed, 200) / best_of("evolution", seed, 200) for seed in range(11)]
    assert median(gains) > 1.15
    assert min(gains) > 1.0


def test_a_search_of_hundreds_of_sites_gets_better_step_by_step() -> None:
    space = sites()
    rng = Random(7)
    worth = {item.name: rng.choice([0.0, 0.0, 0.0, -1.0, 1.0]) for item in space}

    def evaluate(number: int, config: Config) -> Trial:
        cost = 100.0 + sum(worth[name] for name in space.changes(config))
        return Trial(number, config, Status.OK, FrozenMap({"cost": cost}))

    def best(engine: str) -> float:
        trials = run(make(engine, space, 1, ("cost",)), evaluate, evaluations=400, jobs=2)
        return min(trial.figures["cost"] for trial in trials)

    assert best("evolution") < best("random") - 5.0


def test_several_figures_give_a_wide_front() -> None:
    space = Space(tuple(control(f"c{place}", Range(0, 9), 5) for place in range(8)))

    def evaluate(number: int, config: Config) -> Trial:
        values = [int(value) for value in config.values()]
        low = float(sum(value**2 for value in values))
        high = float(sum((9 - value) ** 2 for value in values))
        return Trial(number, config, Status.OK, FrozenMap({"low": low, "high": high}))

    def volume(engine: str, seed: int) -> float:
        search = make(engine, space, seed, ("low", "high"))
        asked = list(run(search, evaluate, evaluations=400, jobs=2))
        points = [(trial.figures["low"], trial.figures["high"]) for trial in asked]
        return hypervolume([points[row] for row in front(points)], (700.0, 700.0))

    seeds = range(5)
    evolved = median(volume("evolution", seed) for seed in seeds)
    assert evolved > 1.02 * median(volume("random", seed) for seed in seeds)


def test_failed_trials_and_duplicates_are_never_parents() -> None:
    population = Population(4)
    assert population.add(Member((0,), (3.0,), "a"))
    assert not population.add(Member((1,), (1.0,), "a"))
    assert not population.add(Member((0,), (1.0,), "b"))
    assert [member.point for member in population.members] == [(0,)]


def test_without_binaries_equal_figures_are_different_trials() -> None:
    population = Population(4)
    assert population.add(Member((0,), (3.0,)))
    assert not population.add(Member((1,), (3.0,)))
    # Of equals the newest is preferred, so that plateaus are walked and not stood on.
    assert [member.point for member in population.members] == [(1,), (0,)]


def test_the_worst_leaves_a_full_population() -> None:
    population = Population(3)
    for place, cost in enumerate([5.0, 2.0, 9.0, 4.0, 7.0]):
        population.add(Member((place,), (cost,)))
    assert [member.figures for member in population.members] == [(2.0,), (4.0,), (5.0,)]


def test_a_crowded_point_of_the_front_leaves_before_a_lonely_one() -> None:
    population = Population(3)
    for place, figures in enumerate([(0.0, 9.0), (9.0, 0.0), (4.0, 4.0), (4.1, 3.9)]):
        population.add(Member((place,), figures))
    assert len(population) == 3
    assert {(0.0, 9.0), (9.0, 0.0)} <= {member.figures for member in population.members}


def test_controls_whose_changes_do_nothing_are_changed_less() -> None:
    credit = Credit((0, 0, 0))
    for _ in range(9):
        credit.note_change((0, 0, 0), (1, 0, 0), idle=True)
        credit.note_change((0, 0, 0), (0, 2, 0), idle=False)
    assert credit.effects() == pytest.approx([0.1, 1.0, 1.0])


def test_values_that_fail_are_trusted_less_and_never_given_up() -> None:
    credit = Credit((0, 0))
    assert credit.trust(0, 3) == 1.0
    for _ in range(4):
        credit.note_end((3, 0), failed=True)
    assert credit.trust(0, 3) == pytest.approx(0.2)
    for _ in range(15):
        credit.note_end((3, 1), failed=False)
    assert credit.trust(0, 3) == pytest.approx(0.8)
    assert credit.trust(0, 0) == 1.0


def test_a_value_that_always_fails_is_soon_left_alone() -> None:
    space = Space(tuple(control(f"c{place}", Choice(tuple(range(5))), 0) for place in range(6)))

    def evaluate(number: int, config: Config) -> Trial:
        if config["c2"] == 4:
            return Trial(number, config, Status.HANG)
        cost = float(sum(int(value) for value in config.values()))
        return Trial(number, config, Status.OK, FrozenMap({"cost": cost}))

    def failures(engine: str) -> int:
        asked = run(make(engine, space, 2, ("cost",)), evaluate, evaluations=400)
        return sum(trial.status is Status.HANG for trial in asked)

    assert failures("evolution") < failures("random") / 2
