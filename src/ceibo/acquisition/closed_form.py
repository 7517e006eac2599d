"""Acquisitions in closed form: corrected EI, EI, corrected PI, PI and UCB.

With u = μ(x⁺) − μ(x) (we minimise) and a standard deviation s, EI-like functions are s·τ(u/s) and
PI-like ones Φ(u/s). Plain EI and PI take s = σ(x), as if f(x⁺) were known; the corrected ones take
the standard deviation of the difference, s² = σ²(x) + σ²(x⁺) − 2σ(x, x⁺) (Zhou, Ma and Blaschko
2023; Ma et al. 2019).
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.acquisition import normal
from ceibo.acquisition.base import Acquisition, Jet, chain_std
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo.gp.predictor import Prediction

# beyond this u/s, τ(z) = z to far below rounding, and larger ratios may overflow
_CERTAIN: Final = 1e100

# derivatives in smaller standard deviations, or t² beyond its inverse, would overflow
_NEGLIGIBLE: Final = 1e-153


def expected_improvement(u: Array, s: Array) -> tuple[Array, Array, Array]:
    """E[max(0, u + s Z)] = s φ(z) + u Φ(z), z = u/s, and its derivatives in u and s."""
    # Where s = 0 it is max(0, u).
    z = _ratio(u, s)
    left = z < -1.0
    # Right of −1 the two-term form, finite for every s; left of it s·τ(z), which does not cancel.
    tail = s * normal.tau(np.where(left, z, -1.0))
    value = np.where(left, tail, s * normal.pdf(z) + u * normal.cdf(z))
    return np.maximum(value, 0.0), normal.cdf(z), normal.pdf(z)


def log_expected_improvement(u: Array, s: Array) -> tuple[Array, Array, Array]:
    """log E[max(0, u + s Z)] = log s + log τ(u/s) and its derivatives in u and s.

    It is log max(0, u) where s = 0.
    """
    z = _ratio(u, s)
    # the improvement is u itself, or there is none
    certain = (s <= 0) | (z > _CERTAIN)
    if not certain.any():
        log_tau, by_u, by_s = normal.log_tau(z)
        inverse = 1.0 / np.maximum(s, _NEGLIGIBLE)
        return np.log(s) + log_tau, by_u * inverse, np.minimum(by_s, 1.0 / _NEGLIGIBLE) * inverse
    log_tau, by_u, by_s = normal.log_tau(np.where(certain, 0.0, z))
    gain = np.where(certain, np.maximum(u, 0.0), 1.0)
    inverse = 1.0 / np.where(certain, 1.0, np.maximum(s, _NEGLIGIBLE))
    by_s = np.minimum(by_s, 1.0 / _NEGLIGIBLE)
    by_gain = np.divide(1.0, gain, out=np.zeros_like(gain), where=gain > 0)
    with np.errstate(divide="ignore"):
        value = np.where(certain, np.log(gain), log_tau + np.log(np.where(certain, 1.0, s)))
    return value, np.where(certain, by_gain, by_u * inverse), np.where(certain, 0.0, by_s * inverse)


def probability_of_improvement(u: Array, s: Array) -> tuple[Array, Array, Array]:
    """P(u + s Z > 0) = Φ(u/s) and its derivatives in u and s; where s = 0, whether u > 0."""
    z = _ratio(u, s)
    by_u = np.divide(normal.pdf(z), s, out=np.zeros_like(s), where=s > 0)
    return normal.cdf(z), by_u, -np.where(np.isfinite(z), z, 0.0) * by_u


def log_probability_of_improvement(u: Array, s: Array) -> tuple[Array, Array, Array]:
    """log Φ(u/s) and its derivatives in u and s."""
    z = _ratio(u, s)
    finite = np.isfinite(z)
    steepness = normal.inverse_mills(np.where(finite, z, 0.0))
    by_u = np.divide(steepness, s, out=np.zeros_like(s), where=finite & (s > 0))
    return normal.log_cdf(z), by_u, -np.where(finite, z, 0.0) * by_u


def _ratio(u: Array, s: Array) -> Array:
    """u/s; where s = 0, +inf if there is an improvement (u > 0) and −inf if there is none."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        z = u / s
    return z if (s > 0).all() else np.where(s > 0, z, np.where(u > 0, np.inf, -np.inf))


@dataclass(frozen=True, eq=False)
class _Improvement(Acquisition):
    """Shared by EI and PI: u and s, plain or corrected. Abstract."""

    corrected: bool

    def _moments(self, prediction: Prediction) -> tuple[Array, Array]:
        u = prediction.improvement(self._best_mean)
        if not self.corrected:
            return u, np.sqrt(prediction.variance)
        s = np.sqrt(prediction.difference_variance)
        # f(x) − f(x⁺) is exactly 0 where it has no variance
        return np.where(s > 0, u, 0.0), s

    @property
    def _best_mean(self) -> float:
        return float((self.incumbent.mean - self.gp.mean) / self.gp.unit)

    def _jet(self, parts: tuple[Array, Array, Array], s: Array) -> Jet:
        value, by_u, by_s = parts
        by_variance = chain_std(by_s, s)
        if self.corrected:
            return Jet(value, linear=-by_u[:, None], difference_variance=by_variance)
        return Jet(value, linear=-by_u[:, None], variance=by_variance)


@final
@dataclass(frozen=True, eq=False)
class ExpectedImprovement(_Improvement):
    """α(x) = s τ(u/s); corrected, E[max(0, f(x⁺) − f(x))] with f(x⁺) uncertain, zero at x⁺."""

    def natural(self, prediction: Prediction) -> Jet:
        u, s = self._moments(prediction)
        return self._jet(expected_improvement(u, s), s)

    def logarithm(self, prediction: Prediction) -> Jet:
        u, s = self._moments(prediction)
        return self._jet(log_expected_improvement(u, s), s)


@final
@dataclass(frozen=True, eq=False)
class ProbabilityOfImprovement(_Improvement):
    """α(x) = Φ(u/s): the probability that f(x) is below f(x⁺)."""

    def natural(self, prediction: Prediction) -> Jet:
        u, s = self._moments(prediction)
        return self._jet(probability_of_improvement(u, s), s)

    def logarithm(self, prediction: Prediction) -> Jet:
        u, s = self._moments(prediction)
        return self._jet(log_probability_of_improvement(u, s), s)

    @property
    def scale(self) -> float:
        return 1.0  # a probability has no units


@final
@dataclass(frozen=True, eq=False)
class UpperConfidenceBound(Acquisition):
    """α(x) = −μ(x) + √β σ(x), in the units of y.

    With β = 0 it is minus the posterior mean, whose maximiser is the recommendation.
    """

    beta: float = 1.0

    def natural(self, prediction: Prediction) -> Jet:
        s = np.sqrt(prediction.variance)
        value = -prediction.linear[:, 0] + np.sqrt(self.beta) * s
        by_variance = chain_std(np.full_like(s, np.sqrt(self.beta)), s)
        return Jet(value, linear=-np.ones((len(s), 1)), variance=by_variance)

    def logarithm(self, prediction: Prediction) -> Jet:
        del prediction  # it makes no difference
        raise InputError("a confidence bound has no logarithm: it may be negative. Use value().")

    def climbable(self, prediction: Prediction) -> Jet:
        return self.natural(prediction)

    @property
    def climb_unit(self) -> float:
        """A standard deviation of the kernel."""
        # In inside units, which follow the units of y only by powers of two.
        return float(np.sqrt(self.gp.unit_kernel.variance))

    @property
    def offset(self) -> float:
        return -self.gp.mean
