"""The answers about an objective, each with its uncertainty, in the user's units and direction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from ceibo.attached import Shown
from ceibo.decide.measurement import Measurement
from ceibo.decide.space import Params
from ceibo.numbers import percent, rounded, with_uncertainty


@final
@dataclass(frozen=True)
class OutcomeEstimate:
    """What is believed of one outcome at one setting: mean, std, and a 95 % interval."""

    mean: float
    std: float
    low: float
    high: float
    unit: str = ""

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{with_uncertainty(self.mean, self.std)}{unit}"


@final
@dataclass(frozen=True)
class Estimate(Shown):
    """What is believed of the objective at one setting: mean and std (see decide/statement.py).

    `number` is the trial that measured there (None for a setting that was never measured),
    `probability` that it is the best of all measured settings (of the incumbent alone).

    In a study with outcomes, mean and std are those of the first goal; `outcomes` has all of them
    by name, `p_feasible` is the probability that every limit holds, and `p_efficient`, of a setting
    on the front, that no other measured setting is better in every goal.
    """

    params: Params
    mean: float
    std: float
    number: int | None = None
    probability: float | None = None
    outcomes: Mapping[str, OutcomeEstimate] = field(default_factory=dict)
    p_feasible: float | None = None
    p_efficient: float | None = None

    def __str__(self) -> str:
        if not self.outcomes:
            return f"{with_uncertainty(self.mean, self.std)} at {self.params}"
        told = ", ".join(f"{name} {each}" for name, each in self.outcomes.items())
        held = "" if self.p_feasible is None else f", limits hold with {percent(self.p_feasible)}"
        return f"{told}{held} at {self.params}"


@final
@dataclass(frozen=True)
class Observed(Shown):
    """The best raw value measured, usually a fluke; `why` compares it with the incumbent."""

    params: Params
    value: float
    noise: float | None
    number: int
    why: str


def compare_with_raw(
    number: int, measurement: Measurement, believed: Estimate, best: Estimate, *, is_within: bool
) -> str:
    """Says why the best raw value and the incumbent are, or are not, the same trial.

    `believed` is what the model believes of trial `number`, which has the raw value; `is_within`
    says whether its setting is one of the space as it is now, or none measured is.
    """
    noise = "" if measurement.noise is None else f" with noise {rounded(measurement.noise, 3)}"
    # to the digits of what is believed there, if these are more than six
    to_its_digits = with_uncertainty(measurement.value, believed.std).partition(" ")[0]
    raw = f"{max(rounded(measurement.value), to_its_digits, key=len)}{noise}"
    answer = with_uncertainty(best.mean, best.std)
    belief = with_uncertainty(believed.mean, believed.std)
    if number == best.number:
        return (
            f"trial {number} has both the best measured value, {raw}, and the best posterior mean,"
            f" {answer}."
        )
    said = f"trial {number} has the best measured value, {raw}, but all measurements together"
    if not is_within:
        return (
            f"{said} put it at {belief}, and its setting is outside the space as it is now; trial"
            f" {best.number} is the best within, at {answer}."
        )
    if believed.p_feasible is not None and best.p_feasible is not None:
        return (
            f"{said} put it at {belief} and give its limits a chance of"
            f" {percent(believed.p_feasible)}; trial {best.number} has {answer} and"
            f" {percent(best.p_feasible)}."
        )
    return f"{said} put it at {belief}; trial {best.number} is expected to be better, at {answer}."
