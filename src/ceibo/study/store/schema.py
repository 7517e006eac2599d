"""The tables, their version, and how an older version becomes this one.

ceibo_studies   one row per study; `seq` is the number of its last event, `trials` the number of its
                trials
ceibo_trials    one row per trial: what never changes (params, suggestion), and the present state,
                which claims compare and swap
ceibo_events    everything that happened, numbered per study; measurements are the events of kind
                "measured", and those of kind "corrected" replace the value of the event whose `seq`
                is their `key`
"""

from collections.abc import Callable, Mapping

import sqlalchemy as sa

from ceibo.errors import NewerSchemaError, StorageError

VERSION = 2
"""The newest version that is understood here.

1   the tables below
2   the same, with a correction among the events. The first correction brings a database to this
    version: a ceibo that knows no corrections would show the wrong values of such a database, and
    so refuses it, but opens all others.
"""
TABLES = 1
"""The version that the tables are created in, and that older ones are brought to."""

metadata = sa.MetaData()

versions = sa.Table("ceibo_schema", metadata, sa.Column("version", sa.Integer, primary_key=True))

studies = sa.Table(
    "ceibo_studies",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("space", sa.Text, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("token", sa.Text, nullable=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("trials", sa.Integer, nullable=False),
)

trials = sa.Table(
    "ceibo_trials",
    metadata,
    sa.Column("study_id", sa.Integer, sa.ForeignKey("ceibo_studies.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("params", sa.Text, nullable=False),
    sa.Column("suggestion", sa.Text),
    sa.Column("created_seq", sa.BigInteger, nullable=False),
    sa.Column("token", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("claim", sa.Text),
    sa.Column("worker", sa.Text),
    sa.Column("lease_until", sa.Double),
    sa.Index("ceibo_trials_by_state", "study_id", "state", "number"),
)

events = sa.Table(
    "ceibo_events",
    metadata,
    sa.Column("study_id", sa.Integer, sa.ForeignKey("ceibo_studies.id"), primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("time", sa.Double, nullable=False),
    sa.Column("worker", sa.Text),
    sa.Column("value", sa.Double),
    sa.Column("noise", sa.Double),
    sa.Column("replicates", sa.Text),
    sa.Column("reason", sa.Text),
    sa.UniqueConstraint("study_id", "number", "kind", "key", name="ceibo_events_once"),
)

Migration = Callable[[sa.Connection], None]
MIGRATIONS: Mapping[int, Migration] = {}
"""Version n -> the step from n to n + 1; every step of one upgrade shares a transaction."""

# "ceib": any number will do, as long as every version of ceibo uses the same
_LOCK = 0x63656962


def stored_version(connection: sa.Connection) -> int | None:
    """The version of the tables in this database, or None if it has none."""
    if not sa.inspect(connection).has_table(versions.name):
        return None
    version: int | None = connection.execute(sa.select(sa.func.max(versions.c.version))).scalar()
    if version is None:
        raise StorageError(
            "expected a version in the table ceibo_schema, got an empty table; restore a copy."
        )
    if version > VERSION:
        raise NewerSchemaError(
            f"expected a database of at most schema version {VERSION}, got schema version"
            f" {version}; upgrade ceibo (nothing was changed)."
        )
    return version


def upgrade(connection: sa.Connection) -> None:
    """Create the tables or bring them to TABLES, inside the caller's write transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    version = stored_version(connection)
    if version is None:
        metadata.create_all(connection)
        connection.execute(versions.insert().values(version=TABLES))
        return
    for step in range(version, TABLES):
        MIGRATIONS[step](connection)
        connection.execute(versions.update().values(version=step + 1))


def mark_corrected(connection: sa.Connection) -> None:
    """Note that the database holds a correction, in the transaction that writes it."""
    connection.execute(versions.update().where(versions.c.version < 2).values(version=2))
