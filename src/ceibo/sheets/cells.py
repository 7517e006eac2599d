"""Cells of text that a spreadsheet program would run as a formula, and how they are written.

A text that begins with = + - @ (also full-width) or a tab or line break, also after apostrophes,
gets an apostrophe before it. So does what follows a comma, semicolon, tab or line break within a
text: a program of a country with another separator makes a cell of its own of that. Only a number
with a unit, as in "slow; +2 °C", stays as it is there. Reading takes exactly those apostrophes
away, so every text comes back as it was.
"""

import re
from typing import Final

_SIGNS: Final = r"=+\-@＝＋－＠"
_RUN: Final = re.compile(rf"'*[{_SIGNS}\t\r\n]")
_NUMBER: Final = r"[+\-][ ]?\d+(?:\.\d+)?[ ]?[\w%°]*(?=[,;\t\r\n]|$)"
_AFTER: Final = r"(?P<before>[,;\t\r\n][\s\"]*)"
_INNER: Final = re.compile(rf"{_AFTER}(?!{_NUMBER})(?P<rest>'*[{_SIGNS}])")
_GUARDED: Final = re.compile(rf"{_AFTER}'(?P<rest>'*[{_SIGNS}])")


def guard(text: str) -> str:
    """The text as a cell that no spreadsheet program runs."""
    inside = _INNER.sub(r"\g<before>'\g<rest>", text)
    return f"'{inside}" if _RUN.match(text) else inside


def unguard(cell: str) -> str:
    """The text that `guard` made this cell of; another cell as it is."""
    bare = cell[1:] if cell.startswith("'") and _RUN.match(cell) else cell
    return _GUARDED.sub(r"\g<before>\g<rest>", bare)
