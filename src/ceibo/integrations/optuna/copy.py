"""An Optuna study as a study of ceibo's own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, final

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial

from ceibo.decide import Int, Measurement, Space
from ceibo.decide.dimensions import MAX_LEVELS, Categorical, Dimension, Float
from ceibo.errors import InputError
from ceibo.integrations.copies import Copy, Receiver, Row, choices_of
from ceibo.integrations.optuna.answers import (
    best_trial_by_posterior,
    front_by_posterior,
    sampler_of,
)
from ceibo.integrations.optuna.branches import Branches
from ceibo.integrations.optuna.evidence import Axis, evidence_of_trials
from ceibo.integrations.optuna.outcomes import Named, evidence_of_outcomes
from ceibo.integrations.optuna.sampler import direction_of

S = TypeVar("S", bound=Receiver)


def to_study(study: Study, create: Callable[..., S], **options: Any) -> S:
    """The measurements of an Optuna study as a new study of ceibo's own.

    With different parameters in different trials, the study is of the trials that have those of
    the best trial by the model. Parameters of a single value are left out, and trials under way.

    Args:
        study: of any sampler. Objectives and constraints become outcomes, if there is more than
            one objective without a constraint.
        create: ``ceibo.Study.create``.
        options: of ``create``, such as ``storage`` and ``name``.

    Example:
        >>> from ceibo.report import write_report
        >>> write_report(to_study(study, ceibo.Study.create), "report.html")
    """
    every = study.get_trials(deepcopy=False)
    named = Named.of(study, every)
    names = _best_params(study).keys()
    trials = [each for each in every if each.params.keys() == names]
    branches = Branches.of([each for each in trials if each.state.is_finished()])
    if branches is None or not branches.axes:
        raise InputError("the trials have no parameter that varies, so there is nothing to copy.")
    sampler = sampler_of(study)
    shown = {name: _Shown.of(axis) for name, axis in branches.axes.items()}
    measured = _measured(trials, branches, study, named)
    space = Space({name: each.dimension for name, each in shown.items()})
    rows: list[Row] = []
    for trial in trials:
        if trial.state.is_finished() and branches.coordinates(trial.params) is not None:
            params = {name: each.value(trial.params[name]) for name, each in shown.items()}
            rows.append((params, measured(trial.number)))
    aim = direction_of(study) if named is None else named.outcomes
    copy = Copy(space, aim, sampler.settings, sampler.seed, tuple(rows))
    return copy.into(create, {"name": study.study_name, **options})


def _best_params(study: Study) -> Mapping[str, Any]:
    """The parameters of the best trial by the model, or of one on its front."""
    if len(study.directions) == 1:
        return best_trial_by_posterior(study).params
    return front_by_posterior(study)[0].params


def _measured(
    trials: Sequence[FrozenTrial], branches: Branches, study: Study, named: Named | None
) -> Callable[[int], Measurement | dict[str, Measurement]]:
    """Gives what a trial has measured, by its number."""
    attribute = sampler_of(study).noise_attribute
    nothing = Measurement(float("nan"))
    if named is None:
        evidence = evidence_of_trials(trials, branches, direction_of(study), attribute)
        alone = {told.number: told.measurement for told in evidence.told}
        return lambda number: alone.get(number, nothing)
    joint = evidence_of_outcomes(trials, branches, named, attribute)
    each = {
        name: {told.number: told.measurement for told in evidence.told}
        for name, evidence in joint.each.items()
    }
    return lambda number: {name: values.get(number, nothing) for name, values in each.items()}


@final
@dataclass(frozen=True)
class _Shown:
    """A parameter in Optuna's units; its columns of the unit cube are those of the axis."""

    axis: Axis
    dimension: Dimension

    @staticmethod
    def of(axis: Axis) -> "_Shown":
        d = axis.distribution
        if isinstance(d, CategoricalDistribution):
            return _Shown(axis, choices_of(d.choices))
        if isinstance(d, FloatDistribution) or (isinstance(d, IntDistribution) and d.log):
            return _Shown(axis, axis.dimension)
        if isinstance(d, IntDistribution) and isinstance(axis.dimension, Int):
            if max(abs(d.low), abs(d.high)) < MAX_LEVELS:
                return _Shown(axis, Int(d.low, d.high, step=d.step))
            return _Shown(axis, Float(d.low, d.high, step=d.step))
        return _Shown(axis, Float(d.low, d.high))  # type: ignore[attr-defined]  # a wide range

    def value(self, given: Any) -> Any:
        """What the copy calls a value of the trial."""
        if isinstance(self.dimension, Categorical):
            return self.dimension.choices[self.axis.encode(given)]
        return given
