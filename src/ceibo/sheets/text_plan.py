"""A worksheet as CSV."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from ceibo.errors import InputError
from ceibo.sheets.cells import guard
from ceibo.sheets.plan import Content, Number, PlanColumn, rows_of_plan

_BOM: Final = "\ufeff"
_SEPARATORS: Final = (",", ";", "\t")


@final
@dataclass(frozen=True)
class TextForm:
    """How a CSV file is written: byte order mark, separator, decimal mark."""

    bom: bool = False
    separator: str = ","
    decimal: str = "."

    def __post_init__(self) -> None:
        if self.separator not in _SEPARATORS:
            raise InputError(f"separator must be , ; or a tab, got {self.separator!r}.")
        if self.decimal not in (".", ","):
            raise InputError(f"decimal must be . or a comma, got {self.decimal!r}.")
        if self.decimal == self.separator:
            raise InputError("the decimal mark cannot be the separator too; use separator=';'.")

    def cell(self, content: Content) -> str:
        """A cell that no spreadsheet program runs."""
        if isinstance(content, Number):
            return repr(content.value).replace(".", self.decimal)
        return "" if content is None else guard(content)


def to_text(columns: Sequence[PlanColumn], form: TextForm) -> str:
    """The worksheet as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=form.separator, lineterminator="\r\n")
    writer.writerow(guard(each.header) for each in columns)
    for row in rows_of_plan(columns):
        writer.writerow(map(form.cell, row))
    return (_BOM if form.bom else "") + text.getvalue()
