import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import quantiles

import pytest
from tests.helpers import search_spaces
from tests.helpers.search_spaces import SMALL, control, every_config, flat, ok, run, sites

from burnish.errors import UsageError
from burnish.model.control import Choice, Range
from burnish.model.frozen import FrozenMap
from burnish.model.space import Config, Space
from burnish.model.trial import Status, Trial
from burnish.search.engine import ENGINES, Engine, make

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=sorted(ENGINES))
def engine_of(request: pytest.FixtureRequest) -> Callable[..., Engine]:
    def build(space: Space, seed: int = 1, minimize: tuple[str, ...] = ("cost",)) -> Engine:
        return make(request.param, space, seed, minimize)

    return build


Build = Callable[..., Engine]


def configs(engine: Engine, evaluations: int, jobs: int = 1) -> list[Config]:
    return [trial.config for trial in run(engine, evaluations=evaluations, jobs=jobs)]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("jobs", [1, 7])
def test_a_small_space_is_asked_to_its_last_config_and_none_twice(
    engine_of: Build, name: str, jobs: int
) -> None:
    space = SMALL[name]()
    engine = engine_of(space)
    asked = configs(engine, 10_000, jobs)
    assert asked[0] == space.default
    assert len(asked) == len(set(asked))
    assert set(asked) == every_config(space)
    assert engine.ask() is None


def test_a_space_without_controls_has_one_config(engine_of: Build) -> None:
    assert configs(engine_of(Space(())), 10) == [Config()]


@pytest.mark.parametrize("jobs", [1, 16])
def test_hundreds_of_controls_are_searched_and_no_config_comes_twice(
    engine_of: Build, jobs: int
) -> None:
    space = sites()
    assert space.size > 10**40
    asked = configs(engine_of(space), 600, jobs)
    assert len(set(asked)) == 600
    assert all(space.config(config) == config for config in asked[:100])


def test_a_large_space_of_few_allowed_configs_comes_to_an_end(engine_of: Build) -> None:
    space = search_spaces.needle()
    asked = configs(engine_of(space), 1_000)
    assert asked[0] == space.default
    assert len(asked) == len(set(asked))
    assert all(space.allows(config) for config in asked)


@pytest.mark.parametrize("name", SMALL)
def test_every_config_keeps_conditions_and_constraints(engine_of: Build, name: str) -> None:
    space = SMALL[name]()
    for config in configs(engine_of(space, seed=5), 150, jobs=4):
        assert space.config(config) == config
        assert space.allows(config) or config == space.default


def test_usual_values_come_first_one_control_at_a_time(engine_of: Build) -> None:
    space = flat()
    opening = configs(engine_of(space), 13)[1:]
    for config in opening[:10]:
        ((name, value),) = space.changes(config).items()
        domain = space[name].domain
        assert domain.index(value) < domain.usual
    # Controls take turns: each of the four is among the first four.
    assert {next(iter(space.changes(config))) for config in opening[:4]} == set(flat().default)


def test_many_sites_do_not_use_up_a_small_budget(engine_of: Build) -> None:
    space = sites()
    asked = configs(engine_of(space), 120)
    assert len(asked) == 120
    assert sum(len(space.changes(config)) == 1 for config in asked[: 3 * 13]) <= 13
    # Kinds of decision take turns, so the few invocation-wide ones come early.
    early = {name for config in asked[1:13] for name in space.changes(config)}
    assert {"ptxas.level", "ptxas.registers"} <= early


def test_exotic_values_come_later(engine_of: Build) -> None:
    usual_count = 3
    domain = Choice(tuple(range(12)), usual_count=usual_count)
    space = Space(tuple(control(f"c{place}", domain, 0) for place in range(12)))
    asked = configs(engine_of(space), 1_000)

    def exotic(some: list[Config]) -> float:
        values = [int(value) for config in some for value in config.values()]
        return sum(value >= usual_count for value in values) / len(values)

    assert exotic(asked[:60]) < 0.1
    assert exotic(asked[-200:]) > 2 * exotic(asked[:60])


@pytest.mark.parametrize("space", [flat, sites], ids=["flat", "sites"])
def test_the_same_seed_and_sequence_give_the_same_configs(
    engine_of: Build, space: Callable[[], Space]
) -> None:
    one = configs(engine_of(space()), 200, jobs=3)
    two = configs(engine_of(space()), 200, jobs=3)
    other = configs(engine_of(space(), seed=2), 200, jobs=3)
    assert one == two
    assert one != other


def test_a_resumed_study_goes_on_as_if_nothing_had_happened(engine_of: Build) -> None:
    whole = list(run(engine_of(sites(40)), evaluations=200, jobs=4))
    stored: list[Trial] = pickle.loads(pickle.dumps(whole))[:120]  # noqa: S301 - our own bytes

    def replayed(number: int, config: Config) -> Trial:
        return stored[number] if number < len(stored) else ok(number, config)

    again = list(run(engine_of(sites(40)), replayed, evaluations=200, jobs=4))
    assert again == whole


def test_hash_seeds_do_not_change_the_search(engine_of: Build) -> None:
    name = next(name for name in ENGINES if isinstance(engine_of(flat()), _class_of(name)))
    script = (
        "from tests.helpers.search_spaces import run, sites\n"
        "from burnish.search.engine import make\n"
        f"engine = make({name!r}, sites(30), 3, ('cost',))\n"
        "print([sorted(trial.config.items()) for trial in run(engine, evaluations=150, jobs=2)])\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def _class_of(name: str) -> type[Engine]:
    return type(make(name, flat(), 0, ("cost",)))


@pytest.mark.parametrize(
    "status", [Status.REFUSED, Status.HANG, Status.DUPLICATE, Status.OVER_LIMIT]
)
def test_nothing_but_failures_or_duplicates_does_not_stop_a_search(
    engine_of: Build, status: Status
) -> None:
    def bad(number: int, config: Config) -> Trial:
        if number == 0:
            return replace(ok(0, config), binary="plain")
        figures = FrozenMap({"cost": 0.0}) if status is Status.DUPLICATE else FrozenMap[float]()
        return Trial(number, config, status, figures, binary="plain", duplicate_of=0)

    asked = list(run(engine_of(sites(20)), bad, evaluations=300, jobs=3))
    assert len({trial.config for trial in asked}) == 300


def test_a_figure_that_is_none_is_survived(engine_of: Build) -> None:
    def odd(number: int, config: Config) -> Trial:
        figures = [{"cost": float("nan")}, {"cost": float("inf")}, {}, {"cost": 1.0}][number % 4]
        return Trial(number, config, Status.OK, FrozenMap(figures))

    assert len(list(run(engine_of(flat()), odd, evaluations=60))) == 60


def test_a_config_that_was_told_without_asking_is_not_asked(engine_of: Build) -> None:
    space = flat()
    known = space.config({"level": 1, "registers": 16, "mode": "c"})
    engine = engine_of(space)
    engine.tell(Trial(0, known, Status.OK, FrozenMap({"cost": 1.0})))
    asked = configs(engine, 1_000)
    assert asked[0] == space.default
    assert set(asked) == every_config(space) - {known}


def test_long_domains_do_not_flood_the_opening(engine_of: Build) -> None:
    space = Space((control("seed", Range(0, 10**9), 0), control("flag", Choice((0, 1)), 0)))
    asked = configs(engine_of(space), 40)
    assert len(set(asked)) == 40
    assert any(config["flag"] == 1 for config in asked[:4])


def test_asking_and_telling_take_a_millisecond_at_most(engine_of: Build) -> None:
    engine, spent_ms = engine_of(sites()), []
    for number in range(2_000):
        before = time.process_time_ns()
        config = engine.ask()
        between = time.process_time_ns()
        assert config is not None
        trial = ok(number, config)
        told = time.process_time_ns()
        engine.tell(trial)
        spent_ms.append((between - before + time.process_time_ns() - told) / 1e6)
    # The better quarter: other programs on the machine slow the rest down.
    assert quantiles(islice(spent_ms, 1_000, None))[0] <= 1.0


def test_an_unknown_engine_is_a_usage_error_that_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="known: evolution, random"):
        make("annealing", flat(), 1, ("cost",))
