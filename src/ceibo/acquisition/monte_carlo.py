"""Noisy EI and parallel noisy EI (qNEI) for one new point.

Both average over S joint draws f_s of the noiseless f at the observed (and pending) points. Given a
draw, f is a noiseless Gaussian process with mean μ_s(x) = k_x K⁻¹ f_s; the variance σ₀²(x) is the
same for all draws. So only the means differ, all are k_x·weights with one (m, S) matrix of weights,
and gradients are exact and cheap.

    noisy EI (Letham et al. 2019):   mean over s of EI(best_s − μ_s(x), σ₀(x))
    qNEI (Balandat et al. 2020):     mean over s of max(0, best_s − μ_s(x) − σ₀(x) ζ_s), ζ_s
                                     standard normal

best_s is the lowest of the draw, over observed and pending points. Draws are from the process
conditioned on pending points, so the value is less than what x adds to them, and nearly nothing
close to one of them.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.acquisition.base import Acquisition, Jet, chain_std
from ceibo.acquisition.closed_form import expected_improvement, log_expected_improvement
from ceibo.acquisition.cube import conditioning
from ceibo.acquisition.sampling import normal_draws
from ceibo.errors import NotPositiveDefiniteError
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array, Mask
from ceibo.gp.linalg import JITTERS, factorize
from ceibo.gp.predictor import Prediction, Predictor

# Draws and noiseless model share this nugget (relative to v), so that the model can follow a draw.
_NUGGET: Final = 1e-9
# Width over which max(0, ·) is rounded off, for the maximiser only, in units of gp.unit.
SOFT: Final = 1e-3


@final
@dataclass(frozen=True, eq=False)
class Draws:
    """Joint draws of f and the noiseless model that follows them, in inside units."""

    predictor: Predictor  # weights (m, S)
    values: Array  # (S, m) the draws, less the prior mean
    base: Array  # (S,) ζ_s, the normal draws left for f(x)
    reachable: Mask  # (m,) which of the points a search could find

    @property
    def best(self) -> Array:
        """(S,) lowest value of each draw at points that a search could find."""
        return np.asarray(self.values[:, self.reachable].min(axis=1))


def draw_jointly(gp: GaussianProcess, count: int, seed: int) -> Draws:
    """`count` quasi-random joint draws of f at the conditioning points of `gp`."""
    kernel, state = gp.unit_kernel, gp.state
    m = len(state.points)
    K = kernel(state.points, state.points)
    V = state.factor.inverse @ K
    covariance = K - V.T @ V
    mean = K @ state.alpha
    base = normal_draws(count, m + 1, seed)
    for nugget in (_NUGGET, *(jitter for jitter in JITTERS if jitter > _NUGGET)):
        eye = nugget * kernel.variance * np.eye(m)
        try:
            noiseless = factorize(K + eye, scale=np.diagonal(K))
            root = np.linalg.cholesky(covariance + eye)
        except (NotPositiveDefiniteError, np.linalg.LinAlgError):
            continue
        values = mean + base[:, :m] @ root.T  # (S, m)
        weights = noiseless.solve(values.T)
        predictor = Predictor(kernel, state.points, noiseless.inverse, weights)
        return Draws(predictor, values, base[:, m], conditioning(gp))
    raise NotPositiveDefiniteError(
        f"no joint draws at {m} points: the posterior covariance cannot be factorized."
    )


@final
@dataclass(frozen=True, eq=False)
class NoisyExpectedImprovement(Acquisition):
    """Mean of EI over draws of the noiseless f at the observed points."""

    best: Array  # (S,)

    def natural(self, prediction: Prediction) -> Jet:
        u, s = self._moments(prediction)
        value, by_u, by_s = expected_improvement(u, s)
        share = 1.0 / u.shape[1]
        by_variance = chain_std(share * by_s.sum(1), s[:, 0])
        return Jet(share * value.sum(1), linear=-share * by_u, variance=by_variance)

    def logarithm(self, prediction: Prediction) -> Jet:
        u, s = self._moments(prediction)
        logs, by_u, by_s = log_expected_improvement(u, s)
        value, weights = log_mean(logs)
        by_variance = chain_std((weights * by_s).sum(1), s[:, 0])
        return Jet(value, linear=-weights * by_u, variance=by_variance)

    def _moments(self, prediction: Prediction) -> tuple[Array, Array]:
        """u (N, S) and s (N, 1), which is the same for all draws."""
        return self.best - prediction.linear, np.sqrt(prediction.variance)[:, None]


@final
@dataclass(frozen=True, eq=False)
class ParallelNoisyExpectedImprovement(Acquisition):
    """Mean over joint draws of max(0, best observed − f(x))."""

    best: Array  # (S,)
    base: Array  # (S,)

    def natural(self, prediction: Prediction) -> Jet:
        gain, s = self.gains(prediction)
        share = 1.0 / gain.shape[1]
        return self._jet(share * np.maximum(gain, 0.0).sum(1), share * (gain > 0), s)

    def logarithm(self, prediction: Prediction) -> Jet:
        gain, s = self.gains(prediction)
        total = np.maximum(gain, 0.0).sum(1)
        with np.errstate(divide="ignore"):
            value = np.log(total / gain.shape[1])
        weights = np.divide(
            gain > 0, total[:, None], out=np.zeros_like(gain), where=total[:, None] > 0
        )
        return self._jet(value, weights, s)

    def climbable(self, prediction: Prediction) -> Jet:
        """The logarithm with max(0, ·) rounded off, to have a slope where all gains are zero."""
        gain, s = self.gains(prediction)
        logs, slopes = log_soft_gain(gain)
        value, weights = log_mean(logs)
        return self._jet(value + np.log(SOFT), weights * slopes, s)

    def gains(self, prediction: Prediction) -> tuple[Array, Array]:
        """(N, S) gains best_s − f_s(x), and σ₀ (N,)."""
        s = np.sqrt(prediction.variance)
        return self.best - prediction.linear - s[:, None] * self.base, s

    def _jet(self, value: Array, by_gain: Array, s: Array) -> Jet:
        return Jet(value, linear=-by_gain, variance=chain_std(-by_gain @ self.base, s))


def log_soft_gain(gain: Array) -> tuple[Array, Array]:
    """log of max(0, gain)/SOFT, rounded off, and its derivative in the gain."""
    x = gain / SOFT
    soft = np.logaddexp(0.0, x)
    steep = np.exp(-np.logaddexp(0.0, -x))  # derivative of soft
    # log(softplus(x)) = x there, to rounding, and does not underflow
    far = x < -30.0
    logs = np.where(far, x, np.log(np.where(far, 1.0, soft)))
    return logs, np.where(far, 1.0, steep / np.where(far, 1.0, soft)) / SOFT


def log_mean(logs: Array) -> tuple[Array, Array]:
    """log of the mean over draws (N,), and each draw's share of it (N, S), from logarithms."""
    top = logs.max(axis=1)
    shares = np.exp(logs - np.where(np.isfinite(top), top, 0.0)[:, None])
    total = shares.sum(axis=1)
    # all of them −inf: so is the mean, and no draw has a share
    with np.errstate(divide="ignore"):
        value = top + np.log(total)
    shares /= np.maximum(total, 1.0)[:, None]  # at least 1 otherwise, the top's own
    return value - np.log(logs.shape[1]), shares
