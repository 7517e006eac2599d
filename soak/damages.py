"""Ways to damage an SQLite file: bytes, blocks and pages of it, or single cells of its tables."""

import random
import sqlite3
from pathlib import Path
from typing import Any

_DEEP = "[" * 1000 + "]" * 1000
VALUES: tuple[Any, ...] = (
    None,
    "",
    "x",
    -1,
    0,
    1,
    2**63 - 1,
    1e999,
    0.5,
    b"\x00\xff",
    "h" * 1_000_000,
    '{"x": ',
    "[1, 2]",
    "{}",
    "null",
    _DEEP,
    "NaN",
)
NOT_TEXT = "CAST(x'ff41fe' AS TEXT)"


def damage_bytes(file: Path, generator: random.Random) -> str:
    """Damage some bytes of a file; returns what was done."""
    data = bytearray(file.read_bytes())
    page = 4096
    size, pages = len(data), len(data) // page
    at = generator.randrange(size)
    first, second = generator.randrange(pages), generator.randrange(pages)
    kind = generator.choice(
        ["bit", "bit", "byte", "byte", "bytes", "block", "zeros", "cut", "page", "swap", "copy"]
    )
    length = generator.randint(2, 8) if kind == "bytes" else generator.choice([16, 64, 512])
    if kind == "bit":
        data[at] ^= 1 << generator.randrange(8)
    elif kind == "byte":
        data[at] = generator.randrange(256)
    elif kind in ("bytes", "block"):
        data[at : at + length] = generator.randbytes(len(data[at : at + length]))
    elif kind == "zeros":
        data[at : at + length] = bytes(len(data[at : at + length]))
    elif kind == "cut":
        del data[generator.choice([at, first * page]) :]
    elif kind == "page":
        data[first * page : (first + 1) * page] = bytes(page)
    else:
        one, other = (slice(each * page, (each + 1) * page) for each in (first, second))
        if kind == "swap":
            data[one], data[other] = data[other], data[one]
        else:
            data[one] = data[other]
    file.write_bytes(data)
    return f"{kind} at {at} of {size}, length {length}, pages {first} and {second} of {pages}"


def damage_cell(file: Path, generator: random.Random, case: int) -> str:
    """Set one cell to a value that does not belong there; returns what was done.

    Consecutive cases go through all columns and values.
    """
    connection = sqlite3.connect(file)
    tables = ("ceibo_events", "ceibo_trials", "ceibo_studies", "ceibo_schema")
    columns = [
        (table, row[1])
        for table in tables
        for row in connection.execute(f"PRAGMA table_info({table})")
    ]
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '')")
    connection.commit()
    connection.close()
    turn, column = divmod(case, len(columns))
    table, name = columns[column]
    choice = turn % (len(VALUES) + 1)
    connection = sqlite3.connect(file)
    rows = [row[0] for row in connection.execute(f"SELECT rowid FROM {table}")]
    rowid = generator.choice(rows)
    set_cell = f'UPDATE OR IGNORE {table} SET "{name}" ='
    try:
        if choice == len(VALUES):
            shown = NOT_TEXT
            connection.execute(f"{set_cell} {NOT_TEXT} WHERE rowid = ?", [rowid])
        else:
            shown = repr(VALUES[choice])[:60]
            connection.execute(f"{set_cell} ? WHERE rowid = ?", [VALUES[choice], rowid])
    except sqlite3.IntegrityError as error:  # of a type that not even SQLite takes there
        shown = f"{shown} (refused: {error})"
    connection.commit()
    connection.close()
    return f"{table}.{name} of row {rowid} set to {shown}"
