import sqlite3
import sys
from pathlib import Path

import pytest
from sqlalchemy import event

from burnish.errors import StoreError
from burnish.model.frozen import FrozenMap
from burnish.model.space import Config
from burnish.model.trial import Status, Trial
from burnish.store.database import connect, prepare
from burnish.store.store import Store, open_store
from burnish.store.study import Study

STUDY = Study("a", "k.ptx", "registers", FrozenMap({"seed": "1"}))


def refusal(address: str) -> str:
    with pytest.raises(StoreError) as caught, open_store(address) as store:
        store.create(STUDY)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("studies.sqlite", "write sqlite:///studies.sqlite"),
        ("sqlite", "write sqlite:///sqlite"),
        ("", "write sqlite:///FILE"),
        ("mysql://host/db", "use sqlite:///FILE or postgresql://HOST/DATABASE"),
        ("sqlite://studies.sqlite", "write sqlite:///FILE, with three slashes"),
        ("sqlite:///a\0b", "write sqlite:///FILE"),
        ("sqlite:////dev/full", "the disk is full"),
        ("sqlite:////dev/null/a/studies.sqlite", "folder /dev/null/a cannot be made"),
        ("sqlite:////proc/burnish/studies.sqlite", "folder /proc/burnish cannot be made"),
    ],
)
def test_an_address_that_cannot_be_used_says_what_to_do(address: str, says: str) -> None:
    assert says in refusal(address)


def test_a_missing_folder_is_made(tmp_path: Path) -> None:
    file = tmp_path / "x" / "y" / "studies.sqlite"
    with open_store(f"sqlite:///{file}") as store:
        store.create(STUDY)
    assert file.exists()
    with open_store(f"sqlite:///{file}") as store:
        assert [study.name for study in store.studies()] == ["a"]
    assert [path.name for path in file.parent.iterdir()] == ["studies.sqlite"]


@pytest.mark.parametrize("name", ["50% of it", "what?", "a#b", "ä b.sqlite", "a%3Fb?mode=ro"])
def test_a_path_is_taken_as_it_is(tmp_path: Path, name: str) -> None:
    with open_store(f"sqlite:///{tmp_path}/{name}") as store:
        store.create(STUDY)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    assert "cannot be opened" in refusal(f"sqlite:///{tmp_path}")


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("dear diary " * 100)
    assert "is not a database; name another file" in refusal(f"sqlite:///{file}")
    assert file.read_text() == "dear diary " * 100


def test_a_database_cut_in_half_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "studies.sqlite"
    with open_store(f"sqlite:///{file}") as store:
        store.create(STUDY)
        store.append("a", [Trial(n, Config({"c": "x" * 900}), Status.OK) for n in range(200)])
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with (
        pytest.raises(StoreError, match="is damaged; move it away"),
        open_store(f"sqlite:///{file}") as store,
    ):
        store.trials("a")


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "other.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE studies (id INTEGER)")
    connection.close()
    assert "belongs to another program" in refusal(f"sqlite:///{file}")
    with sqlite3.connect(file) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
    connection.close()
    assert tables == [("studies",)]


@pytest.mark.parametrize(
    ("number", "advice"), [(2, "update Burnish"), (0, "use the Burnish it is of")]
)
def test_another_schema_is_refused_with_what_to_do(
    tmp_path: Path, number: int, advice: str
) -> None:
    file = tmp_path / "studies.sqlite"
    open_store(f"sqlite:///{file}").close()
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE burnish_schema SET number = ?", [number])
    connection.close()
    message = refusal(f"sqlite:///{file}")
    assert f"has schema {number}, and this Burnish reads 1; {advice}" in message


def test_a_read_only_database_can_be_listed_and_not_written(tmp_path: Path) -> None:
    file = tmp_path / "studies.sqlite"
    with open_store(f"sqlite:///{file}") as store:
        store.create(STUDY)
    address = f"sqlite:///file:{file}?mode=ro&uri=true"
    with open_store(address) as store:
        assert [study.name for study in store.studies()] == ["a"]
        with pytest.raises(StoreError, match="is read-only"):
            store.append("a", [Trial(0, Config({"c": 1}), Status.OK)])


def fill(store: Store) -> None:
    for number in range(1_000):
        store.append("a", [Trial(number, Config({"c": str(number) * 300}), Status.OK)])


def test_a_disk_that_fills_up_loses_nothing_that_was_stored(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'studies.sqlite'}"
    engine = connect(address)
    # The disk of this connection has 30 pages.
    event.listen(engine, "connect", lambda c, _: c.execute("PRAGMA max_page_count = 30"))
    prepare(engine, address)
    with Store(engine) as store:
        store.create(STUDY)
        with pytest.raises(StoreError, match="the disk is full; free some space"):
            fill(store)
        kept = store.trials("a")
    with open_store(address) as store:
        assert 5 < len(kept) < 1_000
        assert store.trials("a") == kept
        store.append("a", [Trial(len(kept), Config({"c": "more"}), Status.OK)])


def test_a_database_that_another_program_holds_is_said_to_be_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "studies.sqlite"
    open_store(f"sqlite:///{file}").close()
    monkeypatch.setattr("burnish.store.database._BUSY_S", 0.05)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert "is locked by another program" in refusal(f"sqlite:///{file}")
    other.close()


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_postgresql_without_its_driver_says_what_to_install(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    message = refusal(f"{scheme}://me:secret@host/db")
    assert "pip install burnish[postgres]" in message
    assert "secret" not in message
