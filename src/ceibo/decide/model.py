"""The fitted model of the evidence: of the objective, and of where measurements fail."""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.decide.evidence import Evidence
from ceibo.decide.settings import Settings
from ceibo.decide.space import Space
from ceibo.decide.subset import group, most_telling
from ceibo.errors import InputError
from ceibo.gp import FitResult, GaussianProcess, Hyperparameters, fit_gp
from ceibo.gp.grid import evenly
from ceibo.gp.inputs import Array, Indices
from ceibo.gp.observations import standardize

_RIVALS: Final = ("matern52", "squared-exponential")  # of kernel "auto"
# Of very many observations, hyperparameters need fewer than the mean does, and cost more.
_FIT_ROWS: Final = 400
# In units of the largest value: beyond it an observation says nothing at all.
_LARGEST_NOISE: Final = 2.0**200
# In the same units: what is smaller is nothing beside the largest value.
_SMALLEST: Final = 2.0**-200
_LARGEST: Final = float(np.finfo(np.float64).max)


@final
@dataclass(frozen=True, eq=False)
class Model:
    """A fitted model of the evidence, minimised, in units of 2^exponent.

    The power of two keeps every square within the range of doubles. Only `Belief` and `suggest`
    turn its values into the user's.
    """

    gp: GaussianProcess
    fit: FitResult
    exponent: int
    observations: int  # how many there are
    used: int  # how many the model was conditioned on

    def natural(self, value: float) -> float:
        """From the process's units to those of the objective."""
        return float(self.natural_values(np.asarray(value, dtype=float)))

    def natural_values(self, values: Array) -> Array:
        """The same of an array; beyond the largest double stands the largest double."""
        with np.errstate(over="ignore"):
            return np.clip(np.ldexp(values, self.exponent), -_LARGEST, _LARGEST)

    def conditioned(self, evidence: Evidence, limit: int) -> GaussianProcess:
        """The process with (the latest) pending points: variances shrink there, means stay."""
        pending = evidence.pending[-limit:]
        return self.gp.condition(pending) if len(pending) else self.gp

    def refitted_to(self, evidence: Evidence, limit: int) -> "Model":
        """A model of earlier evidence, with the hyperparameters and inferred noise of this one."""
        n = len(evidence)
        data = evidence.X, *scaled(evidence, self.exponent)
        if n <= limit:
            gp = _recondition(self.fit, *data)
            return Model(gp, self.fit, self.exponent, n, n)
        groups = group(evidence.X, evidence.noise)
        rows = np.arange(n)
        if len(groups) > limit:
            rows = groups.rows(most_telling(self.gp, evidence.X[groups.first], limit))
        gp = _recondition(self.fit, *_merge(self.fit, *(each[rows] for each in data)))
        return Model(gp, self.fit, self.exponent, n, len(rows))


def fit_model(
    evidence: Evidence, space: Space, settings: Settings, start: Hyperparameters | None = None
) -> Model:
    """Fits a model of all observations, or of a subset if there are very many settings."""
    if len(evidence) == 0:
        raise InputError("a model needs at least one measurement.")
    exponent = int(np.frexp(np.max(np.abs(evidence.y)))[1])
    y, variance = scaled(evidence, exponent)
    X, n = evidence.X, len(evidence)

    def fit(rows: Indices) -> FitResult:
        kernels = _RIVALS if settings.kernel == "auto" else (settings.kernel,)
        fits = [
            fit_gp(
                X[rows],
                y[rows],
                variance[rows],
                kernel=kernel,
                method=settings.fit,
                categorical=space.categorical,
                start=start,
                restarts=settings.restarts,
                breadth=space.breadth,
            )
            for kernel in kernels
        ]
        return max(fits, key=lambda fitted: fitted.log_density)

    limit = settings.max_observations
    groups = group(X, variance) if n > limit else None
    if groups is None or len(groups) <= limit:
        whole = fit(np.arange(n))
        return Model(whole.gp, whole, exponent, n, n)
    fitted = fit(groups.rows(groups.spread(min(limit, _FIT_ROWS))))
    rows = groups.rows(most_telling(fitted.gp, X[groups.first], limit))
    gp = _recondition(fitted, *_merge(fitted, X[rows], y[rows], variance[rows]))
    return Model(gp, fitted, exponent, n, len(rows))


def failure_model(evidence: Evidence, space: Space, limit: int) -> GaussianProcess | None:
    """The process of +1 where a point was measured and −1 where it failed; None if none failed."""
    if len(evidence.failed) == 0:
        return None
    # Where the objective's model is at its limit, this one is not to take longer still.
    most = _FIT_ROWS if len(evidence) <= limit else _FIT_ROWS // 2
    failed = evidence.failed[-most:]
    measured = np.unique(evidence.X, axis=0)
    measured = measured[evenly(len(measured), min(len(measured), most))]
    outcomes = np.repeat([1.0, -1.0], [len(measured), len(failed)])
    X = np.concatenate([measured, failed])
    # Outcomes change abruptly, which a rough kernel follows best.
    categorical, breadth = space.categorical, space.breadth
    return fit_gp(X, outcomes, kernel="matern12", categorical=categorical, breadth=breadth).gp


def scaled(evidence: Evidence, exponent: int) -> tuple[Array, Array]:
    """Values and noise variances in units of 2^exponent: exact, and the squares are finite."""
    with np.errstate(over="ignore"):
        noise = np.minimum(np.ldexp(evidence.noise, -exponent), _LARGEST_NOISE)
    y = np.ldexp(evidence.y, -exponent)
    if np.any(y):
        # A subset without the largest values must not be fitted in units in which these overflow.
        y[np.abs(y) < _SMALLEST] = 0.0
        noise[noise < _SMALLEST] = 0.0
    return y, noise**2


def _recondition(fitted: FitResult, X: Array, y: Array, variance: Array) -> GaussianProcess:
    """The fitted process, conditioned on other rows of the same data."""
    noise = np.where(np.isnan(variance), _unknown_noise(fitted), variance)
    return GaussianProcess(X, y, noise, fitted.gp.kernel, fitted.gp.mean, fitted.gp.expected_noise)


def _merge(fitted: FitResult, X: Array, y: Array, variance: Array) -> tuple[Array, Array, Array]:
    """The same data with the rows of each point merged, unknown noise being that of the fit."""
    data = standardize(X, y, variance)
    squared = data.scale**2
    noise = data.noise_with(_unknown_noise(fitted) / squared) * squared
    return data.X, data.centre + data.scale * data.y, noise


def _unknown_noise(fitted: FitResult) -> float:
    """The variance that stands for an unknown one."""
    # A fit has data of unknown noise wherever there are any, so that the other case is no guess.
    inferred = fitted.noise_variance
    return float(fitted.gp.expected_noise or 0.0) if inferred is None else inferred
