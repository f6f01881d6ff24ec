"""What somebody found before is tried first."""

from pathlib import Path

import pytest

from burnish.acf.model import Acf, Evidence, Tuned, TunedCode
from burnish.acf.write import save
from burnish.errors import AcfError, UsageError
from burnish.model.control import Choice, Control, Layer, Range, Risk, Value
from burnish.model.frozen import FrozenMap
from burnish.model.space import Space
from burnish.model.verdict import Outcome
from burnish.search.engine import ENGINES, make
from burnish.search.start import HeadStart
from burnish.tuning.start import starting_configs


def control(name: str, domain: Choice | Range) -> Control:
    return Control(name, Layer.USER, domain, domain.at(0), Risk.EXACT, "for tests", "none")


SPACE = Space((control("a", Range(0, 5)), control("b", Choice(("x", "y", "z")))))


def block(entry: str, **controls: Value) -> Tuned:
    return Tuned(
        key="ptx:" + "0" * 64,
        entry=entry,
        arch="sm_90",
        baseline_compiler="ptxas 13.5.37",
        baseline_options=(),
        code=TunedCode("ptxas 13.5.37", (), "0" * 64),
        controls=FrozenMap(controls),
        evidence=Evidence(Outcome.BETTER, "registers", 2.0, 1.0),
    )


def file_of(tmp_path: Path, *blocks: Tuned) -> Path:
    save(Acf(blocks), tmp_path / "a.acf")
    return tmp_path / "a.acf"


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_given_configs_come_after_the_default_and_no_config_comes_twice(engine: str) -> None:
    given = [SPACE.config({"a": 4, "b": "z"}), SPACE.default, SPACE.config({"a": 1})]
    search = HeadStart(make(engine, SPACE, 1, ("registers",)), given)
    asked = []
    while (config := search.ask()) is not None:
        asked.append(config)
    assert asked[:3] == [SPACE.default, given[0], given[2]]
    assert len(asked) == len(set(asked)) == SPACE.size


def test_without_any_the_engine_is_asked_alone() -> None:
    alone, engine = (make("evolution", SPACE, 1, ("registers",)) for _ in range(2))
    search = HeadStart(engine, ())
    assert [search.ask() for _ in range(19)] == [alone.ask() for _ in range(19)]


def test_decisions_that_cannot_be_made_here_are_left_out(tmp_path: Path) -> None:
    file = file_of(tmp_path, block("k", a=3, b="q", c=7), block("other", a=5))
    assert starting_configs([file], "k", SPACE) == (SPACE.config({"a": 3}),)


def test_a_file_of_another_kernel_counts_where_there_is_no_better_one(tmp_path: Path) -> None:
    file = file_of(tmp_path, block("one", a=3), block("two", b="y"))
    assert len(starting_configs([file], "k", SPACE)) == 2


def test_a_file_that_says_nothing_here_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a\.acf: none of its decisions can be made here"):
        starting_configs([file_of(tmp_path, block("k", c=7))], "k", SPACE)
    with pytest.raises(UsageError, match=r"nope\.acf: no such file"):
        starting_configs([tmp_path / "nope.acf"], "k", SPACE)
    (tmp_path / "bad.acf").write_text("bad\n")
    with pytest.raises(AcfError, match=r"bad\.acf"):
        starting_configs([tmp_path / "bad.acf"], "k", SPACE)
