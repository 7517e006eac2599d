"""Databases of version 2 of the schema, as an older ceibo left them."""

import sqlalchemy as sa

from ceibo.study.store import schema
from ceibo.study.store.database import Database

_EVENTS = """
CREATE TABLE ceibo_events (
    study_id INTEGER NOT NULL REFERENCES ceibo_studies (id),
    seq BIGINT NOT NULL,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    key TEXT NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    worker TEXT,
    value DOUBLE PRECISION,
    noise DOUBLE PRECISION,
    replicates TEXT,
    reason TEXT,
    PRIMARY KEY (study_id, seq),
    CONSTRAINT ceibo_events_once UNIQUE (study_id, number, kind, key)
)"""
KEPT = ", ".join(c.name for c in schema.events.c if c.name not in schema.ADDED["ceibo_events"])


def make_older(url: str) -> None:
    """Bring a database of this version to version 2."""
    database = Database(url, 20.0)
    database.write(_downgrade)
    database.close()


def _downgrade(connection: sa.Connection) -> None:
    for table in ("ceibo_studies", "ceibo_trials"):
        for column in schema.ADDED[table]:
            connection.exec_driver_sql(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.exec_driver_sql(f"CREATE TABLE kept AS SELECT {KEPT} FROM ceibo_events")
    connection.exec_driver_sql("DROP TABLE ceibo_events")
    connection.exec_driver_sql(_EVENTS)
    connection.exec_driver_sql(f"INSERT INTO ceibo_events ({KEPT}) SELECT {KEPT} FROM kept")
    connection.exec_driver_sql("DROP TABLE kept")
    connection.exec_driver_sql("UPDATE ceibo_schema SET version = 2")
