"""Belief: the answers that follow from the evidence, in the user's units and direction.

Every door asks a Belief; the sign and the power of two that the model works in stay inside.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide.effects import BlockEffect, block_effects
from ceibo.decide.estimate import Estimate, Observed, compare_with_raw
from ceibo.decide.evidence import Evidence
from ceibo.decide.holding import hold
from ceibo.decide.model import Model, failure_model, fit_model
from ceibo.decide.region import admissible, maximize_in, settle
from ceibo.decide.settings import Settings
from ceibo.decide.space import Space
from ceibo.decide.statement import Statement, statement_of
from ceibo.decide.stopping import Memory, Verdict, verdict_of
from ceibo.decide.suggest import search
from ceibo.decide.suspects import Suspect, suspects_of
from ceibo.errors import NoMeasurementError
from ceibo.gp.inputs import Array


@final
@dataclass(frozen=True, eq=False)
class Belief:
    """What the evidence says about the objective.

    Args:
        evidence: what is known.
        space: of the parameters.
        settings: how the model is fitted and searched.
        seed: of the searches for the recommendation and the remaining improvement.
        given, given_statement: a model of this evidence and what it states; by default they are
            made when they are first needed.
    """

    evidence: Evidence
    space: Space
    settings: Settings
    seed: int
    given: Model | None = None
    given_statement: Statement | None = None

    @cached_property
    def model(self) -> Model:
        """The fitted model, minimised and in units of its own."""
        if self.given is not None:
            return self.given
        if len(self.evidence) == 0:
            raise NoMeasurementError("there is no measurement yet; tell one first.")
        return fit_model(self.evidence, self.space, self.settings)

    @cached_property
    def statement(self) -> Statement:
        """What is stated, corrected for the choice of the best measured setting."""
        stated = self.given_statement
        if stated is None:
            stated = statement_of(self.model, self.settings)
        return stated.chosen_among()

    # -- answers -------------------------------------------------------------------------

    @cached_property
    def best(self) -> Estimate:
        """The measured setting with the best posterior mean; of its trials, the first is named."""
        found = acq.find_incumbent(self.model.gp)
        means, stds = self.at_points(found.x[None, :])
        return Estimate(
            params=self.space.from_unit(found.x),
            mean=float(means[0]),
            std=float(stds[0]),
            number=self.evidence.first_trial(found.x),
            probability=self.statement.probability_best(found.x),
        )

    @cached_property
    def recommended(self) -> Estimate:
        """The setting with the best posterior mean over the space, of those likely to succeed."""
        return recommend(self)

    @cached_property
    def best_observed(self) -> Observed:
        """The best raw value: what a tool that ignores noise would report."""
        if not self.evidence.told:
            raise NoMeasurementError("there is no measurement yet; tell one first.")
        flip = self.evidence.direction.flip
        raw = min(self.evidence.told, key=lambda told: (flip(told.measurement.value), told.number))
        params = self.space.from_unit(raw.x)
        means, stds = self.at_points(raw.x[None, :])
        believed = Estimate(params, float(means[0]), float(stds[0]))
        inside = self.evidence.is_within(raw, self.space)
        why = compare_with_raw(raw.number, raw.measurement, believed, self.best, is_within=inside)
        return Observed(params, raw.measurement.value, raw.measurement.noise, raw.number, why)

    @cached_property
    def suspects(self) -> tuple[Suspect, ...]:
        """The measured values that look wrong, which the model gives more noise."""
        return suspects_of(self.model, self.evidence.direction)

    @property
    def noise(self) -> float | None:
        """The inferred std of one value of unknown noise; None if all noise is known.

        Where it differs over the space, that at the best measured setting.
        """
        return self.model.noise

    @cached_property
    def blocks(self) -> tuple[BlockEffect, ...]:
        """The effect of every block, which is not part of the other answers."""
        return block_effects(self.model, self.evidence)

    def at(self, params: Mapping[str, object]) -> Estimate:
        """What is believed at a setting, measured or not."""
        checked = self.space.check(params)
        means, stds = self.at_points(self.space.to_unit(checked)[None, :])
        return Estimate(checked, float(means[0]), float(stds[0]))

    def at_points(self, X: Array, lines: Sequence[slice] = ()) -> tuple[Array, Array]:
        """Means and standard deviations (N,) stated at points (N, d) of the unit cube.

        With `lines` those along them are quicker and less exact (Statement.at).
        """
        means, stds = self.statement.at(X, lines)
        flip = self.evidence.direction.flip
        return flip(self.model.natural_values(means)), self.model.natural_values(stds)

    # -- what another measurement would bring --------------------------------------------

    def improvement(self, X: Array) -> Array:
        """Corrected EI (N,) of points (N, d) of the unit cube, in the objective's units."""
        gp = self.model.conditioned(self.evidence, self.settings.max_observations)
        return self.model.natural_values(acq.build("corrected-ei", gp).value(X))

    @cached_property
    def remaining(self) -> float:
        """The largest corrected EI over the space, in the objective's units.

        It leaves out points that are being measured or have failed, and weighs the chance that a
        measurement succeeds.
        """
        # Failures in a row make a search more careful for a moment, which is no reason to stop.
        rule = replace(self.settings, acquisition="corrected-ei", draws=None)
        calm = replace(self.evidence, failures_in_a_row=0)
        found = search(self.model, calm, hold(self.space), rule, self.seed)
        return self.model.natural(found.value)

    def verdict(self, cost: float, memory: Memory | None = None) -> Verdict:
        """Whether another measurement is worth `cost`, in the objective's units.

        Args:
            cost: the price of one measurement.
            memory: kept by the caller from call to call, to save computing the state before the
                last measurement again.
        """
        return verdict_of(self, cost, {} if memory is None else memory)

    # -- the past ------------------------------------------------------------------------

    def earlier(self, measurements: int) -> "Belief":
        """The belief after the first so many measurements, fitted anew."""
        return Belief(self.evidence.first(measurements), self.space, self.settings, self.seed)

    def in_hindsight(self, measurements: int) -> "Belief":
        """The belief after the first so many, with the hyperparameters and noise of now."""
        first = self.evidence.first(measurements)
        limit = self.settings.max_observations
        model = self.model.refitted_to(first, limit)
        stated = self.statement.refitted_to(self.model, first, limit)
        return replace(self, evidence=first, given=model, given_statement=stated)


def stated_means(belief: Belief, means: Array) -> Array:
    """The means (N,) stated where those of the model are these; quicker than with their ±."""
    stated = means + belief.statement.choice.shift(means)
    return belief.evidence.direction.flip(belief.model.natural_values(stated))


def recommend(belief: Belief, fixed: Mapping[str, object] | None = None) -> Estimate:
    """The setting that a belief recommends while parameters are held: name -> value."""
    gp, held = belief.model.gp, hold(belief.space, fixed)
    outcomes = failure_model(belief.evidence, belief.space, belief.settings.max_observations)
    guides = () if outcomes is None else (acq.Chance(outcomes, likely_is_enough=True),)
    points = [maximize_in(held, acq.posterior_mean(gp), belief.seed, guides).x]
    if np.any(measured := admissible(held, gp.X)):
        # The best measured point is a candidate too, as the chance of failure may have kept
        # the search away from it.
        points.append(acq.find_incumbent(gp, among=measured).x)
    settings = [settle(held, x) for x in points]
    means, stds = belief.at_points(belief.space.to_unit_rows(settings))
    minimised = belief.evidence.direction.flip(means)
    chosen = int(np.flatnonzero(minimised == np.min(minimised))[-1])  # of equals the measured one
    return Estimate(settings[chosen], float(means[chosen]), float(stds[chosen]))
