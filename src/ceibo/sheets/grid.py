"""The cells of a table as a file holds them, before anything is known about its columns."""

from dataclasses import dataclass
from pathlib import Path
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, and its number where the file holds a number rather than a text.

    `fault` says why it cannot be read. A `percent` is a number that is shown so, 12.3 for 0.123.
    `is_date` marks a date, whose text is that of ISO 8601; `is_spread` a cell within a merged one,
    whose content stands in another cell.
    """

    text: str = ""
    number: int | float | None = None
    fault: str = ""
    percent: float | None = None
    is_date: bool = False
    is_spread: bool = False

    @property
    def is_blank(self) -> bool:
        """Whether nothing was written there."""
        return not self.text.strip() and not self.fault


BLANK = Cell()


@final
@dataclass(frozen=True, slots=True)
class Record:
    """A row that is not blank: its number in a spreadsheet, and the line of the text it is on."""

    row: int
    cells: tuple[Cell, ...]
    line: int | None = None


@final
@dataclass(frozen=True)
class Grid:
    """The rows of a file, or of one sheet of a workbook, that are not blank.

    `separator` is that of the text, "" in a workbook; `note` is about how the file was read.
    """

    path: Path
    records: tuple[Record, ...]
    separator: str = ""
    note: str | None = None


def letters(column: int) -> str:
    """The letters of a column, counted from 0: A, B, …, Z, AA, …"""
    found = ""
    column += 1
    while column:
        column, digit = divmod(column - 1, 26)
        found = chr(ord("A") + digit) + found
    return found


def address(record: Record, column: int | None = None) -> str:
    """Where a cell is, or a row: B7, and in a text also its line."""
    cell = f"row {record.row}" if column is None else f"{letters(column)}{record.row}"
    if record.line is None:
        return cell
    return f"line {record.line}" if column is None else f"line {record.line}, {cell}"
