"""Observations that the model cannot believe: found, and given more noise, so that they count less.

For observation i let r be its distance from what all the others predict, and s² the variance of
that prediction with the observation's own noise. Extra noise of variance ρ makes its log density
−½ r²/(s² + ρ) − ½ log(s² + ρ), which is largest at ρ = max(0, r² − s²); the gain is

    ½ (q − 1 − log q),   q = r²/s² > 1

for all observations at once (gp/leave_one_out.py; relevance pursuit, Ament et al. 2024). Several
outliers hide each other: they inflate the inferred noise, or shorten the length scales. So they are
pursued: the observations with the largest gains get their ρ, the model is fitted again with the
hyperparameters of before to start from, and so on, further than can be justified. Gains are then in
units of the typical distance from a prediction, which outliers hardly change. On the way back
observations are believed again one by one, least gain first, each time with a fit that may explain
them otherwise; of all states the best is kept by its log density less a price (`_State.worth`).
The largest values of a steep response look wrong on any but a logarithmic scale: where one explains
the values better than discounts could, nothing is searched, and what is found is searched once more
there (`_unless_bent`).

Nearly every set of values has one that looks odd. So the pursuit begins, and goes on, only while
the gains in sight come near the price that the discounts would have to pay (`_State.promise`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple, final

import numpy as np
import scipy

from ceibo.decide.bending import bendings
from ceibo.decide.rows import Rows
from ceibo.decide.subset import group
from ceibo.gp import FitResult, Hyperparameters
from ceibo.gp.inputs import Array, Mask
from ceibo.gp.leave_one_out import leave_one_out

# Standard deviations by which an observation must miss its prediction to be discounted, when all
# others that are wrong are.
_UNBELIEVABLE: Final = 4.0
# What a discount must add to the log density beside the price of its choice, because its size is
# fitted. `python -m soak.outliers` measures what it leads to.
_PRICE: Final = 0.5
# The share of that price at which a search begins and goes on: of 415 sets of values with
# discounts 12 are below, and of those without outliers four of five.
_PROMISING: Final = 0.7
_HOPELESS: Final = 6.0  # this much worse than the best state so far, the way back ends
_PURSUED: Final = 2.0  # the gain down to which observations are tried
_LARGEST_SHARE: Final = 0.25  # of observations that are tried
_FEWEST: Final = 10  # observations, and more than dimensions by so many, for any to be doubted
_MOST: Final = 500  # observations: the many fits of a search would take too long
_ROUNDS: Final = 30
# Observations are close with this correlation, and the same within so many standard deviations, of
# one setting within more.
_CLOSE, _SAME, _REPEATED = 0.85, 2.0, 3.0
_NEIGHBOURS: Final = 3
# Noise below this share of the standard deviation of the values is none to speak of.
_LEAST_NOISE: Final = 0.02
_MEDIAN: Final = 0.455  # of χ² with one degree of freedom
_FADED: Final = 25.0  # how many times the noise variance that explains it best an outlier gets
_LEAST_SHARE: Final = 0.01
_ANOTHER_SCALE: Final = 2.0  # the price of one, in units of the log density
# By how much one must be better for nothing to be searched: more than what discounts promise.
_WITH_FITS, _BEYOND_DOUBT = 2.0, 6.0
_SMOOTH, _NOISY = 1.0, 0.4  # length scale and noise variance of a simple model, in standard units


@final
@dataclass(frozen=True)
class Outlier:
    """An observation that is not believed, in the units of the model."""

    row: int
    expected: float  # what all the others predict
    std: float  # of that prediction, the observation's own noise included
    variance: float  # the noise variance it was given


@final
class Doubted(NamedTuple):
    """A fit, the observations that it does not believe, and what the evidence gains by them."""

    fit: FitResult
    outliers: list[Outlier]
    gain: float


# fits rows, some of which are discounted, from the hyperparameters of another fit
Refit = Callable[[Rows, Mask, FitResult], FitResult]


@final
@dataclass(frozen=True, eq=False)
class _State:
    """A fit in which some observations are discounted."""

    told: Rows
    rows: Rows  # with the discounts
    discounted: Mask  # (n,)
    fit: FitResult
    log_slope: float = 0.0  # log w'(y), summed over the values, if they are on a scale w(y)

    @property
    def scale(self) -> float:
        """The standard deviation of the values that are believed."""
        return float(np.sqrt(self.fit.gp.kernel.variance / self.fit.hyperparameters.variance))

    @property
    def evidence(self) -> float:
        """The log density that the fit maximised, of all values told, in the units of y."""
        values = np.where(np.isnan(self.rows.variance), 1.0, self.rows.counts)
        density = self.fit.log_density - float(np.sum(values) * np.log(self.scale))
        density += self.log_slope
        # The scatter of the values behind a standard error, of which the fit of a discounted mean
        # knows nothing.
        level = self.fit.noise_variance
        behind = self.discounted & (self.told.counts > 1) & ~np.isnan(self.told.variance)
        if level is None or not np.any(behind):
            return density
        extra, errors = self.told.counts[behind] - 1.0, self.told.variance[behind]
        noise = self.told.single_variance(level)[behind]
        scatter = float(np.sum((extra + 1.0) * extra * errors / noise))
        return density - 0.5 * (float(extra @ np.log(2 * np.pi * noise)) + scatter)

    @property
    def worth(self) -> float:
        """The evidence less the price of the discounts.

        Of most·C(n, k) sets of k observations one is chosen, if any number from none to `most`
        is as likely; and each discount has a size of its own.
        """
        k = int(np.sum(self.discounted))
        return self.evidence - float(_prices(len(self.told), k)[-1]) if k else self.evidence

    def own_noise(self) -> Array:
        """(n,) the noise of each observation if it is believed."""
        told, inferred = self.told.told_variance, self.fit.noise_variance
        unknown = self.told.unknown_variance(0.0 if inferred is None else inferred)
        return np.where(np.isnan(told), unknown, told)

    @cached_property
    def left_out(self) -> tuple[Array, Array, Array]:
        """The distance of each from its prediction, the variance of f there, and its own noise."""
        own = self.own_noise()
        noise = np.where(self.discounted, self.rows.variance, own)
        of = group(self.rows.X, self.rows.told_variance, self.rows.block).of
        # Relative to the least noise of a row, so that no precision overflows.
        least = np.full(of.max() + 1, np.inf)
        np.minimum.at(least, of, noise)
        relative = np.divide(least[of], noise, out=np.ones(len(noise)), where=noise > 0)
        share = relative / np.bincount(of, relative)[of]
        found = leave_one_out(self.fit.gp, self.told.y, of, share)
        return found.residual, found.variance, own

    def gains(self, robust: bool = False) -> tuple[Array, Array]:
        """What a discount of each brings, and the noise variance of that discount.

        Robust ones are in units of how far the typical observation is from its prediction, if that
        is less than the model expects: what outliers have done to the model is then undone.
        """
        residual, variance, own = self.left_out
        total = variance + own
        # Without noise to speak of, it is the function that has steps and peaks.
        doubted = own > _LEAST_NOISE**2 * self.scale**2
        q = np.divide(residual**2, total, out=np.zeros(len(own)), where=doubted)
        if robust:
            usual = q[doubted & ~self.discounted]
            typical = float(np.median(usual)) / _MEDIAN if len(usual) else 1.0
            q /= min(max(typical, _LEAST_SHARE), 1.0)
        else:
            q[self._supported(own)] = 0.0
        # Where the model is too wide, the extra noise is that which makes up for it.
        discount = np.maximum(residual**2 - variance, own)
        q = np.maximum(q, 1.0)
        return 0.5 * (q - 1.0 - np.log(q)), discount

    def side(self, mask: Mask) -> float:
        """+1 where observations are above what the others predict on the whole, −1 if below."""
        return 1.0 if float(np.sum(self.left_out[0][mask])) > 0.0 else -1.0

    def largest(self) -> Mask:
        """(n,) the observations to discount next: those with the largest robust gains."""
        gains = np.where(self.discounted, 0.0, self.gains(robust=True)[0])
        left = int(_LARGEST_SHARE * len(gains)) - int(np.sum(self.discounted))
        chosen = np.zeros(len(gains), dtype=bool)
        order = np.argsort(-gains, kind="stable")[: max(left, 0)]
        chosen[order[gains[order] >= max(_PURSUED, 0.3 * float(np.max(gains)))]] = True
        return chosen

    def promise(self, gains: Array) -> float:
        """How much of the price of discounts their gains come to, for as many as pay best."""
        total, prices = self._dearest(gains)
        return float(np.max(total / prices))

    def surplus(self, gains: Array) -> float:
        """What is left of gains when the price of the discounts is paid; 0 if none pays it."""
        total, prices = self._dearest(gains)
        return max(float(np.max(total - prices)), 0.0)

    def _dearest(self, gains: Array) -> tuple[Array, Array]:
        """The sums of the largest gains, one after the other, and the prices of as many."""
        most = max(int(_LARGEST_SHARE * len(gains)), 1)
        return np.cumsum(-np.sort(-gains)[:most]), _prices(len(gains), most)

    def _supported(self, own: Array) -> Mask:
        """(n,) whether another observation speaks for a discounted one by having the same value.

        That is one of the nearest that are believed, which makes it a step or a peak of the
        function; or any other of the same setting, as a slip does not come twice.
        """
        rows = np.flatnonzero(self.discounted)
        kernel, X, y = self.fit.gp.unit_kernel, self.told.X, self.told.y
        again = np.all(X[rows, None] == X, axis=2)
        near = kernel(X[rows], X) / kernel.variance
        near[:, self.discounted] = -1.0
        near[again] = -1.0
        nearest = -np.sort(-near, axis=1)[:, _NEIGHBOURS - 1 : _NEIGHBOURS]
        again[np.arange(len(rows)), rows] = False
        alike = (near >= np.maximum(nearest, _CLOSE)) | again
        within = np.where(again, _REPEATED, _SAME) * np.sqrt(own[rows, None] + own)
        alike &= np.abs(y[rows, None] - y) < within
        found = np.zeros(len(y), dtype=bool)
        found[rows] = np.any(alike, axis=1)
        return found


def _prices(n: int, most: int) -> Array:
    """The price of 1 to `most` discounts among n observations."""
    k = np.arange(1, most + 1)
    of_all, of_set, of_rest = scipy.special.gammaln([0 * k + n + 1, k + 1, n - k + 1])
    return np.asarray(of_all - of_set - of_rest + np.log(_LARGEST_SHARE * n) + _PRICE * k)


def find_outliers(rows: Rows, fit: FitResult, refit: Refit) -> Doubted:
    """The fit in which the outliers are discounted, and these; the fit given if there are none."""
    n, d = rows.X.shape
    first = _State(rows, rows, np.zeros(n, dtype=bool), fit)
    if not _FEWEST + d <= n <= _MOST or not np.isfinite(fit.log_density):
        return Doubted(fit, [], 0.0)
    views = [first]
    if not np.all(np.isnan(rows.told_variance)):
        views.append(_smooth(first, refit))
    if max(view.promise(view.gains(robust=True)[0]) for view in views) < _PROMISING:
        return Doubted(fit, [], 0.0)
    side = views[-1].side(views[-1].gains(robust=True)[0] >= _PURSUED)
    bent = _bent(first, side, refit)
    if bent is not None and _is_far_better(bent, views):
        return Doubted(fit, [], 0.0)
    best = first
    for view in views:
        if view is first or not np.array_equal(view.largest(), first.largest()):
            best = _best(best, _pursue(view, refit), refit)
    if not np.any(best.discounted):
        return Doubted(fit, [], 0.0)
    if best.side(best.discounted) != side:
        bent = _bent(first, -side, refit)
    best = best if bent is None else _unless_bent(first, best, bent, refit)
    if not np.any(best.discounted):
        return Doubted(fit, [], 0.0)
    # What is wrong in an unknown way says less than its size suggests.
    final = _refitted(best, _FADED * best.rows.variance, best.discounted, refit)
    # Of a state chosen on another scale, it may be less than nothing here.
    return Doubted(final.fit, _described(final), max(best.worth - first.worth, 0.0))


def _smooth(first: _State, refit: Refit) -> _State:
    """The observations as a smooth model sees them, which does not bend to follow outliers."""
    unknown = replace(first.told, variance=np.full(len(first.told), np.nan))
    return replace(first, rows=unknown, fit=refit(unknown, first.discounted, _simple(first)))


def _simple(first: _State) -> FitResult:
    """A fit to start from: a smooth model with much noise."""
    d = first.told.X.shape[1]
    simple = Hyperparameters(np.full(d, _SMOOTH * np.sqrt(d)), 1.0, _NOISY)
    return replace(first.fit, hyperparameters=simple)


def _bent(first: _State, side: float, refit: Refit) -> _State | None:
    """The values on the logarithmic scale that suits them best; None if they have none.

    Of a steep response the largest values are far from what all the others predict, and right: on
    a logarithmic scale they are where the others lead (decide/bending.py). Scales are tried from
    the mildest on, while they get better; each fit begins where the one before ended.
    """
    best: _State | None = None
    fit = first.fit
    for rows, log_slope in bendings(first.told, side):
        fit = refit(rows, first.discounted, fit)
        state = replace(first, told=rows, rows=rows, fit=fit, log_slope=log_slope)
        if best is not None and state.worth <= best.worth:
            break
        best = state
    return best


def _is_far_better(bent: _State, views: list[_State]) -> bool:
    """Whether another scale explains the values better than any view of them, with discounts.

    It has an unknown noise, so that told noise that is exceeded must not speak for it.
    """
    promised = [view.surplus(view.gains(robust=True)[0]) for view in views]
    reached = max(view.worth for view in views) + _WITH_FITS * max(promised)
    return bent.worth > reached + _BEYOND_DOUBT


def _unless_bent(first: _State, best: _State, bent: _State, refit: Refit) -> _State:
    """The state to go by, where the values may be on another scale."""
    again = replace(bent, fit=refit(bent.rows, bent.discounted, _simple(first)))
    rival = max(bent, again, key=lambda state: state.worth)
    if rival.evidence + rival.surplus(rival.gains(robust=True)[0]) - _ANOTHER_SCALE <= best.worth:
        return best
    rival = _best(rival, _pursue(rival, refit), refit)
    if rival.worth - _ANOTHER_SCALE <= best.worth:
        return best
    return _still_unbelievable(first, best, best.discounted & rival.discounted, refit)


def _still_unbelievable(first: _State, best: _State, mask: Mask, refit: Refit) -> _State:
    """The state with the discounts of a mask, less those that the model without the others bears.

    Another scale acquits and accuses nobody: where values are small, it inflates their noise.
    """
    noise = best.gains()[1]
    while np.any(mask):
        state = _refitted(best, noise, mask, refit)
        gains, noise = state.gains()
        weak = mask & (gains < _gain(_UNBELIEVABLE))
        if not np.any(weak):
            return state
        mask = mask & ~weak
    return first


def _gain(z: float) -> float:
    """The gain of a discount where an observation is off by z standard deviations."""
    return 0.5 * (z**2 - 1.0 - float(np.log(z**2)))


def _pursue(state: _State, refit: Refit) -> _State:
    """Discounts the observations with the largest gains, again and again."""
    for _ in range(_ROUNDS):
        chosen = state.largest()
        if not np.any(chosen):
            break
        gains, noise = state.gains(robust=True)
        in_sight = np.where(state.discounted, state.gains()[0], gains)
        if state.promise(in_sight) < _PROMISING:
            break
        mask = state.discounted | chosen
        grown = _refitted(state, noise, mask, refit)
        if not np.isfinite(grown.evidence):
            break
        state = grown
    return state


def _best(best: _State, state: _State, refit: Refit) -> _State:
    """Of the states on the way back, least gain first, the one that pays its price best.

    All are compared with the best so far.
    """
    gains, noise = state.gains()
    believable = _gain(_UNBELIEVABLE)
    # With everything discounted that may be wrong, nothing hides what is.
    mask = state.discounted & (gains >= believable)
    while np.any(mask):
        state = _refitted(state, noise, mask, refit)
        gains, noise = state.gains()
        rows = np.flatnonzero(mask)
        weakest = rows[np.argmin(gains[rows])]
        if gains[weakest] >= believable:
            if state.worth > best.worth:
                best = state
            elif state.worth < best.worth - _HOPELESS:
                break
        mask = mask.copy()
        mask[weakest] = False
    return best


def _refitted(state: _State, noise: Array, mask: Mask, refit: Refit) -> _State:
    """The fit with the discounts of a mask."""
    rows = state.told.with_noise(noise, mask)
    return replace(state, rows=rows, discounted=mask, fit=refit(rows, mask, state.fit))


def _described(state: _State) -> list[Outlier]:
    residual, variance, own = state.left_out
    std = np.sqrt(variance + own)
    return [
        Outlier(
            int(row),
            float(state.told.y[row] - residual[row]),
            float(std[row]),
            float(state.rows.variance[row]),
        )
        for row in np.flatnonzero(state.discounted)
    ]
