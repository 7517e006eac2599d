"""A table as spreadsheet programs save it: CSV of any separator and encoding."""

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from ceibo.errors import InputError
from ceibo.sheets.grid import Cell, Grid, Record
from ceibo.sheets.table import find_header

_SEPARATORS: Final = (",", ";", "\t")
# Excel names the separator in a first line such as sep=;
_SEP_LINE: Final = re.compile(r'"?sep=([^\r\n"])"?[ \t]*(?:\r\n|\r|\n)', re.IGNORECASE)


def read_text(path: Path, content: bytes, wanted: Collection[str]) -> Grid:
    """The rows of a CSV file; the separator is the one that finds the most `wanted` columns."""
    text, note = _decode(path, content)
    first = _SEP_LINE.match(text)
    body = text[first.end() :] if first else text
    separators = (first[1],) if first else _SEPARATORS
    line = 2 if first else 1
    grids: list[Grid] = []
    fault: csv.Error | None = None
    for separator in separators:
        try:
            records = tuple(_records(body, separator, line))
        except csv.Error as error:
            fault = fault or error
            continue
        grids.append(Grid(path, records, separator, note))
    if not grids or (fault is not None and not _has_columns(grids, wanted)):
        raise InputError(f"{path}: not CSV: {fault}.") from None
    return max(grids, key=lambda grid: find_header(grid, wanted)[1])


def _has_columns(grids: list[Grid], wanted: Collection[str]) -> bool:
    """Whether a reading of a file that cannot be read with every separator is the right one."""
    return any(find_header(grid, wanted)[1][0] > 0 for grid in grids)


def _decode(path: Path, content: bytes) -> tuple[str, str | None]:
    """The text of a file, and a note if its encoding had to be guessed."""
    # Windows writes cp1252, an extended Latin-1
    encodings = ["utf-8-sig", "cp1252", "latin-1"]
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encodings = ["utf-16"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        note = f"{path} is not UTF-8; it was read as Latin-1 (Windows-1252)."
        return text, note if encoding in ("cp1252", "latin-1") else None
    raise InputError(f"{path} is not text that can be read; save it as CSV in UTF-8.")


def _records(text: str, separator: str, line: int) -> Iterator[Record]:
    """The records that are not blank, each with the line (by the rules of CSV) it begins on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    before = 0
    for row, cells in enumerate(reader, 1):
        if any(cell.strip() for cell in cells):
            yield Record(row, tuple(map(Cell, cells)), line + before)
        before = reader.line_num
