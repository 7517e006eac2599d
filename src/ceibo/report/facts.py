"""What a report shows, gathered from a study once, in the objective's units and direction."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from ceibo.decide import Belief, Direction, Estimate, Observed, Space, Verdict
from ceibo.decide.dimensions import Dimension
from ceibo.gp.grid import evenly
from ceibo.gp.inputs import Array
from ceibo.report.sensitivity import Importance, importance, posterior_means
from ceibo.study import Study, Trial

_STATES: Final = 16  # states of a study computed again where nothing was recorded
_MOST_STATES: Final = 400  # measurements up to which that is done
_SECONDS: Final = 2.0  # after which no more are computed
_GRID: Final = 81  # points of a slice
_MAP: Final = 41  # points of a map, in each direction
_MOST_LEVELS: Final = 60  # levels shown one by one


@final
@dataclass(frozen=True)
class Standing:
    """What was believed of the incumbent before trial `number` (for the last one: now)."""

    number: int
    mean: float
    std: float


@final
@dataclass(frozen=True, eq=False)
class Slice:
    """The posterior along one parameter, the others at the incumbent; `values` are its own."""

    name: str
    dimension: Dimension
    values: list[Any]
    mean: Array
    std: Array
    gain: Array  # corrected EI


@final
@dataclass(frozen=True, eq=False)
class Map:
    """The posterior mean over two parameters, (rows of the second, columns of the first)."""

    names: tuple[str, str]
    mean: Array


@final
@dataclass(frozen=True, eq=False)
class Facts:
    """Everything a report needs; without a measurement, trials and settings alone."""

    study: Study
    trials: tuple[Trial, ...]
    sources: dict[int, dict[str, Any]]
    cost: float | None
    initial: int
    direction: Direction
    best: Estimate | None = None
    recommended: Estimate | None = None
    observed: Observed | None = None
    standings: tuple[Standing, ...] = ()
    gains: tuple[tuple[int, float], ...] = ()  # trial -> largest corrected EI before it
    verdict: Verdict | None = None
    importance: Importance | None = None
    slices: tuple[Slice, ...] = ()
    map: Map | None = None
    fit: tuple[tuple[str, str], ...] = ()
    # trial -> its place in the unit cube
    coordinates: Mapping[int, Array] = field(default_factory=dict)


def gather(study: Study, cost: float | None) -> Facts:
    """The facts of a study as it is now."""
    trials = study.trials
    initial = study.settings.initial_size(len(study.space))
    sources = study.suggestions
    if not any(trial.measurements for trial in trials):
        return Facts(study, trials, sources, cost, initial, Direction(study.direction))
    belief, best = study.belief, study.best
    gains = _gains(belief, sources)
    shares = importance(belief.model.gp, study.space)
    place = study.space.to_unit(best.params)
    first = [int(column) for column in shares.order[:2]]
    return Facts(
        study=study,
        trials=trials,
        sources=sources,
        cost=cost,
        initial=initial,
        direction=belief.evidence.direction,
        best=best,
        recommended=study.recommended,
        observed=study.best_observed,
        standings=tuple(_standings(belief, sources)),
        gains=tuple(gains),
        verdict=None if cost is None else study.should_stop(cost),
        importance=shares,
        slices=tuple(_slice(belief, place, int(column)) for column in shares.order),
        map=_map(belief, place, first[0], first[1]) if len(first) > 1 else None,
        fit=_fit(belief),
        coordinates={trial.number: study.space.to_unit(trial.params) for trial in trials},
    )


def _slice(belief: Belief, place: Array, column: int) -> Slice:
    """The posterior along one parameter through a place (d,)."""
    name = belief.space.names[column]
    dimension = belief.space.dimensions[name]
    units = _grid(belief.space, column)
    X = np.tile(place, (len(units), 1))
    X[:, column] = units
    mean, std = belief.at_points(X)
    values = [dimension.from_unit(float(unit)) for unit in units]
    return Slice(name, dimension, values, mean, std, belief.improvement(X))


def _grid(space: Space, column: int) -> Array:
    """Coordinates along a parameter: every level if there are few."""
    levels = space.discrete.get(column)
    if levels is None:
        return np.linspace(0, 1, _GRID)
    if len(levels) <= _MOST_LEVELS:
        return levels
    return np.asarray(levels[np.unique(evenly(len(levels), _GRID))])


def _map(belief: Belief, place: Array, first: int, second: int) -> Map:
    """The posterior mean over two parameters through a place (d,)."""
    across, up = _even_units(belief.space, first), _even_units(belief.space, second)
    X = np.tile(place, (len(across) * len(up), 1))
    X[:, first] = np.tile(across, len(up))
    X[:, second] = np.repeat(up, len(across))
    means = belief.values_of(posterior_means(belief.model.gp, X))
    names = belief.space.names
    return Map((names[first], names[second]), means.reshape(len(up), len(across)))


def _even_units(space: Space, column: int) -> Array:
    """Coordinates evenly spaced along a parameter; the choices of a categorical one."""
    levels = space.discrete.get(column)
    if column in space.categorical and levels is not None:
        return levels
    return np.linspace(0, 1, _MAP)


def _standings(belief: Belief, sources: Mapping[int, Mapping[str, Any]]) -> list[Standing]:
    """The incumbent over the trials: as recorded, and in hindsight before anything was recorded."""
    found: dict[int, Standing] = {}
    for number, record in sources.items():
        seen = record.get("incumbent") or {}
        if seen.get("mean") is not None and seen.get("std") is not None:
            found[number] = Standing(number, seen["mean"], seen["std"])
    told, end = belief.evidence.told, belief.evidence.trials
    first = min(found, default=end)
    states = range(1, min(len(told), _MOST_STATES))
    earlier = [count for count in states if told[count - 1].number + 1 < first]
    for count in _spread(earlier, _STATES):
        number = told[count - 1].number + 1
        if number not in found:
            best = belief.in_hindsight(count).best
            found[number] = Standing(number, best.mean, best.std)
    now = Standing(end, belief.best.mean, belief.best.std)
    return [*(found[number] for number in sorted(found) if number < end), now]


def _gains(belief: Belief, sources: Mapping[int, Mapping[str, Any]]) -> list[tuple[int, float]]:
    """The largest corrected EI before each trial: recorded, or computed at a few states."""
    gains = {
        number: float(record["value"])
        for number, record in sources.items()
        if record.get("acquisition") == "corrected-ei" and record.get("value") is not None
    }
    told = belief.evidence.told
    if not gains:
        initial = belief.settings.initial_size(len(belief.space))
        deadline = time.monotonic() + _SECONDS
        for count in _spread(list(range(max(initial, 2), min(len(told), _MOST_STATES))), _STATES):
            gains[told[count - 1].number + 1] = belief.in_hindsight(count).remaining
            if time.monotonic() > deadline:
                break
    gains[belief.evidence.trials] = belief.remaining
    return sorted(gains.items())


def _spread(items: list[int], count: int) -> list[int]:
    """At most `count` of the items, evenly spread."""
    return [items[place] for place in np.unique(evenly(len(items), min(count, len(items))))]


def _fit(belief: Belief) -> tuple[tuple[str, str], ...]:
    """The fitted hyperparameters, for reproduction."""
    model, noise = belief.model, belief.noise
    scales = zip(belief.space.names, model.gp.kernel.lengthscales, strict=True)
    inferred = "known for every measurement" if noise is None else f"{noise:.4g}"
    return (
        *((f"length scale of {name}", f"{scale:.4g}") for name, scale in scales),
        ("kernel standard deviation", f"{belief.amplitude:.4g}"),
        ("inferred noise (standard deviation)", inferred),
        ("observations used by the model", f"{model.used} of {model.observations}"),
    )
