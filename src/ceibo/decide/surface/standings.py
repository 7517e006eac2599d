"""What was believed of the best setting as the trials came in, by a belief of one objective."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from ceibo.checks import to_float
from ceibo.decide.belief import Belief
from ceibo.decide.evidence import Evidence
from ceibo.decide.joint import JointBelief
from ceibo.decide.surface.spread import spread

STATES: Final = 16  # states of a study computed again where nothing was recorded
MOST_STATES: Final = 400  # measurements up to which that is done
MOST_DRAWN: Final = 2500  # states that a drawing has room for

Sources = Mapping[int, Mapping[str, Any]]  # trial -> how it came about


@final
@dataclass(frozen=True)
class Standing:
    """A mean and std as believed before trial `number` (for the last one: now)."""

    number: int
    mean: float
    std: float
    possible: tuple[float, float] = (-np.inf, np.inf)

    @property
    def band(self) -> tuple[float, float]:
        """One standard deviation below the mean and one above it, as far as they are possible."""
        low, high = self.possible
        return max(self.mean - self.std, low), min(self.mean + self.std, high)


def standings_of(belief: Belief, sources: Sources) -> tuple[Standing, ...]:
    """The incumbent over the trials: as recorded, and in hindsight where nothing was recorded.

    In batch work a suggestion had not seen the trials before it. What was recorded with it would
    be drawn too late, and then the line is all hindsight.
    """
    found: dict[int, Standing] = {}
    for number, record in modelled(sources):
        seen = part_of(record, "incumbent")
        mean, std = to_float(part_of(seen, "mean")), to_float(part_of(seen, "std"))
        if mean is not None and std is not None:
            found[number] = Standing(number, mean, std)
    end = belief.evidence.trials
    first = min(found, default=end)
    counts = range(1, min(len(belief.evidence.told), MOST_STATES))
    missing = [count for count in counts if next_trial(belief, count) not in found]
    late = is_late(belief.evidence, sources)
    if late and counts.stop <= MOST_STATES:
        found, missing = {}, list(counts)
    elif not late:
        missing = [count for count in missing if next_trial(belief, count) < first]
    for count in spread(missing, 2 * STATES if late else STATES):
        number = next_trial(belief, count)
        best = belief.in_hindsight(count).best
        found[number] = Standing(number, best.mean, best.std)
    found[end] = Standing(end, belief.best.mean, belief.best.std)
    ended = [found[number] for number in sorted(found) if number <= end]
    return tuple(spread(ended, MOST_DRAWN))


def is_late(evidence: Evidence, sources: Sources) -> bool:
    """Whether suggestions by the model were made before all earlier trials were measured."""
    numbers = np.sort([told.number for told in evidence.told])
    for number, record in modelled(sources):
        seen = to_float(part_of(record, "observations"))
        # replicates are observations of their own, so that there may be more than measurements
        if seen is not None and seen < np.searchsorted(numbers, number):
            return True
    return False


def modelled(sources: Sources) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The records of suggestions by the model, with their numbers."""
    for number, record in sources.items():
        if isinstance(record, dict) and record.get("source") == "model":
            yield number, record


def part_of(record: object, key: str) -> object:
    """An entry of what was recorded with a suggestion, which may be anything; None without it."""
    return record.get(key) if isinstance(record, Mapping) else None


def next_trial(belief: Belief | JointBelief, count: int) -> int:
    """The number of the trial after the first so many measurements, of the goal if of several."""
    return max(told.number for told in belief.evidence.told[:count]) + 1
