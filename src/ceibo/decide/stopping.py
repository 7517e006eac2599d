"""When another measurement is no longer worth its price.

The rule: stop when the largest corrected EI over the space is below κ, the price of one evaluation
in the objective's own units, twice in a row (patience), so that one unlucky fit does not end a
study. Corrected EI, whatever the study's acquisition is, says what an exact measurement would
bring. A noisy one brings less. It looks one measurement ahead: just after the initial design the
rule can end too early, where several measurements together would pay though no single one does.
"""

from collections.abc import MutableMapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol, Self, final

from ceibo.attached import Shown
from ceibo.checks import check_cost
from ceibo.decide.direction import Direction
from ceibo.decide.estimate import Estimate
from ceibo.decide.settings import Settings
from ceibo.decide.space import Space
from ceibo.numbers import rounded, with_uncertainty
from ceibo.text import plural

PATIENCE: Final = 2
# state of the evidence -> remaining improvement
Memory = MutableMapping[tuple[bytes, ...], float]


@final
class StopReason(Enum):
    """Why a run ended."""

    BUDGET = "the trials given were used up"
    COST = "another measurement promises less than it costs"
    TIMEOUT = "the time given was used up"
    CALLBACK = "a callback asked to stop"
    OBJECTIVE = "the objective asked to stop"
    INTERRUPTED = "it was interrupted"


@final
@dataclass(frozen=True)
class Stop:
    """Why a run ended, as an enum and as a sentence."""

    reason: StopReason
    message: str


@final
@dataclass(frozen=True)
class Verdict(Shown):
    """Whether to stop because no measurement is worth its price; true in a condition if so.

    `remaining` is the largest expected improvement one more exact measurement could bring, most
    recent first, for as many states of the study as the patience asks; in the objective's units.
    Empty while there is no model. `reason` is the message without its "go on" or "stop".
    """

    stop: bool
    cost: float
    remaining: tuple[float, ...]
    message: str
    reason: str

    def __bool__(self) -> bool:
        return self.stop


@final
@dataclass(frozen=True)
class Profit:
    """What a study has brought, less the price of its evaluations; larger is better.

    `value` is −mean − cost·evaluations for a study that minimises, mean − cost·evaluations for one
    that maximises; `std` is that of the mean. `evaluations` counts those after the initial design.
    """

    value: float
    std: float
    cost: float
    evaluations: int

    def __str__(self) -> str:
        return (
            f"{with_uncertainty(self.value, self.std)} after"
            f" {plural(self.evaluations, 'evaluation')} at {rounded(self.cost)} each"
        )


def fewest_measurements(initial: int) -> int:
    """Measurements below which there is no verdict, for an initial design of that size."""
    return max(initial, PATIENCE + 1)


def judge(measurements: int, remaining: tuple[float, ...], cost: float, initial: int) -> Verdict:
    """The verdict from the remaining improvements of the last states, the present one first."""
    missing = fewest_measurements(initial) - measurements
    if missing > 0:
        reason = f"the initial design needs {plural(missing, 'more measurement')}"
        return Verdict(False, cost, remaining, f"go on: {reason}.", reason)
    reason = (
        f"the largest expected improvement is {rounded(remaining[0], 3)} and a measurement costs"
        f" {rounded(cost)}"
    )
    below = all(value < cost for value in remaining)
    if below and len(remaining) >= PATIENCE:
        message = f"stop: {reason}; the same held one measurement before."
        return Verdict(True, cost, remaining, message, reason)
    if remaining[0] < cost:
        reason += ", but one measurement before it still paid"
        return Verdict(False, cost, remaining, f"go on once more: {reason}.", reason)
    return Verdict(False, cost, remaining, f"go on: {reason}.", reason)


class Known(Protocol):
    """Evidence, as far as a verdict asks."""

    @property
    def measurements(self) -> int:
        """How many there are."""

    @property
    def direction(self) -> Direction:
        """In which the goal is to go."""

    def key(self) -> tuple[bytes, ...]:
        """Tells apart states that would give different models."""


class Judged(Protocol):
    """A belief, as far as a verdict asks."""

    @property
    def evidence(self) -> Known: ...
    @property
    def space(self) -> Space: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def best(self) -> Estimate: ...
    @property
    def remaining(self) -> float:
        """The largest expected improvement over the space."""

    def earlier(self, measurements: int, /) -> Self:
        """The belief after the first so many measurements."""


def verdict_of(belief: Judged, cost: float, memory: Memory) -> Verdict:
    """Whether another measurement is worth `cost`; `memory` saves computing a state again."""
    price = check_cost(cost)
    initial = belief.settings.initial_size(belief.space.breadth)
    count = belief.evidence.measurements
    remaining: list[float] = []
    state = belief
    if count >= fewest_measurements(initial):
        for _ in range(PATIENCE):
            key = state.evidence.key()
            if key not in memory:
                memory[key] = state.remaining
            remaining.append(memory[key])
            state = state.earlier(state.evidence.measurements - 1)
    return judge(count, tuple(remaining), price, initial)


def profit_of(belief: Judged, cost: float, evaluations: int) -> Profit:
    """What so many evaluations have brought at a price each, the initial design not counted."""
    price, best = check_cost(cost), belief.best
    paid = max(evaluations - belief.settings.initial_size(belief.space.breadth), 0)
    value = -belief.evidence.direction.flip(best.mean) - price * paid
    return Profit(value, best.std, price, paid)
