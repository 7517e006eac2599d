"""What is done around each transaction on an SQLite file so that nothing acknowledged is lost.

Before a transaction begins, once it has the lock, and after its commit, the files are compared with
those that the connection has open. Now and then the log is copied into the database (a checkpoint),
so that the one file holds everything also while programs have it open.
"""

import contextlib
import ctypes
import os
import sqlite3
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, final

import sqlalchemy as sa

from ceibo.errors import MovedDatabaseError
from ceibo.study.store.engines import BUSY_SECONDS, KeptConnection, set_patience
from ceibo.study.store.failures import Raced
from ceibo.study.store.sqlitefile import SqliteFile, State

SHORTEST_REST = 0.2
"""Seconds between two checkpoints at least."""
LARGEST_SHARE = 0.02
"""Share of the time that checkpoints may take."""
# Files of which this process has an outdated log or index open, which it can no longer close.
_outdated: set[Path] = set()


@final
class Keeper:
    """Watches over the files of one SQLite database; used by one thread at a time."""

    def __init__(self, file: SqliteFile) -> None:
        self.file = file
        self._lost: MovedDatabaseError | None = None
        self._due = 0.0
        self._rest = SHORTEST_REST

    def before(self, connection: sa.Connection, write: bool) -> None:
        """Check the files of a connection outside a transaction.

        A file that is no longer there can still be read. Raises `Raced` where another attempt,
        with a new connection, will do.
        """
        if self._lost is not None:
            raise self._lost
        if self.file.path in _outdated:
            raise self.file.lost_log()
        state = self.file.compare(connection.info)
        if state is State.SAME or (state is State.MOVED and not write):
            return
        if state is State.MOVED:
            self._copy_moved(_raw(connection))
            raise self.file.moved()
        if state is State.OUTDATED:
            connection.invalidate()
            raise Raced
        self._lost = self.file.lost_log()
        self._part(connection, state)
        raise self._lost

    def _part(self, connection: sa.Connection, state: State) -> None:
        """Give up a connection whose log or index was removed.

        As long as nobody has made others, what they hold is copied into the database. Nobody goes
        on after that: two processes with different indexes would not see each other's locks.
        """
        raw = _raw(connection)
        if state is State.REMOVED:
            with contextlib.suppress(sqlite3.Error):
                _copy_log(raw, "FULL", BUSY_SECONDS)
        else:
            _abandon(raw)
            _outdated.add(self.file.path)
        connection.invalidate()

    def inside(self, connection: sa.Connection) -> None:
        """Check the files once a transaction has the lock; otherwise it must begin again."""
        self.file.note(connection.info)
        if self.file.compare(connection.info) is not State.SAME:
            raise Raced

    def after(self, connection: sa.Connection) -> None:
        """Check the files after a commit, and copy the log into the database if that is due."""
        self.before(connection, write=True)
        begin = time.monotonic()
        if begin < self._due:
            return
        with contextlib.suppress(OSError, sqlite3.Error):
            # A process that has just copied it has changed the file.
            if abs(time.time() - os.stat(self.file.path).st_mtime) >= self._rest:
                _copy_log(_raw(connection), "FULL", 0)
        end = time.monotonic()
        self._rest = max(SHORTEST_REST, (end - begin) / LARGEST_SHARE)
        self._due = end + self._rest

    def forget(self) -> None:
        """Accept whatever lies at the path from now on."""
        self._lost = None
        self.file.forget()

    def let_go(self, engine: sa.Engine, copy: bool) -> None:
        """Close the connections, after copying the log into the database if `copy`.

        The connections to a file that was deleted are its last trace, and stay open.
        """
        with contextlib.suppress(sa.exc.DBAPIError, sqlite3.Error):
            self._prepare_to_close(engine, copy)
        if not self.file.is_moved:
            engine.dispose()

    def _prepare_to_close(self, engine: sa.Engine, copy: bool) -> None:
        if not _idle(engine):
            return
        with engine.connect() as connection:
            raw = _raw(connection)
            state = self.file.compare(connection.info)
            if state in (State.REMOVED, State.RENEWED):
                self._part(connection, state)
            elif state is State.MOVED:
                self._copy_moved(raw)
            elif copy:
                _copy_log(raw, "TRUNCATE", 1)

    def _copy_moved(self, raw: sqlite3.Connection) -> None:
        """Complete a file that was renamed: what its log holds would stay under the old name.

        A file that took its place goes on with the log, which therefore stays as it is.
        """
        if not self.file.path.exists():
            with contextlib.suppress(sqlite3.Error):
                _copy_log(raw, "FULL", 1)


def use_log(engine: sa.Engine, turn: AbstractContextManager[object]) -> None:
    """Switch a new SQLite file to its write-ahead log."""
    with turn:
        raw = engine.raw_connection()
        try:
            cursor = raw.cursor()
            cursor.execute("PRAGMA journal_mode")
            if cursor.fetchone() != ("wal",):
                cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_READONLY"):
                raise  # a read-only file can still be read as it is
        finally:
            raw.close()


def _idle(engine: sa.Engine) -> int:
    """How many connections wait in the pool."""
    pool: Any = engine.pool
    count: int = pool.checkedin()
    return count


def _raw(connection: sa.Connection) -> KeptConnection:
    raw = connection.connection.driver_connection
    assert isinstance(raw, KeptConnection)
    return raw


def _copy_log(raw: sqlite3.Connection, mode: str, seconds: float) -> None:
    set_patience(raw, seconds)
    try:
        raw.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()
    finally:
        set_patience(raw, BUSY_SECONDS)


def _abandon(raw: KeptConnection) -> None:
    """Leave a connection open for good: closing it would copy an outdated log over the database."""
    raw.abandoned = True
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(raw))
