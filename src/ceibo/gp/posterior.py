"""The exact Gaussian process posterior.

Notation (shapes beside)
    X (n, d), y (n,)       observed points and values; υ² (n,) their noise variances
    Σ (m, m)               diag(υ²), plus what rows in the same blocks share (ceibo.gp.blocks)
    P (m, d)               all conditioning points: X, then the pending points, which have no value
    K (m, m)               k(P, P); A = (K + Σ)⁻¹ = L⁻ᵀ L⁻¹
    α (m,)                 A (y − mean), zero at pending points, so that they leave the mean alone
    k_x (N, m)             k(x, P) for N new points

    μ(x) = mean + k_x α          σ²(x) = v − ‖L⁻¹ k_x‖²          σ(x, x') = k(x, x') − k_x A k_x'

Units. Inside, values are divided by `unit`, the power of two nearest the kernel's standard
deviation: squares of values as large as 1e150 or as small as 1e-150 then stay normal numbers, and
multiplying y by a power of two changes no bit of what is computed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self, final

import numpy as np
from numpy.typing import ArrayLike

from ceibo.errors import InputError
from ceibo.gp.blocks import Blocks
from ceibo.gp.inputs import Array, Indices, Mask, as_noise, as_point, as_points, as_values
from ceibo.gp.kernels import Kernel
from ceibo.gp.linalg import Factor, constant_mean, factorize, limited_blas
from ceibo.gp.predictor import Predictor


@final
@dataclass(frozen=True, eq=False)
class _State:
    """What conditioning computes, in units of `unit`."""

    points: Array  # (m, d) P
    noise: Array  # (m,) υ², with the jitter that factorizing needed
    factor: Factor
    alpha: Array  # (m,)
    blocks: Blocks | None = None  # of the m points

    def covariance_weights(self, rows: Indices | slice) -> Array:
        """(m, r) c_j = A Σ e_j of each row j: σ(x, x_j) = k_x·c_j, which cancels nothing.

        That is because A k_j = e_j − A Σ e_j. It is zero where all noise is.
        """
        inverse = self.factor.inverse
        weights = (inverse.T @ inverse[:, rows]) * self.noise[rows]
        if self.blocks is not None:
            weights += self.factor.solve(self.blocks.columns(rows))
        return np.asarray(weights)


@final
@dataclass(frozen=True, eq=False)
class GaussianProcess:
    """A Gaussian process conditioned on noisy observations; frozen: conditioning returns a new one.

    Args:
        X: (n, d) observed points.
        y: (n,) observed values.
        noise_variance: one variance for all, or (n,), one per observation.
        kernel: prior covariance.
        mean: prior mean, a constant.
        expected_noise: noise variance expected of one more measurement; the mean of noise_variance
            by default. A new block adds to it, which is not counted here.
        blocks: of the observations, with their variances; none by default.
        reachable: (n,) which observed points a search could find, where not all of the unit cube
            can be had; those in the cube by default.

    Example:
        >>> from ceibo.gp import GaussianProcess, Matern52
        >>> gp = GaussianProcess([[0.1], [0.7]], [1.0, -1.0], 0.01, Matern52([0.3]))
        >>> mean, variance = gp.posterior([[0.4]])
    """

    X: Array
    y: Array
    noise_variance: Array
    kernel: Kernel
    mean: float = 0.0
    expected_noise: float | None = None
    blocks: Blocks | None = None
    reachable: Mask | None = None
    _state: _State | None = field(default=None, repr=False)
    # the power of two by which values are divided inside
    unit: float = field(init=False, repr=False)
    # in inside units; its variance is between 1/2 and 2
    unit_kernel: Kernel = field(init=False, repr=False)

    # what may be given; the fields are what __post_init__ makes of it
    if TYPE_CHECKING:

        def __init__(  # noqa: PLR0913 - public: what the process is, and options
            self,
            X: ArrayLike,
            y: ArrayLike,
            noise_variance: ArrayLike,
            kernel: Kernel,
            mean: float = 0.0,
            expected_noise: float | None = None,
            blocks: Blocks | None = None,
            reachable: Mask | None = None,
            _state: _State | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        unit = float(np.exp2(np.round(0.5 * np.log2(self.kernel.variance))))
        object.__setattr__(self, "unit", unit)
        unit_kernel = replace(self.kernel, variance=self.kernel.variance / unit / unit)
        object.__setattr__(self, "unit_kernel", unit_kernel)
        if self._state is not None:
            return  # made by append or condition, which have checked and computed
        X = as_points(self.X, "X", self.kernel.dimension)
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", as_values(self.y, len(X)))
        variances = as_noise(self.noise_variance, len(X), unknown=False)
        object.__setattr__(self, "noise_variance", variances)
        if not np.isfinite(self.mean):
            raise InputError(f"mean must be a finite number, got {self.mean!r}.")
        object.__setattr__(self, "mean", float(self.mean))
        expected = (
            np.mean(self.noise_variance) if self.expected_noise is None else self.expected_noise
        )
        object.__setattr__(self, "expected_noise", float(as_noise(expected, 1, unknown=False)[0]))
        if self.blocks is not None and len(self.blocks) != len(X):
            raise InputError(
                f"blocks must be of {len(X)} rows, those of X, got {len(self.blocks)}."
            )
        with limited_blas(len(X)):
            noise = self.noise_variance / self.unit / self.unit
            K = self.unit_kernel(X, X)
            K[np.diag_indices_from(K)] += noise
            blocks = None
            if self.blocks is not None:
                blocks = self.blocks.scaled(self.unit)
                K += blocks.columns()
            factor = factorize(K)
            alpha = factor.solve(self.residuals)
            state = _State(X, noise + factor.jitter, factor, alpha, blocks)
        object.__setattr__(self, "_state", state)

    # -- the parts that acquisitions build on, in units of `unit` ----------------------

    @property
    def state(self) -> _State:
        if self._state is None:  # pragma: no cover - set at the end of __post_init__
            raise InputError("the Gaussian process has not been conditioned.")
        return self._state

    @property
    def pending(self) -> Array:
        """(p, d) points conditioned on without a value."""
        return self.state.points[len(self.X) :]

    def predictor(self, weights: Array | None = None, anchor: int | None = None) -> Predictor:
        """Evaluates k_x·weights and variances at many points.

        Args:
            weights: (m, c); α, which gives the mean, by default.
            anchor: index of a conditioning point p, for the variances of f(x) − f(p) as well.
        """
        state = self.state
        columns = state.alpha[:, None] if weights is None else weights
        inverse = state.factor.inverse
        if anchor is None:
            return Predictor(self.unit_kernel, state.points, inverse, columns)
        noise = float(state.noise[anchor])
        shared = None if state.blocks is None else state.blocks.columns(np.array([anchor]))[:, 0]
        return Predictor(self.unit_kernel, state.points, inverse, columns, anchor, noise, shared)

    @property
    def block_variance(self) -> float:
        """What a new block of every kind adds to the noise of a measurement, in squared units."""
        return 0.0 if self.blocks is None else self.blocks.total

    @property
    def residuals(self) -> Array:
        """(n,) y − mean."""
        with np.errstate(over="ignore"):  # said below, in words
            residuals = (self.y - self.mean) / self.unit
        if not np.all(np.isfinite(residuals)):
            raise InputError(
                f"y is up to {np.max(np.abs(self.y)):g} but the kernel's standard deviation is"
                f" {np.sqrt(self.kernel.variance):g}: too far apart for float64. Use fit_gp, which"
                " chooses the variance."
            )
        return residuals

    # -- what people ask for, in the units of y ----------------------------------------

    def posterior(self, X_new: ArrayLike) -> tuple[Array, Array]:
        """Posterior mean and variance of f at each new point, (N,) each."""
        points = as_points(X_new, "X_new", self.kernel.dimension)
        state, kernel = self.state, self.unit_kernel
        with limited_blas(len(state.points)):
            K = kernel(points, state.points)
            linear = K @ state.alpha[:, None]
            whitened = K @ state.factor.inverse.T
            explained = np.einsum("ij,ij->i", whitened, whitened)
        variance = np.maximum(kernel.variance - explained, 0.0)
        return self.mean + self.unit * linear[:, 0], self.unit**2 * variance

    def covariance(self, A: ArrayLike, B: ArrayLike) -> Array:
        """Posterior covariance σ(a_i, b_j) of f between two sets of points, (N, M)."""
        left = as_points(A, "A", self.kernel.dimension)
        right = as_points(B, "B", self.kernel.dimension)
        with limited_blas(len(self.state.points)):
            kernel, inverse = self.unit_kernel, self.state.factor.inverse
            V_left = kernel(left, self.state.points) @ inverse.T
            V_right = kernel(right, self.state.points) @ inverse.T
            return np.asarray(self.unit**2 * (kernel(left, right) - V_left @ V_right.T))

    def posterior_gradient(self, X_new: ArrayLike) -> tuple[Array, Array]:
        """Gradients in x of the posterior mean and variance, (N, d) each.

        They are zero along categorical dimensions.
        """
        points = as_points(X_new, "X_new", self.kernel.dimension)
        ones = np.ones(len(points))
        with limited_blas(len(self.state.points)):
            prediction = self.predictor()(points)
            mean = prediction.pullback(linear=ones[:, None])
            variance = prediction.pullback(variance=ones)
        return self.unit * mean, self.unit**2 * variance

    def covariance_gradient(self, A: ArrayLike, B: ArrayLike) -> Array:
        """Gradient in a of the posterior covariance σ(a_i, b_j), (N, M, d)."""
        left = as_points(A, "A", self.kernel.dimension)
        right = as_points(B, "B", self.kernel.dimension)
        with limited_blas(len(self.state.points)):
            kernel, points = self.unit_kernel, self.state.points
            solved = self.state.factor.solve(kernel(points, right))  # (m, M)
            prior = kernel.gradient(left, right)
            explained = np.einsum("imk,mj->ijk", kernel.gradient(left, points), solved)
        return np.asarray(self.unit**2 * (prior - explained))

    @property
    def log_likelihood(self) -> float:
        """Log marginal likelihood log N(y; mean, K + Σ) of the observed values."""
        n = len(self.X)
        if len(self.pending):
            return replace(self, _state=None).log_likelihood
        quadratic = float(self.residuals @ self.state.alpha)
        # Values in inside units have a density unit^n times as large.
        constant = n * float(np.log(2 * np.pi) + 2.0 * np.log(self.unit))
        return -0.5 * (quadratic + self.state.factor.log_determinant + constant)

    def with_estimated_mean(self, std: float) -> Self:
        """The process with its constant mean estimated, under the prior N(mean, std²)."""
        if len(self.pending):
            raise InputError("estimate the mean before conditioning on pending points, not after.")
        inverse = self.state.factor.inverse
        ones = inverse.sum(axis=1)
        step = constant_mean(ones, inverse @ self.residuals, precision=(self.unit / std) ** 2)
        state = replace(self.state, alpha=self.state.alpha - step * (inverse.T @ ones))
        return replace(self, mean=self.mean + self.unit * step, _state=state)

    # -- more data, without refitting --------------------------------------------------

    def append(
        self, x: ArrayLike, y: float, noise_variance: float, block: Sequence[int] | None = None
    ) -> Self:
        """The process with one more observation, in O(n²); hyperparameters stay as they are.

        Args:
            x: its point.
            y: its value.
            noise_variance: of that value.
            block: the index of its block of each kind; none by default.
        """
        if len(self.pending):
            raise InputError(
                "append an observation before conditioning on pending points, not after."
            )
        kinds = 0 if self.blocks is None else len(self.blocks.variances)
        if block is not None and len(block) != kinds:
            raise InputError(
                f"block must be {kinds} indices, one per kind of block, got {block!r}."
            )
        x_new = as_point(x, "x", self.kernel.dimension)
        y_new, noise = as_values([y], 1), as_noise(noise_variance, 1, unknown=False)
        blocks, inside = self.blocks, self.state.blocks
        if blocks is not None and inside is not None:
            of = np.full((1, len(blocks.variances)), -1) if block is None else np.array([block])
            blocks, inside = blocks.grown(of), inside.grown(of)
        with limited_blas(len(self.X)):
            grown = self._bordered(x_new, noise, inside)
            process = replace(
                self,
                X=_frozen(grown.points),
                y=_frozen(np.append(self.y, y_new)),
                noise_variance=_frozen(np.append(self.noise_variance, noise)),
                blocks=blocks,
                reachable=None if self.reachable is None else np.append(self.reachable, True),
                _state=self.state,
            )
            alpha = grown.factor.solve(process.residuals)
        return replace(process, _state=replace(grown, alpha=alpha))

    def condition(self, X_pending: ArrayLike, noise_variance: ArrayLike | None = None) -> Self:
        """The process as if X_pending were being measured: less variance there, the same mean.

        The points are taken to be in one new block of each kind.

        Args:
            X_pending: (p, d) points without values.
            noise_variance: noise expected of those measurements, that of their block aside;
                `expected_noise` by default.
        """
        points = as_points(X_pending, "X_pending", self.kernel.dimension)
        expected = self.expected_noise if noise_variance is None else noise_variance
        noise = as_noise(np.asarray(expected), len(points), unknown=False)
        blocks = self.state.blocks
        if blocks is not None:
            blocks = blocks.with_new(len(points))
        with limited_blas(len(self.state.points) + len(points)):
            grown = self._bordered(points, noise, blocks)
        alpha = np.concatenate([self.state.alpha, np.zeros(len(points))])
        return replace(self, _state=replace(grown, alpha=alpha))

    def _bordered(self, points: Array, noise: Array, blocks: Blocks | None) -> _State:
        """The state grown by `points`, with the blocks of all in inside units; α as it was."""
        state, kernel, scaled = self.state, self.unit_kernel, noise / self.unit / self.unit
        border, corner = kernel(state.points, points), kernel(points, points)
        corner[np.diag_indices_from(corner)] += scaled
        if blocks is not None:
            shared = blocks.columns(slice(len(state.points), None))
            border += shared[: len(state.points)]
            corner += shared[len(state.points) :]
        factor = state.factor.append(border, corner)
        jitter = factor.jitter[-len(points) :]
        return _State(
            np.concatenate([state.points, points]),
            np.concatenate([state.noise, scaled + jitter]),
            factor,
            state.alpha,
            blocks,
        )


def _frozen(array: Array) -> Array:
    array.setflags(write=False)
    return array
