"""A worksheet as a workbook (.xlsx): tinted cells to fill in, and a sheet that says how."""

import datetime
import io
import textwrap
from collections.abc import Sequence
from typing import Any, Final

from ceibo.errors import InputError
from ceibo.sheets.cells import guard
from ceibo.sheets.plan import Content, Kind, Number, PlanColumn, rows_of_plan
from ceibo.sheets.workbook import openpyxl
from ceibo.text import shorten

_TITLE: Final = "plan"
_HELP: Final = "how to fill this in"
_TINTS: Final = {Kind.PLAN: "E8EEF4", Kind.BELIEF: "F3F3F3", Kind.INPUT: "FFF6D6"}
_LINES: Final = "8C8C8C"  # colour of the lines around cells
_LONGEST: Final = 32_767  # characters that a cell can hold
_WIDEST: Final = 28  # of a column, in characters
_NARROWEST: Final = {Kind.PLAN: 4, Kind.BELIEF: 6, Kind.INPUT: 8}
_GUIDE: Final = 76  # of the sheet that says how, which a page has room for
_SENTENCE: Final = 20  # of a column for sentences
_LINE: Final = 15.0  # height of a line of text, in points
_HAND: Final = 30.0  # height of a row in which a hand can write
_MARGIN: Final = 0.4  # of the paper, in inches
_SPARE: Final = 20  # tinted rows below the plan, for runs of one's own
_MADE: Final = datetime.datetime(2000, 1, 1)


def to_workbook(columns: Sequence[PlanColumn], study: str, guide: Sequence[str]) -> bytes:
    """The worksheet as the content of an .xlsx file."""
    package = openpyxl()
    book = package.Workbook()
    book.properties.creator = "ceibo"
    book.properties.title = shorten(study, 200)
    book.properties.created = _MADE
    sheet = book.active
    sheet.title = _TITLE
    for place, column in enumerate(columns, 1):
        _head(package, sheet, place, column)
    for number, row in enumerate(rows_of_plan(columns), 2):
        for place, (column, content) in enumerate(zip(columns, row, strict=True), 1):
            _fill(package, sheet.cell(number, place), column, content)
    below = sheet.max_row + 1
    for number in range(below, below + _SPARE):
        for place, column in enumerate(columns, 1):
            if column.kind is not Kind.BELIEF:
                _fill(package, sheet.cell(number, place), column, None, spare=True)
    # a program that does not fit heights to wrapped headers by itself would cut them off
    sheet.row_dimensions[1].height = _LINE * max(map(_lines, columns)) + 2
    for number in range(2, below):
        sheet.row_dimensions[number].height = _HAND
    sheet.freeze_panes = "B2"
    sheet.print_title_rows = "1:1"
    _set_paper(package, sheet, "landscape")
    _add_guide(package, book.create_sheet(_HELP), guide)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _add_guide(package: Any, sheet: Any, guide: Sequence[str]) -> None:
    """The sheet that says how: a sentence in a row, as high as its lines."""
    sheet.column_dimensions["A"].width = _GUIDE
    for number, line in enumerate(guide, 1):
        cell = sheet.cell(number, 1)
        _write(cell, line)
        cell.alignment = package.styles.Alignment(wrap_text=True, vertical="top")
        lines = len(textwrap.wrap(line, _GUIDE - 8)) or 1  # letters of some programs are wider
        sheet.row_dimensions[number].height = _LINE * lines + 4
    _set_paper(package, sheet, "portrait")


def _set_paper(package: Any, sheet: Any, orientation: str) -> None:
    """On paper all columns are side by side, and every page has the header."""
    sheet.page_setup.orientation = orientation
    sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
    fitting = package.worksheet.properties.PageSetupProperties(fitToPage=True)
    sheet.sheet_properties.pageSetUpPr = fitting
    margins = sheet.page_margins
    margins.left = margins.right = margins.top = _MARGIN
    sheet.oddFooter.left.text, sheet.oddFooter.right.text = "&F", "&P / &N"


def _head(package: Any, sheet: Any, place: int, column: PlanColumn) -> None:
    """The header of a column, and its width."""
    cell = sheet.cell(1, place)
    _write(cell, column.header)
    cell.font = package.styles.Font(bold=True)
    cell.alignment = package.styles.Alignment(wrap_text=True, vertical="top")
    cell.fill = _tint(package, column.kind)
    _frame(package, cell)
    sheet.column_dimensions[package.utils.get_column_letter(place)].width = _width(column)


def _width(column: PlanColumn) -> int:
    """The width of a column, in characters."""
    shown = [len(_text(each)) for each in column.cells]
    words = max((len(word) for word in column.header.split()), default=0)
    low = _SENTENCE if column.is_wide else _NARROWEST[column.kind]
    return min(max(low, words, *shown) + 2, _WIDEST)


def _lines(column: PlanColumn) -> int:
    """How many lines the header of a column takes, broken between words."""
    wide = _width(column) - 1  # bold letters are wider
    return len(textwrap.wrap(column.header, wide)) or 1


def _text(content: Content) -> str:
    return content.text() if isinstance(content, Number) else content or ""


def _tint(package: Any, kind: Kind) -> Any:
    return package.styles.PatternFill("solid", start_color=_TINTS[kind])


def _fill(
    package: Any, cell: Any, column: PlanColumn, content: Content, spare: bool = False
) -> None:
    """Writes a cell; those to be filled in are tinted."""
    if isinstance(content, Number):
        cell.value = content.value
        cell.number_format = content.form
    elif content is not None:
        _write(cell, content)
        # apart from the number before it
        cell.alignment = package.styles.Alignment(horizontal="left", indent=1)
    if column.kind is Kind.INPUT:
        cell.number_format = column.form
    if column.kind is Kind.INPUT and not spare:
        cell.fill = _tint(package, column.kind)
    if not spare:
        _frame(package, cell)


def _frame(package: Any, cell: Any) -> None:
    """Thin lines around a cell, which paper shows too."""
    line = package.styles.Side(style="thin", color=_LINES)
    cell.border = package.styles.Border(line, line, line, line)


def _write(cell: Any, text: str) -> None:
    """Writes a text that is one, and never a formula."""
    guarded = guard(text)
    odd = [each for each in guarded if each == "\r" or (not each.isprintable() and each < " ")]
    if len(guarded) > _LONGEST or any(each not in "\t\n" for each in odd):
        raise InputError(
            f"a workbook cannot hold the text {shorten(guarded, 60)!r}; write a .csv file instead."
        )
    cell.value = guarded
    cell.data_type = "s"
