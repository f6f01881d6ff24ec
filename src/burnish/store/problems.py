"""What a database said, as one line that says what to do."""

import sqlite3

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from burnish.errors import StoreError

__all__ = ["explained"]

# By the first two words of SQLite's name for the error.
_SQLITE = {
    "SQLITE_BUSY": "is locked by another program; end that one, or name another database",
    "SQLITE_CANTOPEN": "cannot be opened; name a file in a folder that you can write to",
    "SQLITE_CORRUPT": "is damaged; move it away, or name another file",
    "SQLITE_FULL": "cannot grow: the disk is full; free some space, and resume the study",
    "SQLITE_IOERR": "cannot be read or written: the disk failed or is full; check it",
    "SQLITE_LOCKED": "is locked by another program; end that one, or name another database",
    "SQLITE_NOTADB": "is not a database; name another file",
    "SQLITE_PERM": "may not be opened; name a file that you can write to",
    "SQLITE_READONLY": "is read-only; name a file in a folder that you can write to",
}


def explained(error: SQLAlchemyError | sqlite3.Error, address: str) -> StoreError:
    """The error to raise instead, with the database's address."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    name = getattr(cause, "sqlite_errorname", "")
    known = _SQLITE.get("_".join(str(name).split("_")[:2]))
    if known:
        return StoreError(f"{address}: {known} (--store)")
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    said = lines[0] if lines else type(cause).__name__
    return StoreError(f"{address}: {said}; check the address (--store)")
