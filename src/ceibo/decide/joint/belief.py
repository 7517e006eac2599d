"""JointBelief: the answers about several outcomes, in the user's units and directions.

With one goal, `best` and `recommended` are chosen among settings whose limits all hold with the
study's confidence; if there is none, the most likely setting is the answer, with its probability.
With two or three goals the answer is the front.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

from ceibo import acquisition as acq
from ceibo.decide.effects import BlockEffect
from ceibo.decide.estimate import Estimate, Observed, compare_with_raw
from ceibo.decide.holding import hold
from ceibo.decide.joint.alternatives import Alternatives, fit_alternatives
from ceibo.decide.joint.evidence import JointEvidence
from ceibo.decide.joint.front import find_front
from ceibo.decide.joint.model import JointModel, fit_jointly
from ceibo.decide.joint.predictions import Predictions
from ceibo.decide.joint.suggest import combined, search_jointly
from ceibo.decide.model import failure_model
from ceibo.decide.region import admissible, maximize_in, settle
from ceibo.decide.settings import Settings
from ceibo.decide.space import Space
from ceibo.decide.statement import Statement
from ceibo.decide.stopping import Memory, Verdict, verdict_of
from ceibo.decide.suspects import Suspect, suspects_of
from ceibo.errors import InputError, NoMeasurementError
from ceibo.gp.inputs import Array


@final
@dataclass(frozen=True, eq=False)
class JointBelief:
    """What the evidence says about several outcomes.

    Args:
        evidence: what is known.
        space: of the parameters.
        settings: how the models are fitted and searched, and with which confidence limits hold.
        seed: of the searches for the recommendation and the remaining improvement.
        given, given_alternatives, given_statements: models of this evidence and what they state;
            by default they are made when they are first needed.
    """

    evidence: JointEvidence
    space: Space
    settings: Settings
    seed: int
    given: JointModel | None = None
    given_alternatives: Alternatives | None = None
    given_statements: Mapping[str, Statement] | None = None

    @cached_property
    def model(self) -> JointModel:
        """The fitted models of goals and limits, minimised and in units of their own."""
        if self.given is not None:
            return self.given
        for name in self.evidence.outcomes.needed:
            if len(self.evidence.each[name]) == 0:
                raise NoMeasurementError(
                    f"there is no measurement of {name!r} yet; tell one first."
                )
        return fit_jointly(self.evidence, self.space, self.settings)

    @cached_property
    def alternatives(self) -> Alternatives:
        """The models by which it is stated how likely limits hold."""
        if self.given_alternatives is not None:
            return self.given_alternatives
        return fit_alternatives(self.model, self.evidence, self.space, self.settings)

    @cached_property
    def predictions(self) -> Predictions:
        """What is believed of every outcome at any point."""
        parts = self.evidence, self.space, self.settings
        given = self.given_statements or {}
        return Predictions(*parts, self.model, self.alternatives.limits, given)

    # -- answers -------------------------------------------------------------------------

    @cached_property
    def best(self) -> Estimate:
        """The best measured setting of those whose limits hold; of its trials, the first."""
        _check_one_goal(self.evidence, "best")
        goal, limits = self.model.goals[0], self.predictions.limits
        found = acq.find_feasible_incumbent(goal, limits, self.settings.assurance)
        if found is None:
            raise NoMeasurementError("there is no setting yet at which every outcome is measured.")
        number = self.evidence.goal.first_trial(found.x)
        return replace(self.predictions.estimates(found.x[None, :])[0], number=number)

    @cached_property
    def recommended(self) -> Estimate:
        """The setting with the best posterior mean of those over the space whose limits hold."""
        return recommend_jointly(self)

    @cached_property
    def best_observed(self) -> Observed:
        """The best raw value of the trials whose raw values hold every limit."""
        _check_one_goal(self.evidence, "best_observed")
        evidence = self.evidence.goal
        if not evidence.told:
            raise NoMeasurementError("there is no measurement yet; tell one first.")
        held = self.evidence.holding
        among = [told for told in evidence.told if told.number in held] or evidence.told
        flip = evidence.direction.flip
        raw = min(among, key=lambda told: (flip(told.measurement.value), told.number))
        believed = self.predictions.estimates(raw.x[None, :])[0]
        inside = evidence.is_within(raw, self.space)
        why = compare_with_raw(raw.number, raw.measurement, believed, self.best, is_within=inside)
        if not held:
            why = f"no measured trial holds every limit as it was measured; {why}"
        params = self.space.from_unit(raw.x)
        return Observed(params, raw.measurement.value, raw.measurement.noise, raw.number, why)

    @cached_property
    def front(self) -> tuple[Estimate, ...]:
        """The measured settings that no other is expected to better in every goal.

        The better one must also be as sure of its limits, for which the study's confidence is sure
        enough, so that there are safe and less safe settings on the front; `p_feasible` of each
        tells. Those with a chance of at least 0.2 of being efficient (`p_efficient`) are on it too,
        as means are not certain. In order of the first goal.
        """
        if len(self.evidence.outcomes.goals) == 1:
            raise InputError("a front is that of several goals, and this study has one; ask best.")
        found = find_front(self.model.goals, self.predictions.limits, self.settings.assurance)
        if not len(found.X):
            raise NoMeasurementError("there is no setting yet at which every outcome is measured.")
        estimates = self.predictions.estimates(found.X)
        return tuple(
            replace(estimate, number=self.evidence.goal.first_trial(x), p_efficient=float(chance))
            for estimate, x, chance in zip(estimates, found.X, found.chances, strict=True)
        )

    @cached_property
    def suspects(self) -> tuple[Suspect, ...]:
        """The measured values that look wrong, of every outcome."""
        found: list[Suspect] = []
        for name in self.predictions.names:
            direction = self.evidence.outcomes[name].direction
            found += suspects_of(self.predictions.model_of(name), direction, name)
        return tuple(found)

    @property
    def noise(self) -> dict[str, float | None]:
        """Name -> the inferred std of one value of unknown noise; None if all noise is known."""
        return self.predictions.noise

    @cached_property
    def blocks(self) -> dict[str, tuple[BlockEffect, ...]]:
        """Name -> the effect of every block, which is not part of the other answers."""
        return self.predictions.blocks

    def at(self, params: Mapping[str, object]) -> Estimate:
        """What is believed at a setting, measured or not."""
        checked = self.space.check(params)
        point = self.space.to_unit(checked)[None, :]
        return replace(self.predictions.estimates(point)[0], params=checked)

    # -- what another measurement would bring --------------------------------------------

    @cached_property
    def remaining(self) -> float:
        """The largest corrected EI with limits over the space, in the goal's units."""
        _check_one_goal(self.evidence, "remaining")
        rule = replace(self.settings, acquisition="corrected-ei", draws=None)
        calm = replace(self.evidence, failures_in_a_row=0)
        found = search_jointly(self.model, calm, hold(self.space), rule, self.seed)
        return self.model.goal.natural(found.value)

    def verdict(self, cost: float, memory: Memory | None = None) -> Verdict:
        """Whether another measurement is worth `cost`, in the goal's units."""
        if len(self.evidence.outcomes.goals) > 1:
            raise InputError(
                "the price of a measurement is in the units of one goal, and an improvement of a"
                " front of several has no such units; end the study by a number of trials or a"
                " time."
            )
        return verdict_of(self, cost, {} if memory is None else memory)

    # -- the past ------------------------------------------------------------------------

    def earlier(self, measurements: int) -> "JointBelief":
        """The belief after the first so many measurements of the first goal, fitted anew."""
        first = self.evidence.first(measurements)
        return JointBelief(first, self.space, self.settings, self.seed)

    def in_hindsight(self, measurements: int) -> "JointBelief":
        """The belief after the first so many, with the hyperparameters and noise of now."""
        first = self.evidence.first(measurements)
        most = self.settings.max_observations
        model = self.model.refitted_to(first, most)
        others = self.alternatives.refitted_to(first, most)
        stated = {
            name: self.predictions.statement_of(name).refitted_to(each, first.each[name], most)
            for name, each in self.model.each.items()
        }
        return JointBelief(first, self.space, self.settings, self.seed, model, others, stated)


def joint_improvement(belief: JointBelief, X: Array) -> Array:
    """Corrected EI with limits (N,) of points (N, d), in the goal's units."""
    _check_one_goal(belief.evidence, "improvement")
    goals, limits = belief.model.conditioned(belief.evidence, belief.settings.max_observations)
    confidence = belief.settings.assurance
    surface = acq.build_joint("corrected-ei", goals, limits, confidence=confidence)
    return belief.model.goal.natural_values(surface.value(X))


def recommend_jointly(belief: JointBelief, fixed: Mapping[str, object] | None = None) -> Estimate:
    """The setting that a belief recommends while parameters are held: name -> value."""
    _check_one_goal(belief.evidence, "recommended")
    held = hold(belief.space, fixed)
    goal, limits = belief.model.goals[0], belief.predictions.limits
    confidence = belief.settings.assurance
    guides: list[acq.Guide] = []
    failures = failure_model(
        combined(belief.evidence), belief.space, belief.settings.max_observations
    )
    if failures is not None:
        guides.append(acq.Chance(failures, likely_is_enough=True))
    if limits:
        guides.append(acq.Assurance(limits, confidence))
    found = settle(held, maximize_in(held, acq.posterior_mean(goal), belief.seed, guides).x)
    X = belief.space.to_unit(found)[None, :]
    # The best measured setting stands in for what a search did not find. It does so too where
    # nothing holds with the confidence: the most likely point of a whole space is where the
    # model errs most.
    measured = acq.find_feasible_incumbent(goal, limits, confidence, admissible(held, goal.X))
    mean, chance = goal.posterior(X)[0][0], belief.predictions.feasibility(X)[0]
    if measured is not None and (chance < confidence or _as_good(measured, mean, confidence)):
        found = settle(held, measured.x)
        X = belief.space.to_unit(found)[None, :]
    return replace(belief.predictions.estimates(X)[0], params=found)


def _check_one_goal(evidence: JointEvidence, question: str) -> None:
    goals = evidence.outcomes.goals
    if len(goals) > 1:
        raise InputError(
            f"{question} is about one goal, and this study has {len(goals)}"
            f" ({', '.join(goals)}); ask for its front."
        )


def _as_good(measured: acq.FeasibleIncumbent, mean: float, confidence: float) -> bool:
    """Whether a measured setting holds its limits too, with a goal that is no worse."""
    return measured.chance >= confidence and measured.mean <= mean
