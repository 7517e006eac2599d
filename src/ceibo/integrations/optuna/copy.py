"""An Optuna study as a study of ceibo's own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, final, overload

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
from ceibo.integrations.optuna.axes import Axes
from ceibo.integrations.optuna.axis import Axis
from ceibo.integrations.optuna.evidence import evidence_of_trials
from ceibo.integrations.optuna.history import axes_of_finished, teaching_trials
from ceibo.integrations.optuna.outcomes import Named, evidence_of_outcomes
from ceibo.integrations.optuna.sampler import direction_of

S = TypeVar("S", bound=Receiver)


@overload
def to_study(study: Study, create: None = None, **options: Any) -> Any: ...
@overload
def to_study(study: Study, create: Callable[..., S], **options: Any) -> S: ...
def to_study(study: Study, create: Callable[..., S] | None = None, **options: Any) -> S | Any:
    """The measurements of an Optuna study as a new study of ceibo's own.

    With different parameters in different trials, parameters get the `when` that the trials show;
    where the values of categorical and whole parameters do not explain which trials have them, the
    study is of the trials that have those of the best trial by the model. Parameters of a single
    value are left out, and trials under way.

    Args:
        study: of any sampler. Objectives and constraints become outcomes, if there is more than
            one objective without a constraint.
        create: ``ceibo.Study.create``, which is the default.
        options: of ``create``, such as ``storage`` and ``name``.

    Example:
        >>> to_study(study).report().save("report.html")
    """
    every = study.get_trials(deepcopy=False)
    named = Named.of(study, every)
    names = _best_params(study).keys()
    trials, axes = every, axes_of_finished(teaching_trials(every))
    if axes is None or axes.sets:
        trials = [each for each in every if each.params.keys() == names]
        axes = axes_of_finished([each for each in trials if each.state.is_finished()])
    if axes is None or not axes.axes:
        raise InputError("the trials have no parameter that varies, so there is nothing to copy.")
    sampler = sampler_of(study)
    shown = {name: _Shown.of(axis) for name, axis in axes.axes.items()}
    measured = _measured(trials, axes, study, named)
    rows: list[Row] = []
    for trial in trials:
        if trial.state.is_finished() and axes.coordinates(trial.params) is not None:
            own = {name: each for name, each in shown.items() if name in trial.params}
            params = {name: each.value(trial.params[name]) for name, each in own.items()}
            rows.append((params, measured(trial.number)))
    space = _shown_space(axes, shown)
    aim = direction_of(study) if named is None else named.outcomes
    copy = Copy(space, aim, sampler.settings, sampler.seed, tuple(rows))
    return copy.into(create, {"name": study.study_name, **options})


def _shown_space(axes: Axes, shown: Mapping[str, "_Shown"]) -> Space:
    """The space in Optuna's units, with the conditions of its parameters."""
    dimensions = {name: each.dimension for name, each in shown.items()}
    direct = {} if axes.space.conditions is None else axes.space.conditions.direct
    for name, conditions in direct.items():
        when = {
            each.parent: [shown[each.parent].decoded(value) for value in each.values]
            for each in conditions
        }
        dimensions[name] = replace(dimensions[name], when=when)
    return Space(dimensions)


def _best_params(study: Study) -> Mapping[str, Any]:
    """The parameters of the best trial by the model, or of one on its front."""
    if len(study.directions) == 1:
        return best_trial_by_posterior(study).params
    return front_by_posterior(study)[0].params


def _measured(
    trials: Sequence[FrozenTrial], axes: Axes, study: Study, named: Named | None
) -> Callable[[int], Measurement | dict[str, Measurement]]:
    """Gives what a trial has measured, by its number."""
    attribute = sampler_of(study).noise_attribute
    nothing = Measurement(float("nan"))
    if named is None:
        evidence = evidence_of_trials(trials, axes, direction_of(study), attribute)
        alone = {told.number: told.measurement for told in evidence.told}
        return lambda number: alone.get(number, nothing)
    joint = evidence_of_outcomes(trials, axes, named, attribute)
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

    def decoded(self, value: Any) -> Any:
        """What the copy calls a value of the axis."""
        return self.value(self.axis.decode(value))

    def value(self, given: Any) -> Any:
        """What the copy calls a value of the trial."""
        if isinstance(self.dimension, Categorical):
            return self.dimension.choices[self.axis.encode(given)]
        return given
