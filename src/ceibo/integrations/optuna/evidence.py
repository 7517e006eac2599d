"""Optuna's distributions as axes of the unit cube, and Optuna's trials as evidence.

Everything is a function of the study's record, so a suggestion can be computed again after a
restart.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, final

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial, TrialState

from ceibo.checks import check_not_negative
from ceibo.decide import (
    Categorical,
    Direction,
    Evidence,
    Float,
    Int,
    Measurement,
    Space,
    Told,
    Unmeasured,
    evidence_of,
)
from ceibo.decide.dimensions import MAX_LEVELS, MAX_LISTED_LEVELS, Dimension
from ceibo.decide.record import hyperparameters_of
from ceibo.errors import InputError
from ceibo.gp import Hyperparameters
from ceibo.gp.inputs import Array
from ceibo.integrations.optuna.pruned import Curves, last_report

RECORD: Final = "ceibo:suggestion"
NOISE: Final = "ceibo:noise"
REPLICATES: Final = "ceibo:replicates"
_SAME: Final = 1e-9  # of a mean: the value returned may be rounded
# characters of one system attribute in Optuna's relational storage
_LONGEST: Final = 2045
_LOOK_BACK: Final = 16  # how many trials back the fit looks for values to start from
_ON_GRID: Final = 1e-9  # of a step: a value no further from the grid is left as it is


@final
@dataclass(frozen=True)
class Axis:
    """One parameter: Optuna's distribution, and the dimension of the space that stands for it.

    A categorical parameter is its index, so that choices may be anything Optuna takes; a whole
    number with a step is its position on the grid.
    """

    distribution: BaseDistribution
    dimension: Dimension

    @staticmethod
    def of(distribution: BaseDistribution) -> "Axis":
        d = distribution
        if isinstance(d, CategoricalDistribution):
            if len(d.choices) > MAX_LISTED_LEVELS:
                wanted = f"at most {MAX_LISTED_LEVELS} choices"
                raise InputError(f"expected {wanted}, got {len(d.choices)}.")
            return Axis(d, Categorical(range(len(d.choices))))
        if isinstance(d, FloatDistribution):
            try:
                return Axis(d, Float(d.low, d.high, log=d.log, step=d.step))
            except InputError:
                # A grid finer than double precision, or a log range of neighbouring numbers.
                return Axis(d, Float(d.low, d.high))
        if isinstance(d, IntDistribution):
            if d.log and d.high < MAX_LEVELS:
                return Axis(d, Int(d.low, d.high, log=True))
            if d.log:
                return Axis(d, Float(d.low, d.high, log=True))
            last = (d.high - d.low) // d.step
            return Axis(d, Int(0, last) if last < MAX_LEVELS else Float(0, last))
        raise InputError(f"expected a float, int or categorical distribution, got {d!r}.")

    def encode(self, value: Any) -> Any:
        """From Optuna's value to that of the dimension."""
        d = self.distribution
        if isinstance(d, CategoricalDistribution):
            return int(d.to_internal_repr(value))
        if isinstance(d, IntDistribution) and not d.log:
            return (int(value) - d.low) // d.step
        return value

    def decode(self, value: Any) -> Any:
        """From the dimension's value to Optuna's."""
        d = self.distribution
        if isinstance(d, CategoricalDistribution):
            return d.choices[value]
        if isinstance(d, IntDistribution):
            whole = round(value) if d.log else d.low + d.step * round(value)
            return min(max(whole, d.low), d.high)
        if isinstance(d, FloatDistribution) and d.step is not None and isinstance(value, float):
            on_grid = d.low + d.step * round((value - d.low) / d.step)
            if abs(on_grid - value) >= _ON_GRID * d.step:
                return min(max(on_grid, d.low), d.high)
        return value

    def contains(self, value: Any) -> bool:
        """Whether a value is in the range of the distribution."""
        d = self.distribution
        try:
            return bool(d._contains(d.to_internal_repr(value)))  # noqa: SLF001 - no public test
        except (ValueError, TypeError):
            return False


@final
@dataclass(frozen=True)
class Axes:
    """The parameters that are searched together, in order of name, as columns of the unit cube."""

    axes: dict[str, Axis]
    space: Space
    # Coordinates seen before: a study asks for those of all its trials, every time.
    _memory: dict[tuple[Any, ...], Array | None] = field(
        default_factory=dict, repr=False, compare=False
    )

    @staticmethod
    def of(search_space: Mapping[str, BaseDistribution]) -> "Axes":
        axes = {name: Axis.of(search_space[name]) for name in sorted(search_space)}
        return Axes(axes, Space({name: axis.dimension for name, axis in axes.items()}))

    @property
    def search_space(self) -> dict[str, BaseDistribution]:
        return {name: axis.distribution for name, axis in self.axes.items()}

    def coordinates(self, params: Mapping[str, Any]) -> Array | None:
        """The point in the unit cube; None if a parameter is missing or out of its range."""
        if any(name not in params for name in self.axes):
            return None
        key = tuple(params[name] for name in self.axes)
        try:
            if key not in self._memory:
                self._memory[key] = self._coordinates(params)
            return self._memory[key]
        except TypeError:  # a choice that cannot be a key
            return self._coordinates(params)

    def _coordinates(self, params: Mapping[str, Any]) -> Array | None:
        if not all(axis.contains(params[name]) for name, axis in self.axes.items()):
            return None
        encoded = {name: axis.encode(params[name]) for name, axis in self.axes.items()}
        return self.space.to_unit(encoded)

    def decode(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """From the space's parameters to Optuna's."""
        return {name: axis.decode(params[name]) for name, axis in self.axes.items()}

    def to_internal(self, params: Mapping[str, Any]) -> dict[str, float]:
        """Optuna's parameters as the numbers that its storages keep."""
        kept = self.search_space
        return {name: kept[name].to_internal_repr(value) for name, value in params.items()}


class Coordinates(Protocol):
    """Maps the parameters of trials to points of the unit cube: Axes, or Branches."""

    @property
    def axes(self) -> dict[str, Axis]: ...

    @property
    def space(self) -> Space: ...

    def coordinates(self, params: Mapping[str, Any]) -> Array | None: ...


def evidence_of_trials(
    trials: Sequence[FrozenTrial],
    axes: Coordinates,
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
    trials: Sequence[FrozenTrial], axes: Coordinates, without: int | None
) -> dict[int, Array]:
    """Number -> point of each running trial other than `without`.

    Parameters that a trial has not asked for yet are those suggested for it.
    """
    points = {}
    for trial in trials:
        if trial.state is TrialState.RUNNING and trial.number != without:
            x = axes.coordinates({**_recorded_params(trial, axes), **trial.params})
            if x is not None:
                points[trial.number] = x
    return points


def measurement_of(trial: FrozenTrial, value: float, noise_attribute: str) -> Measurement:
    """What a finished trial has measured: a value with its noise, or replicates."""
    noise = _noise_of(trial, noise_attribute)
    replicates = trial.user_attrs.get(REPLICATES)
    if replicates is None:
        return Measurement(value, noise)
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


def _recorded_params(trial: FrozenTrial, axes: Coordinates) -> dict[str, Any]:
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
