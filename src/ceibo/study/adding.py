"""Existing measurements as new trials."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, SupportsFloat

from ceibo.decide.block_names import AnyBlock
from ceibo.errors import InputError, show_value
from ceibo.study.attributes import checked_attributes
from ceibo.study.ledger import Ledger
from ceibo.study.reported import Values, reported
from ceibo.study.store import NewTrial, Telling
from ceibo.study.trial import Failure

Row = tuple[Mapping[str, Any], Values | Failure]


def checked_rows(rows: object) -> Iterator[Row]:
    """Pairs of parameters and what is told of them; an error says which row is none."""
    if isinstance(rows, str | Mapping) or not isinstance(rows, Iterable):
        raise InputError(
            f"rows: expected a list of pairs, as in [({{…}}, 0.5), ({{…}}, 0.7)], got"
            f" {show_value(rows)}."
        )
    for place, row in enumerate(rows):
        if not isinstance(row, list | tuple) or len(row) != 2:
            raise InputError(
                f"rows: expected parameters with what was measured, as in ({{…}}, 0.5), got"
                f" {show_value(row)} at place {place}; a value with its noise is"
                " Measurement(value, noise=…)."
            )
        yield row[0], row[1]


def new_trial(
    ledger: Ledger,
    params: Mapping[str, Any],
    value: Values | Failure,
    noise: SupportsFloat | None = None,
    block: AnyBlock = None,
    attributes: Mapping[str, Any] | None = None,
) -> NewTrial:
    """A trial with what is known of it; its setting may be outside the space."""
    given = checked_attributes(attributes)
    told = None if isinstance(value, Failure) else reported(ledger.outcomes, value, noise, block)
    checked, source = ledger.frame.check(params), {"source": "added"}
    if told is not None and told.values:
        telling = Telling(told.values, ledger.needed, failure=told.failure, attributes=given)
        return NewTrial(checked, source, told=telling)
    reason = value.reason if isinstance(value, Failure) else told and told.failure
    if given:
        failed = Telling({}, ledger.needed, failure=reason, attributes=given)
        return NewTrial(checked, source, told=failed)
    return NewTrial(checked, source, reason=reason)
