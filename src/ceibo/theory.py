"""The theory of corrected EI for a finished run: information gain, β_T and the regret bound.

Notation (Zhou, Ma and Blaschko 2023), on the scale where k(x, x) = 1
    v, a = √v                  the kernel's variance and amplitude; υ, κ and f are divided by a,
                               regret is multiplied by it
    x_1 … x_T                  the points visited, in order
    υ_t                        the noise's standard deviation at step t; Σ = diag(υ_t²)
    I = ½ log det(1 + Σ⁻¹K)    realised information gain of the run
    γ_T ≥ I                    the largest gain that any T points could have brought
    ‖f‖                        norm of f in the kernel's own RKHS; the same on either scale
    β_T = 2‖f‖² + 300 γ_T ln³(T/δ)
    C = log(2/(πκ²))           κ the stopping threshold; needs 0 < κ ≤ √(2/π)
    R_T ≤ √(2Tγ_T / log(1 + υ_max⁻²)) · (√β_T + √(2(1 + C)) + √(3(1 + C + β_T)))

What is proved and what is not. Along the visited points Σ σ²_{t−1}(x_t) ≤ 2I / log(1 + υ_max⁻²),
also when every observation has its own noise. Where |μ − f| ≤ √β σ holds, so do Lemmas 5 and 6. The
rest of the paper's proof has gaps, and R_T is computed as the paper states it:

    1. It uses the inequality for variances at the optimiser and at the incumbent, where it is not
       proved, and at a fixed point with the realised gain it is false.
    2. It sets f(x⁺) − f(x_t) = −σ̃(x_t) z(x_t), which is μ(x⁺) − μ(x_t). The two differ by up to
       √β_t (σ(x_t) + σ(x⁺)), a term of the order of the others, which R_T lacks.
    3. |μ − f| ≤ √β_t σ (Lemma 1, theorem 6 of Srinivas et al. 2010) is for bounded noise, and
       Gaussian noise is not bounded.
    4. That theorem is also for one noise level, not for a level at each step.

Besides, the constant 300 makes R_T exceed any regret seen in practice: read it as a growth rate.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky
from scipy.stats import qmc

from ceibo.checks import check_not_negative, check_positive
from ceibo.errors import InputError
from ceibo.gp import Kernel
from ceibo.gp.inputs import Array, as_noise, as_points, as_values
from ceibo.gp.linalg import factorize, limited_blas

# Share of the largest gain that greedy choice of T points reaches (Nemhauser, Wolsey and Fisher
# 1978), and the share where each choice has its own noise, in a given order (Fisher, Nemhauser and
# Wolsey 1978).
_GREEDY_SHARE: Final = 1.0 - np.exp(-1.0)
_ORDERED_SHARE: Final = 0.5
_LARGEST_KAPPA: Final = float(np.sqrt(2.0 / np.pi))
_DEFAULT_CANDIDATES: Final = 512


@final
@dataclass(frozen=True)
class RegretReport:
    """The theory's quantities for a run: `regret_bound` in units of f, the rest in unit scale."""

    steps: int  # T
    amplitude: float  # a
    noise_max: float  # υ_max / a
    realised_gain: float  # I
    maximal_gain: float  # upper bound of γ_T over the candidates
    norm: float  # ‖f‖
    # True: from values at the visited points, so β_T and R_T may be too low
    norm_is_lower_bound: bool
    beta: float  # β_T
    constant: float  # C
    regret_bound: float  # R_T

    @property
    def average_regret_bound(self) -> float:
        """R_T / T, in the units of f."""
        return self.regret_bound / self.steps


def regret_report(  # noqa: PLR0913 - public, keyword-only
    kernel: Kernel,
    X: ArrayLike,
    noise_variance: ArrayLike,
    *,
    kappa: float,
    delta: float = 0.1,
    norm: float | None = None,
    f_values: ArrayLike | None = None,
    candidates: ArrayLike | None = None,
) -> RegretReport:
    """Information gain, β_T and the regret bound of a finished run.

    Args:
        kernel: the model's kernel, with its variance in the squared units of f.
        X: (T, d) points visited, in order.
        noise_variance: of the values seen there, one number or (T,), above zero.
        kappa: the stopping threshold, in units of f.
        delta: the bound holds with probability 1 − δ.
        norm: RKHS norm of f, if known.
        f_values: (T,) true values of f − mean at X, otherwise; their norm is a lower bound of ‖f‖.
        candidates: (M, d) points over which γ_T is bounded, the visited ones always among them; 512
            Sobol points of the unit cube by default.
    """
    points = as_points(X, "X", kernel.dimension)
    noise = _as_noise_above_zero(noise_variance, len(points))
    if (norm is None) == (f_values is None):
        raise InputError(
            "give either norm, the RKHS norm of f, or f_values at X, from which a lower bound"
            " follows."
        )
    if f_values is None:
        known = check_not_negative(norm, "norm")
    else:
        known = norm_lower_bound(kernel, points, f_values)
    constant = improvement_constant(kappa, kernel.variance)
    steps, amplitude = len(points), float(np.sqrt(kernel.variance))
    gain = maximal_gain_bound(kernel, points, noise, candidates)
    beta = confidence_width(known, gain, steps, delta)
    noise_max = float(np.sqrt(np.max(noise))) / amplitude
    return RegretReport(
        steps=steps,
        amplitude=amplitude,
        noise_max=noise_max,
        realised_gain=information_gain(kernel, points, noise),
        maximal_gain=gain,
        norm=known,
        norm_is_lower_bound=norm is None,
        beta=beta,
        constant=constant,
        regret_bound=amplitude * unit_regret_bound(steps, gain, noise_max, constant, beta),
    )


def information_gain(kernel: Kernel, X: ArrayLike, noise_variance: ArrayLike) -> float:
    """½ log det(1 + Σ⁻¹K): what the observations at X say about f, in nats; free of f's units."""
    points = as_points(X, "X", kernel.dimension)
    # 1/υ on the unit scale
    weights = np.sqrt(kernel.variance / _as_noise_above_zero(noise_variance, len(points)))
    with limited_blas(len(points)):
        # Σ^-½ K Σ^-½ + 1 has the same determinant and no eigenvalue below 1: it needs no jitter.
        M = weights[:, None] * _unit_kernel(kernel, points, points) * weights
        M[np.diag_indices_from(M)] += 1.0
        return float(np.sum(np.log(np.diagonal(cholesky(M, lower=True)))))


def greedy_gain(kernel: Kernel, candidates: ArrayLike, noise_variance: ArrayLike) -> float:
    """Gain of T candidates chosen one by one, perhaps repeatedly, where the variance is largest.

    Args:
        candidates: (M, d).
        noise_variance: (T,) noise of each choice, in order; T is its length.
    """
    points = as_points(candidates, "candidates", kernel.dimension)
    steps = np.size(noise_variance)
    noise = _as_noise_above_zero(np.atleast_1d(np.asarray(noise_variance)), steps) / kernel.variance
    variance = np.ones(len(points))
    # rows of the Cholesky factor: σ²(x) = 1 − Σ_t V_tx²
    V = np.empty((steps, len(points)))
    gain = 0.0
    for t in range(steps):
        best = int(np.argmax(variance))
        gain += 0.5 * float(np.log1p(variance[best] / noise[t]))
        covariance = _unit_kernel(kernel, points[[best]], points)[0] - V[:t, best] @ V[:t]
        V[t] = covariance / np.sqrt(variance[best] + noise[t])
        variance = np.maximum(variance - V[t] ** 2, 0.0)
    return gain


def maximal_gain_bound(
    kernel: Kernel, X: ArrayLike, noise_variance: ArrayLike, candidates: ArrayLike | None = None
) -> float:
    """Upper bound of γ_T, the largest gain of T observations at candidates, with the run's noise.

    The least of three bounds: greedy choice with the smallest noise for all, over 1 − 1/e; greedy
    choice with each step's own noise, over ½, which is tighter where a few observations are far
    more precise than the rest; and the gain of T independent values, which holds over the whole
    space.
    """
    points = as_points(X, "X", kernel.dimension)
    noise = _as_noise_above_zero(noise_variance, len(points))
    if candidates is None:
        candidates = qmc.Sobol(kernel.dimension, seed=0).random(_DEFAULT_CANDIDATES)
    pool = np.concatenate([as_points(candidates, "candidates", kernel.dimension), points])
    smallest = np.full(len(points), np.min(noise))
    alike = greedy_gain(kernel, pool, smallest) / _GREEDY_SHARE
    ordered = greedy_gain(kernel, pool, noise) / _ORDERED_SHARE
    return float(min(alike, ordered, 0.5 * np.sum(np.log1p(kernel.variance / noise))))


def norm_lower_bound(kernel: Kernel, X: ArrayLike, f_values: ArrayLike) -> float:
    """√(fᵀK⁻¹f): the norm of the smoothest function through these values, a lower bound of ‖f‖.

    Where K needs jitter to be inverted the result is smaller still, so it stays a lower bound.
    """
    points = as_points(X, "X", kernel.dimension)
    values = as_values(f_values, len(points), "f_values") / np.sqrt(kernel.variance)
    with limited_blas(len(points)):
        inverse = factorize(_unit_kernel(kernel, points, points)).inverse
        return float(np.linalg.norm(inverse @ values))


def improvement_constant(kappa: float, variance: float = 1.0) -> float:
    """C = log(2/(πκ²)), κ divided by the amplitude.

    While corrected EI ≥ κ, μ(x_t) − μ(x⁺) ≤ √C σ̃(x_t). This follows from κ ≤ σ̃ φ(z) for z ≤ 0,
    and σ̃ ≤ σ(x) + σ(x⁺) ≤ 2.
    """
    scaled = check_positive(kappa, "kappa") / float(np.sqrt(check_positive(variance, "variance")))
    if scaled > _LARGEST_KAPPA:
        raise InputError(
            f"kappa must be at most √(2/π) = {_LARGEST_KAPPA:.3f} times the kernel's amplitude"
            f" {np.sqrt(variance):g}, got {kappa!r}: no measurement is worth that much. Try a"
            " smaller kappa."
        )
    if scaled == 0:
        raise InputError(
            f"kappa is {kappa!r}, too small beside the kernel's amplitude {np.sqrt(variance):g}."
        )
    return max(float(-2.0 * np.log(scaled / _LARGEST_KAPPA)), 0.0)


def confidence_width(norm: float, gain: float, steps: int, delta: float) -> float:
    """β_T = 2‖f‖² + 300 γ_T ln³(T/δ)."""
    if not 0 < delta < 1:
        raise InputError(f"delta must be between 0 and 1, got {delta!r}.")
    return float(2.0 * norm**2 + 300.0 * gain * np.log(steps / delta) ** 3)


def unit_regret_bound(
    steps: int, gain: float, noise_max: float, constant: float, beta: float
) -> float:
    """R_T on the unit scale, from T, γ_T, υ_max, C and β_T."""
    spread = variance_sum_bound(gain, noise_max)
    terms = np.sqrt(beta) + np.sqrt(2.0 * (1.0 + constant)) + np.sqrt(3.0 * (1.0 + constant + beta))
    return float(np.sqrt(steps * spread) * terms)


def variance_sum_bound(gain: float, noise_max: float) -> float:
    """2I / log(1 + υ_max⁻²), which Σ σ²_{t−1}(x_t) along the visited points never exceeds.

    For σ² ≤ 1, σ² ≤ log(1 + σ²/υ²) / log(1 + υ⁻²), and the right side's denominator falls as υ
    grows: with noise that differs between observations the largest υ serves all, and I = Σ ½ log(1
    + σ²_{t−1}(x_t)/υ_t²) is the realised gain with each observation's own noise.
    """
    return float(2.0 * gain / np.log1p(check_positive(noise_max, "noise_max") ** -2.0))


def _unit_kernel(kernel: Kernel, A: Array, B: Array) -> Array:
    """k/v, so that k(x, x) = 1."""
    return kernel.profile(kernel.squared_distance(A, B))[0]


def _as_noise_above_zero(noise_variance: ArrayLike, n: int) -> Array:
    noise = as_noise(noise_variance, n, unknown=False)
    if np.any(noise == 0):
        raise InputError(
            "noise_variance must be above zero at every point, but is 0 at row"
            f" {int(np.argmin(noise))}: without noise one value says infinitely much and the"
            " theory's information gain is infinite."
        )
    return noise
