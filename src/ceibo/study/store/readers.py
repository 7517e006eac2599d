"""Records from rows. No row is used before it was checked: by its checksum, or column by column."""

import json
import math
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from ceibo.decide.measurement import Measurement
from ceibo.errors import InputError, NewerSchemaError
from ceibo.study.store.checksum import COVERED, checksum_of_row
from ceibo.study.store.records import (
    ABOUT_VALUES,
    FURTHER,
    KINDS,
    NOTED,
    OF_STUDY,
    SPACE,
    STATES,
    Event,
    Given,
    StoredTrial,
    StudyRecord,
    damaged,
)
from ceibo.study.store.schema import events, studies, trials

_STUDY_DATA = {"outcomes", "constraints", "precision", "outliers", "varying_noise"}
"""What this version may keep in the data of a study."""
_TRIAL_DATA = {"purpose": str, "repeats": int}
"""What this version may keep in the data of a trial, with its type."""
_TYPES = {sa.Integer: int, sa.BigInteger: int, sa.Text: str, sa.Double: float}


def _expected(table: sa.Table) -> dict[str, tuple[type, bool]]:
    """Column -> its type in Python, and whether it may be NULL."""
    return {c.name: (_TYPES[type(c.type)], bool(c.nullable)) for c in table.c}


_EXPECTED = {table.name: _expected(table) for table in (studies, trials, events)}
_CHANGING = {
    table.name: [c.name for c in table.c if c.name not in (*COVERED[table.name], "checksum")]
    for table in (studies, trials, events)
}


def check_row(table: sa.Table, row: sa.Row[Any], what: str) -> None:
    """Refuse a whole row that is not as it was written, or of types that ceibo does not write."""
    check_covered(table, row, what)
    check_columns(table, row, what, _CHANGING[table.name])


def check_covered(table: sa.Table, row: sa.Row[Any], what: str) -> None:
    """The same for the columns that never change."""
    checksum = row.checksum
    if checksum is None:
        check_columns(table, row, what, COVERED[table.name])
    elif checksum != checksum_of_row(table, row):
        raise damaged(what, "it does not match its checksum")
    if row.data is not None and table is trials:
        _aims_from(row.data, what)
    elif row.data is not None and table is not studies:
        raise newer(what, f"data ({reprlib.repr(row.data)})")


def check_columns(table: sa.Table, row: sa.Row[Any], what: str, columns: Iterable[str]) -> None:
    """Refuse values of other types than those that ceibo writes into these columns."""
    for name in columns:
        kind, nullable = _EXPECTED[table.name][name]
        value = getattr(row, name)
        if value is None and nullable:
            continue
        right = type(value) is kind
        if right and kind is float:
            right = math.isfinite(value)
        if right and kind is int:
            right = value >= 0
        if right and name == "state":
            right = value in STATES
        if not right:
            raise damaged(what, f"its {name} cannot be {reprlib.repr(value)}")
    if table is trials and (row.worker is None) != (row.lease_until is None):
        found = f"its worker is {row.worker!r:.40} and its lease_until {row.lease_until!r:.40}"
        raise damaged(what, f"{found}, but no worker goes without a lease and no lease without one")


def study_from_row(row: sa.Row[Any]) -> StudyRecord:
    """The study that a row holds."""
    what = f"study {reprlib.repr(row.name)}"
    check_row(studies, row, what)
    space, settings = from_text(row.space, what), from_text(row.settings, what)
    data = None if row.data is None else from_text(row.data, what)
    if data is not None and not (isinstance(data, dict) and data and data.keys() <= _STUDY_DATA):
        raise newer(what, f"data ({reprlib.repr(row.data)})")
    return StudyRecord(row.id, row.name, space, settings, row.created, data)


def trial_from_row(row: sa.Row[Any], seq: int) -> StoredTrial:
    """The trial that a row holds, which event `seq` has just created or handed out."""
    check_columns(trials, row, name_of_trial(row), _CHANGING[trials.name])
    given = given_from_row(row)
    return StoredTrial(
        row.number,
        given.params,
        row.state,
        row.attempt,
        row.worker,
        None,
        row.created_seq,
        seq,
        aims=given.aims,
    )


def given_from_row(row: sa.Row[Any]) -> Given:
    """What never changes in the trial that a row holds."""
    params = params_from_row(row)
    return Given(params, {} if row.data is None else _aims_from(row.data, name_of_trial(row)))


def _aims_from(data: str, what: str) -> dict[str, Any]:
    """What a trial is for and how many values to take; other data is of a newer ceibo."""
    aims = from_text(data, what)
    if not isinstance(aims, dict) or not aims:
        raise newer(what, f"data ({reprlib.repr(data)})")
    for key, value in aims.items():
        if type(value) is not _TRIAL_DATA.get(key):
            raise newer(what, f"data ({reprlib.repr(data)})")
    return aims


def params_from_row(row: sa.Row[Any]) -> dict[str, Any]:
    """The parameters of the trial that a row holds."""
    _check_trial(row)
    params = _from_text(row.params)
    if not isinstance(params, dict):
        raise damaged(name_of_trial(row), _not_a("parameters", params, row.params))
    if list in map(type, params.values()):
        return {name: _to_tuples(value) for name, value in params.items()}
    return params


def _to_tuples(value: Any) -> Any:
    """A value with tuples in place of lists, also within them: a choice that JSON holds."""
    return tuple(map(_to_tuples, value)) if isinstance(value, list) else value


def suggestion_from_row(row: sa.Row[Any]) -> Any:
    """What was recorded with the suggestion of a trial."""
    _check_trial(row)
    suggestion = _from_text(row.suggestion)
    if not isinstance(suggestion, dict):
        found = _not_a("a record", suggestion, row.suggestion)
        raise damaged(f"the suggestion of {name_of_trial(row)}", found)
    return suggestion


def _check_trial(row: sa.Row[Any]) -> None:
    """Refuse what `check_covered` refuses; names, which take long, are for errors alone."""
    if row.data is not None or row.checksum != checksum_of_row(trials, row):
        check_covered(trials, row, name_of_trial(row))


def name_of_trial(row: sa.Row[Any]) -> str:
    """What to call a trial in a message."""
    return f"trial {row.number!r:.20} (study id {row.study_id!r:.20})"


def event_from_row(row: sa.Row[Any]) -> Event:
    """The event that a row holds; an unknown kind is refused, as it may change what others mean."""
    columns: tuple[Any, ...] = tuple(row)
    _, seq, number, kind, state, key, time, worker, *values, reason, outcome, data, checksum = (
        columns
    )
    if checksum is None or checksum != checksum_of_row(events, row):
        check_row(events, row, _name_of_event(row))
    if kind == SPACE and number == OF_STUDY and data is not None:
        change = from_text(data, _name_of_event(row))
        return Event(seq, number, kind, state, key, time, worker, None, reason, outcome, change)
    if kind == NOTED and number >= 0:
        noted = attributes_from(data, _name_of_event(row))
        return Event(seq, number, kind, state, key, time, worker, None, reason, outcome, noted)
    known = kind in KINDS and number >= 0 and (outcome == "" or kind in ABOUT_VALUES)
    has_value = kind in ("measured", "corrected")
    if not known or (data is not None and not has_value):
        raise newer(_name_of_event(row), _unknown(row))
    measurement = None
    if has_value:
        measurement = _measurement_from(values, row)
    return Event(seq, number, kind, state, key, time, worker, measurement, reason, outcome)


def attributes_from(data: str | None, what: str) -> dict[str, Any]:
    """The attributes in the data of an event that gives a trial some."""
    noted = None if data is None else from_text(data, what)
    if isinstance(noted, dict) and noted.keys() == {"attributes"}:
        attributes = noted["attributes"]
        if isinstance(attributes, dict):
            return attributes
    raise newer(what, f"data ({reprlib.repr(data)})")


def _measurement_from(columns: Sequence[Any], row: sa.Row[Any]) -> Measurement:
    value, noise, replicates = columns
    further = {} if row.data is None else _further_from(row.data, _name_of_event(row))
    try:
        several = _from_text(replicates) if replicates else ()
        return Measurement(value, noise, several, **further)
    except (InputError, TypeError) as error:
        what = f"a measurement of {name_of_trial(row)} (event {row.seq})"
        raise damaged(what, error) from error


def _further_from(data: str, what: str) -> dict[str, Any]:
    """What the data of an event say of its measurement, as they are written where told."""
    further = from_text(data, what)
    if isinstance(further, dict) and further and further.keys() <= set(FURTHER):
        return further
    raise newer(what, f"data ({reprlib.repr(data)})")


def _name_of_event(row: sa.Row[Any]) -> str:
    return f"event {reprlib.repr(row.seq)} of {name_of_trial(row)}"


def _unknown(row: sa.Row[Any]) -> str:
    if row.kind not in KINDS or row.number < 0:
        return f"the kind {reprlib.repr(row.kind)}"
    if row.outcome != "" and row.kind not in ABOUT_VALUES:
        return f"the outcome {reprlib.repr(row.outcome)}"
    return f"data ({reprlib.repr(row.data)})"


def newer(what: str, has: str) -> NewerSchemaError:
    """The error for what an older ceibo cannot have written, and this one does not know."""
    return NewerSchemaError(
        f"{what} has {has}, which this ceibo does not know; upgrade ceibo (nothing was changed)."
    )


def from_text(text: str, what: str) -> Any:
    """The JSON data stored as this text; `what` names it in the error."""
    data = _from_text(text)
    if data is None:
        raise damaged(what, f"expected JSON, got {reprlib.repr(text)}")
    return data


def _not_a(what: str, data: object, text: str) -> str:
    """What is wrong with a text that should hold something else."""
    if data is None:
        return f"expected JSON, got {reprlib.repr(text)}"
    return f"expected {what}, got {reprlib.repr(data)}"


def _from_text(text: str) -> Any:
    """The JSON data stored as this text; None if it is none."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
