"""JointBelief: the answers about several outcomes, in the user's units and directions.

With one goal, `best` and `recommended` are chosen among settings whose limits all hold with the
study's confidence; if there is none, the most likely setting is the answer, with its probability.
With two or three goals the answer is the front.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide.estimate import Estimate, Observed, OutcomeEstimate, compare_with_raw
from ceibo.decide.evidence import Evidence
from ceibo.decide.joint.clipped import clipped_interval, clipped_moments, range_of
from ceibo.decide.joint.evidence import JointEvidence
from ceibo.decide.joint.front import find_front, raw_front
from ceibo.decide.joint.model import JointModel, fit_jointly
from ceibo.decide.joint.suggest import combined, search_jointly
from ceibo.decide.model import Model, failure_model, fit_model
from ceibo.decide.outcomes import Outcomes
from ceibo.decide.settings import Settings
from ceibo.decide.space import Params, Space
from ceibo.decide.stopping import Memory, Profit, Verdict, profit_of, verdict_of
from ceibo.errors import InputError, NoMeasurementError
from ceibo.gp.inputs import Array

_LEVEL: Final = 0.95  # of the interval of an estimate


@final
@dataclass(frozen=True, eq=False)
class JointBelief:
    """What the evidence says about several outcomes.

    Args:
        evidence: what is known.
        space: of the parameters.
        settings: how the models are fitted and searched, and with which confidence limits hold.
        seed: of the searches for the recommendation and the remaining improvement.
        given: a model of this evidence; by default one is fitted when it is first needed.
    """

    evidence: JointEvidence
    space: Space
    settings: Settings
    seed: int
    given: JointModel | None = None
    _watched: dict[str, Model] = field(default_factory=dict, init=False, repr=False)

    @property
    def outcomes(self) -> Outcomes:
        return self.evidence.outcomes

    @cached_property
    def model(self) -> JointModel:
        """The fitted models of goals and limits, minimised and in units of their own."""
        if self.given is not None:
            return self.given
        for name in self.outcomes.needed:
            if len(self.evidence.each[name]) == 0:
                raise NoMeasurementError(
                    f"there is no measurement of {name!r} yet; tell one first."
                )
        return fit_jointly(self.evidence, self.space, self.settings)

    def model_of(self, name: str) -> Model:
        """The model of one outcome; of a watched one it is fitted when it is first asked for."""
        if name in self.outcomes.needed:
            return self.model.each[name]
        if name not in self._watched:
            evidence = self.evidence.each[name]
            self._watched[name] = fit_model(evidence, self.space, self.settings)
        return self._watched[name]

    # -- answers -------------------------------------------------------------------------

    @cached_property
    def best(self) -> Estimate:
        """The best measured setting of those whose limits hold; of its trials, the first."""
        self._check_one_goal("best")
        goal, limits = self.model.goals[0], self.model.limits
        found = acq.find_feasible_incumbent(goal, limits, self.settings.assurance)
        if found is None:
            raise NoMeasurementError("there is no setting yet at which every outcome is measured.")
        number = _first_trial(self.evidence.goal, found.x)
        return self._estimates(found.x[None, :], [number])[0]

    @cached_property
    def recommended(self) -> Estimate:
        """The setting with the best posterior mean of those over the space whose limits hold."""
        self._check_one_goal("recommended")
        goal, limits = self.model.goals[0], self.model.limits
        confidence = self.settings.assurance
        guides: list[acq.Guide] = []
        failures = failure_model(
            combined(self.evidence), self.space, self.settings.max_observations
        )
        if failures is not None:
            guides.append(acq.Chance(failures, likely_is_enough=True))
        if limits:
            guides.append(acq.Assurance(limits, confidence))
        surface = acq.posterior_mean(goal)
        discrete = self.space.discrete
        maximum = acq.maximize(surface, seed=self.seed, discrete=discrete, guides=guides)
        # The best measured point is a candidate too: a search may have missed it.
        points = [maximum.x]
        measured = acq.find_feasible_incumbent(goal, limits, confidence)
        if measured is not None:
            points.append(measured.x)
        settings = [self.space.from_unit(x) for x in points]
        X = self.space.to_unit_rows(settings)
        means, chances = goal.posterior(X)[0], self.feasibility(X)
        likely = np.minimum(chances, confidence)  # likely enough is all that counts
        chosen = int(np.lexsort((means, -likely))[0])
        return self._estimates(X[[chosen]], [None], [settings[chosen]])[0]

    @cached_property
    def best_observed(self) -> Observed:
        """The best raw value of the trials whose raw values hold every limit."""
        self._check_one_goal("best_observed")
        evidence = self.evidence.goal
        if not evidence.told:
            raise NoMeasurementError("there is no measurement yet; tell one first.")
        held = self.evidence.holding
        among = [told for told in evidence.told if told.number in held] or evidence.told
        flip = evidence.direction.flip
        raw = min(among, key=lambda told: (flip(told.measurement.value), told.number))
        mean = float(self.at_points(raw.x[None, :], self.outcomes.goals[0])[0][0])
        why = compare_with_raw(raw.number, raw.measurement, mean, self.best)
        if not held:
            why = f"no measured trial holds every limit; {why}"
        params = self.space.from_unit(raw.x)
        return Observed(params, raw.measurement.value, raw.measurement.noise, raw.number, why)

    @cached_property
    def front(self) -> tuple[Estimate, ...]:
        """The measured settings of which none is expected to be better in every goal.

        They are among those whose limits hold with the study's confidence; if there is none, the
        front is the most likely setting alone. In order of the first goal.
        """
        found = find_front(self.model, self.settings.assurance)
        if not len(found.X):
            raise NoMeasurementError("there is no setting yet at which every outcome is measured.")
        numbers = [_first_trial(self.evidence.goal, x) for x in found.X]
        estimates = self._estimates(found.X, numbers)
        return tuple(
            replace(estimate, p_efficient=float(chance))
            for estimate, chance in zip(estimates, found.chances, strict=True)
        )

    @cached_property
    def raw_front(self) -> tuple[int, ...]:
        """The trials that raw values put on the front: what a tool that ignores noise reports."""
        return raw_front(self.evidence)

    @property
    def noise(self) -> dict[str, float | None]:
        """Name -> the inferred std of one value of unknown noise; None if all noise is known."""
        found = {}
        for name in self._measured_names:
            model = self.model_of(name)
            variance = model.fit.noise_variance
            found[name] = None if variance is None else model.natural(float(np.sqrt(variance)))
        return found

    # -- anywhere --------------------------------------------------------------------------

    def at(self, params: Mapping[str, object]) -> Estimate:
        """What is believed at a setting, measured or not."""
        checked = self.space.check(params)
        return self._estimates(self.space.to_unit(checked)[None, :], [None], [checked])[0]

    def at_points(self, X: Array, name: str) -> tuple[Array, Array]:
        """Mean and std of an outcome (N,) at points (N, d) of the unit cube, in its range."""
        outcome = self.outcomes[name]
        return clipped_moments(*self._latent(X, name), range_of(outcome.low, outcome.high))

    def interval(self, X: Array, name: str, level: float = _LEVEL) -> tuple[Array, Array]:
        """The central interval of an outcome (N,) each, of that probability, in its range."""
        outcome = self.outcomes[name]
        possible = range_of(outcome.low, outcome.high)
        return clipped_interval(*self._latent(X, name), possible, level)

    def feasibility(self, X: Array) -> Array:
        """The probability (N,) that every limit holds at points (N, d) of the unit cube."""
        return acq.chances(self.model.limits, X)

    # -- what another measurement would bring --------------------------------------------

    def improvement(self, X: Array) -> Array:
        """Corrected EI with limits (N,) of points (N, d), in the goal's units."""
        self._check_one_goal("improvement")
        goals, limits = self.model.conditioned(self.evidence, self.settings.max_observations)
        confidence = self.settings.assurance
        surface = acq.build_joint("corrected-ei", goals, limits, confidence=confidence)
        return self.model.goal.natural_values(surface.value(X))

    @cached_property
    def remaining(self) -> float:
        """The largest corrected EI with limits over the space, in the goal's units."""
        self._check_one_goal("remaining")
        rule = replace(self.settings, acquisition="corrected-ei", draws=None)
        calm = replace(self.evidence, failures_in_a_row=0)
        found = search_jointly(self.model, calm, self.space, rule, self.seed)
        return self.model.goal.natural(found.value)

    def verdict(self, cost: float, memory: Memory | None = None) -> Verdict:
        """Whether another measurement is worth `cost`, in the goal's units."""
        if len(self.outcomes.goals) > 1:
            raise InputError(
                "a price of a measurement is in the units of one goal, and this study has"
                f" {len(self.outcomes.goals)}: an improvement of the front has no such units. End"
                " the study by a number of trials or a time instead."
            )
        return verdict_of(self, cost, {} if memory is None else memory)

    def profit(self, cost: float, evaluations: int) -> Profit:
        """What so many evaluations have brought at a price each, the initial design not counted."""
        paid = max(evaluations - self.settings.initial_size(len(self.space)), 0)
        return profit_of(self.best, self.evidence.goal.direction, cost, paid)

    # -- the past ------------------------------------------------------------------------

    def earlier(self, measurements: int) -> "JointBelief":
        """The belief after the first so many measurements of the first goal, fitted anew."""
        return replace(self, evidence=self.evidence.first(measurements), given=None)

    def in_hindsight(self, measurements: int) -> "JointBelief":
        """The belief after the first so many, with the hyperparameters and noise of now."""
        first = self.evidence.first(measurements)
        model = self.model.refitted_to(first, self.settings.max_observations)
        return replace(self, evidence=first, given=model)

    # -- inside --------------------------------------------------------------------------

    @property
    def _measured_names(self) -> list[str]:
        """The outcomes of which there is a measurement."""
        return [name for name in self.outcomes if len(self.evidence.each[name])]

    def _latent(self, X: Array, name: str) -> tuple[Array, Array]:
        """Mean and std of an outcome's process (N,), in the user's units and direction."""
        model = self.model_of(name)
        means, variances = model.gp.posterior(X)
        flip = self.outcomes[name].direction.flip
        return flip(model.natural_values(means)), model.natural_values(np.sqrt(variances))

    def _estimates(
        self, X: Array, numbers: Sequence[int | None], params: list[Params] | None = None
    ) -> list[Estimate]:
        """What is believed at points (N, d) of the unit cube."""
        held = self.feasibility(X) if self.outcomes.limits else [None] * len(X)
        parts = {
            name: (*self.at_points(X, name), *self.interval(X, name))
            for name in self._measured_names
        }
        goal = self.outcomes.goals[0]
        estimates = []
        for row, (number, chance) in enumerate(zip(numbers, held, strict=True)):
            outcomes = {name: self._outcome_at(name, each, row) for name, each in parts.items()}
            estimate = Estimate(
                params=self.space.from_unit(X[row]) if params is None else params[row],
                mean=outcomes[goal].mean,
                std=outcomes[goal].std,
                number=number,
                outcomes=outcomes,
                p_feasible=None if chance is None else float(chance),
            )
            estimates.append(estimate)
        return estimates

    def _outcome_at(self, name: str, parts: Sequence[Array], row: int) -> OutcomeEstimate:
        mean, std, low, high = (float(part[row]) for part in parts)
        return OutcomeEstimate(mean, std, low, high, self.outcomes[name].unit)

    def _check_one_goal(self, question: str) -> None:
        if len(self.outcomes.goals) > 1:
            goals = ", ".join(self.outcomes.goals)
            raise InputError(
                f"{question!r} is about one goal, and this study has {len(self.outcomes.goals)}"
                f" ({goals}); ask for its front."
            )


def _first_trial(evidence: Evidence, x: Array) -> int:
    """The first trial that measured at a point."""
    rows = np.flatnonzero(np.all(x == evidence.X, axis=1))
    there: list[int] = [evidence.told[group].number for group in evidence.group[rows]]
    return min(there)
