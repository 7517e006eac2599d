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
    page = sa.select(table).order_by(*key).limit(_BATCH)
    rows = connection.execute(page).all()
    while rows:
        places = [[getattr(row, column.name) for column in key] for row in rows]
        sums = [_checksum_if_sound(table, row) for row in rows]
        columns: dict[str, list[Any]] = {
            f"old_{n}": list(c) for n, c in enumerate(zip(*places, strict=True))
        }
        _update(connection, table, columns | {"new_checksum": sums})
        last = [sa.literal(value) for value in places[-1]]
        rows = connection.execute(page.where(sa.tuple_(*key) > sa.tuple_(*last))).all()


def _update(connection: sa.Connection, table: sa.Table, columns: dict[str, list[Any]]) -> None:
    """Set the checksums of the rows whose keys are in the columns old_0, old_1."""
    key = [column.name for column in table.primary_key.columns]
    names = list(columns)
    if connection.dialect.name == "postgresql":  # where a statement per row takes a minute
        lists = [f"CAST(:{name} AS bigint[])" for name in names[:-1]]
        new = f"unnest({', '.join(lists)}, CAST(:new_checksum AS text[]))"
        is_row = " AND ".join(
            f"{table.name}.{k} = new.{n}" for k, n in zip(key, names[:-1], strict=True)
        )
        sql = f"SET checksum = new.new_checksum FROM {new} AS new({', '.join(names)})"
        connection.execute(sa.text(f"UPDATE {table.name} {sql} WHERE {is_row}"), columns)
    else:
        is_row = " AND ".join(f"{k} = :{n}" for k, n in zip(key, names[:-1], strict=True))
        update = sa.text(f"UPDATE {table.name} SET checksum = :new_checksum WHERE {is_row}")
        rows = zip(*columns.values(), strict=True)
        connection.execute(update, [dict(zip(names, row, strict=True)) for row in rows])


def _checksum_if_sound(table: sa.Table, row: sa.Row[Any]) -> str | None:
    try:
        check_row(table, row, "a row")
    except StorageError:
        return None
    return checksum_of_row(table, row)
