"""Outcomes as `ceibo init` spells them: yield=maximize:unit=%:low=0, impurity=at_most:2."""

from collections.abc import Sequence
from typing import Any, Final

from ceibo.decide.outcomes import check_outcome_name, outcome_from_json
from ceibo.errors import InputError
from ceibo.numbers import to_number

SPELLING: Final = (
    "NAME=minimize, NAME=maximize, NAME=at_most:2, NAME=at_least:90 or NAME=watch, then perhaps"
    " :unit=%, :low=0, :high=100"
)
_LIMITS: Final = ("at_most", "at_least")
_GOALS: Final = ("minimize", "maximize")


def read_outcomes(given: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Name -> entry of [outcomes]."""
    outcomes: dict[str, dict[str, Any]] = {}
    for text in given:
        name, _, spec = (part.strip() for part in text.partition("="))
        try:
            entry = _entry(spec)
            if entry is None:
                raise InputError(f"expected {SPELLING}, got {text!r}.")
            check_outcome_name(name)
            outcome_from_json(name, entry)
        except InputError as error:
            raise InputError(f"--outcome: {error}") from None
        if name in outcomes:
            raise InputError(f"--outcome: {name!r} is given twice; once is enough.")
        outcomes[name] = entry
    return outcomes


def _entry(spec: str) -> dict[str, Any] | None:
    """An entry of [outcomes] from what stands behind its name; None if it is none."""
    kind, *rest = spec.split(":")
    entry: dict[str, Any] = {}
    if kind in _GOALS:
        entry["goal"] = kind
    elif kind == "watch":
        entry["watch"] = True
    elif kind in _LIMITS and rest:
        entry[kind] = _number(rest.pop(0), kind)
    else:
        return None
    for part in rest:
        key, sign, value = part.partition("=")
        if not sign or key not in ("unit", "low", "high") or key in entry:
            return None
        entry[key] = value if key == "unit" else _number(value, key)
    return entry


def _number(text: str, name: str) -> int | float:
    number = to_number(text)
    if number is None:
        raise InputError(f"expected {name} to be a number, got {text!r}.")
    return number
