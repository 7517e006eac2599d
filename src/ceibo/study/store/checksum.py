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

_pick = {table: itemgetter(*columns) for table, columns in COVERED.items()}
_encode = json.JSONEncoder().encode


def checksum_of(table: sa.Table, row: Mapping[str, Any]) -> str:
    """The checksum of a row; TypeError if a value is of a type that no row of ours has."""
    return checksum(_pick[table.name](row))


def checksum(values: Sequence[Any]) -> str:
    """The checksum of the covered values, in order."""
    return hashlib.blake2b(_encode(values).encode(), digest_size=8).hexdigest()
