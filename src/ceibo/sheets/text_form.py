"""How CSV is written: by default as programs read it, or as spreadsheets of other countries do."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, final

from ceibo.errors import InputError

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

    def number(self, value: float) -> str:
        """A number with all its digits."""
        return repr(value).replace(".", self.decimal)

    def table(self, rows: Iterable[Iterable[object]]) -> str:
        """Rows of cells as a text."""
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.separator, lineterminator="\r\n")
        writer.writerows(rows)
        return (_BOM if self.bom else "") + text.getvalue()


PLAIN: Final = TextForm()
