"""Log marginal likelihood and priors of the hyperparameters, with analytic gradients.

Notation
    θ = (log ℓ_1 … log ℓ_d, log v, log υ², log σ_1² … log σ_b²)    in standard units; log υ² only if
                                              some noise is unknown, log σ_t² if blocks vary
    K = v·g(s) + diag(noise) + Σ_t σ_t² [same block of kind t]        A = K⁻¹, α = A r
    log p(y | θ) = −½ rᵀα − ½ log det K − (n/2) log 2π,   r = y − m
    ∂/∂θ_k = ½ Σ_ij (α_i α_j − A_ij) ∂K_ij/∂θ_k            (Rasmussen & Williams 2006, eq. 5.9)

Maximum likelihood has m = 0, as in the paper. With priors the constant m is estimated too, with the
prior N(0, 1): for each θ the best is m = 1ᵀA y/(1ᵀA 1 + 1), and it may be held fixed when
differentiating (the envelope theorem). The mean of the values is no estimate of it: a search
measures where values are good.

One evaluation costs one Cholesky factor and one inverse. The sums over length scales come from
matrix products: with W = (ααᵀ − A)∘g', Σ_ij W_ij (x_ik − x_jk)² = 2 Σ_i (Σ_j W_ij) x_ik² − 2 x_kᵀ W
x_k.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np
import scipy

from ceibo.gp.blocks import SharedNoise
from ceibo.gp.inputs import Array
from ceibo.gp.kernels import Kernel
from ceibo.gp.linalg import constant_mean, triangular_inverse
from ceibo.gp.observations import Observations

# Added to the diagonal in units of v while fitting: smooth in θ, unlike jitter after a failure.
NUGGET: Final = 1e-10
# Of the prior of the standard deviation of blocks' offsets: where its density has halved.
BLOCK_SCALE: Final = 0.5
_KEPT_DIFFERENCES: Final = 2**20
_LOG_2PI: Final = float(np.log(2 * np.pi))


@final
@dataclass(frozen=True, eq=False)
class Priors:
    """Independent priors in standard units (unit cube, unit variance of y).

    Log-normal ones of length scales and variance, whose density of exp(θ) enters; a Cauchy
    distribution of log υ², whose density of θ itself enters. The density of υ² would pull an
    inferred noise down, and thin tails would forbid a noise of next to nothing, which is what a
    deterministic objective has.

    Each σ_t of blocks has a half-Cauchy distribution, whose density of σ_t enters: it is flat at
    zero, so that the data decide whether blocks have effects at all.
    """

    location: Array  # of each θ, those of blocks aside
    scale: Array
    infers_noise: bool  # whether the last of these θ is log υ²
    blocks: int = 0  # how many θ of blocks follow

    @staticmethod
    def default(
        dimension: int, infers_noise: bool, breadth: int | None = None, blocks: int = 0
    ) -> "Priors":
        """The priors used by default; length scales grow with √d, or with that of the breadth.

        So the model stays as simple in many dimensions as in few (Hvarfner, Hellsten and Nardi
        2024, "Vanilla Bayesian optimization performs great in high dimensions"). Variance and noise
        priors are wide: they matter when there are few data.
        """
        lengthscale = (np.sqrt(2.0) + 0.5 * np.log(breadth or dimension), np.sqrt(3.0))
        rows = [lengthscale] * dimension + [(1.0, 1.0)] + [(-1.0, 1.0)] * infers_noise
        location, scale = np.array(rows).T
        return Priors(location, scale, infers_noise, blocks)

    @cached_property
    def _constant(self) -> float:
        normal = len(self.scale) - self.infers_noise
        return float(
            np.sum(np.log(self.scale)) + 0.5 * normal * _LOG_2PI + self.infers_noise * np.log(np.pi)
        )

    def log_density(self, theta: Array) -> tuple[float, Array]:
        """Log density, and its derivative in θ."""
        if not self.blocks:
            return self._without_blocks(theta)
        value, slope = self._without_blocks(theta[: -self.blocks])
        ratio = np.exp(theta[-self.blocks :]) / BLOCK_SCALE**2
        value -= float(np.sum(np.log1p(ratio) + np.log(0.5 * np.pi * BLOCK_SCALE)))
        return value, np.concatenate([slope, -ratio / (1.0 + ratio)])

    def _without_blocks(self, theta: Array) -> tuple[float, Array]:
        z = (theta - self.location) / self.scale
        slope = -1.0 - z / self.scale
        if not self.infers_noise:
            return float(-0.5 * (z @ z) - theta.sum()) - self._constant, slope
        tail = 1.0 + z[-1] ** 2
        slope[-1] = -2.0 * z[-1] / self.scale[-1] / tail
        value = -0.5 * (z[:-1] @ z[:-1]) - theta[:-1].sum() - np.log(tail)
        return float(value) - self._constant, slope


@final
class Objective:
    """log p(y | θ, m) + log prior(θ, m) of some observations, at the best m, and its gradient in θ.

    Holds its work arrays, since allocating them anew costs as much as the arithmetic.
    """

    def __init__(
        self,
        data: Observations,
        kernel: type[Kernel],
        categorical: tuple[int, ...],
        priors: Priors | None,
    ):
        n, d = data.X.shape
        self.data, self.kernel, self.priors = data, kernel, priors
        self.evaluations = 0
        ordered = [k for k in range(d) if k not in categorical]
        self._ordered = np.array(ordered, dtype=int)
        self._categorical = np.array(categorical, dtype=int)
        # Pairs i < j in the order of scipy's pdist; in C memory their places form the upper
        # triangle, which is the lower triangle of the transposed, Fortran-ordered view that LAPACK
        # factorizes.
        i, j = np.triu_indices(n, 1)
        self._pairs = i * n + j
        self._mismatch = np.empty((len(i), 0))
        if categorical:
            self._mismatch = (
                data.X[i][:, self._categorical] != data.X[j][:, self._categorical]
            ).astype(np.float64)
        self._Y = np.ascontiguousarray(data.X[:, ordered])
        self._Y_squared = self._Y**2
        # Squared differences of all pairs are kept while they are small: a product is then quicker
        # than pdist.
        few = 0 < len(i) * len(ordered) <= _KEPT_DIFFERENCES
        self._differences = (self._Y[i] - self._Y[j]) ** 2 if few else None
        self._s = np.empty(len(i))
        self._varying = len(data.varying)
        self._shared = SharedNoise(data.blocks[:, data.varying]) if self._varying else None
        self._K, self._W = np.empty((n, n)), np.zeros((n, n))

    def at_each(self, thetas: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, p) at several θ."""
        values, gradients = zip(*map(self, thetas), strict=True)
        return np.array(values), np.array(gradients)

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient at θ; (−inf, 0) where K cannot be factorized."""
        self.evaluations += 1
        data, (n, d) = self.data, self.data.X.shape
        lengthscales, variance = np.exp(theta[:d]), float(np.exp(theta[d]))
        noise = self._noise(theta)
        L, slope = self._factorized(theta, lengthscales, variance, noise)
        if L is None:
            return -np.inf, np.zeros_like(theta)
        inverse = triangular_inverse(L)
        half = inverse @ data.y
        mean = 0.0
        if self.priors is not None:
            ones = inverse.sum(axis=1)
            mean = constant_mean(ones, half, precision=1.0)
            half -= mean * ones
        alpha = inverse.T @ half
        quadratic = float(half @ half)
        value = (
            -0.5 * (quadratic + mean**2)
            + float(np.log(inverse.diagonal()).sum())
            - 0.5 * n * _LOG_2PI
        )
        # lower triangle of L⁻ᵀ L⁻¹
        A = scipy.linalg.lapack.dlauum(inverse, lower=1, overwrite_c=1)[0]
        diagonal = alpha**2 - np.diagonal(A)

        gradient = np.zeros_like(theta)
        if self._shared is not None:
            variances = self._block_variances(theta)
            gradient[-self._varying :] = self._shared.gradient(alpha, A, diagonal, variances)
        sums = self._lengthscale_gradient(alpha, A, slope)
        gradient[:d] = sums * (-2.0 * variance) / lengthscales**2
        # v ∂K/∂v = K − diag(noise) − what blocks share, so both sums collapse to traces.
        gradient[d] = 0.5 * (quadratic - n - float(noise @ diagonal))
        if self._shared is not None:
            gradient[d] -= float(gradient[-self._varying :].sum())
        if data.infers_noise:
            gradient[d + 1] = 0.5 * float(noise[data.unknown] @ diagonal[data.unknown])
            term, term_gradient = data.replicate_term(float(theta[d + 1]))
            value += term
            gradient[d + 1] += term_gradient
        return self._with_priors(theta, value + data.log_factor, gradient)

    def value(self, theta: Array) -> float:
        """The value at θ; for the likelihood alone, without priors, at half the cost."""
        if self.priors is not None:
            return self(theta)[0]
        self.evaluations += 1
        data, (n, d) = self.data, self.data.X.shape
        lengthscales, variance = np.exp(theta[:d]), float(np.exp(theta[d]))
        L, _ = self._factorized(theta, lengthscales, variance, self._noise(theta))
        if L is None:
            return -np.inf
        half = scipy.linalg.lapack.dtrtrs(L, data.y, lower=1)[0]
        value = -0.5 * float(half @ half) - float(np.log(L.diagonal()).sum()) - 0.5 * n * _LOG_2PI
        if data.infers_noise:
            value += data.replicate_term(float(theta[d + 1]))[0]
        return float(value + data.log_factor)

    def _noise(self, theta: Array) -> Array:
        """(n,) noise variances at θ."""
        d = self.data.X.shape[1]
        inferred = float(np.exp(theta[d + 1])) if self.data.infers_noise else np.nan
        return self.data.noise_with(inferred)

    def _block_variances(self, theta: Array) -> Array:
        """σ_t² of the kinds of block that vary, at θ."""
        return np.asarray(np.exp(theta[-self._varying :]))

    def _factorized(
        self, theta: Array, lengthscales: Array, variance: float, noise: Array
    ) -> tuple[Array | None, Array]:
        """L of K, None if there is none, and the packed g'."""
        n = len(self.data.X)
        g, slope = self.kernel.profile(self._squared_distances(lengthscales))
        g *= variance
        K = self._K
        K.ravel()[self._pairs] = g
        K.ravel()[:: n + 1] = variance * (1.0 + NUGGET) + noise
        if self._shared is not None:
            self._shared.add_to(K, self._block_variances(theta))
        L, failed = scipy.linalg.lapack.dpotrf(K.T, lower=1, clean=1, overwrite_a=1)
        return None if failed else L, slope

    def _squared_distances(self, lengthscales: Array) -> Array:
        """Packed s over pairs i < j."""
        ordered, categorical = self._ordered, self._categorical
        if self._differences is not None:
            s: Array = np.matmul(self._differences, lengthscales[ordered] ** -2.0, out=self._s)
        elif len(ordered) and len(self._s):
            Y = self._Y / lengthscales[ordered]
            s = scipy.spatial.distance.pdist(Y, "sqeuclidean", out=self._s)
        else:
            s = self._s
            s[:] = 0.0
        if len(categorical):
            s += self._mismatch @ lengthscales[categorical] ** -2.0
        return s

    def _lengthscale_gradient(self, alpha: Array, A: Array, slope: Array) -> Array:
        """Σ_{i<j} (α_i α_j − A_ij) g'_ij (x_ik − x_jk)² for each dimension k."""
        W, Y = self._W, self._Y
        total = np.zeros(self.data.X.shape[1])
        W.ravel()[self._pairs] = slope
        # A − ααᵀ; the sign is turned below
        W *= scipy.linalg.blas.dger(-1.0, alpha, alpha, a=A, overwrite_a=1).T
        if len(self._ordered):
            sums = np.add.reduce(W, axis=0) + np.add.reduce(W, axis=1)
            total[self._ordered] = 2.0 * np.einsum("ik,ik->k", Y, W @ Y) - sums @ self._Y_squared
        if len(self._categorical):
            total[self._categorical] = -W.ravel()[self._pairs] @ self._mismatch
        return total

    def _with_priors(self, theta: Array, value: float, gradient: Array) -> tuple[float, Array]:
        if self.priors is not None:
            log_density, slope = self.priors.log_density(theta)
            value += log_density
            gradient += slope
        return float(value), gradient
