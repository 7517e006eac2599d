"""What the finished trials of a study say about its parameters."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial, TrialState

from ceibo.integrations.optuna.axes import Axes
from ceibo.integrations.optuna.axis import union_of
from ceibo.integrations.optuna.pruned import last_report


def teaching_trials(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """The trials that have asked for all their parameters.

    A pruned trial may not have, so those with a report count only while no trial has finished.
    """
    finished = [trial for trial in trials if trial.state is TrialState.COMPLETE]
    return finished or [
        trial
        for trial in trials
        if trial.state is TrialState.PRUNED and last_report(trial) is not None
    ]


def find_search_space(trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
    """The parameters of finished trials by name, without those of a single value.

    A range that changes is the union of its ranges.
    """
    union = union_of(teaching_trials(trials))
    return {name: union[name] for name in sorted(union) if not union[name].single()}


def axes_of_finished(trials: Sequence[FrozenTrial]) -> Axes | None:
    """The axes of all parameters of finished trials; None if none of them varies."""
    union = union_of(trials)
    varying = {name: each for name, each in union.items() if not each.single()}
    if not varying and len({frozenset(trial.params) for trial in trials}) < 2:
        return None
    return Axes.of(varying, trials)


def with_single_values(
    params: Mapping[str, Any], varying: Collection[str], trials: Sequence[FrozenTrial]
) -> dict[str, Any]:
    """Parameters with those of a single value, as the first trial of the same branch has them."""
    for trial in trials:
        if {name for name in trial.params if name in varying} == params.keys():
            return {**{k: v for k, v in trial.params.items() if k not in varying}, **params}
    return dict(params)
