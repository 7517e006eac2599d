"""Dates as people write them; what could be two days stays as it was written."""

import re
from contextlib import suppress
from datetime import date
from typing import Final

_FORMS: Final = (
    re.compile(r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})"),
    re.compile(r"(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d{4})"),
    re.compile(r"(?P<a>\d{1,2})[/-](?P<b>\d{1,2})[/-](?P<y>\d{4})"),
)


def to_date(text: str) -> str:
    """A day in the form of ISO 8601, or the text as it is."""
    written = text.strip()
    for form in _FORMS:
        found = form.fullmatch(written)
        if found is None:
            continue
        parts = {key: int(value) for key, value in found.groupdict().items()}
        if "a" in parts:
            first, second = parts["a"], parts["b"]
            if first == second or first > 12:
                parts |= {"d": first, "m": second}
            elif second > 12:
                parts |= {"d": second, "m": first}
            else:
                return written  # the fifth of November, or the eleventh of May
        with suppress(ValueError):
            return date(parts["y"], parts["m"], parts["d"]).isoformat()
    return written


def is_day(text: str) -> bool:
    """Whether a text is a day in the form of ISO 8601."""
    with suppress(ValueError):
        return date.fromisoformat(text).isoformat() == text
    return False
