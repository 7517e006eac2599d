"""Rows of a file added to a study as trials of its own, or told where they fill in an export."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from ceibo.decide import Measurement
from ceibo.errors import InputError, NumberTakenError
from ceibo.sheets.entries import UNDER_WAY, Result
from ceibo.sheets.rows import Row, Rows
from ceibo.study import Failure, Study, Trial
from ceibo.study.adding import new_trial

Content = Measurement | frozenset[tuple[str, Measurement]] | None

NEW: Final = "new"
AGAIN: Final = "again"


@final
@dataclass(frozen=True)
class Imported:
    """What an import stored: rows added, trials under way that were told, rows known before."""

    rows: tuple[Row, ...]
    told: tuple[int, ...]
    known: int


@final
@dataclass
class _Sorted:
    """The rows of a file by what becomes of them, with their attributes."""

    added: list[tuple[Row, dict[str, Any]]] = field(default_factory=list)
    filled: list[tuple[int, Row, dict[str, Any]]] = field(default_factory=list)


def import_rows(study: Study, table: Rows, path: object, known: str, dry_run: bool) -> Imported:
    """Stores rows: all that are new, or none.

    Args:
        study: that gets them.
        table: the rows.
        path: of their file, for an error.
        known: what becomes of rows that the study has: "" refuses them, "new" leaves them out,
            "again" adds them once more.
        dry_run: say what would be stored, and store nothing.
    """
    while True:
        trials = study.trials
        fresh = are_fresh(trials, table.rows)
        count = fresh.count(False)
        parts = _sort(trials, table, fresh, known == AGAIN)
        # an export of this study, filled in, has the trials measured before as well
        if count and not known and not parts.filled:
            raise InputError(
                f"{path}: {_share(count, len(table.rows))} already in study {study.name!r}, with"
                " the same settings and result; --new adds only the others, --again adds all once"
                " more."
            )
        expected = None if known == AGAIN else len(trials)
        if dry_run or _add_all(study, parts.added, expected):
            break
    if not dry_run:
        tell_all(study, parts.filled)
    told = tuple(dict.fromkeys(number for number, _, _ in parts.filled))
    return Imported(tuple(row for row, _ in parts.added), told, count)


def _sort(trials: Sequence[Trial], table: Rows, fresh: Sequence[bool], again: bool) -> _Sorted:
    parts = _Sorted()
    left = [{name: list(told) for name, told in each.outcomes.items()} for each in trials]
    attributes = table.attributes or ({},) * len(table.rows)
    rows = zip(table.trials, table.rows, attributes, fresh, strict=True)
    for number, row, given, is_fresh in rows:
        if is_fresh and number is not None and is_of(trials, number, row):
            parts.filled.append((number, (row[0], _rest(row[1], left[number])), given))
        elif is_fresh or again:
            parts.added.append((row, given))
    return parts


def _rest(result: Result, left: dict[str, list[Measurement]]) -> Result:
    """A result without what is on record, under whatever key; which is used up."""
    if not isinstance(result, dict):
        return result
    rest = {}
    for name, measurement in result.items():
        if measurement in left.get(name, ()):
            left[name].remove(measurement)
        else:
            rest[name] = measurement
    return rest or result


def _add_all(
    study: Study, rows: Sequence[tuple[Row, dict[str, Any]]], expect_number: int | None
) -> bool:
    """Adds rows; False if the study has got trials since they were compared with it."""
    new = [
        new_trial(study.ledger, params, result, attributes=given)
        for (params, result), given in rows
    ]
    try:
        study.ledger.create(new, expect_number=expect_number)
    except NumberTakenError:
        return False
    return True


def is_of(trials: Sequence[Trial], number: int, row: Row) -> bool:
    """Whether a row is about a trial that waits for values now, with the same settings."""
    if not 0 <= number < len(trials):
        return False
    trial, (params, result) = trials[number], row
    if key_of(trial.params) != key_of(params):
        return False
    if trial.state == "done" and isinstance(result, dict):  # what is watched may come later
        known = result.keys() & trial.outcomes.keys()
        same = all(result[name] in trial.outcomes[name] for name in known)
        return bool(known) and same and known < result.keys()
    return trial.state in UNDER_WAY


def tell_all(study: Study, rows: Iterable[tuple[int, Row, Mapping[str, Any]]]) -> None:
    """Tells the results of trials that are under way; further rows of one are repeats of it."""
    told: dict[int, int] = {}
    for number, (_, result), attributes in rows:
        told[number] = told.get(number, 0) + 1
        if isinstance(result, Failure):
            study.fail(number, result.reason)
            continue
        key = None if told[number] == 1 else f"row-{told[number]}"
        try:
            study.tell(number, result, key=key, attributes=attributes)
        except InputError as error:
            raise InputError(f"trial {number}: {error}") from None


def key_of(params: Mapping[str, Any]) -> str:
    """What is the same for the same settings."""
    return json.dumps(dict(params), sort_keys=True)


def rows_of(trial: Trial) -> list[dict[str, Measurement]]:
    """The rows of a trial: in each the next measurement of every outcome; one if it has none."""
    count = max(map(len, trial.outcomes.values()), default=1)
    return [
        {name: several[row] for name, several in trial.outcomes.items() if row < len(several)}
        for row in range(count)
    ]


def are_fresh(trials: Sequence[Trial], rows: Sequence[Row]) -> list[bool]:
    """Whether a study does not have each row already; equal rows are counted singly."""
    stored: Counter[tuple[str, Content]] = Counter()
    earlier: Counter[tuple[str, Content]] = Counter()
    for trial in trials:
        earlier.update((key_of(trial.params), each) for each in _as_first_told(trial))
        failed = (None,) if trial.state == "failed" else ()
        told: Iterable[Content] = trial.measurements
        if trial.names:
            told = map(_content_of, rows_of(trial))
        stored.update((key_of(trial.params), each) for each in (*told, *failed))
    fresh = []
    for params, outcome in rows:
        what = (key_of(params), _content_of(outcome))
        known = stored if stored[what] else earlier
        fresh.append(known[what] == 0)
        known[what] -= known[what] > 0
    return fresh


def _as_first_told(trial: Trial) -> list[Content]:
    """What the rows of a trial were before values were corrected or voided, if any was."""
    if not trial.voided and not any(trial.replaced):
        return []
    names = trial.names or ("",) * len(trial.measurements)
    told: dict[str, list[Measurement]] = {}
    for each in trial.voided:
        told.setdefault(each.outcome, []).append(each.measurement)
    for name, now, before in zip(names, trial.measurements, trial.replaced, strict=True):
        told.setdefault(name, []).append(before[0] if before else now)
    if "" in told:
        alone = [before[0] for before in trial.replaced if before]
        return [*(each.measurement for each in trial.voided), *alone]
    count = max(map(len, told.values()))
    return [
        frozenset((name, several[row]) for name, several in told.items() if row < len(several))
        for row in range(count)
    ]


def _content_of(outcome: Measurement | Mapping[str, Measurement] | Failure) -> Content:
    """What tells rows of one setting apart; failures are alike."""
    if isinstance(outcome, Failure):
        return None
    return outcome if isinstance(outcome, Measurement) else frozenset(outcome.items())


def _share(known: int, total: int) -> str:
    if known == total:
        return "every row is" if total > 1 else "its row is"
    return f"{known} of {total} rows {'is' if known == 1 else 'are'}"
