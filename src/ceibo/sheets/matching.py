"""Whether the rows of a worksheet are on record already, and where they contradict it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from ceibo.decide import Measurement
from ceibo.decide.dimensions.choices import identity
from ceibo.decide.frame import Frame
from ceibo.errors import InputError
from ceibo.sheets.entries import Entry, Result
from ceibo.sheets.results import is_rounded
from ceibo.study import Failure
from ceibo.study.store import StoredTrial
from ceibo.study.store.records import StoredMeasurement

Values = dict[str, Measurement]


def values_of(result: Result) -> Values:
    """Measurements by outcome, "" in a study of one objective; none of a failure."""
    if isinstance(result, Failure):
        return {}
    return {"": result} if isinstance(result, Measurement) else result


@final
@dataclass
class Match:
    """What is on record of a trial, while the rows about it are compared with it one by one."""

    trial: StoredTrial
    left: list[StoredMeasurement] = field(init=False)
    voided: list[tuple[str, Measurement]] = field(init=False)
    told: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.left = list(self.trial.measurements)
        self.voided = [(each.told.outcome, each.told.measurement) for each in self.trial.voided]
        self.told = {}
        for each in self.left:
            self.told[each.outcome] = self.told.get(each.outcome, 0) + 1

    def take(self, values: Values) -> Values:
        """The values that are not on record; what is found there is used up."""
        rest = {}
        for outcome, measurement in values.items():
            found = next((each for each in self.left if _is_same(each, outcome, measurement)), None)
            if found is not None:
                self.left.remove(found)
            elif (outcome, measurement) in self.voided:
                self.voided.remove((outcome, measurement))
            else:
                rest[outcome] = measurement
        return rest

    def holds(self, values: Values) -> bool:
        """Whether one of the values is on record, and none is contradicted."""
        same = [
            any(_is_same(each, outcome, measurement) for each in self.left)
            or (outcome, measurement) in self.voided
            for outcome, measurement in values.items()
        ]
        absent = [not any(each.outcome == outcome for each in self.left) for outcome in values]
        return any(same) and all(a or b for a, b in zip(same, absent, strict=True))

    def other(self, outcome: str) -> StoredMeasurement | None:
        """A measurement on record that no row has, which is used up."""
        found = next((each for each in self.left if each.outcome == outcome), None)
        if found is not None:
            self.left.remove(found)
        return found

    def key(self, values: Values) -> str | None:
        """The key to tell values under: None for the first, else one of their own."""
        count = max((self.told.get(outcome, 0) for outcome in values), default=0)
        for outcome in values:
            self.told[outcome] = self.told.get(outcome, 0) + 1
        if count == 0:
            return None
        used = {each.key for each in self.trial.measurements}
        number = count + 1
        while f"row-{number}" in used:
            number += 1
        return f"row-{number}"


def _is_same(stored: StoredMeasurement, outcome: str, measurement: Measurement) -> bool:
    """Whether a measurement is one on record, or what that was before it was corrected."""
    return stored.outcome == outcome and measurement in (stored.measurement, *stored.replaced[:1])


def differing(frame: Frame, trial: StoredTrial, entry: Entry) -> list[str]:
    """The parameters whose cells say another setting than the one planned."""
    return [
        name
        for name, value in entry.planned.items()
        if not _is_as_planned(frame, trial, name, value, entry.texts.get(name, ""))
    ]


def _is_as_planned(frame: Frame, trial: StoredTrial, name: str, value: Any, text: str) -> bool:
    """Whether a cell is the setting of a trial, or that as a spreadsheet has rounded it."""
    if name not in trial.params:
        return False
    planned = trial.params[name]
    if identity(planned) == identity(value) or planned == value:
        return True
    numbers = isinstance(planned, float) and isinstance(value, int | float)
    if not numbers or isinstance(value, bool) or not is_rounded(text, float(value), planned):
        return False
    return abs(_unit(frame, name, float(value)) - _unit(frame, name, planned)) <= 1e-3


def _unit(frame: Frame, name: str, value: float) -> float:
    """The coordinate of a number; NaN outside the range."""
    dimension = frame.space.dimensions[name]
    try:
        return dimension.to_unit(dimension.check(value, name))
    except InputError:
        return math.nan


def same_setting(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two settings are the same."""
    if one.keys() != other.keys():
        return False
    return all(one[name] == other[name] and _kind(one[name]) == _kind(other[name]) for name in one)


def _kind(value: Any) -> type:
    """The type of a value; whole numbers and others are of one."""
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def as_really_run(frame: Frame, trial: StoredTrial, used: Mapping[str, Any]) -> dict[str, Any]:
    """The setting of a trial with what was really used in place of what was planned.

    Parameters that do not exist beside those are left out.
    """
    return frame.check(frame.existing({**trial.params, **used}))
