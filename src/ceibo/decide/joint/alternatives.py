"""Other models of each limited outcome, by which the chance that its limit holds is stated.

How smooth an outcome is decides how sure a model is between its measurements, and is hardly known
from a few dozen noisy ones. What is stated of a limit is therefore the mean of the chances by the
study's own kernel and by a rougher and a smoother one, each with its own fit and the same weight. A
search over the space for the best setting that holds its limits ends where a single model errs
most, which the mean of three makes less likely. The search for what to measure next uses the
study's own model alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide.joint.evidence import JointEvidence
from ceibo.decide.joint.model import JointModel, bound_in_units
from ceibo.decide.model import Model, fit_model
from ceibo.decide.outcomes import Outcomes
from ceibo.decide.settings import Settings
from ceibo.decide.space import Space

_KERNELS: Final = ("matern52", "matern32", "squared-exponential")


@final
@dataclass(frozen=True, eq=False)
class Alternatives:
    """The models of each limited outcome under its name, the study's own first."""

    outcomes: Outcomes
    each: Mapping[str, tuple[Model, ...]]

    @property
    def limits(self) -> tuple[acq.MixedLimit, ...]:
        """The limits, each by all of its models."""
        return tuple(self._limit(name, models) for name, models in self.each.items())

    def refitted_to(self, evidence: JointEvidence, most: int) -> "Alternatives":
        """Models of earlier evidence, with the hyperparameters and inferred noise of these."""
        each = {
            name: tuple(model.refitted_to(evidence.each[name], most) for model in models)
            for name, models in self.each.items()
        }
        return Alternatives(self.outcomes, each)

    def _limit(self, name: str, models: tuple[Model, ...]) -> acq.MixedLimit:
        bound = bound_in_units(self.outcomes[name], models[0].exponent)
        each = tuple(acq.Limit(model.gp, bound) for model in models)
        return acq.MixedLimit(each, np.full(len(each), 1.0 / len(each)))


def fit_alternatives(
    model: JointModel, evidence: JointEvidence, space: Space, settings: Settings
) -> Alternatives:
    """Fits the other models of each limited outcome."""
    each = {}
    for name in evidence.outcomes.limits:
        own = model.each[name]
        kind = own.gp.kernel.name
        others = [
            fit_model(evidence.each[name], space, replace(settings, kernel=kernel))
            for kernel in _KERNELS
            if kernel != kind
        ]
        each[name] = (own, *others)
    return Alternatives(evidence.outcomes, each)
