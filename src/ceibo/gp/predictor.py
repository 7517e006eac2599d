"""Values and gradients of the posterior at many points, as every acquisition function needs them.

Notation as in ceibo.gp.posterior. With an anchor p, one of the conditioning points, there are also
the moments of f(x) − f(p):

    Δ (N, m) = k_x − k_p             μ(x) − μ(p) = Δ·α
    Var[f(x) − f(p)]                 σ̃² = 2 (v − k(x, p)) − ‖L⁻¹Δ‖²
    c = σ(x, p) − σ²(p)              = Δ·A Σ e_p, because A k_p = e_p − A Σ e_p

Close to p each of these is a small difference of large numbers. There Δ is computed by
Kernel.contrast, accurate relative to its own size, and what else is needed follows without
cancellation: σ²(x) − σ(x, p) = σ̃² + c and σ²(x) = σ̃² + 2 c + σ²(p), where σ²(p) = k_p·A Σ e_p.
Without blocks Σ e_p = υ_p² e_p.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, final

import numpy as np

from ceibo.errors import InputError
from ceibo.gp.inputs import Array, Indices
from ceibo.gp.kernels import Contrast, Cross, Kernel

# A point is close to p where 1 − g is below this: differences taken by subtraction have lost five
# of sixteen digits there.
_CLOSE: Final = 1e-5


@final
@dataclass(frozen=True, eq=False)
class Predictor:
    """Evaluates linear functions k_x·weights and posterior variances, with gradients, at points x.

    Every acquisition function is a function of these, which is what makes them cheap.

    Args:
        kernel, points, inverse: prior covariance, conditioning points P (m, d) and L⁻¹ (m, m).
        weights: (m, c) columns; α gives the mean.
        anchor: index of a conditioning point p; with it, the moments of f(x) − f(p) are there too.
        anchor_noise: υ_p², the noise variance of that point.
        anchor_shared: (m,) noise that it shares with each point, in the same blocks; none of them
            by default.
    """

    kernel: Kernel
    points: Array
    inverse: Array
    weights: Array
    anchor: int | None = None
    anchor_noise: float = 0.0
    anchor_shared: Array | None = None
    anchor_row: Array = field(init=False)  # (1, m) k_p
    anchor_whitened: Array = field(init=False)  # (1, m) L⁻¹ k_p

    def __post_init__(self) -> None:
        at = [] if self.anchor is None else [self.anchor]
        row = self.kernel(self.points[at], self.points)
        object.__setattr__(self, "anchor_row", row)
        object.__setattr__(self, "anchor_whitened", row @ self.inverse.T)

    def __call__(self, X: Array) -> "Prediction":
        cross = self.kernel.cross(X, self.points)
        linear = cross.values @ self.weights
        if self.anchor is None:
            return Prediction(self, cross, linear, cross.values @ self.inverse.T)
        values = cross.values - self.anchor_row
        close = None
        p = self.points[self.anchor]
        rows = (values[:, self.anchor] > -_CLOSE * self.kernel.variance).nonzero()[0]
        if len(rows):
            rows = rows[np.any(X[rows] != p, axis=1)]  # at p itself Δ is exactly zero as it is
        if len(rows):
            contrast = self.kernel.contrast(X[rows], p, self.points)
            values[rows] = contrast.values
            close = _Close(self, rows, contrast)
        return Prediction(self, cross, linear, values @ self.inverse.T, close)

    @cached_property
    def anchor_weights(self) -> Array:
        """A Σ e_p, (m,): σ(x, p) = k_x·anchor_weights, which cancels nothing."""
        inverse = self.inverse
        weights = np.asarray(inverse.T @ inverse[:, self.anchor]) * self.anchor_noise
        if self.anchor_shared is not None:
            weights += inverse.T @ (inverse @ self.anchor_shared)
        return weights


@final
@dataclass(frozen=True, eq=False)
class _Close:
    """The points of a prediction that are close to the anchor, and Δ there."""

    predictor: Predictor
    rows: Indices
    contrast: Contrast

    @property
    def shift(self) -> Array:
        """c = σ(x, p) − σ²(p)."""
        return np.asarray(self.contrast.values @ self.predictor.anchor_weights)

    def pullback(self, prediction: "Prediction", linear: Array | None, *by: Array | None) -> Array:
        """What Prediction.pullback says, at these points: σ² and the gap follow from σ̃² and c.

        Args:
            prediction: that these points are of.
            linear: (N, c) derivatives in it.
            by: (N,) derivatives in σ², σ̃² and the gap.
        """
        predictor, none = self.predictor, np.zeros(len(self.rows))
        in_variance, in_difference, in_gap = (
            none if each is None else each[self.rows] for each in by
        )
        total = in_variance + in_difference + in_gap  # in σ̃²
        shifted = prediction.shifted[self.rows]
        outer = (-2.0 * total[:, None] * shifted) @ predictor.inverse
        outer[:, predictor.anchor] -= 2.0 * total
        outer += (2.0 * in_variance + in_gap)[:, None] * predictor.anchor_weights
        if linear is not None:
            outer += linear[self.rows] @ predictor.weights.T
        return self.contrast.pullback(outer)


@final
@dataclass(frozen=True, eq=False)
class Prediction:
    """A predictor's values at N points; `pullback` goes from derivatives in them to those in x."""

    predictor: Predictor
    cross: Cross
    linear: Array  # (N, c) k_x·weights
    projected: Array  # (N, m) L⁻¹ k_x, or with an anchor L⁻¹ Δ
    close: _Close | None = None

    @property
    def X(self) -> Array:
        """The points, (N, d)."""
        return self.cross.A

    @property
    def whitened(self) -> Array:
        """L⁻¹ k_x, (N, m)."""
        if self.predictor.anchor is None:
            return self.projected
        return self.projected + self.predictor.anchor_whitened

    @property
    def shifted(self) -> Array:
        """L⁻¹ Δ, (N, m)."""
        self._anchor  # noqa: B018 - raises without an anchor
        return self.projected

    @property
    def variance(self) -> Array:
        """σ²(x), (N,)."""
        whitened = self.whitened
        explained = np.einsum("ij,ij->i", whitened, whitened)
        variance = self.predictor.kernel.variance - explained
        if self.close is not None:
            variance[self.close.rows] = (
                self.difference_variance[self.close.rows]
                + 2.0 * self.close.shift
                + self.predictor.anchor_row[0] @ self.predictor.anchor_weights
            )
        return np.asarray(np.maximum(variance, 0.0))

    @property
    def difference_variance(self) -> Array:
        """Var[f(x) − f(p)], (N,)."""
        explained = np.einsum("ij,ij->i", self.shifted, self.shifted)
        return np.asarray(np.maximum(2.0 * self.prior_gap - explained, 0.0))

    @property
    def prior_gap(self) -> Array:
        """v − k(x, p), (N,)."""
        gap = self.predictor.kernel.variance - self.cross.values[:, self._anchor]
        if self.close is not None:
            gap[self.close.rows] = -self.close.contrast.values[:, self._anchor]
        return gap

    @property
    def gap(self) -> Array:
        """σ²(x) − σ(x, p) = (v − k(x, p)) − (L⁻¹Δ)·(L⁻¹ k_x), (N,)."""
        gap = self.prior_gap - np.einsum("ij,ij->i", self.shifted, self.whitened)
        if self.close is not None:
            gap[self.close.rows] = self.difference_variance[self.close.rows] + self.close.shift
        return np.asarray(gap)

    def improvement(self, best: float) -> Array:
        """μ(p) − μ(x), (N,), where `best` is μ(p) and the first weights are α."""
        u = best - self.linear[:, 0]
        if self.close is not None:
            u[self.close.rows] = -(self.close.contrast.values @ self.predictor.weights[:, 0])
        return np.asarray(u)

    def pullback(
        self,
        linear: Array | None = None,
        variance: Array | None = None,
        difference_variance: Array | None = None,
        gap: Array | None = None,
    ) -> Array:
        """Gradient in x (N, d) of a function, from its partial derivatives in the prediction.

        Args:
            linear: (N, c); the others are (N,).
        """
        inner: Array | float = 0.0  # coefficients of L⁻¹ ∂k_x
        if variance is not None:
            inner = inner - 2.0 * variance[:, None] * self.whitened
        if difference_variance is not None:
            inner = inner - 2.0 * difference_variance[:, None] * self.shifted
        if gap is not None:
            inner = inner - gap[:, None] * (self.whitened + self.shifted)
        outer = np.zeros_like(self.cross.values)
        if not isinstance(inner, float):
            outer = inner @ self.predictor.inverse
        if linear is not None:
            outer += linear @ self.predictor.weights.T
        if difference_variance is not None:
            outer[:, self._anchor] -= 2.0 * difference_variance
        if gap is not None:
            outer[:, self._anchor] -= gap
        gradient = self.cross.pullback(outer)
        if self.close is not None:
            parts = linear, variance, difference_variance, gap
            gradient[self.close.rows] = self.close.pullback(self, *parts)
        return gradient

    @property
    def _anchor(self) -> int:
        if self.predictor.anchor is None:
            raise InputError("this prediction has no anchor; ask for predictor(anchor=index).")
        return self.predictor.anchor
