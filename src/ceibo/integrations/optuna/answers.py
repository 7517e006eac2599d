"""The answers of any Optuna study, by a model of all its finished trials."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final, final

import numpy as np
from optuna.logging import get_logger
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from ceibo.checks import check_cost
from ceibo.decide import Belief, Estimate, Verdict
from ceibo.decide.joint import JointBelief
from ceibo.decide.stopping import Memory
from ceibo.errors import InputError, NoMeasurementError
from ceibo.gp.inputs import Array
from ceibo.integrations.optuna.axes import Axes
from ceibo.integrations.optuna.evidence import evidence_of_trials, is_measured
from ceibo.integrations.optuna.history import (
    axes_of_finished,
    find_search_space,
    teaching_trials,
    with_single_values,
)
from ceibo.integrations.optuna.joint_answers import JointAnswers, PosteriorBest
from ceibo.integrations.optuna.outcomes import Named, evidence_of_outcomes
from ceibo.integrations.optuna.sampler import CeiboSampler, direction_of
from ceibo.integrations.optuna.tried import best_in_branch

STOPPED: Final = "ceibo:stopped"  # user attribute of a study that stop_by_cost has ended
_logger = get_logger("optuna.ceibo")


def best_trial_by_posterior(study: Study) -> PosteriorBest:
    """The finished trial with the best posterior mean; the first of those with its parameters.

    ``study.best_trial`` is the one with the best noisy value, which is usually a lucky one. Works
    for studies of any sampler; the noise is taken from the trials where it was reported, and
    inferred otherwise. The model has all parameters of all trials, also those that only some
    trials have. Pruned trials are part of the model, and never the answer. With constraints it is
    the best of the trials at which all of them hold with the sampler's confidence (0.95), or the
    most likely one if there is none.
    """
    answers = _answers_of(study)
    return answers.best


def front_by_posterior(study: Study) -> tuple[Estimate, ...]:
    """The trials of which none is expected to be better in every objective.

    ``study.best_trials`` is the front of noisy values, on which the luckiest trials are. Each
    estimate has the objectives and constraints by name in ``outcomes``, ``p_efficient``, the chance
    that no other trial is better in every objective, and ``p_feasible``, that all constraints hold.
    Only trials at which they hold more likely than not are on it, or the most likely trial alone;
    one is left out for another that is as good and as sure of its constraints, where the sampler's
    confidence (0.95) is sure enough. In order of the first objective.
    """
    answers = _answers_of(study)
    if isinstance(answers, JointAnswers):
        return answers.front
    raise InputError(
        "a front is of several objectives, and the study has one; ask for best_trial_by_posterior."
    )


def recommended(study: Study) -> Estimate:
    """The parameters with the best posterior mean over the search space, tried or not.

    If trials have different parameters, which of them belong together is learnt from the trials.
    Where the values of categorical and whole parameters do not explain it, the recommendation has
    the parameters of the best trial by the model, within the values that trials with just these
    parameters have tried; with constraints it is that trial itself. With constraints they hold
    with the sampler's confidence, or as likely as can be.
    """
    answers = _answers_of(study)
    if isinstance(answers, JointAnswers):
        return answers.recommended
    belief, axes = answers.belief, answers.axes
    trials = [trial for trial, _ in answers.points]
    if not axes.sets:
        found = belief.recommended
        params = with_single_values(axes.decode(found.params), axes.axes, trials)
        return Estimate(params, found.mean, found.std)
    names = answers.best.params.keys()
    tried = [x for trial, x in answers.points if trial.params.keys() == names]
    x = best_in_branch(belief, np.array(tried))
    means, stds = belief.at_points(x[None, :])
    decoded = axes.decode(axes.space.from_unit(x))
    params = with_single_values(decoded, axes.axes, [answers.best.trial])
    return Estimate(params, float(means[0]), float(stds[0]))


def stop_by_cost(cost: float, *rest: object) -> Callable[[Study, FrozenTrial], None]:
    """A callback for ``study.optimize`` that stops the study when no trial is worth its cost.

    It then says why, once, in Optuna's log, and in the study's user attribute "ceibo:stopped". With
    ``n_jobs`` the trials under way are finished.

    Args:
        cost: Price of one trial in the units of the objective: the smallest improvement that is
            worth a trial.

    Example:
        >>> study.optimize(objective, n_trials=200, callbacks=[stop_by_cost(0.01)])
    """
    if isinstance(cost, Study) or rest:
        raise InputError(
            "stop_by_cost expects the price of a trial: callbacks=[stop_by_cost(0.01)]."
        )
    price = check_cost(cost)
    memory: Memory = {}
    lock = Lock()  # Optuna calls back from the threads of n_jobs
    latest = -1  # number of the last trial there was at the last stop

    def stop(study: Study, trial: FrozenTrial) -> None:
        nonlocal latest
        with lock:
            verdict = verdict_of(study, price, memory)
            if not verdict:
                return
            study.stop()
            if trial.number <= latest:
                return  # it was under way when the study was stopped, and all was said then
            trials = study.get_trials(deepcopy=False)
            latest = trials[-1].number
            others = sum(each.state is TrialState.RUNNING for each in trials)
            under_way = f" Trials still under way, to be finished: {others}." if others else ""
            message = f"{verdict.message[0].upper()}{verdict.message[1:]}"
            study.set_user_attr(STOPPED, message)
            _logger.info("%s%s", message, under_way)

    return stop


def verdict_of(study: Study, cost: float, memory: Memory | None = None) -> Verdict:
    """Whether to stop because no trial is worth its cost; see ceibo.decide.Belief.verdict."""
    trials = study.get_trials(deepcopy=False)
    named = Named.of(study, trials)
    if len(study.directions) > 1:
        raise InputError(
            "a cost is in the units of one objective, and the study has"
            f" {len(study.directions)}; end it by a number of trials or a time."
        )
    sampler = sampler_of(study)
    search_space = find_search_space(trials)
    if not search_space:
        reason = "no finished trial has a parameter that varies"
        return Verdict(False, cost, (), f"go on: {reason}.", reason)
    axes = Axes.of(search_space, teaching_trials(trials))
    if named is not None:
        joint = evidence_of_outcomes(trials, axes, named, sampler.noise_attribute)
        if not joint.is_sufficient:
            reason = "not every constraint has a value yet"
            return Verdict(False, cost, (), f"go on: {reason}.", reason)
        return JointBelief(joint, axes.space, sampler.settings, sampler.seed).verdict(cost, memory)
    evidence = evidence_of_trials(trials, axes, direction_of(study), sampler.noise_attribute)
    return Belief(evidence, axes.space, sampler.settings, sampler.seed).verdict(cost, memory)


@final
@dataclass(frozen=True, eq=False)
class _Answers:
    """The belief from all finished trials of a study."""

    # with a finite value, and their places in the cube
    points: list[tuple[FrozenTrial, Array]]
    axes: Axes
    belief: Belief

    @staticmethod
    def of(study: Study) -> "_Answers":
        trials = study.get_trials(deepcopy=False)
        sampler = sampler_of(study)
        finished = [trial for trial in trials if is_measured(trial)]
        if not finished:
            raise NoMeasurementError("the study has no finished trial with a finite value.")
        axes = axes_of_finished(finished)
        if axes is None:
            missing = "no finished trial with a parameter that can vary"
            raise NoMeasurementError(f"the study has {missing}.")
        direction = direction_of(study)
        evidence = evidence_of_trials(trials, axes, direction, sampler.noise_attribute)
        belief = Belief(evidence, axes.space, sampler.settings, sampler.seed)
        located = [(trial, axes.coordinates(trial.params)) for trial in finished]
        points = [(trial, x) for trial, x in located if x is not None]
        return _Answers(points, axes, belief)

    @property
    def best(self) -> PosteriorBest:
        """The finished trial with the best posterior mean, the first of those at its place."""
        belief = self.belief
        found = belief.best
        for trial, _ in self.points:
            if trial.number == found.number:
                return PosteriorBest(trial, found.mean, found.std, found.probability or 0.0)
        # The best of all is a pruned trial.
        places = np.array([x for _, x in self.points])
        means, stds = belief.at_points(places)
        index = int(np.argmin(belief.evidence.direction.flip(means)))
        chance = belief.statement.probability_best(places[index])
        mean, std = float(means[index]), float(stds[index])
        return PosteriorBest(self.points[index][0], mean, std, chance)


def _answers_of(study: Study) -> _Answers | JointAnswers:
    named = Named.of(study, study.get_trials(deepcopy=False))
    return _Answers.of(study) if named is None else JointAnswers.of(study, named, sampler_of(study))


def sampler_of(study: Study) -> CeiboSampler:
    """The study's sampler, whose settings the answers use, or one with the usual settings."""
    return study.sampler if isinstance(study.sampler, CeiboSampler) else CeiboSampler(seed=0)
