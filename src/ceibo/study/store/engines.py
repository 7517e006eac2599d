"""Engines of SQLAlchemy for SQLite and PostgreSQL, with connections set to lose nothing."""

import sqlite3
from typing import Any, final

import sqlalchemy as sa

from ceibo.errors import StorageError
from ceibo.study.store.sqlitefile import SqliteFile

BUSY_SECONDS = 60
CONNECT_SECONDS = 10


@final
class KeptConnection(sqlite3.Connection):
    """A connection that can be left open for good."""

    abandoned = False

    def close(self) -> None:
        """Close it, unless it is abandoned."""
        if not self.abandoned:
            super().close()


@final
class OnlyConnection(sqlite3.Connection):
    """The connection of a database in memory, which is gone when it is closed."""

    kept = True
    is_set_up = False

    def close(self) -> None:
        """Close it, unless it is kept."""
        if not self.kept:
            super().close()

    def create_function(self, *args: Any, **kwargs: Any) -> None:
        """Give it a function, the first time; later, SQLite refuses while a cursor is at work."""
        if not self.is_set_up:
            super().create_function(*args, **kwargs)


def memory_engine(url: sa.URL) -> sa.Engine:
    """An engine for a database in memory, which all threads share.

    Its one connection is the database. SQLAlchemy closes a connection in whose midst an exception
    such as KeyboardInterrupt was raised; this one is rolled back, and stays until the engine goes.
    """
    raw = sqlite3.connect(":memory:", check_same_thread=False, factory=OnlyConnection)

    def connect() -> sqlite3.Connection:
        raw.rollback()
        return raw

    engine = sa.create_engine(url, creator=connect, poolclass=sa.StaticPool)
    _set_up(engine)

    @sa.event.listens_for(engine, "connect")
    def note(_raw: object, _record: object) -> None:
        raw.is_set_up = True

    @sa.event.listens_for(engine, "engine_disposed")
    def close(_engine: sa.Engine) -> None:
        raw.kept = False
        raw.close()

    return engine


def file_engine(url: sa.URL, file: SqliteFile) -> sa.Engine:
    """An engine for an SQLite file."""
    arguments = {"timeout": BUSY_SECONDS, "check_same_thread": False}
    engine = sa.create_engine(url, connect_args=arguments, pool_size=2, max_overflow=30)

    @sa.event.listens_for(engine, "do_connect")
    def address(
        _dialect: object, _record: object, cargs: list[Any], cparams: dict[str, Any]
    ) -> None:
        cargs[:] = [file.address()]
        cparams.update(uri=True, factory=KeptConnection)

    @sa.event.listens_for(engine, "connect")
    def identify(_raw: object, record: Any) -> None:
        file.identify(record.info)

    _set_up(engine)
    return engine


def _set_up(engine: sa.Engine) -> None:
    @sa.event.listens_for(engine, "connect")
    def connect(raw: Any, _record: object) -> None:
        # the driver would begin transactions by itself, and too late
        raw.isolation_level = None
        set_patience(raw, BUSY_SECONDS)
        raw.execute("PRAGMA synchronous=FULL")
        raw.execute("PRAGMA foreign_keys=ON")
        # macOS alone: its fsync leaves data in the disk's cache, this does not
        raw.execute("PRAGMA fullfsync=ON")
        raw.execute("PRAGMA checkpoint_fullfsync=ON")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        write = connection.get_execution_options().get("ceibo_write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def set_patience(raw: sqlite3.Connection, seconds: float) -> None:
    """Say how long a connection to SQLite waits for others."""
    raw.execute(f"PRAGMA busy_timeout={int(1000 * seconds)}")


def postgresql_engine(url: sa.URL) -> sa.Engine:
    """An engine for PostgreSQL."""
    # prepared statements break behind a pooler
    arguments: dict[str, Any] = {"prepare_threshold": None}
    if "connect_timeout" not in url.query:
        arguments["connect_timeout"] = CONNECT_SECONDS
    pool = {"pool_pre_ping": True, "pool_size": 2, "max_overflow": 8}
    try:
        engine = sa.create_engine(url, connect_args=arguments, **pool)
    except ImportError:
        needs = "PostgreSQL needs the package psycopg: pip install 'path/to/the/clone[postgres]'."
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
