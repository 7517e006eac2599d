"""A fitted model of each outcome, and the limits as its processes see them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide.joint.evidence import JointEvidence
from ceibo.decide.model import Model, fit_model
from ceibo.decide.outcomes import Outcome, Outcomes
from ceibo.decide.settings import Settings
from ceibo.decide.space import Space
from ceibo.gp import GaussianProcess, Hyperparameters

# In units of an outcome's largest value: a limit beyond it holds for certain, or never.
_FARTHEST: Final = 2.0**200


@final
@dataclass(frozen=True, eq=False)
class JointModel:
    """A model of every goal and every limit, under its name, each in units of its own."""

    outcomes: Outcomes
    each: Mapping[str, Model]

    @property
    def goals(self) -> tuple[GaussianProcess, ...]:
        return tuple(self.each[name].gp for name in self.outcomes.goals)

    @property
    def goal(self) -> Model:
        """The model of the first goal."""
        return self.each[self.outcomes.goals[0]]

    @property
    def limits(self) -> tuple[acq.Limit, ...]:
        """The limits, on processes without pending points."""
        return tuple(
            acq.Limit(self.each[name].gp, self._bound(name)) for name in self.outcomes.limits
        )

    def conditioned(
        self, evidence: JointEvidence, most: int
    ) -> tuple[tuple[GaussianProcess, ...], tuple[acq.Limit, ...]]:
        """Goals and limits with (the latest of) the pending points of each."""
        gps = {
            name: model.conditioned(evidence.each[name], most) for name, model in self.each.items()
        }
        limits = [acq.Limit(gps[name], self._bound(name)) for name in self.outcomes.limits]
        return tuple(gps[name] for name in self.outcomes.goals), tuple(limits)

    def refitted_to(self, evidence: JointEvidence, most: int) -> "JointModel":
        """A model of earlier evidence, with the hyperparameters and inferred noise of this one."""
        each = {
            name: model.refitted_to(evidence.each[name], most) for name, model in self.each.items()
        }
        return JointModel(self.outcomes, each)

    def _bound(self, name: str) -> float:
        return bound_in_units(self.outcomes[name], self.each[name].exponent)


def bound_in_units(outcome: Outcome, exponent: int) -> float:
    """The limit of an outcome, minimised and in units of 2^exponent."""
    if outcome.bound is None:
        return _FARTHEST
    with np.errstate(over="ignore"):
        scaled = float(np.ldexp(outcome.direction.flip(outcome.bound), -exponent))
    return min(max(scaled, -_FARTHEST), _FARTHEST)


def fit_jointly(
    evidence: JointEvidence,
    space: Space,
    settings: Settings,
    starts: Mapping[str, Hyperparameters] | None = None,
) -> JointModel:
    """Fits a model of each goal and each limit to its own observations."""
    starts = starts or {}
    each = {
        name: fit_model(evidence.each[name], space, settings, starts.get(name))
        for name in evidence.outcomes.needed
    }
    return JointModel(evidence.outcomes, each)
