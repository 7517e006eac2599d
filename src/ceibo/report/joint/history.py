"""What was still to be gained over the trials."""

import time
from typing import Final

from ceibo.checks import to_float
from ceibo.decide import JointBelief
from ceibo.decide.surface.joint_standings import next_trial, some_counts
from ceibo.decide.surface.standings import Sources, part_of

_SECONDS: Final = 2.0  # after which no more are computed


def gains_of(belief: JointBelief, sources: Sources) -> tuple[tuple[int, float], ...]:
    """The largest corrected EI before each trial: recorded, or computed at a few states."""
    gains: dict[int, float] = {}
    for number, record in sources.items():
        gain = to_float(part_of(record, "value"))
        if part_of(record, "acquisition") == "corrected-ei" and gain is not None:
            gains[number] = gain
    if not gains:
        initial = belief.settings.initial_size(belief.space.breadth)
        deadline = time.monotonic() + _SECONDS
        for count in reversed([count for count in some_counts(belief) if count >= max(initial, 2)]):
            gains[next_trial(belief, count)] = belief.in_hindsight(count).remaining
            if time.monotonic() > deadline:
                break
    gains[belief.evidence.trials] = belief.remaining
    return tuple(sorted(gains.items()))
