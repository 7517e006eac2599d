"""A table as spreadsheet programs save it: CSV of any separator, encoding and decimal mark."""

import codecs
import csv
import io
import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from ceibo.checks import ask_nearest
from ceibo.cli.cells import unguard
from ceibo.errors import InputError
from ceibo.numbers import MINUS, to_number, with_point
from ceibo.text import shorten

_MOST_NAMED: Final = 30  # columns that an error names
_SEPARATORS: Final = (",", ";", "\t")
# .xlsx, .ods and archives; .xls
_WORKBOOKS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
# Excel names the separator in a first line such as sep=;
_SEP_LINE: Final = re.compile(r'"?sep=([^\r\n"])"?[ \t]*(?:\r\n|\r|\n)', re.IGNORECASE)


@final
@dataclass(frozen=True)
class Table:
    """A header and rows, each with the line it begins on and as many cells as the header."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    separator: str
    note: str | None = None

    def column(self, name: str, loosely: bool = False, but: Collection[int] = ()) -> int | None:
        """The place of a column among those not in `but`, or None; `loosely` ignores capitals."""
        wanted = normalize(name)
        names = {
            place: normalize(each) for place, each in enumerate(self.header) if place not in but
        }
        places = [place for place, each in names.items() if each == wanted]
        if not places and loosely:
            folded = wanted.casefold()
            places = [place for place, each in names.items() if each.casefold() == folded]
        if len(places) > 1:
            shown = ", ".join(_excerpt(self.header[place]) for place in places[:_MOST_NAMED])
            what = f"several columns could be {name!r}: {shown}"
            raise InputError(f"{self.path}: {what}; rename all but one.")
        return places[0] if places else None

    def no_column(self, name: str) -> InputError:
        """The error about a column that is not there."""
        found = ", ".join(map(_excerpt, self.header[:_MOST_NAMED])) or "nothing"
        if len(self.header) > _MOST_NAMED:
            found += f" and {len(self.header) - _MOST_NAMED} more"
        end = ask_nearest(name, filter(None, self.header))
        missing = f"there is no column {name!r}{end}"
        return InputError(f"{self.path}: {missing} The first line has {found}.")


def _excerpt(text: str) -> str:
    return repr(shorten(text, 200))


def normalize(text: str) -> str:
    """A text with composed characters and no spaces around it, as it is compared."""
    return unicodedata.normalize("NFC", text).strip()


def read_table(path: Path, wanted: Collection[str]) -> Table:
    """The table in a file; the separator is the one that finds the most of the `wanted` columns."""
    text, note = _decode(path)
    first = _SEP_LINE.match(text)
    body = text[first.end() :] if first else text
    try:
        separator = first[1] if first else _find_separator(body, wanted)
        records = _records(body, separator, 2 if first else 1)
        _, found = next(records, (1, ()))
        header = _names(found, wanted)
        rows = [
            (line, _fit_to_header(header, cells, f"{path}, line {line}", separator))
            for line, cells in records
        ]
    except csv.Error as error:
        raise InputError(f"{path}: not CSV: {error}.") from None
    return Table(path, header, tuple(rows), separator, note)


def _decode(path: Path) -> tuple[str, str | None]:
    """The text of a file, and a note if its encoding had to be guessed."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}.") from None
    if content.startswith(_WORKBOOKS):
        raise InputError(
            f"{path} is a workbook, not text; save the sheet as CSV (UTF-8) and import that file."
        )
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


def _names(header: tuple[str, ...], wanted: Collection[str]) -> tuple[str, ...]:
    """The names in a header, without the apostrophe that an export put before a wanted one."""
    names = {normalize(name) for name in wanted}
    plain = ((name, unguard(name)) for name in header)
    return tuple(bare if normalize(bare) in names else name for name, bare in plain)


def _find_separator(text: str, wanted: Collection[str]) -> str:
    names = {normalize(name).casefold() for name in wanted}

    def fit(separator: str) -> tuple[int, int]:
        try:
            _, header = next(_records(text, separator, 1), (1, ()))
        except csv.Error:
            return -1, 0
        found = {normalize(name).casefold() for name in _names(header, wanted)}
        return len(names & found), len(header)

    return max(_SEPARATORS, key=fit)


def _records(text: str, separator: str, line: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The records that are not blank, each with the line (by the rules of CSV) it begins on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    before = 0
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield line + before, tuple(cells)
        before = reader.line_num


def _fit_to_header(
    header: tuple[str, ...], cells: tuple[str, ...], where: str, separator: str
) -> tuple[str, ...]:
    """A record as long as the header."""
    # A surplus cell is refused, as an unquoted decimal comma moves all cells that follow it.
    if any(cell.strip() for cell in cells[len(header) :]):
        cause = "an unquoted separator?"
        if separator == ",":
            cause = "an unquoted decimal comma, or another comma?"
        raise InputError(
            f"{where}: there are {len(cells)} cells, but the first line names"
            f" {len(header)} columns; {cause} Write 45.2, or quote the cell."
        )
    return (*cells[: len(header)], *[""] * (len(header) - len(cells)))


def advice_on(text: str) -> str:
    """What to do about a cell that is no number, where its fault is a known one."""
    if text[:1] in "<>≤≥~≈":
        rest = text.lstrip("<>=≤≥~≈ ")
        return f"; leave out the {text[: len(text) - len(rest)].strip()}, or leave the cell empty"
    bare = re.sub(r"[^\d.,eE+-]+$", "", text)
    if bare and bare != text and (to_number(bare) is not None or with_point(bare) is not None):
        return f"; leave out {text[len(bare) :].strip()!r}"
    if text and not any(letter.isdigit() for letter in text):
        return "; leave the cell empty if there is no value"
    return ""


@final
class Numbers:
    """Reads the numbers of a table, which has one decimal mark, not the same as its separator."""

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._mark: str | None = None  # the decimal mark, once there was one
        self._example = ""  # the first number with it

    def read(self, cell: str, what: str, wanted: str = "a number") -> int | float:
        """The number in a cell."""
        text = cell.strip().replace(MINUS, "-")
        written = text
        if "," in text:
            pointed = with_point(text)
            if pointed is not None and (self._separator == "," or "." in text):
                got = f"{_excerpt(cell)}; write {shorten(pointed, 60)}"
                raise InputError(f"{what}: expected {wanted} with a decimal point, got {got}.")
            written = text if pointed is None else pointed
        number = to_number(written)
        if number is None:
            advice = advice_on(text)
            raise InputError(f"{what}: expected {wanted}, got {_excerpt(cell)}{advice}.")
        self._check_mark(text, what)
        return number

    def _check_mark(self, text: str, what: str) -> None:
        mark = next((each for each in ",." if each in text), None)
        if mark is None:
            return
        if self._mark not in (None, mark):
            raise InputError(
                f"{what}: {_excerpt(text)} and {_excerpt(self._example)} have different decimal"
                " marks; write all numbers of the file alike, and thousands without a mark."
            )
        self._mark = mark
        self._example = self._example or text
