"""Creating the tables, and bringing those of an older version to this one."""

from typing import Any

import sqlalchemy as sa

from ceibo.errors import StorageError
from ceibo.study.store.checksum import checksum_of_row
from ceibo.study.store.readers import check_row
from ceibo.study.store.schema import (
    ADDED,
    VERSION,
    events,
    metadata,
    stored_version,
    studies,
    trials,
    versions,
)

# "ceib": any number will do, as long as every version of ceibo uses the same
_LOCK = 0x63656962
_BATCH = 10_000
_OLD_EVENTS = "ceibo_events_of_version_2"


def create_tables(connection: sa.Connection) -> None:
    """Create the tables unless there are some, inside the caller's write transaction."""
    _wait_for_others(connection)
    if stored_version(connection) is None:
        metadata.create_all(connection)
        connection.execute(versions.insert().values(version=VERSION))


def upgrade(connection: sa.Connection) -> None:
    """Bring tables of an older version to this one, inside the caller's write transaction.

    Tables that are gone are left to the statement that misses them.
    """
    if stored_version(connection) in (None, VERSION):
        return
    _wait_for_others(connection)
    if stored_version(connection) == VERSION:
        return
    if connection.dialect.name == "postgresql":
        _alter(connection)
    else:
        _rebuild(connection)
    for table in (studies, trials, events):
        _add_checksums(connection, table)
    connection.execute(versions.update().values(version=VERSION))


def _wait_for_others(connection: sa.Connection) -> None:
    """Let one process at a time create or change tables (on SQLite, it has locked the file)."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))


def _alter(connection: sa.Connection) -> None:
    """The new columns and the new constraint, on PostgreSQL."""
    # in the order in which every transaction uses them, so that none holds one and waits for
    # another
    for table in (studies, trials, events):
        connection.exec_driver_sql(f"LOCK TABLE {table.name} IN ACCESS EXCLUSIVE MODE")
    for table in (studies, trials, events):
        _add_columns(connection, table)
    once = "CONSTRAINT ceibo_events_once"
    unique = f"{once} UNIQUE (study_id, number, kind, key, outcome)"
    connection.exec_driver_sql(f"ALTER TABLE ceibo_events DROP {once}, ADD {unique}")


def _rebuild(connection: sa.Connection) -> None:
    """The new columns and the new constraint, on SQLite, which cannot alter a constraint."""
    for table in (studies, trials):
        _add_columns(connection, table)
    connection.exec_driver_sql(f"ALTER TABLE {events.name} RENAME TO {_OLD_EVENTS}")
    events.create(connection)
    kept = ", ".join(c.name for c in events.c if c.name not in ADDED[events.name])
    connection.exec_driver_sql(
        f"INSERT INTO {events.name} ({kept}) SELECT {kept} FROM {_OLD_EVENTS}"
    )
    connection.exec_driver_sql(f"DROP TABLE {_OLD_EVENTS}")


def _add_columns(connection: sa.Connection, table: sa.Table) -> None:
    for name in ADDED[table.name]:
        column = sa.schema.CreateColumn(table.c[name]).compile(dialect=connection.dialect)
        connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {column}")


def _add_checksums(connection: sa.Connection, table: sa.Table) -> None:
    """Compute the checksums of all rows; a row that is damaged gets none."""
    key = list(table.primary_key.columns)
    is_row = [column == sa.bindparam(f"old_{column.name}") for column in key]
    update = table.update().where(*is_row).values(checksum=sa.bindparam("new_checksum"))
    page = sa.select(table).order_by(*key).limit(_BATCH)
    rows = connection.execute(page).all()
    while rows:
        changes = [
            {f"old_{column.name}": getattr(row, column.name) for column in key}
            | {"new_checksum": _checksum_if_sound(table, row)}
            for row in rows
        ]
        connection.execute(update, changes)
        last = [sa.literal(getattr(rows[-1], column.name)) for column in key]
        rows = connection.execute(page.where(sa.tuple_(*key) > sa.tuple_(*last))).all()


def _checksum_if_sound(table: sa.Table, row: sa.Row[Any]) -> str | None:
    try:
        check_row(table, row, "a row")
    except StorageError:
        return None
    return checksum_of_row(table, row)
