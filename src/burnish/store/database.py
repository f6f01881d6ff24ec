"""Opens a database: its address, its settings, and whether its schema is ours."""

import sqlite3
import time
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, event, inspect, select
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, IntegrityError, ProgrammingError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from burnish.errors import StoreError
from burnish.store.problems import explained
from burnish.store.tables import METADATA, SCHEMA, SCHEMA_NUMBER

__all__ = ["connect", "prepare", "writing"]

_BUSY_S = 30.0
_WAL_TRIES = 100
_WRITES = "burnish_writes"


def connect(address: str) -> Engine:
    """An engine for ``sqlite:///FILE``, ``sqlite://`` (memory) or ``postgresql://…``.

    The file's folder is made where it is missing. Nothing is read yet.

    Raises:
        StoreError: The address is none of these, the driver is missing, or there is no folder.
    """
    url = _url(address)
    if url.get_backend_name() == "sqlite":
        return _sqlite(url)
    try:
        return create_engine(url, pool_pre_ping=True)
    except ModuleNotFoundError:
        shown = url.render_as_string(hide_password=True)
        raise StoreError(
            f"{shown}: PostgreSQL needs a driver; pip install burnish[postgres]"
        ) from None


def prepare(engine: Engine, address: str) -> None:
    """Make the tables where there are none.

    Raises:
        StoreError: The tables are of another schema or another program, or the database fails.
    """
    try:
        if not _look(engine, address):
            _make_tables(engine, address)
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise explained(error, address) from error


def writing(engine: Engine) -> Engine:
    """The engine, whose transactions take the writer's lock of SQLite at their start.

    A transaction that reads first and writes later fails at once where another one wrote in
    between, however long it is willing to wait.
    """
    return engine.execution_options(**{_WRITES: True})


def _url(address: str) -> URL:
    scheme, mark, rest = address.partition("://")
    if mark and scheme == "sqlite" and not rest.startswith("/file:"):
        # A path is taken as it is: a ? or % in it is a character, not an option.
        if "\0" in rest or not (rest == "" or rest.startswith("/")):
            raise StoreError(f"{address!r}: write sqlite:///FILE, with three slashes")
        return URL.create("sqlite", database=rest[1:] or None)
    try:
        url = make_url(address)
    except ArgumentError:
        raise StoreError(
            f"{address!r} is no address of a database; write sqlite:///{address or 'FILE'}"
        ) from None
    if url.drivername in {"postgres", "postgresql"}:
        return url.set(drivername="postgresql+psycopg")
    if url.drivername not in {"sqlite", "postgresql+psycopg"}:
        raise StoreError(f"{url.drivername}: use sqlite:///FILE or postgresql://HOST/DATABASE")
    return url


def _sqlite(url: URL) -> Engine:
    file = url.database or ""
    if file in {"", ":memory:"}:
        engine = create_engine(url, poolclass=StaticPool, connect_args={"check_same_thread": False})
    else:
        if not file.startswith("file:"):
            _make_folder(Path(file).parent, url)
        engine = create_engine(url, connect_args={"timeout": _BUSY_S})
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _make_folder(folder: Path, url: URL) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{url}: folder {folder} cannot be made ({error.strerror}); name another (--store)"
        ) from None


def _set_up(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    assert isinstance(connection, sqlite3.Connection)
    # Transactions begin where `_begin` says, not where the driver thinks.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")
    _use_wal(connection)
    # Enough for a process that is killed; after a power cut the latest trials may be gone,
    # but what is there is whole.
    connection.execute("PRAGMA synchronous = NORMAL")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Readers and a writer at once; SQLite does not wait when two processes switch to it."""
    for attempt in range(_WAL_TRIES):
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or attempt == _WAL_TRIES - 1:
                raise
            time.sleep(0.02)
        else:
            return


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    driven = connection.connection.driver_connection
    assert isinstance(driven, sqlite3.Connection)
    driven.execute("BEGIN IMMEDIATE" if writes else "BEGIN")


def _make_tables(engine: Engine, address: str) -> None:
    try:
        with writing(engine).begin() as connection:
            if not _is_ready(connection, address):
                METADATA.create_all(connection)
                connection.execute(SCHEMA.insert().values(number=SCHEMA_NUMBER))
    except (IntegrityError, ProgrammingError):  # PostgreSQL: another process was faster
        if not _look(engine, address):
            raise


def _look(engine: Engine, address: str) -> bool:
    with engine.begin() as connection:
        return _is_ready(connection, address)


def _is_ready(connection: Connection, address: str) -> bool:
    tables = set(inspect(connection).get_table_names())
    if SCHEMA.name not in tables:
        if tables and connection.dialect.name == "sqlite":
            raise StoreError(f"{address}: belongs to another program; name another file (--store)")
        return False
    number = connection.execute(select(SCHEMA.c.number)).scalar()
    if number != SCHEMA_NUMBER:
        raise StoreError(
            f"{address}: has schema {number}, and this Burnish reads {SCHEMA_NUMBER}; "
            f"{'update Burnish' if (number or 0) > SCHEMA_NUMBER else 'use the Burnish it is of'}"
            ", or name another database (--store)"
        )
    return True
