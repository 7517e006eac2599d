"""What was believed of the outcomes at the best setting as the trials came in."""

import time
from typing import Final

from ceibo.checks import to_float
from ceibo.decide.joint import JointBelief
from ceibo.decide.surface.spread import spread
from ceibo.decide.surface.standings import (
    MOST_DRAWN,
    MOST_STATES,
    Sources,
    Standing,
    is_late,
    next_trial,
    part_of,
)
from ceibo.errors import NoMeasurementError

_STATES: Final = 20  # earlier states that are computed again
_SECONDS: Final = 2.0  # after which no more are computed


def joint_standings_of(belief: JointBelief, sources: Sources) -> dict[str, tuple[Standing, ...]]:
    """Name -> what was believed of it at the best setting before some trials, and now.

    Of the goal it is what was recorded with suggestions, where there is something; the rest is
    computed with the hyperparameters of now.
    """
    outcomes = belief.evidence.outcomes
    (goal,) = outcomes.goals
    end = belief.evidence.trials
    found: dict[str, dict[int, Standing]] = {name: {} for name in belief.predictions.names}
    deadline = time.monotonic() + _SECONDS
    for count in reversed(some_counts(belief)):
        earlier = belief.in_hindsight(count)
        _note(found, earlier, next_trial(belief, count))
        if time.monotonic() > deadline:
            break
    # in batch work what was recorded had not seen the trials before it
    recorded = {} if is_late(belief.evidence.goal, sources) else sources
    for number, record in recorded.items():
        seen = part_of(record, "incumbent")
        mean, std = to_float(part_of(seen, "mean")), to_float(part_of(seen, "std"))
        if mean is not None and std is not None and number <= end:
            found[goal][number] = Standing(number, mean, std, outcomes[goal].possible)
    _note(found, belief, end)
    return {
        name: tuple(spread([each[number] for number in sorted(each)], MOST_DRAWN))
        for name, each in found.items()
    }


def some_counts(belief: JointBelief) -> list[int]:
    """Numbers of measurements of the goal at which there was a model already, a few of them."""
    known = belief.evidence.goal.measurements
    counts = spread(range(1, min(known, MOST_STATES)), _STATES) if known > 1 else []
    return [count for count in counts if belief.evidence.first(count).is_sufficient]


def _note(found: dict[str, dict[int, Standing]], belief: JointBelief, number: int) -> None:
    """Adds what a belief says of the best setting."""
    try:
        outcomes = belief.best.outcomes
    except NoMeasurementError:
        return
    for name, each in outcomes.items():
        possible = belief.evidence.outcomes[name].possible
        found[name][number] = Standing(number, each.mean, each.std, possible)
