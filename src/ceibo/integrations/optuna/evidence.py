"""Optuna's distributions and trials in ceibo's terms: an axis of the unit cube for each parameter,
and the evidence.

Everything is a function of the study's record, so a suggestion can be computed again after a
restart.
"""

import json
import math
from collections.abc import Mapping, Sequence
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

RECORD: Final = "ceibo:suggestion"
NOISE: Final = "ceibo:noise"
_LONGEST: Final = 2045  # characters of one system attribute in Optuna's relational storage
_LOOK_BACK: Final = 16  # how many trials back the fit looks for values to start from


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
                raise InputError(
                    f"expected at most {MAX_LISTED_LEVELS} choices, got {len(d.choices)}."
                )
            return Axis(d, Categorical(range(len(d.choices))))
        if isinstance(d, FloatDistribution):
            try:
                return Axis(d, Float(d.low, d.high, log=d.log, step=d.step))
            except (
                InputError
            ):  # a grid finer than double precision, or a log range of neighbouring numbers
                return Axis(d, Float(d.low, d.high))
        if isinstance(d, IntDistribution):
            if d.log and d.high < MAX_LEVELS:
                return Axis(d, Int(d.low, d.high, log=True))
            if d.log:
                return Axis(d, Float(d.low, d.high, log=True))
            last = (d.high - d.low) // d.step
            return Axis(d, Int(0, last) if last < MAX_LEVELS else Float(0, last))
        raise InputError(
            f"expected a float, int or categorical distribution, got {distribution!r}."
        )

    @property
    def _stepped(self) -> bool:
        return isinstance(self.distribution, IntDistribution) and not self.distribution.log

    def encode(self, value: Any) -> Any:
        """From Optuna's value to that of the dimension."""
        d = self.distribution
        if isinstance(d, CategoricalDistribution):
            return int(d.to_internal_repr(value))
        if self._stepped and isinstance(d, IntDistribution):
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
            return (
                value if abs(on_grid - value) < 1e-9 * d.step else min(max(on_grid, d.low), d.high)
            )
        return value

    def contains(self, value: Any) -> bool:
        try:
            return bool(self.distribution._contains(self.distribution.to_internal_repr(value)))
        except (ValueError, TypeError):
            return False


@final
@dataclass(frozen=True)
class Axes:
    """The parameters that are searched together, in order of name, as columns of the unit cube.

    Coordinates of parameters seen before are remembered: a study asks for those of all its trials,
    every time.
    """

    axes: dict[str, Axis]
    space: Space
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
        return self.space.to_unit(
            {name: axis.encode(params[name]) for name, axis in self.axes.items()}
        )

    def decode(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {name: axis.decode(params[name]) for name, axis in self.axes.items()}


class Coordinates(Protocol):
    """What makes points of the unit cube from the parameters of trials: Axes, or Branches."""

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
    """What trials say, in order of number, up to trial `before` (the one to suggest for).

    Finished trials are observations, running ones pending. Failed and pruned ones, and values that
    are not finite, are failures: they teach where a trial is likely to end without a value.
    """
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
            measurement = Measurement(trial.value, _noise(trial, noise_attribute))
            told.append(Told(trial.number, x, measurement))
            in_a_row = 0
        else:
            failed.append(x)
            # A pruned trial ran as it should.
            in_a_row = 0 if trial.state is TrialState.PRUNED else in_a_row + 1
    pending = list(running_points(trials, axes, before).values())
    count = len(trials) if before is None else before
    unmeasured = Unmeasured(pending, failed, failures_in_a_row=in_a_row)
    return evidence_of(told, len(axes.space), direction, unmeasured, count)


def is_measured(trial: FrozenTrial) -> bool:
    """Whether the trial has finished with a finite value."""
    return (
        trial.state is TrialState.COMPLETE
        and trial.value is not None
        and math.isfinite(trial.value)
    )


def running_points(
    trials: Sequence[FrozenTrial], axes: Coordinates, but: int | None
) -> dict[int, Array]:
    """Number -> where trials are running, `but` one: their parameters, or what was suggested to
    them.
    """
    points = {}
    for trial in trials:
        if trial.state is TrialState.RUNNING and trial.number != but:
            x = axes.coordinates({**_recorded_params(trial, axes), **trial.params})
            if x is not None:
                points[trial.number] = x
    return points


def _noise(trial: FrozenTrial, attribute: str) -> float | None:
    """The standard deviation in the attribute, or else the one told with report_noise."""
    attribute = attribute if attribute in trial.user_attrs else NOISE
    told = trial.user_attrs.get(attribute)
    if told is None:
        return None
    name = f"trial {trial.number}: the user attribute {attribute!r}, a standard deviation,"
    return check_not_negative(told, name)


# -- the record in a trial's system attributes: JSON in pieces that every storage takes


def record_to_attributes(record: Mapping[str, Any]) -> dict[str, str]:
    text = json.dumps(record)
    pieces = range(0, len(text), _LONGEST)
    return {
        f"{RECORD}:{index}": text[start : start + _LONGEST] for index, start in enumerate(pieces)
    }


def record_of(trial: FrozenTrial) -> dict[str, Any] | None:
    """What a trial's suggestion was made of; None if it was not made here, or not written down in
    full.
    """
    pieces: list[str] = []
    while (piece := trial.system_attrs.get(f"{RECORD}:{len(pieces)}")) is not None:
        pieces.append(piece)
    try:
        return dict(json.loads("".join(pieces))) if pieces else None
    except ValueError:  # another process is writing it
        return None


def _recorded_params(trial: FrozenTrial, axes: Coordinates) -> dict[str, Any]:
    """What was suggested for a running trial, which may not have asked for all its
    parameters yet.
    """
    internal = (record_of(trial) or {}).get("internal", {})
    known = {name: axis for name, axis in axes.axes.items() if name in internal}
    return {
        name: axis.distribution.to_external_repr(internal[name]) for name, axis in known.items()
    }


def start_values(
    trials: Sequence[FrozenTrial], names: Sequence[str], before: int
) -> Hyperparameters | None:
    """Hyperparameters recorded with the latest trial before `before` that searched the same
    parameters.
    """
    for trial in reversed(trials):
        if trial.number >= before:
            continue
        if trial.number < before - _LOOK_BACK:
            return None
        record = record_of(trial)
        if (
            record
            and record.get("names") == list(names)
            and record.get("hyperparameters") is not None
        ):
            return hyperparameters_of(record)
    return None
