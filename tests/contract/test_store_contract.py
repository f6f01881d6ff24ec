import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.helpers.search_spaces import branching, flat, ok, run, sites

from burnish.errors import StoreError
from burnish.model.frozen import FrozenMap
from burnish.model.space import Config
from burnish.model.trial import Status, Trial
from burnish.search.engine import make
from burnish.store.store import Store, open_store
from burnish.store.study import Json, Study, StudyStatus

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["sqlite-file", "sqlite-memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    address = {"sqlite-file": f"sqlite:///{tmp_path / 'a' / 'b' / 'studies.sqlite'}"}
    with open_store(address.get(request.param, "sqlite://")) as opened:
        yield opened


def study(name: str = "stencil", **inputs: str) -> Study:
    said = {"kernel": "ptx:12ab", "space": "77", "toolchain": "ptxas 13.5.37", "seed": "1"}
    return Study(name, "stencil.ptx", "registers, spills", FrozenMap(said | inputs))


def trials(count: int = 30) -> list[Trial]:
    return list(run(make("random", flat(), 1, ("cost",)), evaluations=count))


def test_a_new_study_is_running_and_has_its_time(store: Store) -> None:
    before = datetime.now(UTC).isoformat(timespec="milliseconds")
    made = store.create(replace(study(), about=FrozenMap({"argv": ["tune", "x.ptx"], "jobs": 2})))
    assert made.status is StudyStatus.RUNNING
    assert before <= made.created <= datetime.now(UTC).isoformat()
    assert made.updated == made.created
    assert made.trials == 0
    assert made.inputs == study().inputs
    assert dict(made.about) == {"argv": ["tune", "x.ptx"], "jobs": 2}
    assert store.study("stencil") == made
    assert store.studies() == [made]


def test_creating_the_same_study_again_resumes_it(store: Store) -> None:
    made = store.create(study())
    store.append("stencil", trials())
    store.mark("stencil", "done")
    assert store.study("stencil").status is StudyStatus.DONE
    again = store.create(replace(study(), about=FrozenMap({"burnish": "9"}), kernel="copy.ptx"))
    assert again.status is StudyStatus.RUNNING
    assert (again.created, again.trials) == (made.created, 30)


def test_a_study_of_other_inputs_is_refused_and_every_difference_named(store: Store) -> None:
    store.create(study(limits="registers=64"))
    other = study(seed="2", toolchain="ptxas 13.3.73, " + "x" * 500, jobs="4")
    with pytest.raises(StoreError) as caught:
        store.create(other)
    message = str(caught.value)
    assert "seed was '1', is '2'" in message
    assert "toolchain was 'ptxas 13.5.37', is 'ptxas 13.3.73, xx" in message
    assert "jobs was not given, is '4'" in message
    assert "limits was 'registers=64', is not given" in message
    assert "kernel" not in message
    assert len(message) < 600
    assert store.study("stencil").inputs["seed"] == "1"


def test_trials_come_back_as_they_went_in_and_in_order(store: Store) -> None:
    store.create(study())
    stored = trials()
    store.append("stencil", stored[20:])
    store.append("stencil", stored[:20])
    assert store.trials("stencil") == stored
    assert store.trials("stencil", flat()) == stored
    assert store.study("stencil").trials == 30


values = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
words = st.text(min_size=1, max_size=8)
numbers = st.dictionaries(words, st.floats(allow_nan=False) | st.integers(0, 99).map(float))


@st.composite
def any_trials(draw: st.DrawFn) -> list[Trial]:
    names = draw(st.lists(words, max_size=5, unique=True))
    readable = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)
    return [
        Trial(
            number,
            Config({name: draw(values) for name in names}),
            draw(st.sampled_from(Status)),
            FrozenMap(draw(numbers)),
            draw(st.text("0123456789abcdef", max_size=64)),
            draw(st.none() | st.integers(0, 99)),
            draw(readable),
            draw(st.integers(0, 2**31 - 1)),
            FrozenMap(draw(numbers)),
        )
        for number in draw(st.lists(st.integers(0, 2**31 - 1), max_size=5, unique=True))
    ]


def exactly(trial: Trial) -> str:
    """What a trial is, types of values included: True, 1 and 1.0 are three values."""
    return repr(sorted(trial.config.items())) + repr(replace(trial, config=Config()))


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30
)
@given(any_trials())
def test_any_trial_survives(store: Store, stored: list[Trial]) -> None:
    name = f"study {time.perf_counter_ns()}"
    store.create(study(name))
    for trial in stored:
        store.append(name, [trial])
    back = store.trials(name)
    ordered = sorted(stored, key=lambda trial: trial.number)
    assert back == ordered
    assert list(map(exactly, back)) == list(map(exactly, ordered))


def test_messages_that_no_database_holds_are_bounded_and_cleaned(store: Store) -> None:
    store.create(study())
    wild = "error: \udcff\0" + "x" * 100_000
    store.append("stencil", [Trial(0, Config({"a": 1}), Status.REFUSED, message=wild)])
    (back,) = store.trials("stencil")
    assert back.message.startswith("error: ?\N{REPLACEMENT CHARACTER}xxx")
    assert back.message.endswith("x…")
    assert len(back.message) == 4_000


def test_a_flood_of_figures_is_bounded(store: Store) -> None:
    store.create(study())
    figures = FrozenMap({f"figure {number}": 1.0 for number in range(5_000)})
    store.append("stencil", [Trial(0, Config({"a": 1}), Status.OK, figures)])
    (back,) = store.trials("stencil")
    assert len(back.figures) == 100


def test_a_batch_is_stored_whole_or_not_at_all(store: Store) -> None:
    store.create(study())
    stored = trials()
    store.append("stencil", stored[:10])
    with pytest.raises(StoreError, match="has some of the trials 5 to 19 already: another"):
        store.append("stencil", [*stored[10:20], stored[5]])
    assert store.trials("stencil") == stored[:10]
    store.append("stencil", [])
    store.append("stencil", stored[10:])
    assert store.trials("stencil") == stored


def test_a_failed_first_batch_leaves_no_trace_in_later_ones(store: Store) -> None:
    store.create(study())
    with pytest.raises(StoreError):
        store.append("stencil", [Trial(0, Config({"a": 1, "b": 2}), Status.OK)] * 2)
    stored = [Trial(n, Config({"a": n, "b": 5}), Status.OK) for n in range(3)]
    store.append("stencil", stored)
    assert store.trials("stencil") == stored


def test_two_studies_keep_apart(store: Store) -> None:
    one, two = trials(), list(run(make("random", branching(), 1, ("cost",)), evaluations=9))
    store.create(study("one"))
    store.create(study("two", seed="2"))
    store.append("one", one)
    store.append("two", two)
    store.record("one", "verdict", "BETTER")
    assert store.trials("one", flat()) == one
    assert store.trials("two", branching()) == two
    assert store.records("two", "verdict") == []
    assert [item.name for item in store.studies()] == ["one", "two"]


def test_trials_of_another_space_are_refused(store: Store) -> None:
    store.create(study())
    store.append("stencil", trials())
    with pytest.raises(StoreError, match="trial 0 of study 'stencil' is of another space"):
        store.trials("stencil", branching())


def test_an_unknown_study_is_named_with_its_likes(store: Store) -> None:
    with pytest.raises(StoreError, match="no study 'stencil'; it has none yet"):
        store.study("stencil")
    store.create(study("stencil-2"))
    hint = "no study 'stencil'; it has 'stencil-2'"
    with pytest.raises(StoreError, match=hint):
        store.study("stencil")
    with pytest.raises(StoreError, match=hint):
        store.append("stencil", trials())
    with pytest.raises(StoreError, match=hint):
        store.trials("stencil")
    with pytest.raises(StoreError, match=hint):
        store.mark("stencil", "done")
    with pytest.raises(StoreError, match=hint):
        store.record("stencil", "verdict", {})


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\0", "\udcff", "x" * 201])
def test_a_name_that_cannot_be_typed_is_refused(name: str) -> None:
    with pytest.raises(StoreError, match="printable characters"):
        study(name)


def test_records_keep_their_kind_and_order(store: Store) -> None:
    store.create(study())
    rounds: Json = {"finalist": 3, "baseline_us": [99.5, 99.25], "ok": True, "note": None}
    store.record("stencil", "rounds", rounds)
    store.record("stencil", "verdict", {"outcome": "BETTER", "interval": (1.1, 1.25)})
    store.record("stencil", "rounds", FrozenMap({"finalist": 4}))
    assert store.records("stencil", "rounds") == [rounds, {"finalist": 4}]
    assert store.records("stencil", "verdict") == [{"outcome": "BETTER", "interval": [1.1, 1.25]}]
    assert store.records("stencil", "nothing") == []


def test_what_is_not_json_is_refused(store: Store) -> None:
    store.create(study())
    with pytest.raises(StoreError, match="cannot be stored as JSON"):
        store.record("stencil", "verdict", {"a": object()})  # type: ignore[dict-item]
    assert store.records("stencil", "verdict") == []


def test_every_change_moves_the_time_of_the_study(store: Store) -> None:
    seen = [store.create(study()).updated]
    stored = trials(3)
    changes: list[Callable[[], None]] = [
        lambda: store.append("stencil", stored),
        lambda: store.record("stencil", "verdict", "SAME"),
        lambda: store.mark("stencil", "interrupted"),
    ]
    for change in changes:
        time.sleep(0.002)
        change()
        seen.append(store.study("stencil").updated)
    assert seen == sorted(set(seen))


def test_storing_a_trial_takes_milliseconds_at_most(store: Store) -> None:
    store.create(study())
    engine, spent_ms = make("evolution", sites(), 1, ("cost",)), []
    for trial in run(engine, ok, evaluations=300):
        before = time.process_time_ns()
        store.append("stencil", [trial])
        spent_ms.append((time.process_time_ns() - before) / 1e6)
    # 0.7 ms where nothing else runs; the better quarter, and room for a busy machine.
    assert quantiles(spent_ms)[0] <= 3.0


WRITER = """
import sys
from burnish.store.store import open_store
from burnish.model.trial import Trial
from tests.contract.test_store_contract import study
from tests.helpers.search_spaces import run, sites
from burnish.search.engine import make
address, name, batch, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with open_store(address) as store:
    done = store.create(study(name)).trials
    made = list(run(make("random", sites(20), 1, ("cost",)), evaluations=count))
    for start in range(done, count, batch):
        store.append(name, made[start : start + batch])
        print(start + batch, flush=True)
    store.mark(name, "done")
"""


def writer(address: str, name: str, batch: int, count: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, address, name, str(batch), str(count)],
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_killed_writer_leaves_whole_batches_and_can_go_on(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'studies.sqlite'}"
    said = 0
    for batches in (3, 9, 2):
        with writer(address, "killed", 7, 700) as process:
            assert process.stdout is not None
            for _ in range(batches):
                said = int(process.stdout.readline())
            process.kill()
        with open_store(address) as store:
            stored = store.trials("killed", sites(20))
            assert len(stored) % 7 == 0
            assert len(stored) >= said
            assert [trial.number for trial in stored] == list(range(len(stored)))
            assert store.study("killed").status is StudyStatus.RUNNING
    made = list(run(make("random", sites(20), 1, ("cost",)), evaluations=700))
    with open_store(address) as store:
        done = store.create(study("killed")).trials
        store.append("killed", made[done:])
        assert store.trials("killed") == made


def test_processes_write_two_studies_of_one_new_file_at_once(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'new' / 'studies.sqlite'}"
    started = [writer(address, name, 1, 100) for name in ("one", "two", "three")]
    for process in started:
        process.communicate(timeout=60)
        assert process.returncode == 0
    with open_store(address) as store:
        for name in ("one", "two", "three"):
            assert [trial.number for trial in store.trials(name)] == list(range(100))
            assert store.study(name).status is StudyStatus.DONE


def test_figures_are_plain_json_for_other_programs(tmp_path: Path) -> None:
    file = tmp_path / "studies.sqlite"
    with open_store(f"sqlite:///{file}") as store:
        store.create(study())
        store.append("stencil", trials(3))
        with store._engine.begin() as connection:  # noqa: SLF001 - what sqlite3 would see
            rows = connection.exec_driver_sql(
                "SELECT changes, figures FROM burnish_trials ORDER BY number"
            ).all()
    assert json.loads(rows[0][0]) == {}
    assert json.loads(rows[1][0]) == flat().changes(trials(3)[1].config)
    assert set(json.loads(rows[1][1])) == {"cost"}
