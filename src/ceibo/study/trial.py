"""A trial as users see it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, final

import numpy as np

from ceibo.attached import Shown
from ceibo.decide.measurement import Measurement
from ceibo.decide.space import Params
from ceibo.errors import InputError, NotFoundError, show_value
from ceibo.study.store import StoredTrial

_LARGEST_NUMBER: Final = 2**31 - 1  # of a trial, that every database can store


@final
@dataclass(frozen=True)
class Voided:
    """A measurement that does not count, why, and of which outcome it is ("" without outcomes)."""

    measurement: Measurement
    reason: str
    outcome: str = ""


@final
@dataclass(frozen=True)
class Trial(Shown):
    """One setting of the parameters and what came of it.

    `state` is "queued", "running", "done", "failed" or "withdrawn"; `reason` is that of the last
    failure; `attempt` counts how often the trial was handed out; `replaced` holds, for each
    measurement, what it was before it was corrected, oldest first; `voided` are the measurements
    that do not count any more.

    `attributes` are what was told beside the values, by name. `started` is when the trial was last
    handed out and `ended` when it was done, failed or withdrawn, on the database's clock; a trial
    as `ask` returns it has neither yet. `repeats` is how many values to take, more than one only
    where precision has a price; `purpose` is "confirm" for a trial that goes into the answer, and
    None for those of the search.

    In a study with outcomes, `measurements` are those of all outcomes in the order told, `names`
    says of which outcome each is, and `outcomes` has them by name.
    """

    number: int
    params: Params
    state: str
    measurements: tuple[Measurement, ...]
    reason: str | None
    attempt: int
    replaced: tuple[tuple[Measurement, ...], ...]
    voided: tuple[Voided, ...] = ()
    names: tuple[str, ...] = ()
    outcomes: dict[str, tuple[Measurement, ...]] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict, repr=False)
    repeats: int = field(default=1, repr=False)
    purpose: str | None = field(default=None, repr=False)
    started: datetime | None = field(default=None, compare=False, repr=False)
    ended: datetime | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash(self.number)

    @property
    def duration(self) -> float | None:
        """Seconds from the last hand-out to the end; None if it has not ended or was added."""
        if self.started is None or self.ended is None:
            return None
        return (self.ended - self.started).total_seconds()


@final
@dataclass(frozen=True)
class Failure:
    """A failed trial: why there is no measurement."""

    reason: str


def trial_of(stored: StoredTrial) -> Trial:
    """The user's view of a stored trial; its params are a copy."""
    names: tuple[str, ...] = ()
    outcomes: dict[str, tuple[Measurement, ...]] = {}
    if stored.measurements and stored.measurements[0].outcome:
        names = tuple(each.outcome for each in stored.measurements)
        for each in stored.measurements:
            outcomes[each.outcome] = (*outcomes.get(each.outcome, ()), each.measurement)
    return Trial(
        number=stored.number,
        params=dict(stored.params),
        state=stored.state,
        measurements=tuple(each.measurement for each in stored.measurements),
        reason=stored.reason,
        attempt=stored.attempt,
        replaced=tuple(each.replaced for each in stored.measurements),
        voided=tuple(
            Voided(each.told.measurement, each.reason, each.told.outcome) for each in stored.voided
        ),
        names=names,
        outcomes=outcomes,
        attributes=dict(stored.attributes),
        repeats=stored.repeats,
        purpose=stored.aims.get("purpose"),
        started=_moment(stored.started),
        ended=_moment(stored.ended),
    )


def _moment(seconds: float | None) -> datetime | None:
    """A time of the database's clock; None also where no calendar has it."""
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def number_of(trial: Trial | int) -> int:
    """The number of a trial, or the number given."""
    if isinstance(trial, Trial):
        return trial.number
    if isinstance(trial, bool) or not isinstance(trial, int | np.integer):
        raise InputError(
            f"trial must be a Trial from ask(), or its number, got {show_value(trial)}."
        )
    if not 0 <= trial <= _LARGEST_NUMBER:
        raise NotFoundError(f"there is no trial {show_value(int(trial))}; numbers count from 0.")
    return int(trial)
