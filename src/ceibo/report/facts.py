"""What a report shows, gathered from a study once, in the objective's units and direction."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, final

import numpy as np

from ceibo.decide import (
    Belief,
    BlockEffect,
    Closeness,
    Direction,
    Estimate,
    Observed,
    Space,
    Suspect,
    Verdict,
)
from ceibo.decide.belief import stated_means
from ceibo.decide.dimensions import Dimension
from ceibo.decide.surface.existence import columns_at, pair_of
from ceibo.decide.surface.grids import along, axis_of, excluded, over
from ceibo.decide.surface.ruled import holding
from ceibo.decide.surface.sensitivity import (
    MOST_PARAMETERS,
    Importance,
    filled,
    importance,
    posterior_means,
)
from ceibo.decide.surface.spread import spread
from ceibo.decide.surface.standings import MOST_STATES, STATES, Sources, Standing, standings_of
from ceibo.gp.inputs import Array, Mask
from ceibo.numbers import rounded
from ceibo.report.gains import gains_of
from ceibo.report.simplex import simplex_of
from ceibo.report.ternary import Ternary, ternary_of
from ceibo.study import Study, Trial
from ceibo.study.drawn import place_of, places_of

_MOST_FOR_GAINS: Final = 4000  # beyond, the first MOST_STATES are too narrow to be seen
_NOTHING: Final = np.empty(0)
_NO_SHARES: Final = Importance(_NOTHING, _NOTHING)
_MOST_FAILED: Final = 500  # failed trials on a map


@final
@dataclass(frozen=True, eq=False)
class Aspect:
    """What is drawn of an objective or of one outcome; a place is a point of the unit cube."""

    name: str  # on axes
    direction: Direction
    trials: tuple[Trial, ...]  # with its measurements alone
    measured: tuple[Trial, ...]  # those that have one
    places: Array  # (n, d), of the measured trials; NaN where a parameter does not exist
    best_place: Array  # (d,), through which slices and maps go
    answers: tuple[int | None, ...]  # trials to be seen in any case
    limit: float | None = None
    is_goal: bool = True
    holding: tuple[int, ...] = ()  # trials whose raw values hold every limit, if any do
    failed: tuple[tuple[int, Array], ...] = ()  # latest trials that failed, with their places


@final
@dataclass(frozen=True, eq=False)
class Slice:
    """The posterior along one parameter, the others at the incumbent; all arrays (n,).

    Below it stands the `gain`, or the `chance` that limits hold, if there is one.
    """

    column: int
    name: str
    dimension: Dimension
    places: tuple[float, ...]  # coordinates in [0, 1]
    mean: Array
    std: Array
    gain: Array | None = None  # corrected EI
    chance: Array | None = None
    possible: tuple[float, float] = (-np.inf, np.inf)
    held: Mask | None = None  # where rules hold, if there are any
    path: Array | None = None  # (n, d), with rules, which move other parameters too

    @property
    def band(self) -> tuple[Array, Array]:
        """One standard deviation below the mean and one above it; ±inf beyond the doubles."""
        low, high = self.possible
        with np.errstate(over="ignore"):
            return np.maximum(self.mean - self.std, low), np.minimum(self.mean + self.std, high)

    @property
    def strip_top(self) -> float:
        """The largest value of what stands below it."""
        if self.chance is not None or self.gain is None:
            return 1.0
        seen = self.gain if self.held is None else self.gain[self.held]
        return float(np.max(seen, initial=0.0))


@final
@dataclass(frozen=True, eq=False)
class Map:
    """The posterior mean over two parameters, (rows of the second, columns of the first).

    `chance` is that with which limits hold, if there are any, to be compared with `confidence`.
    """

    columns: tuple[int, int]
    names: tuple[str, str]
    mean: Array
    chance: Array | None = None
    confidence: float = 1.0
    held: Mask | None = None  # where rules hold, if there are any
    excluded: Mask | None = None  # where they do not, on a finer grid

    @property
    def seen(self) -> Array:
        """The values that the drawing shows, (n,)."""
        held = self.held
        return self.mean[held] if held is not None and np.any(held) else self.mean.ravel()


@final
@dataclass(frozen=True, eq=False)
class Findings:
    """What follows from the measurements; a place is a point of the unit cube."""

    best: Estimate
    recommended: Estimate
    observed: Observed
    gains: tuple[tuple[int, float], ...]  # (trial, largest corrected EI before it)
    standings: tuple[Standing, ...] = ()  # of the incumbent
    verdict: Verdict | None = None  # None without a price
    importance: Importance = _NO_SHARES
    slices: tuple[Slice, ...] = ()  # most important parameter first; of very many, the first
    map: Map | None = None  # None with one parameter
    fit: tuple[tuple[str, str], ...] = ()
    best_place: Array = field(default_factory=lambda: _NOTHING)  # (d,)
    places: Array = field(default_factory=lambda: _NOTHING)  # (n, d), of the measured trials
    ternary: Ternary | None = None  # of a mixture
    blocks: tuple[BlockEffect, ...] = ()
    closeness: Closeness | None = None  # of the best measured setting of one objective


@final
@dataclass(frozen=True, eq=False)
class Facts:
    """Everything a report needs; there are no findings before the first measurement."""

    study: Study
    direction: Direction
    initial: int  # size of the initial design
    cost: float | None
    trials: tuple[Trial, ...]
    measured: tuple[Trial, ...]  # those with a measurement
    sources: Sources
    findings: Findings | None
    suspects: tuple[Suspect, ...] = ()  # values that look wrong

    def aspect(self, findings: Findings) -> Aspect:
        """The objective as it is drawn."""
        return Aspect(
            name="objective",
            direction=self.direction,
            trials=self.trials,
            measured=self.measured,
            places=findings.places,
            best_place=findings.best_place,
            answers=(findings.best.number, findings.observed.number),
            failed=failed_places(self.study, self.trials),
        )


def gather(study: Study, cost: float | None) -> Facts:
    """The facts of a study as it is now."""
    trials = study.trials
    measured = tuple(trial for trial in trials if trial.measurements)
    sources = study.suggestions
    return Facts(
        study=study,
        direction=Direction(study.direction),
        initial=study.settings.initial_size(study.space.breadth),
        cost=cost,
        trials=trials,
        measured=measured,
        sources=sources,
        findings=_findings(study, measured, sources, cost) if measured else None,
        suspects=study.suspects,
    )


def _findings(
    study: Study, measured: tuple[Trial, ...], sources: Sources, cost: float | None
) -> Findings:
    belief, best, space = study.belief, study.best, study.space
    shares = importance(belief.model.gp, space)
    place = _incumbent(belief)
    columns = columns_at(space, place, [int(column) for column in shares.order])
    pair = pair_of(space, columns)
    return Findings(
        best=best,
        recommended=study.recommended,
        observed=study.best_observed,
        standings=standings_of(belief, sources),
        gains=gains_of(belief, sources, lambda least: _counts(belief, least)),
        verdict=None if cost is None else study.should_stop(cost),
        importance=shares,
        slices=tuple(_slice(belief, column) for column in columns[:MOST_PARAMETERS]),
        map=None if pair is None else _map(belief, pair),
        ternary=_ternary(belief, columns),
        fit=_fit(belief),
        best_place=place_of(study, best.params),
        places=places_of(study, measured),
        blocks=belief.blocks,
        closeness=study.closeness(),
    )


def _incumbent(belief: Belief) -> Array:
    """The place (d,) of the best measured setting."""
    number = belief.best.number
    return next(told.x for told in belief.evidence.told if told.number == number)


def _filled(belief: Belief) -> Array:
    """The incumbent, with coordinates also of the parameters that do not exist there."""
    return filled(belief.space, _incumbent(belief), belief.model.gp)


def failed_places(study: Study, trials: Iterable[Trial]) -> tuple[tuple[int, Array], ...]:
    """The latest trials that failed, with their places (d,)."""
    failed = [trial for trial in trials if trial.state == "failed"][-_MOST_FAILED:]
    numbers = (trial.number for trial in failed)
    return tuple(zip(numbers, places_of(study, failed), strict=True))


def _slice(belief: Belief, column: int) -> Slice:
    """The posterior along one parameter."""
    X = along(belief.space, _filled(belief), column)
    mean, std = belief.at_points(X)
    places, name, dimension = axis_of(belief.space, X, column)
    found = Slice(column, name, dimension, places, mean, std, belief.improvement(X))
    return with_rules(found, belief.space, X)


def with_rules(found: Slice, space: Space, X: Array) -> Slice:
    """A slice with where rules hold along its points, if there are rules."""
    return replace(found, held=holding(space, X), path=X) if space.rules else found


def _map(belief: Belief, pair: tuple[int, int]) -> Map:
    """The posterior mean over two parameters, the others at the incumbent."""
    space, place = belief.space, _filled(belief)
    X, shape = over(space, place, pair)
    means = stated_means(belief, posterior_means(belief.model.gp, X))
    held = holding(space, X)
    return Map(
        columns=pair,
        names=(space.names[pair[0]], space.names[pair[1]]),
        mean=means.reshape(shape),
        held=None if held is None else held.reshape(shape),
        excluded=excluded(space, place, pair),
    )


def _ternary(belief: Belief, columns: list[int]) -> Ternary | None:
    """The posterior mean over three parts of a mixture, if there is one."""
    space, place, gp = belief.space, _filled(belief), belief.model.gp
    simplex = simplex_of(space, place, columns)
    if simplex is None:
        return None
    return ternary_of(
        simplex, space.names, place, lambda X: stated_means(belief, posterior_means(gp, X))
    )


def _counts(belief: Belief, least: int) -> list[int]:
    """After how many measurements the gain is computed again."""
    known = belief.evidence.measurements
    few = range(least, min(known, MOST_STATES)) if known <= _MOST_FOR_GAINS else ()
    return spread(few, STATES)


def _fit(belief: Belief) -> tuple[tuple[str, str], ...]:
    """The fitted hyperparameters, for reproduction."""
    model, noise = belief.model, belief.noise
    rows = []
    for name, scale in zip(belief.space.names, model.gp.kernel.lengthscales, strict=True):
        rows.append((f"length scale of {name}", rounded(scale, 3)))
    inferred = "known for every measurement" if noise is None else rounded(noise, 3)
    if (span := model.noise_span) is not None:
        low, high = (rounded(each, 3) for each in span)
        inferred += f" at the best setting; from {low} to {high} over the measured ones"
    return (
        *rows,
        ("kernel standard deviation", rounded(model.amplitude, 3)),
        ("inferred noise (standard deviation)", inferred),
        ("observations used by the model", f"{model.used} of {model.observations}"),
    )
