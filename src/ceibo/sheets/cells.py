"""Cells of text that a spreadsheet program would run as a formula, and how they are written.

A text that begins with = + - @ or a tab or line break, also after apostrophes, gets an apostrophe
before it; reading takes exactly that one away. So every text comes back as it was.
"""

import re
from typing import Final

_RUN: Final = re.compile(r"'*[=+\-@\t\r\n]")


def guard(text: str) -> str:
    """The text as a cell that no spreadsheet program runs."""
    return f"'{text}" if _RUN.match(text) else text


def unguard(cell: str) -> str:
    """The text that `guard` made this cell of; another cell as it is."""
    return cell[1:] if cell.startswith("'") and _RUN.match(cell) else cell
