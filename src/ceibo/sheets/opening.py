"""The table in a file, whatever program wrote it."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from ceibo.errors import InputError
from ceibo.files import ask_nearest_file
from ceibo.sheets.names import normalize
from ceibo.sheets.table import Table, to_table
from ceibo.sheets.text_file import read_text
from ceibo.sheets.workbook import read_workbook

_ZIP: Final = b"PK\x03\x04"  # .xlsx and .ods
_XLS: Final = b"\xd0\xcf\x11\xe0"


def open_table(
    path: Path, wanted: Collection[str], mapping: Mapping[str, str] | None = None
) -> Table:
    """The table in a file: a header with most of the `wanted` names, and the rows below it.

    `mapping` says what a header stands for.
    """
    given = mapping or {}
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # a name that no file can have is a ValueError
        cause = getattr(error, "strerror", None) or str(error)
        meant = ask_nearest_file(path) if isinstance(error, FileNotFoundError) else "."
        raise InputError(f"cannot read {path}: {cause}{meant}") from None
    if content.startswith(_XLS) or (content.startswith(_ZIP) and path.suffix.lower() == ".ods"):
        raise InputError(
            f"{path} is a workbook of another kind; save the sheet as .xlsx, or as CSV (UTF-8), and"
            " read that file."
        )
    read = read_workbook if content.startswith(_ZIP) else read_text
    grid = read(path, content, [*wanted, *given])
    table = to_table(grid, [*wanted, *given])
    return replace(table, mapping=_resolved(table, given))


def _resolved(table: Table, mapping: Mapping[str, str]) -> dict[str, str]:
    """Header, as it is in the table -> what it stands for."""
    found = {}
    for header, name in mapping.items():
        place = table.column(header, loosely=True)
        if place is None:
            raise InputError(f"{table.path}: {table.no_column(header)}")
        found[normalize(table.header[place])] = name
    return found
