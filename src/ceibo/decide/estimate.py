"""The answers about an objective, each with its uncertainty, in the user's units and direction."""

from dataclasses import dataclass
from typing import final

from ceibo.decide.measurement import Measurement
from ceibo.decide.space import Params


@final
@dataclass(frozen=True)
class Estimate:
    """What the model believes of the objective at one setting: posterior mean and std.

    `number` is the trial that measured there (None for a setting that was never measured),
    `probability` that it is the best of all measured settings (of the incumbent alone).
    """

    params: Params
    mean: float
    std: float
    number: int | None = None
    probability: float | None = None

    def __str__(self) -> str:
        return f"{self.mean:.6g} ± {self.std:.2g} at {self.params}"


@final
@dataclass(frozen=True)
class Observed:
    """The best raw value measured, usually a fluke; `why` compares it with the incumbent."""

    params: Params
    value: float
    noise: float | None
    number: int
    why: str


def compare_with_raw(number: int, measurement: Measurement, mean: float, best: Estimate) -> str:
    """Says why the best raw value and the incumbent are, or are not, the same trial.

    `mean` is what the model believes of trial `number`, which has the raw value.
    """
    noise = "" if measurement.noise is None else f" with noise {measurement.noise:.3g}"
    raw = f"{measurement.value:.6g}{noise}"
    believed = f"{best.mean:.6g} ± {best.std:.2g}"
    if number == best.number:
        return (
            f"trial {number} has both the best measured value, {raw}, and the best posterior mean,"
            f" {believed}."
        )
    return (
        f"trial {number} has the best measured value, {raw}, but all measurements together put it"
        f" at {mean:.6g}; trial {best.number} is expected to be better, at {believed}."
    )
