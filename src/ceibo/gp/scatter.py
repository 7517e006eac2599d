"""Noise that differs over the space, as the scatter of replicates shows it.

Notation, for g rows of replicates, in the units of their common level s² = Σ SS_i / Σ ν_i

    SS_i, ν_i      the sum of squares within row i, and its degrees of freedom, one less than values
    η_i            log υ²(x_i)/s², the noise variance of one value there:  SS_i/υ²(x_i) ~ χ²_ν_i
    η(x) = c + h(x)    c ~ N(0, C),   h ~ GP(0, w κ)    with κ a Matérn 3/2 correlation
    ℓ(η) = Σ −½ ν_i η_i − ½ r_i exp(−η_i),    r_i = SS_i/s²            up to a constant

Scatter and mean of normal replicates are independent, so that this is all that scatter says; what
is wrong in the model of f has no part in it. ℓ is concave. With K = w κ + C 11ᵀ the evidence of a
pair (w, κ) is, by Laplace's method (Rasmussen and Williams 2006, eq. 3.32),

    log Z = ℓ(η̂) − ½ η̂ᵀ K⁻¹ η̂ − ½ log det(I + W^½ K W^½),     W = ½ r exp(−η̂)

at the mode η̂ = K ∇ℓ(η̂), and one level is w = 0. The Bayes factor B against one level is averaged
over a grid of w, of length scales, and of h depending on all parameters or on one. A mean of Bayes
factors is a supermartingale where one level is true: the chance that it ever exceeds 20 in the
course of a study is at most 1/20, however often it is asked. Terms that are left out as they would
add nothing make B smaller.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np
import scipy

from ceibo.gp.grid import evenly
from ceibo.gp.inputs import Array, Indices
from ceibo.gp.kernels import Kernel, Matern32
from ceibo.gp.linalg import limited_blas
from ceibo.gp.observations import Observations

_FEWEST: Final = 6  # rows with scatter from which noise is asked to differ
_MOST: Final = 200  # rows that are used, spread evenly over more
_LEVEL: Final = 10.0  # C: the common level is known within a factor of some 20 in υ
_SPREADS: Final = (1.0, 9.0)  # w: υ differs by a factor of some 1.6, or 4.5
_LENGTHSCALES: Final = (0.2, 0.5, 1.25)  # times √d of the parameters that matter
_WHATEVER: Final = 1e6  # length scale of a parameter that does not
_MOST_ALONE: Final = 4  # parameters of which it is tried whether the noise depends on one alone
# Values that agree to this share of the typical deviation were rounded, and say nothing of noise.
_ROUNDED: Final = 1e-6
_PROMISING: Final = 1.0  # standard deviations by which the evidence must rise from one level
_STEPS, _HALVINGS = 60, 30
_ENOUGH: Final = 1e-3  # log density gained by a step of Newton's method, after which it ends


@final
@dataclass(frozen=True, eq=False)
class NoiseShape:
    """How the noise variance of one value depends on x, in units of the level that is inferred."""

    kernel: Kernel  # w κ
    X: Array  # (g, d)
    weights: Array  # (g,) ∇ℓ at the mode
    level: float  # the part of η that is the same everywhere

    def relative(self, X: Array) -> Array:
        """(N,) exp(η) at points (N, d)."""
        return np.asarray(np.exp(self.level + self.kernel(X, self.X) @ self.weights))


@final
class FoundShape(NamedTuple):
    """A shape, and what it costs: log B less the gain of log likelihood ℓ, which a fit with this
    shape finds for itself."""

    shape: NoiseShape
    log_bayes: float
    price: float


@final
class Mode(NamedTuple):
    """The mode of η given scatters."""

    log_evidence: float
    log_likelihood: float  # ℓ
    slope: Array  # (g,) ∇ℓ


@final
class _Trial(NamedTuple):
    """A correlation of the grid, with its prior weight for each w."""

    lengthscales: Array
    matrix: Array  # (g, g)
    share: float


def shape_of_noise(data: Observations, categorical: tuple[int, ...] = ()) -> FoundShape | None:
    """The shape that explains the scatter of replicates best; None if one level does.

    Where a shape is returned, log B is above 0; whether that is enough is for others to decide.

    Args:
        data: in standard units; rows without replicates are left out.
        categorical: columns compared by equality.
    """
    rows = _telling(data)
    if len(rows) < _FEWEST:
        return None
    X, extras = data.X[rows], data.extras[rows]
    scatters = data.scatters[rows]
    r = scatters / (float(np.sum(scatters)) / float(np.sum(extras)))
    with limited_blas(len(rows)):
        even = find_mode(np.zeros((len(rows), len(rows))), extras, r)
        found: list[tuple[float, _Trial, float, Mode]] = []
        for trial in _trials(X, categorical, r - extras, extras):
            for spread in _SPREADS:
                mode = find_mode(spread * trial.matrix, extras, r)
                log_odds = mode.log_evidence - even.log_evidence + float(np.log(trial.share))
                found.append((log_odds, trial, spread, mode))
    log_bayes = float(np.logaddexp.reduce([each[0] for each in found])) if found else -np.inf
    if not log_bayes > 0:
        return None
    _, trial, spread, mode = max(found, key=lambda each: each[0])
    kernel = Matern32(trial.lengthscales, spread, categorical)
    shape = NoiseShape(kernel, X, mode.slope, _LEVEL * float(np.sum(mode.slope)))
    return FoundShape(shape, log_bayes, log_bayes - (mode.log_likelihood - even.log_likelihood))


def _telling(data: Observations) -> Indices:
    """Rows whose scatter says something, spread evenly where there are very many."""
    usable = data.unknown & (data.extras > 0)
    if not np.any(usable):
        return np.flatnonzero(usable)
    typical = float(np.sum(data.scatters[usable]) / np.sum(data.extras[usable]))
    rows = np.flatnonzero(usable & (data.scatters > _ROUNDED**2 * typical * data.extras))
    return np.asarray(rows[evenly(len(rows), min(len(rows), _MOST))])


def _trials(
    X: Array, categorical: tuple[int, ...], excess: Array, extras: Array
) -> Iterator[_Trial]:
    """The correlations in whose direction the evidence rises from one level, with their weights.

    The derivative of log Z in w at w = 0 is T = ½ (gᵀ κ g − Σ_i κ_ii W_i) with g = ½ (r − ν), and
    has the mean 0 and the variance ½ Σ_ij κ_ij² W_i W_j, but for kurtosis, where one level is true;
    for W = ½ r stands its mean ½ ν.
    """
    d = X.shape[1]
    share = 1.0 / (len(_SPREADS) * len(_LENGTHSCALES))
    together = 1.0 if d == 1 else 0.5

    g, W = 0.5 * excess, 0.5 * extras

    def rises(matrix: Array) -> float:
        std = np.sqrt(0.5 * (W @ matrix**2 @ W))
        return float(0.5 * (g @ matrix @ g - matrix.diagonal() @ W) / std)

    for scale in _LENGTHSCALES:
        lengthscales = np.full(d, scale * np.sqrt(d))
        matrix = Matern32(lengthscales, 1.0, categorical)(X, X)
        if rises(matrix) > _PROMISING:
            yield _Trial(lengthscales, matrix, together * share)
    if d == 1:
        return
    alone: list[tuple[float, int, list[_Trial]]] = []
    for k in range(d):
        trials, most = [], 0.0
        for scale in _LENGTHSCALES:
            lengthscales = np.full(d, _WHATEVER)
            lengthscales[k] = scale
            matrix = Matern32(lengthscales, 1.0, categorical)(X, X)
            rise = rises(matrix)
            if rise > _PROMISING:
                most = max(most, rise)
                trials.append(_Trial(lengthscales, matrix, (1.0 - together) * share / d))
        alone.append((-most, k, trials))
    for _, _, trials in sorted(alone, key=lambda each: each[:2])[:_MOST_ALONE]:
        yield from trials


def find_mode(matrix: Array, extras: Array, r: Array) -> Mode:
    """The mode of η by Newton's method, and the evidence there.

    Args:
        matrix: (g, g) w κ.
        extras: (g,) ν.
        r: (g,) the scatters, in units of the common level.
    """
    K = matrix + _LEVEL
    slope, eta = np.zeros(len(r)), np.zeros(len(r))
    height = _height(eta, slope, extras, r)
    # A first guess between the level of each row and the common one, which need not be K slope.
    target = _target(K, extras, r, np.log((r + extras) / (2.0 * extras)))
    for step in range(_STEPS):
        better, reached = _climbed(K, extras, r, (slope, height), target)
        gained = reached - height
        slope, height, eta = better, reached, K @ better
        if step and gained <= _ENOUGH:
            break
        target = _target(K, extras, r, eta)
    log_evidence = height - float(np.sum(np.log(_factor(K, r, eta)[0].diagonal())))
    return Mode(log_evidence, height + 0.5 * float(slope @ eta), slope)


def _target(K: Array, extras: Array, r: Array, eta: Array) -> Array:
    """Where a step of Newton's method from η leads, as K⁻¹ η."""
    factor, W = _factor(K, r, eta)
    b = W * eta + W - 0.5 * extras
    root = np.sqrt(W)
    return np.asarray(b - root * scipy.linalg.lapack.dpotrs(factor, root * (K @ b), lower=1)[0])


def _climbed(
    K: Array, extras: Array, r: Array, begin: tuple[Array, float], target: Array
) -> tuple[Array, float]:
    """On the way to the target, halved until it leads up: K⁻¹ η and the height there."""
    slope, height = begin
    for halving in range(_HALVINGS):
        trial = slope + 0.5**halving * (target - slope)
        reached = _height(K @ trial, trial, extras, r)
        if reached > height:
            return trial, reached
    return begin


def _factor(K: Array, r: Array, eta: Array) -> tuple[Array, Array]:
    """The lower Cholesky factor of I + W^½ K W^½, and W (g,)."""
    W = 0.5 * r * np.exp(-eta)
    root = np.sqrt(W)
    B = K * root
    B *= root[:, None]
    B.ravel()[:: len(r) + 1] += 1.0
    return scipy.linalg.lapack.dpotrf(B.T, lower=1, overwrite_a=1)[0], W


def _height(eta: Array, slope: Array, extras: Array, r: Array) -> float:
    """ℓ(η) − ½ η K⁻¹ η, with K⁻¹ η = slope."""
    with np.errstate(over="ignore"):
        likelihood = -0.5 * float(extras @ eta + r @ np.exp(-eta))
    return likelihood - 0.5 * float(slope @ eta)
