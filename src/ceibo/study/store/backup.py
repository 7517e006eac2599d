"""Copies of a whole database in one new SQLite file, also while programs write to it."""

import os
import sqlite3
import uuid
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ceibo.errors import InputError, StorageError
from ceibo.files import sync_folder
from ceibo.study.store import schema
from ceibo.study.store.database import Database

_ROWS = 1000  # copied at a time


def back_up(database: Database, target: Path, force: bool) -> None:
    """Write a consistent copy of all studies to a new SQLite file: whole or not at all."""
    beside = target.parent / f".{target.name[:100]}.{uuid.uuid4().hex}"
    try:
        _check_target(database, target, force)
        if database.is_sqlite:
            _copy_pages(database, beside)
        else:
            _copy_rows(database, beside)
        with beside.open("rb+") as written:
            os.fsync(written.fileno())
        if force:
            _remove_log(target)
            beside.replace(target)
        else:
            _rename_new(beside, target)
        sync_folder(target.parent)
    except OSError as error:
        raise StorageError(f"cannot write {target}: {error.strerror}.") from error
    except (sqlite3.Error, sa.exc.DBAPIError) as error:
        raise StorageError(f"cannot write {target}: {error}.") from error
    finally:
        for end in ("", "-journal"):
            Path(f"{beside}{end}").unlink(missing_ok=True)


def _check_target(database: Database, target: Path, force: bool) -> None:
    if not target.absolute().parent.is_dir():
        raise InputError(f"the folder {target.absolute().parent} does not exist; create it first.")
    if target.is_dir():
        raise InputError(f"expected the name of a file to write, got the folder {target}.")
    own = database.file
    if own is not None and own.exists() and target.exists() and own.samefile(target):
        raise InputError(f"{target} is the study's own file; name another one.")
    if target.exists() and not force:
        raise InputError(f"{target} exists already; name another file, or replace it with force.")


def _rename_new(beside: Path, target: Path) -> None:
    """Give the file its name, unless another program has taken that meanwhile."""
    try:
        os.link(beside, target)
    except FileExistsError:
        taken = f"{target} exists already; name another file, or replace it with force."
        raise InputError(taken) from None
    except OSError:  # a file system without links
        beside.replace(target)


def _remove_log(target: Path) -> None:
    """Remove what belonged to the file that is replaced, which SQLite would add to the new one."""
    for end in ("-wal", "-shm", "-journal"):
        Path(f"{target}{end}").unlink(missing_ok=True)


def _copy_pages(database: Database, beside: Path) -> None:
    """SQLite's own copy, through the connection: it holds also what is in the log alone."""
    target = sqlite3.connect(beside)
    try:
        database.copy_to(target)
    finally:
        target.close()


def _copy_rows(database: Database, beside: Path) -> None:
    """Every row of every table, as of one moment."""
    engine = sa.create_engine(sa.URL.create("sqlite", database=str(beside)))

    def work(connection: sa.Connection) -> None:
        connection.execute(sa.text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        with engine.begin() as copy:
            schema.metadata.drop_all(copy)  # left by an attempt that the server interrupted
            schema.metadata.create_all(copy)
            for table in schema.metadata.sorted_tables:
                found = connection.execution_options(yield_per=_ROWS).execute(sa.select(table))
                for rows in found.mappings().partitions():
                    _insert(copy, table, [dict(row) for row in rows])

    try:
        database.read(work)
    finally:
        engine.dispose()


def _insert(copy: sa.Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    try:
        copy.execute(table.insert(), rows)
    except sa.exc.DBAPIError as error:
        raise StorageError(f"the copy could not be written: {error.orig}.") from error
