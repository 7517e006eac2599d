"""`--param "momentum=0:1 when optimizer=sgd"`: for which values of others a parameter exists."""

import re
from collections.abc import Mapping
from typing import Any, Final

from ceibo.numbers import to_number

SPELLING: Final = 'With "… when optimizer=sgd|adam" it exists for these values only.'
_WHEN: Final = re.compile(r"(?P<spec>.*\S)\s+when\s+(?P<when>[^=]+=.*)")

Words = dict[str, list[str]]  # parent -> its values as written


def split_when(text: str) -> tuple[str, Words]:
    """SPEC when PARENT=A|B and PARENT=C: the part before `when`, and the values of each parent."""
    found = _WHEN.fullmatch(text)
    if found is None:
        return text, {}
    pairs = (each.partition("=") for each in found["when"].split(" and "))
    words = {name.strip(): [*map(str.strip, values.split("|"))] for name, _, values in pairs}
    return found["spec"], words


def when_entry(words: Words, space: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The entry of a study file, in which the values are those of the parents' types."""
    entry = {}
    for parent, texts in words.items():
        choices = space.get(parent, {}).get("choices", ())
        values = [text if text in choices else _number_or_text(text) for text in texts]
        entry[parent] = values if len(values) > 1 else values[0]
    return entry


def _number_or_text(text: str) -> int | float | str:
    number = to_number(text)
    return text if number is None else number
