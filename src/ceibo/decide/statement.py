"""What is stated of the objective at a setting: the model's mean and its uncertainty, made honest.

A search is well served by one set of hyperparameters and by the posterior mean as it is. A sentence
such as "81.2 ± 0.6" is not, for two reasons, both measured by `python -m soak.coverage`:

1. The hyperparameters are not known. What is stated as ± is the root of E[(f(x) − μ(x))²], averaged
   over hyperparameters in proportion to their density (ceibo.gp.averaging); μ stays the model's.
2. The answer was chosen for its mean, which is thus too good (ceibo.acquisition.optimism). The mean
   stated at the incumbent x⁺ is worse by its optimism b, that of points with nearly as good a mean
   by nearly as much, and the others as the model has it:

       stated(x) = μ(x) + b·exp(−(g/s)²),   g = max(μ(x) − μ(x⁺), 0),  s the stated ± at x⁺.

   |b| is at most s, so that of two settings the one with the better mean is stated to be better.

The probability of being the best of all measured settings is averaged over hyperparameters too.

What to measure next, which setting is best and when to stop are decided by the model alone. More
than 200 observations say nearly all about the hyperparameters, which are then taken as known, and
of more than 400 nothing is corrected.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide.evidence import Evidence
from ceibo.decide.model import Model
from ceibo.decide.settings import Settings
from ceibo.gp import GaussianProcess
from ceibo.gp.averaging import Average, average_fits
from ceibo.gp.inputs import Array, Mask

_MOST_AVERAGED: Final = 200  # observations up to which hyperparameters are averaged over
_MOST_CORRECTED: Final = 400  # and up to which the choice is corrected for
_DRAWS: Final = 128  # from each process, for the probability of being the best
_SLOW: Final = 2e5  # entries of kernel matrices from which averages of a picture are sketched
_STEP: Final = 3  # points of a line from one average to the next
_ROUNDING: Final = 1e-10  # of the kernel's variance: a variance below it is zero but for rounding
_FAR: Final = 1e3  # gaps in units of ±: beyond it nothing is left of a shift


@final
@dataclass(frozen=True, eq=False)
class Choice:
    """How good the chosen setting looks, and by how much too good; minimised, the model's units."""

    mean: float = 0.0
    spread: float = 0.0
    optimism: float = 0.0

    def shift(self, means: Array) -> Array:
        """What is added to posterior means (N,)."""
        if self.optimism == 0.0:
            return np.zeros_like(means)
        gap = np.maximum(means - self.mean, 0.0) / self.spread
        return np.asarray(self.optimism * np.exp(-(np.minimum(gap, _FAR) ** 2)))


@final
@dataclass(frozen=True, eq=False)
class Statement:
    """What is stated at points of the unit cube, minimised and in the model's units.

    Args:
        gp: the model's process.
        average: the same of other hyperparameters; None: they are taken as known.
        choice: of the setting that is the answer.
    """

    gp: GaussianProcess
    average: Average | None = None
    choice: Choice = Choice()

    def at(self, X: Array, lines: Sequence[slice] = ()) -> tuple[Array, Array]:
        """The stated means and standard deviations (N,) at points (N, d).

        Args:
            X: the points.
            lines: rows of X that are even steps along a line, for a picture that follows a hand:
                where averaging over hyperparameters takes long, the ± between the points of
                `sketch` is the model's own times a factor that is interpolated, some per cent off.
        """
        means, variances = self.gp.posterior(X)
        if self.average is not None:
            if self.average.entries(len(X)) < _SLOW:
                lines = ()
            least = _ROUNDING * self.gp.kernel.variance
            variances = sketch(self.average, X, (means, variances), lines, least)
        return means + self.choice.shift(means), np.sqrt(variances)

    def probability_best(self, x: Array) -> float:
        """Probability that f is lowest at the measured point x (d,) of all measured points.

        Zero for a point that the model has not: of very many it has only a part.
        """
        rows = np.flatnonzero(np.all(x == self.gp.X, axis=1))
        if not len(rows):
            return 0.0
        if self.average is None:
            return acq.probability_best(self.gp, int(rows[0]))
        # every process has the points of the model, in the same order
        chances = np.array(
            [
                acq.probability_best(gp, int(rows[0]), seed, _DRAWS)
                for seed, gp in enumerate(fitted.gp for fitted in self.average.fits)
            ]
        )
        # As differences, so that what is certain in all of them stays exactly so.
        mean = chances[0] + self.average.weights @ (chances - chances[0])
        return float(np.clip(mean, 0.0, 1.0))

    def chosen_among(self, rows: Mask | None = None) -> Self:
        """The statement corrected for the choice of the best of some measured points (n,).

        By default of those that a search could find. Where there are none to choose from, or very
        many, nothing is corrected.
        """
        if len(self.gp.X) > _MOST_CORRECTED or (rows is not None and not np.any(rows)):
            return self
        found = acq.find_incumbent(self.gp, among=rows)
        plain = type(self)(self.gp, self.average)
        spread = float(plain.at(found.x[None, :])[1][0])
        excess = acq.optimism(self.gp, among=rows)
        choice = Choice(found.mean, spread, min(max(excess, -spread), spread))
        return type(self)(self.gp, self.average, choice)

    def refitted_to(self, model: Model, evidence: Evidence, limit: int) -> Self:
        """The statement of earlier evidence, with the hyperparameters of now; nothing chosen.

        Args:
            model: of now.
            evidence: the earlier one.
            limit: observations that a model uses at most.
        """
        average = None
        if self.average is not None:
            fits = [
                replace(each, gp=replace(model, fit=each).refitted_to(evidence, limit).gp)
                for each in self.average.fits
            ]
            average = Average(tuple(fits), self.average.weights)
        return type(self)(model.refitted_to(evidence, limit).gp, average)


def sketch(
    average: Average, X: Array, model: tuple[Array, Array], lines: Sequence[slice], least: float
) -> Array:
    """Averaged variances (N,): of every third point of lines, and of all that lies on none.

    Args:
        average: over hyperparameters.
        X: (N, d) points.
        model: the mean and variance there by the hyperparameters of the model.
        lines: rows of X.
        least: variance of the model from which it says by which factor the averaged one is larger.
    """
    means, own = model
    exact = np.ones(len(X), dtype=bool)
    for line in lines:
        exact[line] = False
        exact[line][::_STEP] = exact[line][-1:] = True
    variances = np.zeros(len(X))
    variances[exact] = average.spread(X[exact], means[exact])
    factor = np.sqrt(np.divide(variances, own, out=np.ones(len(X)), where=own > least))
    for line in lines:
        rows = np.arange(len(X))[line]
        knots, between = rows[exact[line]], rows[~exact[line]]
        variances[between] = own[between] * np.interp(between, knots, factor[knots]) ** 2
    return variances


def statement_of(model: Model, settings: Settings) -> Statement:
    """What a model states, before anything is chosen.

    Maximum likelihood, which has no priors to average over, takes its hyperparameters as known.
    """
    if settings.fit != "map" or not is_averaged(model):
        return Statement(model.gp)
    return Statement(model.gp, average_fits(model.fit))


def is_averaged(model: Model) -> bool:
    """Whether it has so few observations that its hyperparameters are averaged over."""
    return model.observations <= _MOST_AVERAGED and model.used == model.observations
