"""`when` on a list: parameters that exist with some of its values, which may be estimators.

    svc, tree = SVC(), DecisionTreeClassifier()
    {"model": [svc, tree], "model__C": ceibo.Float(0.1, 10, log=True, when={"model": svc})}

A list is searched by its places or levels; a condition on its values becomes one on those.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ceibo.decide.dimensions.base import Dimension, to_plain
from ceibo.errors import InputError, show_value
from ceibo.integrations.sklearn.fingerprint import fingerprint

Level = tuple[Any, Any]  # of the dimension searched, and the value of the list that it stands for


def check_parents(distributions: Mapping[str, Any], listed: Collection[str]) -> None:
    """Refuses a `when` on what is neither a dimension of ceibo's nor a list that is searched."""
    for name, given in distributions.items():
        when = given.when if isinstance(given, Dimension) else None
        for parent in when if isinstance(when, Mapping) else ():  # others are refused by the space
            known = distributions.get(parent, given)
            if not (isinstance(known, Dimension) or parent in listed):
                raise InputError(
                    f"parameter {name!r} exists depending on {parent!r}, which must then be a list"
                    " of two values or more, or a dimension such as ceibo.Int(1, 3), got"
                    f" {show_value(known)}."
                )


def levels_of(name: str, parent: str, given: object, levels: Sequence[Level]) -> list[Any]:
    """The levels of a list with whose values, given as one or several, a parameter exists."""
    marks = [_mark(value) for _, value in levels]
    wanted: Sequence[Any] = [given]
    if isinstance(given, list | set | frozenset) or (
        isinstance(given, tuple) and _mark(given) not in marks
    ):
        wanted = list(given)
    for value in wanted:
        if _mark(value) not in marks:
            values = [value for _, value in levels]
            raise InputError(
                f"parameter {name!r}, when {parent}: expected values of its list,"
                f" {show_value(values)}, got {show_value(value)}."
            )
    asked = [_mark(value) for value in wanted]
    return [level for (level, _), mark in zip(levels, marks, strict=True) if mark in asked]


def _mark(value: object) -> str:
    return fingerprint(to_plain(value))
