"""Rows of an export that were filled in: results of trials that are under way."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ceibo.cli.rows import UNDER_WAY, Row
from ceibo.errors import InputError
from ceibo.study import Failure, Study, Trial


def is_of(trials: Sequence[Trial], number: int | None, row: Row) -> bool:
    """Whether a row is about a trial that is under way now, with the same settings."""
    if number is None or not 0 <= number < len(trials):
        return False
    trial = trials[number]
    return trial.state in UNDER_WAY and key_of(trial.params) == key_of(row[0])


def tell_all(study: Study, rows: Iterable[tuple[int, Row]]) -> None:
    """Tells the results of trials that are under way; further rows of one are repeats of it."""
    told: dict[int, int] = {}
    for number, (_, result) in rows:
        told[number] = told.get(number, 0) + 1
        if isinstance(result, Failure):
            study.fail(number, result.reason)
            continue
        key = None if told[number] == 1 else f"row-{told[number]}"
        try:
            study.tell(number, result, key=key)
        except InputError as error:
            raise InputError(f"trial {number}: {error}") from None


def key_of(params: Mapping[str, Any]) -> str:
    """What is the same for the same settings."""
    return json.dumps(dict(params), sort_keys=True)
