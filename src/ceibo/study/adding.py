"""Existing measurements as new trials."""

from collections.abc import Mapping
from typing import Any, SupportsFloat

from ceibo.decide.block_names import AnyBlock
from ceibo.study.ledger import Ledger
from ceibo.study.reported import Values, reported
from ceibo.study.store import NewTrial, Telling
from ceibo.study.trial import Failure


def new_trial(
    ledger: Ledger,
    params: Mapping[str, Any],
    value: Values | Failure,
    noise: SupportsFloat | None = None,
    block: AnyBlock = None,
) -> NewTrial:
    """A trial with what is known of it; its setting may be outside the space."""
    told = None if isinstance(value, Failure) else reported(ledger.outcomes, value, noise, block)
    checked, source = ledger.frame.check(params), {"source": "added"}
    if told is not None and told.values:
        telling = Telling(told.values, ledger.needed, failure=told.failure)
        return NewTrial(checked, source, told=telling)
    reason = value.reason if isinstance(value, Failure) else told and told.failure
    return NewTrial(checked, source, reason=reason)
