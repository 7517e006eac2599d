"""Suggestions rounded to what a person can dial, which is then what is measured."""

from dataclasses import replace
from typing import Final

from ceibo.decide.dialling import dial_setting
from ceibo.decide.space import Space
from ceibo.study.deciding import Record, Suggested

_KEY: Final = "dialled"


def dialled(space: Space, suggested: Suggested) -> Suggested:
    """The suggestion with its setting rounded; its place and record say what it was before.

    What a user has fixed stays as it is.
    """
    rounded = dial_setting(space, suggested.params, suggested.record.get("fixed", ()))
    return replace(suggested, params=rounded, record={**suggested.record, _KEY: True})


def was_dialled(record: Record) -> bool:
    """Whether a recorded suggestion was rounded."""
    return bool(record.get(_KEY))
