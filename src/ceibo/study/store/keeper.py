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
import warnings
from typing import Any, final

import sqlalchemy as sa

from ceibo.errors import MovedDatabaseError, StorageWarning
from ceibo.study.store.engines import BUSY_SECONDS, KeptConnection, set_patience
from ceibo.study.store.failures import Raced
from ceibo.study.store.sqlitefile import SqliteFile, State

SHORTEST_REST = 0.2
"""Seconds between two checkpoints at least."""
LARGEST_SHARE = 0.02
"""Share of the time that checkpoints may take."""


@final
class Keeper:
    """Watches over the files of one SQLite database; used by one thread at a time."""

    def __init__(self, file: SqliteFile) -> None:
        self.file = file
        self._lost: MovedDatabaseError | None = None
        self._due = 0.0
        self._rest = SHORTEST_REST

    def before(self, connection: sa.Connection) -> None:
        """Check the files of a connection outside a transaction, and mend what can be mended.

        Raises `Raced` where another attempt, with a new connection, will do.
        """
        if self._lost is not None:
            raise self._lost
        state = self.file.compare(connection.info)
        if state is State.SAME:
            return
        raw = _raw(connection)
        if state is State.MOVED:
            self._copy_moved(raw)
            raise self.file.moved()
        if state is State.REMOVED:
            _copy_log(raw, "FULL", BUSY_SECONDS)
            warnings.warn(
                f"{self.file.log.name} or {self.file.index.name} was removed while"
                f" {self.file.shown} was open. They belong to it: what they held has been written"
                " into the database, but another time it may be lost.",
                StorageWarning,
                stacklevel=2,
            )
        if state in (State.NEW_LOG, State.NEW_INDEX):
            _abandon(raw)
        connection.invalidate()
        if state is State.NEW_INDEX:
            # SQLite would go on with the old index as long as this process lives.
            self._lost = self.file.lost_index()
            raise self._lost
        raise Raced

    def inside(self, connection: sa.Connection) -> None:
        """Check the files once a transaction has the lock; otherwise it must begin again."""
        self.file.note(connection.info)
        if self.file.compare(connection.info) is not State.SAME:
            raise Raced

    def after(self, connection: sa.Connection) -> None:
        """Check the files after a commit, and copy the log into the database if that is due."""
        self.before(connection)
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
            if state in (State.NEW_LOG, State.NEW_INDEX):
                _abandon(raw)
                connection.invalidate()
            elif state is State.MOVED:
                self._copy_moved(raw)
            elif state is State.REMOVED or copy:
                _copy_log(raw, "TRUNCATE", 1)

    def _copy_moved(self, raw: sqlite3.Connection) -> None:
        """Complete a file that was renamed: what its log holds would stay under the old name.

        A file that took its place goes on with the log, which therefore stays as it is.
        """
        if not self.file.path.exists():
            with contextlib.suppress(sqlite3.Error):
                _copy_log(raw, "FULL", 1)


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
