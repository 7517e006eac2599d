"""What is believed of every outcome at any point, in the user's units and directions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.acquisition.cube import reachable
from ceibo.decide.effects import BlockEffect, block_effects
from ceibo.decide.estimate import Estimate, OutcomeEstimate
from ceibo.decide.joint.clipped import Range, clipped_interval, clipped_moments
from ceibo.decide.joint.evidence import JointEvidence
from ceibo.decide.joint.model import JointModel
from ceibo.decide.model import Model, fit_model
from ceibo.decide.settings import Settings
from ceibo.decide.space import Space
from ceibo.decide.statement import Statement, statement_of
from ceibo.gp.inputs import Array, Mask

_LEVEL: Final = 0.95  # of the interval of an estimate


@final
@dataclass(frozen=True, eq=False)
class Predictions:
    """What the models say of the outcomes at points of the unit cube.

    Args:
        evidence, space, settings: of the study.
        model: of goals and limits; a watched outcome is fitted when it is first asked for.
        limits: by which it is stated how likely they hold.
        given: name -> what is stated of an outcome; others are made when they are asked for.
    """

    evidence: JointEvidence
    space: Space
    settings: Settings
    model: JointModel
    limits: tuple[acq.MixedLimit, ...]
    given: Mapping[str, Statement] = field(default_factory=dict)
    _watched: dict[str, Model] = field(default_factory=dict, init=False, repr=False)
    _stated: dict[str, Statement] = field(default_factory=dict, init=False, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The outcomes of which there is a measurement."""
        return tuple(name for name, each in self.evidence.each.items() if len(each))

    def model_of(self, name: str) -> Model:
        """The model of one outcome."""
        if name in self.model.each:
            return self.model.each[name]
        if name not in self._watched:
            evidence = self.evidence.each[name]
            self._watched[name] = fit_model(evidence, self.space, self.settings)
        return self._watched[name]

    def statement_of(self, name: str) -> Statement:
        """What is stated of one outcome; of a single goal, corrected for the choice of the best."""
        if name not in self._stated:
            model = self.model_of(name)
            stated = self.given.get(name)
            if stated is None:
                stated = statement_of(model, self.settings)
            if self.evidence.outcomes.goals == (name,):
                stated = stated.chosen_among(self._eligible(model))
            self._stated[name] = stated
        return self._stated[name]

    def _eligible(self, goal: Model) -> Mask | None:
        """Which points of the goal's process (n,) hold every limit; None where there is none."""
        if not self.limits:
            return None
        sure = self.feasibility(goal.gp.X) >= self.settings.assurance
        return np.asarray(reachable(goal.gp) & sure)

    @property
    def noise(self) -> dict[str, float | None]:
        """Name -> the inferred std of one value of unknown noise; None if all noise is known."""
        return {name: self.model_of(name).noise for name in self.names}

    @property
    def blocks(self) -> dict[str, tuple[BlockEffect, ...]]:
        """Name -> the effect of every block on that outcome."""
        return {
            name: block_effects(self.model_of(name), self.evidence.each[name])
            for name in self.names
        }

    def at_points(self, X: Array, name: str, lines: Sequence[slice] = ()) -> tuple[Array, Array]:
        """Mean and std of an outcome (N,) at points (N, d), inside its range.

        With `lines` those along them are quicker and less exact (Statement.at).
        """
        return clipped_moments(*self._latent(X, name, lines), self._range(name))

    def interval(self, X: Array, name: str, level: float = _LEVEL) -> tuple[Array, Array]:
        """The central interval of an outcome (N,) each, of that probability, in its range."""
        return clipped_interval(*self._latent(X, name), self._range(name), level)

    def feasibility(self, X: Array) -> Array:
        """The probability (N,) that every limit holds at points (N, d)."""
        return acq.chances(self.limits, X)

    def estimates(self, X: Array) -> list[Estimate]:
        """What is believed at points (N, d), without the numbers of their trials."""
        goal, has_limits = self.evidence.outcomes.goals[0], bool(self.limits)
        held = self.feasibility(X).tolist()
        parts = {name: self._moments_and_interval(X, name) for name in self.names}
        estimates = []
        for row, chance in enumerate(held):
            outcomes = {}
            for name, each in parts.items():
                mean, std, low, high = (float(part[row]) for part in each)
                unit = self.evidence.outcomes[name].unit
                outcomes[name] = OutcomeEstimate(mean, std, low, high, unit)
            estimate = Estimate(
                params=self.space.from_unit(X[row]),
                mean=outcomes[goal].mean,
                std=outcomes[goal].std,
                outcomes=outcomes,
                p_feasible=chance if has_limits else None,
            )
            estimates.append(estimate)
        return estimates

    def _moments_and_interval(self, X: Array, name: str) -> tuple[Array, Array, Array, Array]:
        """Mean, std and the ends of the central interval (N,) of an outcome, inside its range."""
        latent, possible = self._latent(X, name), self._range(name)
        return *clipped_moments(*latent, possible), *clipped_interval(*latent, possible, _LEVEL)

    def _latent(self, X: Array, name: str, lines: Sequence[slice] = ()) -> tuple[Array, Array]:
        """Mean and std stated of an outcome (N,), in the user's units and direction."""
        model = self.model_of(name)
        means, stds = self.statement_of(name).at(X, lines)
        flip = self.evidence.outcomes[name].direction.flip
        return flip(model.natural_values(means)), model.natural_values(stds)

    def _range(self, name: str) -> Range:
        return Range(*self.evidence.outcomes[name].possible)
