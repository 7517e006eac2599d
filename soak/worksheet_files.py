"""Worksheets as people and programs save them: many ways to write one table down."""

import csv
import datetime
import io
import random
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final

import openpyxl
from openpyxl.utils import get_column_letter

Place = tuple[int, int]  # row and column of a table, its header being row 0

_FORMULA: Final = "a formula without a value"


@final
@dataclass
class Filled:
    """A table of a header and rows of texts, numbers, dates and None.

    `formulas` are cells computed by a formula, `spread` columns whose equal neighbours are merged,
    `shares` cells of percentages.
    """

    header: list[str]
    rows: list[list[Any]]
    formulas: set[Place] = field(default_factory=set)
    spread: set[int] = field(default_factory=set)
    shares: set[Place] = field(default_factory=set)


@final
@dataclass(frozen=True)
class Written:
    """A file, and where the rows of the table are in it: their numbers in a spreadsheet."""

    path: Path
    rows: list[int]

    def address(self, place: Place) -> str:
        """Where a cell of the table is in the file."""
        row, column = place
        return f"{get_column_letter(column + 1)}{self.rows[row]}"


def write(rng: random.Random, table: Filled, folder: Path) -> Written:
    """Writes a table down in one of many ways."""
    above = [["Plan of week 47"], [], ["Suzuki coupling", "hood 3"]][: rng.choice([0, 0, 1, 2, 3])]
    lines: list[list[Any]] = list(above)
    rows: list[int] = []
    for row in [table.header, *table.rows]:
        if len(rows) > 1 and rng.random() < 0.1:
            lines.append([])
        lines.append(row)
        rows.append(len(lines))
    if rng.random() < 0.5:
        path = folder / "plan.xlsx"
        _write_book(path, lines, rows, table, bool(above))
    else:
        path = folder / "plan.csv"
        _write_text(rng, path, lines)
    return Written(path, rows)


def _write_text(rng: random.Random, path: Path, lines: list[list[Any]]) -> None:
    separator = rng.choice([",", ";", "\t"])
    mark = "," if separator != "," and rng.random() < 0.6 else "."
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator=rng.choice(["\n", "\r\n"]))
    for line in lines:
        writer.writerow([_text(cell, mark) for cell in line])
    first = f"sep={separator}\r\n" if rng.random() < 0.1 else ""
    encoding = rng.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252"])
    path.write_bytes((first + text.getvalue()).encode(encoding))


def _text(cell: Any, mark: str) -> str:
    """A cell as a spreadsheet program of some country saves it."""
    if cell is None:
        return ""
    if isinstance(cell, datetime.date):
        return cell.isoformat()
    if isinstance(cell, int | float):
        return repr(cell).replace(".", mark)
    return str(cell).replace("·", mark)


def _write_book(
    path: Path, lines: list[list[Any]], rows: list[int], table: Filled, has_title: bool
) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for number, line in enumerate(lines, 1):
        for column, cell in enumerate(line, 1):
            sheet.cell(number, column, cell.replace("·", ",") if isinstance(cell, str) else cell)
    for row, column in table.shares:
        cell = sheet.cell(rows[row], column + 1)
        cell.value, cell.number_format = table.rows[row - 1][column] / 100, "0.0%"
    for row, line in enumerate(table.rows, 1):
        for column, value in enumerate(line):
            if value == _FORMULA:
                sheet.cell(rows[row], column + 1, "=A1+A2")
    if has_title:
        sheet.merge_cells(start_row=1, end_row=1, start_column=1, end_column=len(table.header))
    for column in table.spread:
        _merge(sheet, table, rows, column)
    if len(lines) % 3 == 0:
        book.create_sheet("remarks", 0)["A1"] = "nothing here"
    book.save(path)
    addresses = {f"{get_column_letter(column + 1)}{rows[row]}" for row, column in table.formulas}
    _compute(path, addresses)


def _merge(sheet: Any, table: Filled, rows: list[int], column: int) -> None:
    """Merges equal neighbours of a column."""
    first = 1
    while first <= len(table.rows):
        last = first
        same = table.rows[first - 1][column]
        while (
            same is not None
            and last < len(table.rows)
            and table.rows[last][column] == same
            and rows[last + 1] == rows[last] + 1
        ):
            last += 1
        if last > first:
            place = {"start_column": column + 1, "end_column": column + 1}
            sheet.merge_cells(start_row=rows[first], end_row=rows[last], **place)
        first = last + 1


def _compute(path: Path, addresses: set[str]) -> None:
    """Puts a formula before the values of cells, as a program that has computed them saves it."""
    if not addresses:
        return
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name, content in parts.items():
        if name.startswith("xl/worksheets/sheet"):
            text = content.decode()
            for each in addresses:
                form = rf'(<c r="{each}"[^>]*>)(<v>[^<]*</v></c>)'
                text = re.sub(form, r"\1<f>SUM(A1:A2)</f>\2", text)
            parts[name] = text.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def formula_without_value() -> str:
    """What is written in a cell whose formula nobody has computed."""
    return _FORMULA
