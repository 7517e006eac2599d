"""The options that say how a .csv file is written."""

from typing import Annotated, Final

import typer

from ceibo.sheets.text_form import TextForm

_TAB: Final = "\\t"

Bom = Annotated[bool, typer.Option("--bom", help="Begin a .csv with a byte order mark, for Excel.")]
Separator = Annotated[str, typer.Option(help="Between the cells of a .csv: , or ; or \\t.")]
Decimal = Annotated[str, typer.Option(help="Decimal mark of a .csv: . or a comma.")]


def text_form(bom: bool, separator: str, decimal: str) -> TextForm:
    """What the options say."""
    return TextForm(bom, "\t" if separator == _TAB else separator, decimal)
