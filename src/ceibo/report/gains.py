"""What was still to be gained over the trials."""

import time
from collections.abc import Callable, Iterable
from typing import Final

from ceibo.checks import to_float
from ceibo.decide import Belief, JointBelief
from ceibo.decide.surface.standings import Sources, modelled, next_trial, part_of

_SECONDS: Final = 2.0  # after which no more are computed


def gains_of(
    belief: Belief | JointBelief, sources: Sources, counts: Callable[[int], Iterable[int]]
) -> tuple[tuple[int, float], ...]:
    """The largest corrected EI before each trial: recorded, or computed at a few states.

    `counts` tells after how many measurements each, given the fewest with which there is a model.
    """
    gains: dict[int, float] = {}
    for number, record in modelled(sources):
        gain = to_float(part_of(record, "value"))
        if part_of(record, "acquisition") == "corrected-ei" and gain is not None:
            gains[number] = gain
    if not gains:
        deadline = time.monotonic() + _SECONDS
        for count in counts(max(belief.settings.initial_size(belief.space.breadth), 2)):
            gains[next_trial(belief, count)] = belief.in_hindsight(count).remaining
            if time.monotonic() > deadline:
                break
    gains[belief.evidence.trials] = belief.remaining
    return tuple(sorted(gains.items()))
