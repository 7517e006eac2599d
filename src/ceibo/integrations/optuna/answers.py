"""The answers of any Optuna study, by a model of all its finished trials."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial

from ceibo.checks import check_cost
from ceibo.decide import Belief, Estimate, Verdict
from ceibo.decide.belief import Memory
from ceibo.errors import NoMeasurementError
from ceibo.gp.inputs import Array
from ceibo.integrations.optuna.branches import Branches, best_in_branch
from ceibo.integrations.optuna.evidence import Axes, evidence_of_trials, is_measured
from ceibo.integrations.optuna.sampler import (
    CeiboSampler,
    check_no_constraints,
    check_single_objective,
    direction_of,
    find_search_space,
)

_logger = logging.getLogger(__name__)


@final
@dataclass(frozen=True)
class PosteriorBest:
    """The finished trial with the best posterior mean.

    `mean` and `std` are the posterior mean and standard deviation of the objective at its
    parameters; `probability` is that of its being the best of all finished trials.
    """

    trial: FrozenTrial
    mean: float
    std: float
    probability: float

    @property
    def number(self) -> int:
        return self.trial.number

    @property
    def params(self) -> dict[str, Any]:
        return self.trial.params


def best_trial_by_posterior(study: Study) -> PosteriorBest:
    """The finished trial with the best posterior mean; the first of those with its parameters.

    ``study.best_trial`` is the one with the best noisy value, which is usually a lucky one. Works
    for studies of any sampler; the noise is taken from the trials where it was reported, and
    inferred otherwise. The model has all parameters of all trials, also those that only some
    trials have.
    """
    answers = _Answers.of(study)
    best = answers.belief.best
    return PosteriorBest(answers.incumbent, best.mean, best.std, best.probability or 0.0)


def recommended(study: Study) -> Estimate:
    """The parameters with the best posterior mean over the search space, tried or not.

    If trials have different parameters, only some sets of parameters belong together, and the study
    does not know which. The recommendation then has the parameters of the best trial by the model,
    within the values that trials with just these parameters have tried.
    """
    answers = _Answers.of(study)
    belief = answers.belief
    branches = answers.branches.branches
    names = frozenset(answers.incumbent.params)
    branch = branches[names]
    if len(branches) == 1 and branch.axes is not None:
        found = belief.recommended
        return Estimate({**branch.fixed, **branch.axes.decode(found.params)}, found.mean, found.std)
    tried = [x for trial, x in answers.points if trial.params.keys() == names]
    x = best_in_branch(belief, np.array(tried))
    means, stds = belief.at_points(x[None, :])
    return Estimate(branch.decode(x), float(means[0]), float(stds[0]))


def stop_by_cost(cost: float) -> Callable[[Study, FrozenTrial], None]:
    """A callback for ``study.optimize`` that stops the study when no trial is worth its cost.

    Args:
        cost: Price of one trial in the units of the objective: the smallest improvement that is
            worth a trial.

    Example:
        >>> study.optimize(objective, n_trials=200, callbacks=[stop_by_cost(0.01)])
    """
    price = check_cost(cost)
    memory: Memory = {}

    def stop(study: Study, _trial: FrozenTrial) -> None:
        verdict = verdict_of(study, price, memory)
        if verdict:
            _logger.info("%s", verdict.message)
            study.stop()

    return stop


def verdict_of(study: Study, cost: float, memory: Memory | None = None) -> Verdict:
    """Whether to stop because no trial is worth its cost; see ceibo.decide.Belief.verdict."""
    trials = study.get_trials(deepcopy=False)
    sampler = _sampler_of(study)
    shared = find_search_space(trials)
    if not shared:
        reason = "the finished trials have no parameter in common yet"
        return Verdict(False, cost, (), f"go on: {reason}.", reason)
    axes = Axes.of(shared)
    evidence = evidence_of_trials(trials, axes, direction_of(study), sampler.noise_attribute)
    return Belief(evidence, axes.space, sampler.settings, sampler.seed).verdict(cost, memory)


@final
@dataclass(frozen=True, eq=False)
class _Answers:
    """The belief from all finished trials of a study."""

    # with a finite value, and their places in the cube
    points: list[tuple[FrozenTrial, Array]]
    branches: Branches
    belief: Belief

    @staticmethod
    def of(study: Study) -> "_Answers":
        check_single_objective(study)
        trials = study.get_trials(deepcopy=False)
        sampler = _sampler_of(study)
        check_no_constraints(trials)
        finished = [trial for trial in trials if is_measured(trial)]
        if not finished:
            raise NoMeasurementError("the study has no finished trial with a finite value.")
        branches = Branches.of(finished)
        if branches is None:
            missing = "no finished trial with a parameter that can vary"
            raise NoMeasurementError(f"the study has {missing}.")
        direction = direction_of(study)
        evidence = evidence_of_trials(trials, branches, direction, sampler.noise_attribute)
        belief = Belief(evidence, branches.space, sampler.settings, sampler.seed)
        located = [(trial, branches.coordinates(trial.params)) for trial in finished]
        points = [(trial, x) for trial, x in located if x is not None]
        return _Answers(points, branches, belief)

    @property
    def incumbent(self) -> FrozenTrial:
        """The trial with the best posterior mean."""
        number = self.belief.best.number
        return next(trial for trial, _ in self.points if trial.number == number)


def _sampler_of(study: Study) -> CeiboSampler:
    """The study's sampler, whose settings the answers use, or one with the usual settings."""
    return study.sampler if isinstance(study.sampler, CeiboSampler) else CeiboSampler(seed=0)
