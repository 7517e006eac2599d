"""What a report shows, gathered from a study once: plain numbers in the objective's units and
direction.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide import Estimate, Observed, Worth
from ceibo.decide.dimensions import Dimension
from ceibo.decide.stopping import PATIENCE, improvement_left, judge
from ceibo.decide.suggest import Evidence, Model, fit_model
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array
from ceibo.report.sensitivity import Importance, importance, posterior_means
from ceibo.study import Study, Trial

_STATES: Final = 16  # states of a study computed again where nothing was recorded
_MOST_STATES: Final = 400  # measurements up to which that is done
_MOST_FITTED: Final = 400  # observations up to which hyperparameters are fitted to all of them
_SECONDS: Final = 2.0  # after which no more are computed
_GRID: Final = 81  # points of a slice
_MAP: Final = 41  # points of a map, in each direction
_MOST_LEVELS: Final = 60  # levels shown one by one


@final
@dataclass(frozen=True)
class Belief:
    """What was believed of the incumbent before trial `number` was measured (or now, for
    the last).
    """

    number: int
    mean: float
    std: float


@final
@dataclass(frozen=True, eq=False)
class Slice:
    """The posterior along one parameter, the others at the incumbent; `values` are the
    parameter's.
    """

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
    """Everything a report needs; without a measurement there is no model, and only trials and
    settings are shown.
    """

    study: Study
    trials: tuple[Trial, ...]
    sources: dict[int, dict[str, Any]]
    cost: float | None
    initial: int
    best: Estimate | None = None
    recommended: Estimate | None = None
    observed: Observed | None = None
    beliefs: tuple[Belief, ...] = ()
    gains: tuple[tuple[int, float], ...] = ()  # trial -> largest corrected EI before it
    worth: Worth | None = None
    importance: Importance | None = None
    slices: tuple[Slice, ...] = ()
    map: Map | None = None
    fit: tuple[tuple[str, str], ...] = ()
    # trial -> its place in the unit cube
    coordinates: Mapping[int, Array] = field(default_factory=dict)


def gather(study: Study, cost: float | None) -> Facts:
    """The facts of a study as it is now."""
    snapshot = study._refresh()
    trials = study.trials
    initial = study.settings.initial_size(len(study.space))
    sources = study.suggestions
    if not any(trial.measurements for trial in trials):
        return Facts(study, trials, sources, cost, initial)
    evidence = study._evidence(snapshot)
    if len(evidence) > _MOST_FITTED and snapshot.seq not in study._models:
        # the study's answers below use it too
        study._models = {snapshot.seq: _quick_model(study, evidence)}
    model = study._model(snapshot)
    best = study.best
    view = _View(study, model, evidence, study.space.to_unit(best.params))
    told = [
        number
        for _, number in sorted(
            (each.seq, t.number) for t in snapshot.trials for each in t.measurements
        )
    ]
    gains = _gains(view, told, sources)
    shares = importance(model.gp, study.space)
    return Facts(
        study=study,
        trials=trials,
        sources=sources,
        cost=cost,
        initial=initial,
        best=best,
        recommended=study.recommended,
        observed=study.best_observed,
        beliefs=tuple(_beliefs(view, told, sources, best)),
        gains=tuple(gains),
        worth=None if cost is None else _worth(view, gains, cost),
        importance=shares,
        slices=tuple(view.slice(int(column)) for column in shares.order),
        map=view.map(int(shares.order[0]), int(shares.order[1])) if len(study.space) > 1 else None,
        fit=_fit(model, study),
        coordinates={trial.number: study._unit(trial) for trial in snapshot.trials},
    )


@final
@dataclass(frozen=True, eq=False)
class _View:
    """The model of a study, seen in the objective's units and direction."""

    study: Study
    model: Model
    evidence: Evidence
    x: Array  # the incumbent

    def values(self, means: Array) -> Array:
        return np.asarray(self.study._sign * np.ldexp(means, self.model.exponent))

    def grid(self, column: int, count: int) -> tuple[Array, list[Any]]:
        """Coordinates along a parameter, and its values there: every level if there are few."""
        space = self.study.space
        name = space.names[column]
        dimension = space.dimensions[name]
        levels = space.discrete.get(column)
        if levels is not None and len(levels) <= _MOST_LEVELS:
            units = levels
        elif levels is not None:
            units = levels[np.unique(np.linspace(0, len(levels) - 1, count).round().astype(int))]
        else:
            units = np.linspace(0, 1, count)
        return units, [dimension.from_unit(float(unit)) for unit in units]

    def units(self, column: int, count: int) -> Array:
        """Coordinates evenly spaced along a parameter; the choices of a categorical one."""
        levels = self.study.space.discrete.get(column)
        if column in self.study.space.categorical and levels is not None:
            return levels
        return np.linspace(0, 1, count)

    def slice(self, column: int) -> Slice:
        units, values = self.grid(column, _GRID)
        X = np.tile(self.x, (len(units), 1))
        X[:, column] = units
        means, variances = self.model.gp.posterior(X)
        conditioned = self.model.conditioned(self.evidence, self.study.settings.max_observations)
        gain = np.ldexp(acq.build("corrected-ei", conditioned).value(X), self.model.exponent)
        name = self.study.space.names[column]
        std = np.ldexp(np.sqrt(variances), self.model.exponent)
        return Slice(name, self.study.space.dimensions[name], values, self.values(means), std, gain)

    def map(self, first: int, second: int) -> Map:
        across, up = self.units(first, _MAP), self.units(second, _MAP)
        X = np.tile(self.x, (len(across) * len(up), 1))
        X[:, first] = np.tile(across, len(up))
        X[:, second] = np.repeat(up, len(across))
        means = self.values(posterior_means(self.model.gp, X)).reshape(len(up), len(across))
        names = self.study.space.names
        return Map((names[first], names[second]), means)

    def remaining(self) -> float:
        """The largest corrected EI now, in the objective's units."""
        study = self.study
        return improvement_left(self.model, self.evidence, study.space, study.settings, study.seed)

    def state(self, measurements: int) -> GaussianProcess:
        """The process as the first measurements alone make it, with the kernel and noise of now."""
        rows = int(np.searchsorted(self.evidence.group, measurements))
        inferred = self.model.fit.noise_variance
        known = np.ldexp(self.evidence.noise[:rows], -self.model.exponent) ** 2
        noise = np.where(np.isnan(known), 0.0 if inferred is None else inferred, known)
        y = np.ldexp(self.evidence.y[:rows], -self.model.exponent)
        gp = self.model.gp
        return GaussianProcess(
            self.evidence.X[:rows], y, noise, gp.kernel, gp.mean, gp.expected_noise
        )


def _beliefs(
    view: _View, told: list[int], sources: Mapping[int, Mapping[str, Any]], best: Estimate
) -> list[Belief]:
    """The incumbent over the trials: as recorded, and in hindsight before anything was recorded.

    `told` are the trials of the measurements, in the order they were told.
    """
    found: dict[int, Belief] = {}
    for number, record in sources.items():
        seen = record.get("incumbent") or {}
        if seen.get("mean") is not None and seen.get("std") is not None:
            found[number] = Belief(number, seen["mean"], seen["std"])
    end = view.evidence.trials
    first = min(found, default=end)
    earlier = [
        count for count in range(1, min(len(told), _MOST_STATES)) if told[count - 1] + 1 < first
    ]
    for count in _spread(earlier, _STATES):
        incumbent = acq.find_incumbent(view.state(count))
        mean = float(view.values(np.array([incumbent.mean]))[0])
        number = told[count - 1] + 1
        found.setdefault(number, Belief(number, mean, view.model.natural(incumbent.std)))
    return [
        *(found[number] for number in sorted(found) if number < end),
        Belief(end, best.mean, best.std),
    ]


def _gains(
    view: _View, told: list[int], sources: Mapping[int, Mapping[str, Any]]
) -> list[tuple[int, float]]:
    """The largest corrected EI before each trial: recorded where it chose the trial, else computed
    at a few states.
    """
    gains = {
        number: float(record["value"])
        for number, record in sources.items()
        if record.get("acquisition") == "corrected-ei" and record.get("value") is not None
    }
    study = view.study
    if not gains:
        initial = study.settings.initial_size(len(study.space))
        deadline = time.monotonic() + _SECONDS
        for count in _spread(list(range(max(initial, 2), min(len(told), _MOST_STATES))), _STATES):
            function = acq.build("corrected-ei", view.state(count), seed=study.seed)
            found = acq.maximize(function, seed=study.seed, discrete=study.space.discrete)
            gains[told[count - 1] + 1] = view.model.natural(found.value)
            if time.monotonic() > deadline:
                break
    gains[view.evidence.trials] = view.remaining()
    return sorted(gains.items())


def _worth(view: _View, gains: list[tuple[int, float]], cost: float) -> Worth:
    """The verdict of the stopping rule; with very many measurements, from the gains gathered
    already.
    """
    study = view.study
    if len(view.evidence) <= _MOST_FITTED:
        return study.should_stop(cost)
    remaining = tuple(gain for _, gain in gains[: -PATIENCE - 1 : -1])
    return judge(view.evidence, remaining, cost, study.settings.initial_size(len(study.space)))


def _quick_model(study: Study, evidence: Evidence) -> Model:
    """A model of all observations whose hyperparameters are fitted to an even spread of them, in
    seconds.
    """
    rows = np.linspace(0, len(evidence) - 1, _MOST_FITTED).round().astype(int)
    some = replace(evidence, X=evidence.X[rows], y=evidence.y[rows], noise=evidence.noise[rows])
    fitted = fit_model(some, study.space, study.settings)
    view = _View(study, replace(fitted, observations=len(evidence)), evidence, evidence.X[0])
    everything = min(evidence.measurements, study.settings.max_observations)
    used = int(np.searchsorted(evidence.group, everything))
    return Model(view.state(everything), fitted.fit, fitted.exponent, len(evidence), used)


def _spread(items: list[int], count: int) -> list[int]:
    """At most `count` of the items, evenly spread."""
    places = np.unique(np.linspace(0, len(items) - 1, min(count, len(items))).round().astype(int))
    return [items[place] for place in places]


def _fit(model: Model, study: Study) -> tuple[tuple[str, str], ...]:
    """The fitted hyperparameters, for reproduction."""
    scales = model.gp.kernel.lengthscales
    rows = [
        (f"length scale of {name}", f"{scale:.4g}")
        for name, scale in zip(study.space.names, scales, strict=True)
    ]
    noise = model.fit.noise_variance
    inferred = (
        "known for every measurement"
        if noise is None
        else f"{model.natural(float(np.sqrt(noise))):.4g}"
    )
    rows.append(
        (
            "kernel standard deviation",
            f"{model.natural(float(np.sqrt(model.gp.kernel.variance))):.4g}",
        )
    )
    rows.append(("inferred noise (standard deviation)", inferred))
    rows.append(("observations used by the model", f"{model.used} of {model.observations}"))
    return tuple(rows)
