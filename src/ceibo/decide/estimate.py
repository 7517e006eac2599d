"""The answers of a study: the incumbent, the recommendation, and the raw best beside them, with
their uncertainty.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide.measurement import Measurement
from ceibo.decide.space import Params, Space
from ceibo.decide.suggest import Evidence, Model, outcome_model
from ceibo.errors import CeiboError
from ceibo.gp.inputs import Array


class NoMeasurementError(CeiboError):
    """The study has no measurement yet, so nothing can be said about its best."""


@final
@dataclass(frozen=True)
class Estimate:
    """What the model believes of the objective at one setting: posterior mean and standard
    deviation.

    `number` is the trial that measured there (None for a recommendation that was never measured),
    `probability` that it is the best of all measured settings (None for a recommendation).
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
    """The best raw value measured; under noise it is usually a fluke. `why` compares it with the
    incumbent.
    """

    params: Params
    value: float
    noise: float | None
    number: int
    why: str


def incumbent(model: Model, space: Space, sign: float) -> tuple[Array, Estimate]:
    """The measured point (d,) with the best posterior mean, exactly as it was measured, and what is
    known there.
    """
    found = acq.find_incumbent(model.gp)
    return found.x, Estimate(
        params=space.from_unit(found.x),
        mean=sign * model.natural(found.mean),
        std=model.natural(found.std),
        probability=acq.probability_best(model.gp, found.index),
    )


def recommendation(
    model: Model, evidence: Evidence, space: Space, sign: float, seed: int
) -> Estimate:
    """The setting with the best posterior mean over the whole space, of those likely to succeed."""
    outcomes = outcome_model(evidence, space)
    guides = () if outcomes is None else (acq.Chance(outcomes, likely_is_enough=True),)
    top = acq.maximize(
        acq.posterior_mean(model.gp), seed=seed, discrete=space.discrete, guides=guides
    )
    found = space.from_unit(top.x)
    observed = space.from_unit(acq.find_incumbent(model.gp).x)
    means, variances = model.gp.posterior(space.to_unit_rows([found, observed]))
    # Keeping off where it fails may have led away from the best measured point, which stands as
    # well.
    chosen = int(np.argmin(means))
    mean, std = (
        model.natural(float(means[chosen])),
        model.natural(float(np.sqrt(variances[chosen]))),
    )
    return Estimate((found, observed)[chosen], sign * mean, std)


def explain(raw: tuple[int, Measurement], believed: float, best: Estimate) -> str:
    """Why the best raw value and the incumbent are, or are not, the same trial."""
    number, measurement = raw
    noise = "" if measurement.noise is None else f" with noise {measurement.noise:.3g}"
    if number == best.number:
        return (
            f"trial {number} has both the best measured value, {measurement.value:.6g}{noise}, and"
            f" the best posterior mean, {best.mean:.6g} ± {best.std:.2g}."
        )
    return (
        f"trial {number} has the best measured value, {measurement.value:.6g}{noise}, but all"
        f" measurements together put it at {believed:.6g}; trial {best.number} is expected to be"
        f" better, at {best.mean:.6g} ± {best.std:.2g}."
    )
