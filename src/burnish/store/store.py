"""The store: studies with their trials and verdicts, in SQLite or PostgreSQL."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine, Select, func, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from burnish.errors import SpaceError, StoreError
from burnish.model.control import Value
from burnish.model.space import Space
from burnish.model.trial import Trial
from burnish.store.database import connect, prepare, writing
from burnish.store.problems import explained
from burnish.store.rows import clean, dumped, loaded, now, row_of, study_from, trial_from
from burnish.store.study import Json, Study, StudyStatus, differing
from burnish.store.tables import RECORDS, STUDIES, TRIALS

__all__ = ["Store", "open_store"]

_NO_BASE = "{}"
_INSERT = TRIALS.insert()


def open_store(address: str) -> "Store":
    """Open the database at an address, and make it where there is none.

    Args:
        address: ``sqlite:///FILE``, ``sqlite://`` (in memory) or ``postgresql://HOST/DATABASE``.

    Raises:
        StoreError: The address is wrong, the database cannot be used, or is not ours.
    """
    engine = connect(address)
    try:
        prepare(engine, engine.url.render_as_string(hide_password=True))
    except StoreError:
        engine.dispose()
        raise
    return Store(engine)


class Store:
    """Studies, their trials, and records of what was concluded.

    Every call is one transaction: after a crash or a power cut there are whole trials only.
    Several processes may use one database, each writing its own study. Not for sharing
    between threads where the database is in memory.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writer = writing(engine)
        self._address = engine.url.render_as_string(hide_password=True)
        self._bases: dict[str, dict[str, Value]] = {}

    def create(self, study: Study) -> Study:
        """Store a study, or go on with the stored one of that name; it is RUNNING then.

        Returns:
            The study as it is stored.

        Raises:
            StoreError: The stored study of that name has other inputs; the message names them.
        """
        created = now()
        row = {
            "name": study.name,
            "kernel": clean(study.kernel),
            "objective": clean(study.objective),
            "inputs": dumped(study.inputs),
            "about": dumped(study.about),
            "status": StudyStatus.RUNNING.value,
            "created": created,
            "updated": created,
            "base": _NO_BASE,
        }
        try:
            with self._transaction(write=True) as connection:
                connection.execute(STUDIES.insert().values(row))
        except IntegrityError:
            self._check_same(study)
            self.mark(study.name, StudyStatus.RUNNING)
        return self.study(study.name)

    def study(self, name: str) -> Study:
        """The study of that name.

        Raises:
            StoreError: There is none.
        """
        with self._transaction() as connection:
            row = connection.execute(_studies().where(STUDIES.c.name == name)).mappings().first()
            if row is None:
                raise self._unknown(connection, name)
            return study_from(row)

    def studies(self) -> list[Study]:
        """All studies, the oldest first."""
        with self._transaction() as connection:
            ordered = _studies().order_by(STUDIES.c.created, STUDIES.c.name)
            return [study_from(row) for row in connection.execute(ordered).mappings()]

    def mark(self, name: str, status: str) -> None:
        """Say how far a study is.

        Args:
            name: The study.
            status: A `StudyStatus`.

        Raises:
            StoreError: There is no such study.
        """
        with self._transaction(write=True) as connection:
            self._touch(connection, name, status=StudyStatus(status).value)

    def append(self, name: str, trials: Sequence[Trial]) -> None:
        """Store trials: all of them or, on an error, none.

        Raises:
            StoreError: There is no such study, or it has a trial of one of those numbers.
        """
        if not trials:
            return
        try:
            with self._transaction(write=True) as connection:
                base = self._bases.get(name) or self._base(connection, name, trials[0])
                connection.execute(_INSERT, [row_of(name, trial, base) for trial in trials])
        except IntegrityError:
            numbers = sorted(trial.number for trial in trials)
            raise StoreError(
                f"study {name!r} has some of the trials {numbers[0]} to {numbers[-1]} already: "
                "another process is running it; wait for that one, or name another study"
            ) from None
        self._bases[name] = base

    def trials(self, name: str, space: Space | None = None) -> list[Trial]:
        """All trials of a study, by number, equal to what was stored.

        Args:
            name: The study.
            space: Where the configs must lie, if given.

        Raises:
            StoreError: There is no such study, or a config does not lie in the space.
        """
        with self._transaction() as connection:
            base = self._stored_base(connection, name)
            chosen = select(TRIALS).where(TRIALS.c.study == name).order_by(TRIALS.c.number)
            found = [trial_from(row, base) for row in connection.execute(chosen).mappings()]
        if space is not None:
            _check_space(name, found, space)
        return found

    def record(self, name: str, kind: str, body: Json) -> None:
        """Keep something that was found out about a study: a verdict, rounds, a finalist.

        Raises:
            StoreError: There is no such study, or the body is not JSON.
        """
        row = {"study": name, "kind": kind, "made": now(), "body": dumped(body)}
        with self._transaction(write=True) as connection:
            self._touch(connection, name)
            connection.execute(RECORDS.insert().values(row))

    def records(self, name: str, kind: str) -> list[Json]:
        """What was recorded of that kind, in that order."""
        chosen = select(RECORDS.c.body).where(RECORDS.c.study == name, RECORDS.c.kind == kind)
        with self._transaction() as connection:
            return [loaded(text) for text in connection.scalars(chosen.order_by(RECORDS.c.id))]

    def close(self) -> None:
        """Close every connection; the store must not be used after that."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _transaction(self, *, write: bool = False) -> Iterator[Connection]:
        try:
            with (self._writer if write else self._engine).begin() as connection:
                yield connection
        except IntegrityError:
            raise
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise explained(error, self._address) from error

    def _check_same(self, study: Study) -> None:
        different = differing(self.study(study.name), study)
        if different:
            raise StoreError(
                f"study {study.name!r} was made with other inputs: {'; '.join(different)}. "
                "Name another study (--study), or start it with the same inputs"
            )

    def _touch(self, connection: Connection, name: str, **changes: str) -> None:
        update = STUDIES.update().where(STUDIES.c.name == name)
        if not connection.execute(update.values(updated=now(), **changes)).rowcount:
            raise self._unknown(connection, name)

    def _stored_base(self, connection: Connection, name: str) -> dict[str, Value]:
        text = connection.scalar(select(STUDIES.c.base).where(STUDIES.c.name == name))
        if text is None:
            raise self._unknown(connection, name)
        base = loaded(text)
        assert isinstance(base, dict)
        return base

    def _base(self, connection: Connection, name: str, first: Trial) -> dict[str, Value]:
        base = self._stored_base(connection, name)
        if not base:
            base = dict(first.config)
            self._touch(connection, name, base=dumped(base))
        return base

    def _unknown(self, connection: Connection, name: str) -> StoreError:
        known = list(connection.scalars(select(STUDIES.c.name).order_by(STUDIES.c.created)))
        close = get_close_matches(name, known, n=3, cutoff=0.4) or known[-3:]
        hint = f"it has {', '.join(map(repr, close))}" if close else "it has none yet"
        return StoreError(f"{self._address}: no study {name!r}; {hint} (burnish studies)")


def _studies() -> Select[tuple[object, ...]]:
    mine = TRIALS.c.study == STUDIES.c.name
    count = select(func.count()).select_from(TRIALS).where(mine).scalar_subquery()
    latest = select(func.max(TRIALS.c.made)).where(mine).scalar_subquery()
    return select(STUDIES, count.label("trials"), latest.label("latest"))


def _check_space(name: str, trials: Sequence[Trial], space: Space) -> None:
    for trial in trials:
        try:
            same = space.config(trial.config) == trial.config
        except SpaceError as error:
            raise StoreError(
                f"trial {trial.number} of study {name!r} is of another space: {error}"
            ) from None
        if not same:
            raise StoreError(f"trial {trial.number} of study {name!r} is of another space")
