"""Connections to SQLite or PostgreSQL: short transactions, repeated through outages.

SQLite: write-ahead log, synchronous=FULL, 60 s busy timeout, BEGIN IMMEDIATE for writes, so that no
transaction has to upgrade a lock it shares. PostgreSQL: connections are tested before use, a
stopped process cannot hold a lock for more than a minute, and a server set to acknowledge before
writing is told not to.
"""

import os
import random
import sqlite3
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar, final
from urllib.parse import unquote

import sqlalchemy as sa

from ceibo.errors import InputError, StorageError, StorageWarning
from ceibo.study.store.failures import Raced, diagnose
from ceibo.study.store.network import network_file_system

T = TypeVar("T")
Work = Callable[[sa.Connection], T]
_DRIVER = (sa.exc.DBAPIError, sa.exc.TimeoutError, sqlite3.Error, UnicodeDecodeError)
_FAILURES = (*_DRIVER, Raced)

BUSY_SECONDS = 60
CONNECT_SECONDS = 10
MAX_CONTRADICTIONS = 3
"""How often a uniqueness error is taken for a lost race before it is taken for a defect."""
# Not the shared generator: that would move the objective's seeded random numbers.
_PAUSES = random.SystemRandom()
# SQLAlchemy 2.0 leaves %-escapes in the name of a database, 2.1 reads them.
_READS_ESCAPES = sa.make_url("sqlite:///%25").database == "%"


def parse_url(url: str) -> sa.URL:
    """The database that a storage URL names; PostgreSQL is always spoken to with psycopg 3."""
    examples = "expected sqlite:///file.db or postgresql://user@host/database"
    if not isinstance(url, str):
        raise InputError(f"{examples}, got {url!r}.")
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        hint = f"; did you mean sqlite:///{url}?" if "://" not in url and "\0" not in url else "."
        hint = hint if url else "; leave storage out (None) to work in memory."
        # it may hold a password
        shown = repr(url) if "@" not in url else "a URL that cannot be read"
        raise InputError(f"{examples}, got {shown}{hint}") from None
    if parsed.database and not _READS_ESCAPES:
        parsed = parsed.set(database=unquote(parsed.database))
    backend = parsed.get_backend_name()
    if backend == "postgres":
        backend = "postgresql"
    if backend not in ("sqlite", "postgresql"):
        raise InputError(f"{examples}, got a URL for {backend!r}.")
    if backend == "sqlite":
        _check_sqlite(parsed, examples)
    return parsed.set(drivername="sqlite" if backend == "sqlite" else "postgresql+psycopg")


def _check_sqlite(url: sa.URL, examples: str) -> None:
    if "\0" in (url.database or ""):
        raise InputError(f"{examples}, got a file name with a NUL character.")
    if url.host is not None:  # what stands after two slashes
        path = "/".join(part for part in (url.host, url.database) if part)
        raise InputError(
            f"{examples}, with three slashes before a file's name, got two; try sqlite:///{path}."
        )
    # "sqlite:///" with the rest forgotten is no wish for memory
    if url.database == "":
        raise InputError(
            f"{examples}, got sqlite:/// without a file name; leave storage out to work in memory."
        )


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
        # Threads take turns: in memory they share one connection, and no thread may use a file
        # during a fork.
        self._turn = threading.RLock()
        self._engine = (
            _sqlite_engine(self.url, self.is_memory)
            if self.is_sqlite
            else _postgresql_engine(self.url)
        )
        if self.file is not None:
            _files.add(self)

    @property
    def place(self) -> str:
        """The URL without its password, for messages."""
        return self.url.render_as_string(hide_password=True)

    @property
    def file(self) -> Path | None:
        """The SQLite file, or None for a server or for memory."""
        return Path(self.url.database or "") if self.is_sqlite and not self.is_memory else None

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
        if kind := network_file_system(self.file.absolute().parent):
            warnings.warn(
                f"{self.file} lies on a network file system ({kind}), where SQLite can lose data"
                " when several machines write; keep the file on a local disk, or use PostgreSQL.",
                StorageWarning,
                stacklevel=5,
            )
        self._retry(self._write_ahead_log, CONNECT_SECONDS + BUSY_SECONDS)

    def _write_ahead_log(self) -> None:
        raw = self._engine.raw_connection()
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
        """Close the connections; the next use opens new ones (an in-memory database is gone)."""
        self._gone = self.is_memory
        self._engine.dispose()

    def _transact(self, work: Work[T], write: bool) -> T:
        if self._gone:
            gone = "this study was kept in memory and closed, so it is gone"
            raise StorageError(f"{gone}; give it a storage to keep it.")
        self._check_process()
        turn: AbstractContextManager[Any] = self._turn if self.is_sqlite else nullcontext()
        with turn, self._engine.connect() as plain:
            connection = plain.execution_options(ceibo_write=write)
            with connection.begin():
                return work(connection)

    def rest(self) -> None:
        """Wait until no thread uses the database, and close its connections, until `resume`."""
        self._turn.acquire()
        self._engine.dispose()

    def resume(self) -> None:
        """Let threads go on after `rest`."""
        self._turn.release()

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
                    if not self.is_memory:
                        self._engine.dispose()
                    raise StorageError(failure.sentence) from error
            time.sleep(pause)


_files: "weakref.WeakSet[Database]" = weakref.WeakSet()
_resting: list[Database] = []


def _before_fork() -> None:
    """Close every SQLite file: a child that inherits an open one would believe it holds locks."""
    _resting.extend(_files)
    for database in _resting:
        database.rest()


def _after_fork() -> None:
    while _resting:
        _resting.pop().resume()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


def _pauses() -> Iterator[float]:
    """Pauses between attempts: 0.02 s doubling to 2 s, shortened at random to part the workers."""
    longest = 0.02
    while True:
        yield longest * _PAUSES.uniform(0.5, 1.0)
        longest = min(2 * longest, 2.0)


def _sqlite_engine(url: sa.URL, memory: bool) -> sa.Engine:
    pool = {"poolclass": sa.StaticPool} if memory else {"pool_size": 2, "max_overflow": 30}
    arguments = {"timeout": BUSY_SECONDS, "check_same_thread": False}
    engine = sa.create_engine(url, connect_args=arguments, **pool)

    @sa.event.listens_for(engine, "connect")
    def connect(raw: Any, _record: object) -> None:
        # the driver would begin transactions by itself, and too late
        raw.isolation_level = None
        raw.execute(f"PRAGMA busy_timeout={1000 * BUSY_SECONDS}")
        raw.execute("PRAGMA synchronous=FULL")
        raw.execute("PRAGMA foreign_keys=ON")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        write = connection.get_execution_options().get("ceibo_write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def _postgresql_engine(url: sa.URL) -> sa.Engine:
    # prepared statements break behind a pooler
    arguments: dict[str, Any] = {"prepare_threshold": None}
    if "connect_timeout" not in url.query:
        arguments["connect_timeout"] = CONNECT_SECONDS
    pool = {"pool_pre_ping": True, "pool_size": 2, "max_overflow": 8}
    try:
        engine = sa.create_engine(url, connect_args=arguments, **pool)
    except ImportError:
        needs = "PostgreSQL needs the package psycopg; run pip install 'ceibo[postgres]'."
        raise StorageError(needs) from None

    @sa.event.listens_for(engine, "connect")
    def connect(raw: Any, _record: object) -> None:
        with raw.cursor() as cursor:
            cursor.execute("SET lock_timeout = '60s'")
            cursor.execute("SET idle_in_transaction_session_timeout = '60s'")
            cursor.execute(
                "SELECT set_config('synchronous_commit', 'on', false) "
                "WHERE current_setting('synchronous_commit') = 'off'"
            )
        raw.commit()

    return engine
