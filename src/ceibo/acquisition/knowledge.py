"""The knowledge gradient: the value of a measurement is what it does to the posterior mean.

After one more measurement at x, with noise variance υ², the posterior mean at a point j will be μ_j
+ s_j Z with Z standard normal and s_j = σ(j, x)/√(σ²(x) + υ²). The exact correlated knowledge
gradient over the observed points and x (Frazier, Powell and Dayanik 2009; Scott, Frazier and Powell
2011), in minimisation form, is

    KG(x) = μ(x⁺) − E[min_j (μ_j + s_j Z)].

The minimum of lines a_j + b_j Z is piecewise linear. From one piece to the next the intercept rises
by Δa_i and the slope falls by Δb_i, at the crossing c_i = Δa_i/Δb_i, and E[min] = min_j a_j − Σ_i
Δb_i τ(−|c_i|). Each term is an expected improvement with u = −|Δa_i|, s = Δb_i: all positive, so
the logarithm is as accurate as τ's. Which lines make the pieces may be held fixed when
differentiating (the envelope theorem).

Corrected KG keeps two of the lines, x⁺ and x: s̃ τ(u/s̃) with s̃ = |σ²(x) − σ(x, x⁺)| / √(σ²(x) +
υ²).
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from ceibo.acquisition.base import Acquisition, Jet
from ceibo.acquisition.closed_form import expected_improvement, log_expected_improvement
from ceibo.gp.inputs import Array
from ceibo.gp.predictor import Prediction


@final
@dataclass(frozen=True, eq=False)
class CorrectedKnowledgeGradient(Acquisition):
    """Two-point knowledge gradient: corrected EI with s̃, of one noisy measurement, for σ̃."""

    next_noise: float  # υ², inside units

    def natural(self, prediction: Prediction) -> Jet:
        u, reach = self._moments(prediction)
        return self._jet(prediction, expected_improvement(u, reach))

    def logarithm(self, prediction: Prediction) -> Jet:
        u, reach = self._moments(prediction)
        return self._jet(prediction, log_expected_improvement(u, reach))

    def _moments(self, prediction: Prediction) -> tuple[Array, Array]:
        best = (self.incumbent.mean - self.gp.mean) / self.gp.unit
        total = _predictive_std(prediction.variance, self.next_noise)
        reach = np.abs(prediction.gap) * _inverse(total)
        return np.where(reach > 0, prediction.improvement(best), 0.0), reach

    def _jet(self, prediction: Prediction, parts: tuple[Array, Array, Array]) -> Jet:
        value, by_u, by_reach = parts
        gap = prediction.gap
        inverse = _inverse(_predictive_std(prediction.variance, self.next_noise))
        by_gap = by_reach * np.sign(gap) * inverse
        by_variance = -0.5 * by_reach * np.abs(gap) * inverse**3
        return Jet(value, linear=-by_u[:, None], variance=by_variance, gap=by_gap)


@final
@dataclass(frozen=True, eq=False)
class KnowledgeGradient(Acquisition):
    """Exact correlated knowledge gradient over the observed points and x.

    The predictor's first column is the mean, the others are covariances with the observed points.
    """

    observed_means: Array  # (n,) inside units, less the prior mean
    next_noise: float  # υ², inside units

    def natural(self, prediction: Prediction) -> Jet:
        a, b, inverse = self._lines(prediction)
        pieces = lower_envelope(a, b)
        parts = expected_improvement(*self._terms(pieces, a))
        return self._jet(parts[0].sum(axis=1), pieces, parts[1:], b, inverse)

    def logarithm(self, prediction: Prediction) -> Jet:
        a, b, inverse = self._lines(prediction)
        pieces = lower_envelope(a, b)
        logs, by_u, by_s = log_expected_improvement(*self._terms(pieces, a))
        top = logs.max(axis=1)
        safe = np.where(np.isfinite(top), top, 0.0)
        shares = np.exp(logs - safe[:, None])
        total = shares.sum(axis=1)
        with np.errstate(divide="ignore"):
            value = safe + np.log(total)
        shares *= _inverse(total)[:, None]
        return self._jet(value, pieces, (shares * by_u, shares * by_s), b, inverse)

    def _terms(self, pieces: "Pieces", a: Array) -> tuple[Array, Array]:
        """u and s (N, h + 1) of the EI-like terms of KG, the last max(0, μ(x⁺) − μ(x))."""
        u = np.column_stack([-np.abs(pieces.rises), self._best - a[:, -1]])
        return u, np.column_stack([pieces.drops, np.zeros(len(a))])

    @property
    def _best(self) -> float:
        return float(np.min(self.observed_means))

    def _lines(self, prediction: Prediction) -> tuple[Array, Array, Array]:
        """Intercepts and slopes (N, n + 1), the candidate's line last, and 1/√(σ² + υ²) (N,)."""
        inverse = _inverse(_predictive_std(prediction.variance, self.next_noise))
        count = len(prediction.linear)
        a = np.empty((count, len(self.observed_means) + 1))
        a[:, :-1], a[:, -1] = self.observed_means, prediction.linear[:, 0]
        b = np.column_stack([prediction.linear[:, 1:], prediction.variance]) * inverse[:, None]
        return a, b, inverse

    def _jet(
        self, value: Array, pieces: "Pieces", by_terms: tuple[Array, ...], b: Array, inverse: Array
    ) -> Jet:
        """Derivatives in the prediction from those in the terms' u and s (N, h + 1)."""
        by_u, by_s = by_terms
        by_a, by_b = pieces.scatter(-by_u[:, :-1] * np.sign(pieces.rises), by_s[:, :-1], b.shape)
        by_a[:, -1] -= by_u[:, -1]
        by_slope = by_b * inverse[:, None]
        by_total = -0.5 * np.einsum("ij,ij->i", by_b, b) * inverse**2
        linear = np.column_stack([by_a[:, -1], by_slope[:, :-1]])
        return Jet(value, linear=linear, variance=by_slope[:, -1] + by_total)


@final
@dataclass(frozen=True, eq=False)
class Pieces:
    """Lower envelopes of N sets of lines: the pieces from left to right, and the changes between.

    Rows with fewer pieces are padded by repeating the last line: rise 0, drop 0.
    """

    lines: Array  # (N, h + 1) int
    rises: Array  # (N, h) how much the intercept rises at each crossing
    drops: Array  # (N, h) how much the slope falls there

    def scatter(
        self, by_rise: Array, by_drop: Array, shape: tuple[int, ...]
    ) -> tuple[Array, Array]:
        """From derivatives in rises and drops to those in all intercepts and slopes, of `shape`."""
        by_a, by_b = np.zeros(shape), np.zeros(shape)
        rows = np.arange(len(self.lines))
        # a padded step goes from a line to itself and adds nothing
        for i in range(self.rises.shape[1]):
            by_a[rows, self.lines[:, i]] -= by_rise[:, i]
            by_a[rows, self.lines[:, i + 1]] += by_rise[:, i]
            by_b[rows, self.lines[:, i]] += by_drop[:, i]
            by_b[rows, self.lines[:, i + 1]] -= by_drop[:, i]
        return by_a, by_b


def lower_envelope(a: Array, b: Array) -> Pieces:
    """Lower envelopes of the lines a_j + b_j z, one set of lines per row; a, b (N, m).

    Starts with the steepest line, lowest at z → −∞, and walks right: the next piece is the line of
    smaller slope that is crossed first. All rows walk together.
    """
    rows = np.arange(len(a))
    b_top = b.max(axis=1)
    current = np.argmin(np.where(b == b_top[:, None], a, np.inf), axis=1)
    lines, rises, drops = [current], [], []
    for _ in range(a.shape[1]):
        fall = b[rows, current][:, None] - b
        rise = a - a[rows, current][:, None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            z = np.where(fall > 0, rise / fall, np.inf)
        first = z.min(axis=1)
        # Of lines crossed at one place the flattest goes on; the others only touch the envelope.
        following = np.argmax(np.where(z == first[:, None], fall, -1.0), axis=1)
        walking = np.isfinite(first)
        if not np.any(walking):
            break
        following = np.where(walking, following, current)
        rises.append(rise[rows, following])
        drops.append(fall[rows, following])
        current = following
        lines.append(current)
    shape = (len(rises), len(a))
    return Pieces(np.array(lines).T, np.reshape(rises, shape).T, np.reshape(drops, shape).T)


def _predictive_std(variance: Array, next_noise: float) -> Array:
    return np.asarray(np.sqrt(variance + next_noise))


def _inverse(total: Array) -> Array:
    """1/total; 0 where total is 0, since a measurement there changes nothing."""
    return np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
