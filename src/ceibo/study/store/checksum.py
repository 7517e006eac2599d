"""The checksum of a row, over the columns that never change once it is written.

It is 16 hexadecimal digits of the BLAKE2b hash of the JSON text of the list of these columns. JSON
keeps every bit of a number and tells numbers, texts and NULL apart, so that a matching checksum
also vouches for the types, which SQLite does not.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import sqlalchemy as sa

from ceibo.study.store.schema import events, studies, trials

COVERED: Mapping[str, tuple[str, ...]] = {
    studies.name: ("id", "name", "space", "settings", "created", "token", "data"),
    trials.name: ("study_id", "number", "params", "suggestion", "created_seq", "token", "data"),
    events.name: tuple(column.name for column in events.c if column.name != "checksum"),
}
"""The columns that the checksum of a row of each table covers, in order."""

_names = {table: itemgetter(*columns) for table, columns in COVERED.items()}
_places = {
    table.name: itemgetter(*(list(table.c.keys()).index(name) for name in COVERED[table.name]))
    for table in (studies, trials, events)
}
_encode = json.JSONEncoder().encode


def checksum_of(table: sa.Table, row: Mapping[str, Any]) -> str:
    """The checksum of a row that is to be written."""
    return _checksum(_names[table.name](row))


def checksum_of_row(table: sa.Table, row: sa.Row[Any]) -> str | None:
    """The checksum of a row read with all its columns; None for types that no row of ours has."""
    try:
        return _checksum(_places[table.name](row))
    except TypeError:
        return None


def _checksum(values: Sequence[Any]) -> str:
    return hashlib.blake2b(_encode(values).encode(), digest_size=8).hexdigest()
