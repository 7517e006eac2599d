"""The tables and their version.

ceibo_studies   one row per study; `seq` is the number of its last event, `trials` the number of its
                trials; `turn` is the worker whose turn it is to record the next trial, until
                `turn_until`
ceibo_trials    one row per trial: what never changes (params, suggestion), and the present state,
                which claims compare and swap; `lease` is the length in seconds of the lease that
                ends at `lease_until`
ceibo_events    everything that happened, numbered per study; measurements are the events of kind
                "measured", and those of kind "corrected" replace, those of kind "voided" take back
                the value of the event whose `seq` is their `key`; `outcome` names what was
                measured, "" where there is one thing only

`data` of each table is JSON about whatever else belongs to the row: of a study, its "outcomes" if
it has several, the "constraints" between its parameters if it has any, the "precision" that has a
price, "outliers" if it doubts measurements that look wrong, and "varying_noise" if unknown noise
may differ over the space; of a trial, the "purpose" of its suggestion if it is not the search, and
the "repeats" if that has a number of values to take. An event about the study as a whole has the
number -1; this version writes those of kind "space", whose data are the space from then on
("space"), its "constraints" if it has any, and the values ("before") that its new parameters had
until then. An event of kind "noted" has in its data the "attributes" that it gives its trial. One
of kind "measured" or "corrected" has in them, where it was told, how many values its noise is a
standard error of ("count"), and the names of its blocks by kind ("block"). It writes no other data
and no other such event: where they are found, a newer ceibo has written them, and what they mean
for the other rows is not known here.

`checksum` covers what never changes in a row (see checksum.py). It is NULL where a process of an
older ceibo, with the database open since before it was brought to this version, wrote the row.
"""

from typing import Any

import sqlalchemy as sa

from ceibo.errors import DamagedError, NewerSchemaError

VERSION = 3
"""The version that is written, and the newest that is understood.

1   the tables without the columns of ADDED
2   the same, with a correction among the events
3   the tables below

The older two are read as they are; the first write brings a database to this one (migration.py).
"""
ADDED = {
    "ceibo_studies": ("data", "checksum", "turn", "turn_until"),
    "ceibo_trials": ("data", "checksum", "lease"),
    "ceibo_events": ("outcome", "data", "checksum"),
}
"""The columns that version 3 has added to each table."""

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
    sa.Column("data", sa.Text),
    sa.Column("checksum", sa.Text),
    sa.Column("turn", sa.Text),
    sa.Column("turn_until", sa.Double),
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
    sa.Column("data", sa.Text),
    sa.Column("checksum", sa.Text),
    sa.Column("lease", sa.Double),
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
    sa.Column("outcome", sa.Text, nullable=False, server_default=sa.text("''")),
    sa.Column("data", sa.Text),
    sa.Column("checksum", sa.Text),
    sa.UniqueConstraint("study_id", "number", "kind", "key", "outcome", name="ceibo_events_once"),
)

_KNOWN = "ceibo_version"
"""Under this name a connection remembers that its database is of the newest version."""


def stored_version(connection: sa.Connection) -> int | None:
    """The version of the tables in this database, or None if it has none."""
    if connection.info.get(_KNOWN) == VERSION:
        return VERSION
    if not sa.inspect(connection).has_table(versions.name):
        return None
    version = _read_version(connection)
    if version < VERSION and has_new_columns(connection):
        # another process may have brought it over between the two looks, and then says so now
        version = _read_version(connection)
        if version < VERSION:
            found = f"its tables are those of version {VERSION}, but ceibo_schema says {version}"
            raise DamagedError(found)
    if version == VERSION:
        connection.info[_KNOWN] = version
    return version


def _read_version(connection: sa.Connection) -> int:
    version = connection.execute(sa.select(sa.func.max(versions.c.version))).scalar()
    if not isinstance(version, int) or version < 1:
        found = f"expected a version in the table ceibo_schema, got {version!r:.40}"
        raise DamagedError(found)
    if version > VERSION:
        raise NewerSchemaError(
            f"expected a database of at most schema version {VERSION}, got schema version"
            f" {version}; upgrade ceibo (nothing was changed)."
        )
    return version


def has_new_columns(connection: sa.Connection) -> bool:
    """Whether the table of events has the columns of this version."""
    found = {column["name"] for column in sa.inspect(connection).get_columns(events.name)}
    return not found.isdisjoint(ADDED[events.name])


def whole(connection: sa.Connection, table: sa.Table) -> list[Any]:
    """What to select for all columns of a table; those an older version lacks are blank."""
    # whoever writes has brought the tables to this version
    writes = connection.get_execution_options().get("ceibo_write")
    if writes or stored_version(connection) in (None, VERSION):
        return [table]
    return [_blank(c) if c.name in ADDED[table.name] else c for c in table.c]


def _blank(column: sa.Column[Any]) -> sa.ColumnElement[Any]:
    """What a row of an older version has in place of a column."""
    return (sa.null() if column.nullable else sa.literal_column("''")).label(column.name)
