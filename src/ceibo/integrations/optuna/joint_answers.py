"""The answers of Optuna studies with constraints or several objectives."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from ceibo.acquisition.limits import log_chances
from ceibo.attached import provider
from ceibo.decide import Estimate, OutcomeEstimate
from ceibo.decide.joint import JointBelief
from ceibo.errors import InputError, NoMeasurementError
from ceibo.gp.inputs import Array
from ceibo.integrations.optuna.axes import Axes
from ceibo.integrations.optuna.history import axes_of_finished, with_single_values
from ceibo.integrations.optuna.outcomes import Named, constraints_of, evidence_of_outcomes
from ceibo.integrations.optuna.sampler import CeiboSampler


@final
@dataclass(frozen=True)
class PosteriorBest:
    """The finished trial with the best posterior mean.

    `mean` and `std` are the posterior mean and standard deviation of the objective at its
    parameters; `probability` is that of its being the best of all trials with a value or a report.
    In a study with constraints that is NaN; `p_feasible` is the probability that all of them
    hold, and `outcomes` has the objective and every constraint by name.
    """

    trial: FrozenTrial
    mean: float
    std: float
    probability: float
    p_feasible: float | None = None
    outcomes: Mapping[str, OutcomeEstimate] = field(default_factory=dict)

    @property
    def number(self) -> int:
        return self.trial.number

    @property
    def params(self) -> dict[str, Any]:
        return self.trial.params

    @property
    def _estimate(self) -> Estimate:
        return Estimate(
            self.params, self.mean, self.std, outcomes=self.outcomes, p_feasible=self.p_feasible
        )

    def __str__(self) -> str:
        return f"trial {self.number}: {self._estimate}"

    def _repr_html_(self) -> str:
        """As an estimate shows itself in a notebook."""
        found = replace(self._estimate, number=self.number)
        return str(provider("Shown._repr_html_")(found))


@final
@dataclass(frozen=True, eq=False)
class JointAnswers:
    """The belief from all finished trials of a study."""

    # with finite values, and their places in the cube
    points: list[tuple[FrozenTrial, Array]]
    axes: Axes
    belief: JointBelief

    @staticmethod
    def of(study: Study, named: Named, sampler: CeiboSampler) -> "JointAnswers":
        trials = study.get_trials(deepcopy=False)
        finished = [trial for trial in trials if _is_measured(trial)]
        axes = axes_of_finished(finished)
        if axes is None:
            missing = "no finished trial with finite values and a parameter that can vary"
            raise NoMeasurementError(f"the study has {missing}.")
        evidence = evidence_of_outcomes(trials, axes, named, sampler.noise_attribute)
        if not evidence.is_sufficient:
            raise NoMeasurementError("not every constraint of the study has a finite value yet.")
        belief = JointBelief(evidence, axes.space, sampler.settings, sampler.seed)
        located = [(trial, axes.coordinates(trial.params)) for trial in finished]
        points = [(trial, x) for trial, x in located if x is not None]
        return JointAnswers(points, axes, belief)

    @cached_property
    def best(self) -> PosteriorBest:
        """The best of the finished trials whose constraints hold; of equals the first."""
        self._check_one_objective()
        places = np.array([x for _, x in self.points])
        estimates = self.belief.predictions.estimates(places)
        outcomes, confidence = self.belief.evidence.outcomes, self.belief.settings.assurance
        flip = outcomes[outcomes.goals[0]].direction.flip
        means = np.array([flip(each.mean) for each in estimates])
        held = log_chances(self.belief.model.limits, places)
        likely = np.minimum(held, math.log(confidence))  # likely enough is all that counts
        index = int(np.lexsort((means, -likely))[0])
        found = estimates[index]
        return PosteriorBest(
            self.points[index][0], found.mean, found.std, math.nan, found.p_feasible, found.outcomes
        )

    @cached_property
    def recommended(self) -> Estimate:
        """The best setting over the space; of branches not understood, that of the best trial."""
        self._check_one_objective()
        best, axes = self.best, self.axes
        if axes.sets:
            return Estimate(
                best.params, best.mean, best.std, outcomes=best.outcomes, p_feasible=best.p_feasible
            )
        found = self.belief.recommended
        trials = [trial for trial, _ in self.points]
        params = with_single_values(axes.decode(found.params), axes.axes, trials)
        return replace(found, params=params)

    @cached_property
    def front(self) -> tuple[Estimate, ...]:
        """The front by the model, with the parameters of its trials."""
        if len(self.belief.evidence.outcomes.goals) == 1:
            raise InputError(
                "a front is of several objectives, and the study has one; ask for"
                " best_trial_by_posterior."
            )
        by_number = {trial.number: trial for trial, _ in self.points}
        return tuple(
            replace(each, params=by_number[each.number].params)
            for each in self.belief.front
            if each.number in by_number
        )

    def _check_one_objective(self) -> None:
        count = len(self.belief.evidence.outcomes.goals)
        if count > 1:
            raise InputError(
                f"there is one best trial of one objective, and the study has {count}; ask for"
                " front_by_posterior."
            )


def _is_measured(trial: FrozenTrial) -> bool:
    """Whether the trial has finished with finite values, those of its constraints included."""
    if trial.state is not TrialState.COMPLETE or trial.values is None:
        return False
    return all(map(math.isfinite, (*trial.values, *constraints_of(trial).values())))
