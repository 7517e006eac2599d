"""The numbers of a table, as people of any country write them."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, final

from ceibo.errors import InputError
from ceibo.numbers import MINUS, is_split_thousand, to_number, with_point
from ceibo.sheets.grid import Cell
from ceibo.text import shorten

_LIMITS: Final = "<>≤≥~≈"
_ERRORS: Final = re.compile(r"#[A-Z0-9/!?]+")


def excerpt(text: str) -> str:
    """A text of a file as an error shows it."""
    return repr(shorten(text, 200))


def advice_on(text: str) -> str:
    """What to do about a cell that is no number, where its fault is a known one."""
    if _ERRORS.fullmatch(text):
        return "; its formula has failed, so mend it or write the number"
    if text[:1] in _LIMITS:
        return "; write the best guess with a noise as large as the doubt, or leave the cell empty"
    bare = _without_unit(text)
    if bare and bare != text and _is_number(bare):
        return f"; leave out {text[len(bare) :].strip()!r}"
    words = text.split()
    if len(words) > 1 and all(map(_is_number, words)) and not gap_in(words):
        return "; several values of one run go into columns of replicates"
    if "±" in text:
        return "; write what follows the ± under noise"
    if text.casefold().startswith("fail"):
        return "; write failed alone, and why under notes"
    if text and not any(letter.isdigit() for letter in text):
        return "; leave the cell empty if there is no value"
    return "; write the number alone, and what is to be said of it under notes"


def _without_unit(text: str) -> str:
    """A text without what follows its last digit, mark, sign or exponent."""
    end = len(text)
    while end and not (text[end - 1].isdecimal() or text[end - 1] in ".,eE+-"):
        end -= 1
    return text[:end]


def _is_number(text: str) -> bool:
    """Whether a text is a number, with a point or a comma."""
    return to_number(text) is not None or with_point(text) is not None


def gap_in(words: Sequence[str]) -> str:
    """The first two words that may be one number with a gap, as in 1 000; empty if none are."""
    return next((f"{a} {b}" for a, b in pairwise(words) if is_split_thousand(a, b)), "")


@final
class Numbers:
    """Reads the numbers of a table, which has one decimal mark, not the same as its separator.

    Of a workbook, which has no separator, the numbers in its cells are taken as they are, and
    texts are read as those of a file.
    """

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._mark: str | None = None  # the decimal mark, once there was one
        self._example = ""  # the first number with it

    def read(
        self, cell: Cell | str, what: str, wanted: str = "a number", unit: str = ""
    ) -> int | float:
        """The number in a cell, in which the unit of its column may be repeated."""
        if isinstance(cell, str):
            cell = Cell(cell)
        if cell.fault:
            raise InputError(f"{what}: {cell.fault}")
        if cell.number is not None:
            return cell.number
        if cell.percent is not None and unit == "%":
            return cell.percent
        shown = excerpt(cell.text)
        if cell.is_date:
            raise InputError(
                f"{what}: expected {wanted}, got the date {cell.text}, which the spreadsheet may"
                " have made of what was typed; format the cell as a number and type it again."
            )
        text = cell.text.strip().replace(MINUS, "-")
        if unit and text.endswith(unit) and not _is_number(text):  # a unit may be "1"
            text = text[: -len(unit)].rstrip()
        written = text
        if "," in text:
            pointed = with_point(text)
            if pointed is not None and (self._separator == "," or "." in text):
                got = f"{shown}; write {shorten(pointed, 60)}"
                raise InputError(f"{what}: expected {wanted} with a decimal point, got {got}.")
            written = text if pointed is None else pointed
        number = to_number(written)
        if number is None:
            raise InputError(f"{what}: expected {wanted}, got {shown}{advice_on(text)}.")
        self._check_mark(text, what)
        return number

    def _check_mark(self, text: str, what: str) -> None:
        mark = next((each for each in ",." if each in text), None)
        if mark is None:
            return
        if self._mark not in (None, mark):
            raise InputError(
                f"{what}: {excerpt(text)} and {excerpt(self._example)} have different decimal"
                " marks; write all numbers of the file alike, and thousands without a mark."
            )
        self._mark = mark
        self._example = self._example or text
