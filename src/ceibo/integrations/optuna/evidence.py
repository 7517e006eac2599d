"""Optuna's trials as evidence.

Everything is a function of the study's record, so a suggestion can be computed again after a
restart.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from optuna.trial import FrozenTrial, TrialState

from ceibo.checks import check_not_negative
from ceibo.decide import Direction, Evidence, Measurement, Told, Unmeasured, evidence_of
from ceibo.decide.record import hyperparameters_of
from ceibo.errors import InputError
from ceibo.gp import Hyperparameters
from ceibo.gp.inputs import Array
from ceibo.integrations.optuna.axes import Axes
from ceibo.integrations.optuna.pruned import Curves, last_report

RECORD: Final = "ceibo:suggestion"
NOISE: Final = "ceibo:noise"
REPLICATES: Final = "ceibo:replicates"
COUNT: Final = "ceibo:count"
_SAME: Final = 1e-9  # of a mean: the value returned may be rounded
# characters of one system attribute in Optuna's relational storage
_LONGEST: Final = 2045
_LOOK_BACK: Final = 16  # how many trials back the fit looks for values to start from


def evidence_of_trials(
    trials: Sequence[FrozenTrial],
    axes: Axes,
    direction: Direction,
    noise_attribute: str,
    before: int | None = None,
) -> Evidence:
    """The evidence of trials in order of number; `before` is the trial to suggest for.

    Finished trials are observations, running ones pending. A pruned trial that has reported is an
    observation of the final value its last report leads to expect, with unknown noise. Failed
    trials, those pruned without a report, and values that are not finite, are failures, from which
    the model learns where a trial is likely to fail.
    """
    curves = Curves([trial for trial in trials if is_measured(trial)])
    told: list[Told] = []
    failed: list[Array] = []
    in_a_row = 0
    for trial in trials:
        if trial.state in (TrialState.RUNNING, TrialState.WAITING):
            continue
        x = axes.coordinates(trial.params)
        if x is None:
            continue
        if trial.value is not None and is_measured(trial):
            measurement = measurement_of(trial, trial.value, noise_attribute)
            told.append(Told(trial.number, x, measurement))
            in_a_row = 0
        elif (report := last_report(trial)) is not None:
            # What was told with report_noise is the noise of the final value.
            told.append(Told(trial.number, x, Measurement(curves.extrapolate(report))))
            in_a_row = 0
        else:
            failed.append(x)
            # A pruned trial is no error, and ends a row of failures.
            in_a_row = 0 if trial.state is TrialState.PRUNED else in_a_row + 1
    pending = list(running_points(trials, axes, before).values())
    count = len(trials) if before is None else before
    unmeasured = Unmeasured(pending, failed, failures_in_a_row=in_a_row)
    return evidence_of(told, len(axes.space), direction, unmeasured, count)


def is_measured(trial: FrozenTrial) -> bool:
    """Whether the trial has finished with a finite value."""
    if trial.state is not TrialState.COMPLETE:
        return False
    return trial.value is not None and math.isfinite(trial.value)


def running_points(
    trials: Sequence[FrozenTrial], axes: Axes, without: int | None
) -> dict[int, Array]:
    """Number -> point of each running trial other than `without`.

    Parameters that a trial has not asked for yet are those suggested for it.
    """
    points = {}
    for trial in trials:
        if trial.state is TrialState.RUNNING and trial.number != without:
            x = axes.coordinates(axes.completed(trial.params, _recorded_params(trial, axes)))
            if x is not None:
                points[trial.number] = x
    return points


def measurement_of(trial: FrozenTrial, value: float, noise_attribute: str) -> Measurement:
    """What a finished trial has measured: a value with its noise, or replicates."""
    noise = _noise_of(trial, noise_attribute)
    replicates = trial.user_attrs.get(REPLICATES)
    if replicates is None:
        count = None if noise is None else trial.user_attrs.get(COUNT)
        return Measurement(value, noise, count=count)
    measurement = Measurement.of(replicates)
    size = max(map(abs, measurement.replicates))
    if not math.isclose(measurement.value, value, rel_tol=_SAME, abs_tol=_SAME * size):
        raise InputError(
            f"trial {trial.number} returned {value!r}, which is not the mean of the replicates it"
            f" reported, {measurement.value!r}; return what report_replicates returns."
        )
    return Measurement(measurement.value, noise, measurement.replicates)


def _noise_of(trial: FrozenTrial, attribute: str) -> float | None:
    """The standard deviation in the attribute, or else the one told with report_noise."""
    if attribute not in trial.user_attrs:
        attribute = NOISE
    noise = trial.user_attrs.get(attribute)
    if noise is None:
        return None
    name = f"trial {trial.number}: the user attribute {attribute!r}, a standard deviation,"
    return check_not_negative(noise, name)


def noises_of(trial: FrozenTrial, attribute: str, count: int) -> list[float | None]:
    """The standard deviation of each of several objectives, in the attribute or as told."""
    if REPLICATES in trial.user_attrs:
        raise InputError(
            f"trial {trial.number} reported replicates, and the study has {count} objectives;"
            " return the means, and tell the noise of each with report_noise if it is known."
        )
    if attribute not in trial.user_attrs:
        attribute = NOISE
    given = trial.user_attrs.get(attribute)
    if given is None:
        return [None] * count
    name = f"trial {trial.number}: the user attribute {attribute!r}"
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != count:
        raise InputError(
            f"{name} must have a standard deviation for each of {count} objectives, None where it"
            f" is unknown, got {given!r}."
        )
    return [
        None if noise is None else check_not_negative(noise, f"{name}, a standard deviation,")
        for noise in given
    ]


def record_to_attributes(record: Mapping[str, Any]) -> dict[str, str]:
    """The record of a suggestion as system attributes: JSON in pieces that every storage takes."""
    text = json.dumps(record)
    starts = range(0, len(text), _LONGEST)
    pieces = [text[start : start + _LONGEST] for start in starts]
    return {f"{RECORD}:{index}": piece for index, piece in enumerate(pieces)}


def record_of(trial: FrozenTrial) -> dict[str, Any] | None:
    """The record of a trial's suggestion; None if there is none, or only a part of it yet."""
    pieces: list[str] = []
    while (piece := trial.system_attrs.get(f"{RECORD}:{len(pieces)}")) is not None:
        pieces.append(piece)
    try:
        return dict(json.loads("".join(pieces))) if pieces else None
    except ValueError:  # another process is writing it
        return None


def _recorded_params(trial: FrozenTrial, axes: Axes) -> dict[str, Any]:
    """The parameters suggested for a running trial."""
    internal = (record_of(trial) or {}).get("internal", {})
    return {
        name: axis.distribution.to_external_repr(internal[name])
        for name, axis in axes.axes.items()
        if name in internal
    }


def start_values(
    trials: Sequence[FrozenTrial], names: Sequence[str], before: int
) -> Hyperparameters | None:
    """Hyperparameters recorded with the latest trial before `before` with the same parameters."""
    return hyperparameters_of(record_before(trials, names, before, hyperparameters_of))


def record_before(
    trials: Sequence[FrozenTrial],
    names: Sequence[str],
    before: int,
    read: Callable[[dict[str, Any]], object],
) -> dict[str, Any] | None:
    """The latest record before trial `before`, with these parameters and something to read."""
    for trial in reversed(trials):
        if trial.number >= before:
            continue
        if trial.number < before - _LOOK_BACK:
            return None
        record = record_of(trial)
        if record and record.get("names") == list(names) and read(record):
            return record
    return None
