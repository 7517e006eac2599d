"""A trial as users see it."""

from dataclasses import dataclass
from typing import final

from ceibo.decide.measurement import Measurement
from ceibo.decide.space import Params
from ceibo.study.store import StoredTrial


@final
@dataclass(frozen=True)
class Trial:
    """One setting of the parameters and what came of it.

    `state` is "queued", "running", "done", "failed" or "withdrawn"; `reason` is that of the last
    failure; `attempt` counts how often the trial was handed out; `replaced` holds, for each
    measurement, what it was before it was corrected, oldest first.
    """

    number: int
    params: Params
    state: str
    measurements: tuple[Measurement, ...]
    reason: str | None
    attempt: int
    replaced: tuple[tuple[Measurement, ...], ...]


@final
@dataclass(frozen=True)
class Failure:
    """A failed trial: why there is no measurement."""

    reason: str


def trial_of(stored: StoredTrial) -> Trial:
    """The user's view of a stored trial; its params are a copy."""
    return Trial(
        number=stored.number,
        params=dict(stored.params),
        state=stored.state,
        measurements=tuple(each.measurement for each in stored.measurements),
        reason=stored.reason,
        attempt=stored.attempt,
        replaced=tuple(each.replaced for each in stored.measurements),
    )
