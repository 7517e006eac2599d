"""Measurements that look wrong, as people are told of them.

The model gives them more noise, so that they count less; what becomes of them is a person's
decision.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from ceibo.decide.direction import Direction
from ceibo.decide.model import Model
from ceibo.numbers import rounded, with_uncertainty

_LISTED: Final = 5  # told of at a time
_ADVICE: Final = (
    "correct or void what is wrong, and measure again what may be right: a value that comes again"
    " is no slip. A study begun with outliers = false believes every value."
)


@final
@dataclass(frozen=True)
class Suspect:
    """A measured value that all the others speak against.

    `expected` and `std` are what they predict for one such value, its noise included. `noise` is
    the standard deviation with which the model takes the value instead. `outcome` is None in a
    study of one objective; `key` tells measurements of one trial apart, as in `Study.tell`.
    """

    number: int
    value: float
    expected: float
    std: float
    noise: float
    outcome: str | None = None
    key: str | None = None

    @property
    def deviations(self) -> float:
        """How many standard deviations the value is above what is expected, or (−) below."""
        return (self.value - self.expected) / self.std

    def __str__(self) -> str:
        what = "" if self.outcome is None else f"{self.outcome} of "
        return (
            f"{what}trial {self.number} looks wrong by {abs(self.deviations):.0f} standard"
            f" deviations ({rounded(self.value)}, expected"
            f" {with_uncertainty(self.expected, self.std)}); measure it again?"
        )


def sentences_about(suspects: Sequence[Suspect]) -> list[str]:
    """What people are told of values that look wrong, worst first; nothing without any."""
    if not suspects:
        return []
    worst = sorted(suspects, key=lambda each: -abs(each.deviations))
    listed = [str(each) for each in worst[:_LISTED]]
    if len(worst) > _LISTED:
        listed.append(f"{len(worst) - _LISTED} more look wrong.")
    it = "it counts" if len(worst) == 1 else "they count"
    return [*listed, f"{it} less in the model; {_ADVICE}"]


def suspects_of(
    model: Model, direction: Direction, outcome: str | None = None
) -> tuple[Suspect, ...]:
    """The values that a model gives more noise, in the user's units and direction."""
    return tuple(
        Suspect(
            number=each.number,
            value=direction.flip(each.value),
            expected=direction.flip(model.natural(each.expected)),
            std=model.natural(each.std),
            noise=model.natural(each.noise),
            outcome=outcome,
        )
        for each in model.discounts
    )
