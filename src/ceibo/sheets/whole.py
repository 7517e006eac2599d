"""Whole settings from the cells of a row."""

from collections.abc import Mapping
from typing import Any

from ceibo.decide.frame import Frame
from ceibo.decide.space import Params
from ceibo.errors import InputError
from ceibo.sheets.entries import Entries, Entry
from ceibo.sheets.problems import Problems


def setting_in(sheet: Entries, entry: Entry, frame: Frame, problems: Problems) -> Params | None:
    """The setting of a row by itself; None, and a problem, if it has none.

    What was really used stands in place of what was planned. The cell of a parameter that does not
    exist there, or came later, is empty.
    """
    given = {**entry.planned, **entry.used}
    blank = [
        name
        for name in sheet.places.params
        if name not in given and not (frame.space.is_conditional(name) or name in frame.before)
    ]
    for name in blank:
        message = f"parameter {name!r}: the cell is empty; what was it in this run?"
        sheet.report(problems, entry, sheet.places.params[name], message)
    for sentence in sheet.missing:
        problems.add(sentence)
    is_unread = None in given.values() and bool(problems.found)  # a cell is a problem already
    if blank or sheet.missing or is_unread:
        return None
    return checked(sheet, entry, frame, given, problems)


def checked(
    sheet: Entries, entry: Entry, frame: Frame, given: Mapping[str, Any], problems: Problems
) -> Params | None:
    """A setting as the frame has it; None, and a problem in the cell that is wrong."""
    try:
        return frame.check(given)
    except InputError as error:
        text = str(error)
        places = {**sheet.places.params, **sheet.places.used}
        named = (place for name, place in places.items() if f"parameter {name!r}" in text)
        sheet.report(problems, entry, next(named, None), text)
        return None
