"""Several objectives and constraints of an Optuna study, as outcomes with goals and limits.

An objective is a goal, called by its metric name, or "value" (of several: "values_0", "values_1", …
as in Optuna's tables). A constraint is a limit of at most 0, called by its key; one that came
without a key, from `constraints_func`, is "constraint 0", "constraint 1", and so on.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from ceibo.decide import Measurement, Told, Unmeasured
from ceibo.decide.joint import JointEvidence, joint_evidence_of, starts_of
from ceibo.decide.outcomes import (
    MOST_GOALS,
    AtMost,
    Maximize,
    Minimize,
    Outcome,
    Outcomes,
    check_outcome_name,
)
from ceibo.errors import InputError
from ceibo.gp import Hyperparameters
from ceibo.gp.inputs import Array
from ceibo.integrations.optuna.axes import Axes
from ceibo.integrations.optuna.evidence import (
    evidence_of_trials,
    is_measured,
    noises_of,
    record_before,
    running_points,
)
from ceibo.integrations.optuna.pruned import last_report

# of the system attributes of Optuna's trials
CONSTRAINTS: Final = "constraints"
_ENDED: Final = (TrialState.COMPLETE, TrialState.PRUNED)


def check_objectives(study: Study) -> None:
    """Refuses more objectives than can be optimised together."""
    count = len(study.directions)
    if count > MOST_GOALS:
        raise InputError(
            f"one to {MOST_GOALS} objectives are optimised together, and the study has {count}."
            " Make constraints of some of them, or combine them into one."
        )


def constraints_of(trial: FrozenTrial) -> dict[str, float]:
    """Key -> value of the constraints of a trial, in either of Optuna's ways to store them."""
    attributes = trial.system_attrs
    listed = attributes.get(CONSTRAINTS) or ()
    found = {str(index): float(value) for index, value in enumerate(listed)}
    prefix = f"{CONSTRAINTS}:"
    for key, value in attributes.items():
        if key.startswith(prefix):
            found[key.removeprefix(prefix)] = float(value)
    return found


@final
@dataclass(frozen=True)
class Named:
    """The outcomes of a study, and which objective or constraint each of them is."""

    outcomes: Outcomes
    goals: tuple[str, ...]  # by the place of the objective
    limits: Mapping[str, str]  # key of the constraint -> its name

    @staticmethod
    def of(study: Study, trials: Sequence[FrozenTrial]) -> "Named | None":
        """The outcomes, or None where there is one objective and no constraint."""
        check_objectives(study)
        keys = sorted(
            {k for trial in trials if trial.state in _ENDED for k in constraints_of(trial)}
        )
        if len(study.directions) == 1 and not keys:
            return None
        goals = _goal_names(study)
        limits: dict[str, str] = {}
        for index, key in enumerate(keys):
            plain = not key.isdigit() and key not in goals and _is_name(key)
            name = key if plain else f"constraint {key if key.isdigit() else index}"
            while name in limits.values() or (name != key and name in keys):
                name += "'"
            limits[key] = name
        each: dict[str, Outcome] = {}
        for name, direction in zip(goals, study.directions, strict=True):
            each[name] = Maximize() if direction is StudyDirection.MAXIMIZE else Minimize()
        each |= dict.fromkeys(limits.values(), AtMost(0.0))
        return Named(Outcomes(each), goals, limits)


def evidence_of_outcomes(
    trials: Sequence[FrozenTrial],
    axes: Axes,
    named: Named,
    noise_attribute: str,
    before: int | None = None,
) -> JointEvidence:
    """The evidence of trials in order of number; `before` is the trial to suggest for.

    With one objective it is as `evidence_of_trials` says, and the constraints of finished and of
    pruned trials are observed beside it. Of several objectives a finished trial has a value each. A
    trial with a value that is not finite is a failure; its other values count.
    """
    told: dict[str, list[Told]] = {name: [] for name in named.outcomes}
    failed: list[Array] = []
    in_a_row = 0
    if len(named.goals) == 1:
        direction = named.outcomes[named.goals[0]].direction
        alone = evidence_of_trials(trials, axes, direction, noise_attribute, before)
        told[named.goals[0]] = list(alone.told)
        failed, in_a_row = list(alone.failed), alone.failures_in_a_row
    for trial in trials:
        x = axes.coordinates(trial.params) if trial.state.is_finished() else None
        if x is None:
            continue
        whole = True
        if len(named.goals) > 1:
            values = _measurements(trial, len(named.goals), noise_attribute)
            for name, measurement in zip(named.goals, values, strict=True):
                if measurement is None:
                    whole = False
                else:
                    told[name].append(Told(trial.number, x, measurement))
        for key, value in constraints_of(trial).items():
            if not math.isfinite(value):
                whole = False
            elif trial.state in _ENDED:
                told[named.limits[key]].append(Told(trial.number, x, Measurement(value)))
        if len(named.goals) > 1:
            in_a_row = 0 if whole or trial.state is TrialState.PRUNED else in_a_row + 1
        # What `evidence_of_trials` takes for failed is there already.
        if not whole and (len(named.goals) > 1 or _has_value(trial)):
            failed.append(x)
    pending = list(running_points(trials, axes, before).values())
    count = len(trials) if before is None else before
    unmeasured = Unmeasured(pending, failed, failures_in_a_row=in_a_row)
    return joint_evidence_of(named.outcomes, len(axes.space), told, unmeasured, trials=count)


def joint_start_values(
    trials: Sequence[FrozenTrial], names: Sequence[str], before: int
) -> dict[str, Hyperparameters]:
    """Name -> hyperparameters recorded with the latest trial before with the same parameters."""
    return starts_of(record_before(trials, names, before, starts_of))


def check_constraints(values: Any) -> tuple[float, ...]:
    """What `constraints_func` returned, as finite or infinite numbers."""
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        numbers = (math.nan,)
    if any(map(math.isnan, numbers)):
        raise InputError(
            "constraints_func must return a sequence of numbers, each at most 0 where its"
            f" constraint holds, got {values!r}."
        )
    return numbers


def _measurements(trial: FrozenTrial, count: int, noise_attribute: str) -> list[Measurement | None]:
    """A measurement of each of several objectives; None where there is no finite value."""
    if trial.state is not TrialState.COMPLETE or trial.values is None:
        return [None] * count
    noises = noises_of(trial, noise_attribute, count)
    return [
        Measurement(value, noise) if math.isfinite(value) else None
        for value, noise in zip(trial.values, noises, strict=True)
    ]


def _has_value(trial: FrozenTrial) -> bool:
    """Whether a trial of one objective has a value, and so is not among the failed already."""
    return is_measured(trial) or last_report(trial) is not None


def _goal_names(study: Study) -> tuple[str, ...]:
    given = study.metric_names or ()
    if given and len(set(given)) == len(given) and all(map(_is_name, given)):
        return tuple(given)
    count = len(study.directions)
    return ("value",) if count == 1 else tuple(f"values_{index}" for index in range(count))


def _is_name(text: str) -> bool:
    try:
        check_outcome_name(text)
    except InputError:
        return False
    return True
