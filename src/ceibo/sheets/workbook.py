"""Workbooks (.xlsx), read by openpyxl, which is imported when one is touched."""

import datetime
import io
import re
import zipfile
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ceibo.errors import InputError
from ceibo.sheets.grid import BLANK, Cell, Grid, Record
from ceibo.sheets.table import find_header

_MOST_CELLS: Final = 2_000_000
_MOST_BYTES: Final = 200_000_000  # of a workbook, unpacked
_MIDNIGHT: Final = datetime.time()
_QUOTED: Final = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_NO_VALUE: Final = (
    "there is a formula, but the file does not hold its value; open and save it in a spreadsheet"
    " program, or write the value."
)

Merged = dict[tuple[int, int], tuple[int, int]]  # a cell within a merged one -> where that begins


def openpyxl() -> Any:
    """The package that reads and writes workbooks."""
    try:
        import openpyxl as package
    except ImportError as error:
        raise ImportError(
            "workbooks need openpyxl: pip install 'path/to/the/clone[sheets]'; or use a .csv file"
        ) from error
    return package


def read_workbook(path: Path, content: bytes, wanted: Collection[str]) -> Grid:
    """The rows of the sheet that has the most of the `wanted` columns."""
    _check_size(path, content)
    package = openpyxl()
    try:
        values = package.load_workbook(io.BytesIO(content), data_only=True)
        formulas = package.load_workbook(io.BytesIO(content))
        grids = [
            Grid(path, _records(path, sheet, formulas[sheet.title])) for sheet in values.worksheets
        ]
    except InputError:
        raise
    except Exception as error:
        raise _unreadable(path, error) from error
    if not grids:
        raise InputError(f"{path} has no sheet with cells; save the table as CSV (UTF-8).")
    fits = [find_header(grid, wanted)[1][0] for grid in grids]
    place = fits.index(max(fits))
    titles = [sheet.title for sheet in values.worksheets]
    alike = [at for at, fit in enumerate(fits) if at != place and 2 * fit > fits[place]]
    others = [titles[at] for at in alike]
    if not others:
        return grids[place]
    named = ", ".join(repr(each) for each in others)
    note = f"{path}: of several sheets {titles[place]!r} was read, and not {named}."
    return replace(grids[place], note=note)


def _check_size(path: Path, content: bytes) -> None:
    """Refuses a workbook that would not fit into memory."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(each.file_size for each in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise _unreadable(path, error) from error
    if size > _MOST_BYTES:
        raise InputError(
            f"{path} has {size / 1e6:.0f} MB unpacked, which is no plan; save the sheet as CSV."
        )


def _unreadable(path: Path, error: Exception) -> InputError:
    return InputError(
        f"{path} is no workbook that can be read ({type(error).__name__}); save the sheet as .xlsx"
        " anew, or as CSV (UTF-8)."
    )


def _records(path: Path, sheet: Any, formulas: Any) -> tuple[Record, ...]:
    """The rows of a sheet that are not blank."""
    rows, columns = sheet.max_row, sheet.max_column
    if rows * columns > _MOST_CELLS:
        raise InputError(
            f"{path}: the sheet {sheet.title!r} has {rows} rows and {columns} columns; delete the"
            " empty ones beyond the table, or save it as CSV."
        )
    merged = _merged(sheet)
    found = []
    for row in range(1, rows + 1):
        cells = tuple(_cell(sheet, formulas, merged, (row, each)) for each in range(1, columns + 1))
        while cells and cells[-1].is_blank:
            cells = cells[:-1]
        if not all(cell.is_blank or cell.is_spread for cell in cells):
            found.append(Record(row, cells))
    return tuple(found)


def _merged(sheet: Any) -> Merged:
    """The cells within merged ones, without the first of each."""
    places: Merged = {}
    for area in sheet.merged_cells.ranges:
        first = area.min_row, area.min_col
        if area.size["rows"] * area.size["columns"] > _MOST_CELLS // 100:
            continue  # a title over the whole sheet
        places.update({place: first for place in area.cells if place != first})
    return places


def _cell(sheet: Any, formulas: Any, merged: Merged, place: tuple[int, int]) -> Cell:
    first = merged.get(place, place)
    found = sheet.cell(*first)
    if found.value is None and formulas.cell(*first).data_type == "f":
        return Cell("=", fault=_NO_VALUE)
    return _to_cell(found.value, found.number_format, first != place)


def _to_cell(value: Any, shown_as: str, is_spread: bool) -> Cell:
    """A value of a workbook as a cell."""
    if value is None:
        return BLANK
    if isinstance(value, bool):
        return Cell("TRUE" if value else "FALSE", is_spread=is_spread)
    if isinstance(value, int | float):
        if "%" in _QUOTED.sub("", shown_as):  # what was typed as 12.3 % is stored as 0.123
            percent = float(f"{100 * value:.12g}")
            return Cell(f"{percent!r} %", percent=percent, is_spread=is_spread)
        whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
        number = int(value) if whole else value
        return Cell(repr(number), number, is_spread=is_spread)
    if isinstance(value, datetime.datetime):
        day = value.date() if value.time() == _MIDNIGHT else value.replace(microsecond=0)
        return Cell(
            day.isoformat(sep=" ") if isinstance(day, datetime.datetime) else str(day),
            is_date=True,
            is_spread=is_spread,
        )
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        return Cell(str(value), is_date=True, is_spread=is_spread)
    return Cell(str(value), is_spread=is_spread)
