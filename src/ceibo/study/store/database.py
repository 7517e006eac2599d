"""Connections to SQLite or PostgreSQL: short transactions, repeated through outages.

SQLite: write-ahead log, synchronous=FULL, 60 s busy timeout, BEGIN IMMEDIATE for writes, so that no
transaction has to upgrade a lock it shares. PostgreSQL: connections are tested before use, a
stopped process cannot hold a lock for more than a minute, and a server set to acknowledge before
writing is told not to.
"""

import os
import random
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar, final

import sqlalchemy as sa

from ceibo.errors import StorageError, StorageWarning, UnreachableError
from ceibo.study.store.engines import (
    BUSY_SECONDS,
    CONNECT_SECONDS,
    file_engine,
    memory_engine,
    postgresql_engine,
)
from ceibo.study.store.failures import Raced, diagnose
from ceibo.study.store.keeper import Keeper, use_log
from ceibo.study.store.network import network_file_system
from ceibo.study.store.sqlitefile import SqliteFile
from ceibo.study.store.turn import Turn
from ceibo.study.store.url import parse_url, show_url

__all__ = ["CONNECT_SECONDS", "Database"]

T = TypeVar("T")
Work = Callable[[sa.Connection], T]
_DRIVER = (sa.exc.DBAPIError, sa.exc.TimeoutError, sqlite3.Error, UnicodeDecodeError)
_FAILURES = (*_DRIVER, Raced)

MAX_CONTRADICTIONS = 3
"""How often a uniqueness error is taken for a lost race before it is taken for a defect."""
# Not the shared generator: that would move the objective's seeded random numbers.
_PAUSES = random.SystemRandom()


@final
class Database:
    """A database whose methods `read` and `write` run a function in one transaction, with retries.

    `patience` is how long, in seconds, they go on while the database does not answer.
    """

    def __init__(self, url: str, patience: float) -> None:
        self.url = parse_url(url)
        self.patience = patience
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.is_memory = self.is_sqlite and self.url.database in (None, ":memory:")
        self._pid = os.getpid()
        self._gone = False
        self._keeper = None if self.file is None else Keeper(SqliteFile(self.file))
        if self._keeper is not None:
            self._engine = file_engine(self.url, self._keeper.file)
        elif self.is_memory:
            self._engine = memory_engine(self.url)
        else:
            self._engine = postgresql_engine(self.url)
        self._turn: AbstractContextManager[Any] = nullcontext()
        if self.is_sqlite:
            self._turn = Turn(self._engine, self._keeper)

    @property
    def place(self) -> str:
        """The URL without its secrets, for messages."""
        return show_url(self.url)

    @property
    def file(self) -> Path | None:
        """The SQLite file, or None for a server or for memory."""
        return Path(self.url.database or "") if self.is_sqlite and not self.is_memory else None

    @property
    def is_moved(self) -> bool:
        """Whether its SQLite file was deleted, renamed or replaced since it was opened."""
        return self._keeper is not None and self._keeper.file.is_moved

    @property
    def now(self) -> sa.ColumnElement[float]:
        """Seconds since 1970 by the database's own clock, at the moment the statement runs."""
        seconds = "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"
        if self.is_sqlite:
            seconds = "((julianday('now') - 2440587.5) * 86400.0)"
        return sa.literal_column(seconds, sa.Double())

    def prepare_file(self) -> None:
        """Warn about a network file system and switch a new SQLite file to its write-ahead log."""
        if self.file is None:
            return
        if kind := network_file_system(Path(os.path.realpath(self.file)).parent):
            warnings.warn(
                f"{self.file} lies on a network file system ({kind}), where SQLite can lose data"
                " when several machines write; keep the file on a local disk, or use PostgreSQL.",
                StorageWarning,
                stacklevel=5,
            )
        self._retry(lambda: use_log(self._engine, self._turn), CONNECT_SECONDS + BUSY_SECONDS)

    def read(self, work: Work[T], patience: float | None = None) -> T:
        """Run `work` in a transaction that only reads."""
        return self._retry(lambda: self._transact(work, write=False), patience)

    def write(self, work: Work[T], patience: float | None = None) -> T:
        """Run `work` in one write transaction; when this returns, the disk has it.

        After a failure that may pass, `work` runs again from the start, even if an earlier run was
        committed without an answer: it must recognise what it has already done.
        """
        return self._retry(lambda: self._transact(work, write=True), patience)

    def close(self) -> None:
        """Close the connections; the next use opens new ones (an in-memory database is gone).

        An SQLite file is then complete: all that was stored is in the one file.
        """
        self._gone = self.is_memory
        if self._keeper is None:
            self._engine.dispose()
            return
        self._check_process()
        with self._turn:
            self._keeper.let_go(self._engine, copy=True)
            self._engine.dispose()
            self._keeper.forget()

    def copy_to(self, target: sqlite3.Connection) -> None:
        """Copy an SQLite database as it is, also if its file was deleted or renamed meanwhile."""
        self._check_process()
        with self._turn:
            raw = self._engine.raw_connection()
            try:
                source = raw.driver_connection
                assert isinstance(source, sqlite3.Connection)
                source.backup(target)
            finally:
                raw.close()

    def _transact(self, work: Work[T], write: bool) -> T:
        if self._gone:
            gone = "this study was kept in memory and closed, so it is gone"
            raise StorageError(f"{gone}; give it a storage to keep it.")
        self._check_process()
        with self._turn, self._engine.connect() as plain:
            if self._keeper is None:
                return self._run(plain, work, write)
            self._keeper.before(plain, write)
            result = self._run(plain, work, write)
            if write:
                self._keeper.after(plain)
            return result

    def _run(self, plain: sa.Connection, work: Work[T], write: bool) -> T:
        connection = plain.execution_options(ceibo_write=write)
        with connection.begin():
            if write and self._keeper is not None:
                self._keeper.inside(connection)
            return work(connection)

    def _check_process(self) -> None:
        if self._pid == os.getpid():
            return
        if self.is_memory:
            raise StorageError(
                "a study in memory cannot be used from a child process; give it a storage."
            )
        # a connection inherited by fork belongs to the parent
        self._engine.dispose(close=False)
        self._pid = os.getpid()

    def _retry(self, attempt: Callable[[], T], patience: float | None) -> T:
        deadline = time.monotonic() + (self.patience if patience is None else patience)
        contradictions = 0
        pauses = _pauses()
        while True:
            pause = next(pauses)
            try:
                return attempt()
            except _FAILURES as error:
                failure = diagnose(error, self.url)
                contradictions += isinstance(error, sa.exc.IntegrityError)
                out_of_time = time.monotonic() + pause > deadline
                if not failure.transient or out_of_time or contradictions > MAX_CONTRADICTIONS:
                    if self._keeper is not None:
                        with self._turn:
                            self._keeper.let_go(self._engine, copy=False)
                    elif not self.is_memory:
                        self._engine.dispose()
                    kind = UnreachableError if failure.unreachable else StorageError
                    raise kind(failure.sentence) from error
            time.sleep(pause)


def await_server(database: Database) -> None:
    """Wait for a server that does not answer, as long as a running worker would."""
    if database.is_sqlite:
        return

    def ping(connection: sa.Connection) -> None:
        connection.execute(sa.select(1))

    try:
        database.read(ping, min(CONNECT_SECONDS, database.patience))
    except UnreachableError as error:
        if database.patience <= CONNECT_SECONDS:
            raise
        warnings.warn(
            f"{error} Waiting for it, for up to {database.patience:.0f} s.",
            StorageWarning,
            stacklevel=4,
        )
        database.read(ping)


def _pauses() -> Iterator[float]:
    """Pauses between attempts: 0.02 s doubling to 2 s, shortened at random to part the workers."""
    longest = 0.02
    while True:
        yield longest * _PAUSES.uniform(0.5, 1.0)
        longest = min(2 * longest, 2.0)
