"""Attributes of a trial: whatever else belongs to it, as plain JSON data under names."""

import math
from collections import UserDict
from collections.abc import Mapping
from typing import Any, Final, final

import numpy as np

from ceibo.errors import InputError, show_value

PLANNED: Final = "planned"
"""The attribute of a trial that was run in place of another: the number of the one planned."""
_LONGEST_NAME: Final = 200
_DEEPEST: Final = 20
_LARGEST: Final = 10**4000  # numbers of more digits are none in JSON
_LONGEST_TEXT: Final = 1000  # of what cannot be stored


@final
class Attributes(UserDict[str, Any]):
    """Attributes by name; a value that cannot be stored is refused when it is set.

    Numbers, texts, None, and lists and dicts of them can. Numbers of NumPy and its arrays become
    Python's, tuples become lists, and NaN and the infinities become the texts "nan", "inf", "-inf".
    """

    def __setitem__(self, name: str, value: Any) -> None:
        self.data[checked_name(name)] = plain(value, f"attribute {name!r}")

    def settled(self) -> dict[str, Any]:
        """As they can be stored; a list that took up what cannot be since is a text."""
        kept = {}
        for name, value in self.data.items():
            try:
                kept[name] = plain(value, f"attribute {name!r}")
            except InputError:
                kept[name] = show_value(value, _LONGEST_TEXT)
        return kept


def checked_attributes(given: object) -> dict[str, Any]:
    """Attributes as they are stored."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        example = '{"operator": "Ann", "batch": 12}'
        raise InputError(f"attributes: expected a dict such as {example}, got {show_value(given)}.")
    return dict(Attributes(given).data)


def checked_name(name: object) -> str:
    """The name of an attribute, that every database can store."""
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise InputError(
            f"expected a name of at most {_LONGEST_NAME} printable characters for an attribute, got"
            f" {show_value(name)}."
        )
    return name


def plain(value: Any, what: str, depth: int = 0) -> Any:
    """A value as JSON data; `what` names it in the error."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value).encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
    if isinstance(value, int) and abs(value) < _LARGEST:
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    if depth < _DEEPEST and isinstance(value, Mapping):
        return {checked_name(each): plain(value[each], what, depth + 1) for each in value}
    if depth < _DEEPEST and isinstance(value, list | tuple):
        return [plain(each, what, depth + 1) for each in value]
    raise InputError(
        f"{what}: expected numbers, texts, None, or lists and dicts of them, got"
        f" {show_value(value, 200)}; store a file's name in its place, or a text."
    )
