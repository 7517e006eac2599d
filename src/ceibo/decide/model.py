"""The fitted model of the evidence: of the objective, and of where measurements fail."""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.decide.evidence import Evidence
from ceibo.decide.settings import Settings
from ceibo.decide.space import Space
from ceibo.errors import InputError
from ceibo.gp import FitResult, GaussianProcess, Hyperparameters, fit_gp
from ceibo.gp.grid import evenly
from ceibo.gp.inputs import Array, Indices

_RIVALS: Final = ("matern52", "squared-exponential")  # of kernel "auto"
# Of very many observations, hyperparameters need fewer than the mean does, and cost more.
_FIT_ROWS: Final = 400
# In units of the largest value: beyond it an observation says nothing at all.
_LARGEST_NOISE: Final = 2.0**200


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
        return float(np.ldexp(value, self.exponent))

    def conditioned(self, evidence: Evidence, limit: int) -> GaussianProcess:
        """The process with (the latest) pending points: variances shrink there, means stay."""
        pending = evidence.pending[-limit:]
        return self.gp.condition(pending) if len(pending) else self.gp

    def refitted_to(self, evidence: Evidence) -> "Model":
        """A model of other evidence with the hyperparameters and the inferred noise of this one."""
        y, variance = _scale(evidence, self.exponent)
        gp = _recondition(self.fit, evidence.X, y, variance)
        return Model(gp, self.fit, self.exponent, len(evidence), len(evidence))


def fit_model(
    evidence: Evidence, space: Space, settings: Settings, start: Hyperparameters | None = None
) -> Model:
    """Fits a model of all observations, or of a subset if there are very many."""
    if len(evidence) == 0:
        raise InputError("a model needs at least one measurement.")
    exponent = int(np.frexp(np.max(np.abs(evidence.y)))[1])
    y, variance = _scale(evidence, exponent)
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
            )
            for kernel in kernels
        ]
        return max(fits, key=lambda fitted: fitted.log_density)

    limit = settings.max_observations
    if n <= limit:
        whole = fit(np.arange(n))
        return Model(whole.gp, whole, exponent, n, n)
    first = fit(evenly(n, min(limit, _FIT_ROWS)))
    rows = _most_telling(first.gp, X, limit)
    gp = _recondition(first, X[rows], y[rows], variance[rows])
    return Model(gp, first, exponent, n, limit)


def failure_model(evidence: Evidence, space: Space) -> GaussianProcess | None:
    """The process of +1 where a point was measured and −1 where it failed; None if none failed."""
    if len(evidence.failed) == 0:
        return None
    failed = evidence.failed[-_FIT_ROWS:]
    measured = np.unique(evidence.X, axis=0)
    measured = measured[evenly(len(measured), min(len(measured), _FIT_ROWS))]
    outcomes = np.repeat([1.0, -1.0], [len(measured), len(failed)])
    X = np.concatenate([measured, failed])
    # Outcomes change abruptly, which a rough kernel follows best.
    return fit_gp(X, outcomes, kernel="matern12", categorical=space.categorical).gp


def _scale(evidence: Evidence, exponent: int) -> tuple[Array, Array]:
    """Values and noise variances in units of 2^exponent: exact, and the squares are finite."""
    noise = np.minimum(np.ldexp(evidence.noise, -exponent), _LARGEST_NOISE)
    return np.ldexp(evidence.y, -exponent), noise**2


def _most_telling(gp: GaussianProcess, X: Array, count: int) -> Indices:
    """Rows of the half with the best posterior means, and of an even spread over the rest."""
    parts = np.array_split(X, len(X) // 2000 + 1)
    means = np.concatenate([gp.posterior(part)[0] for part in parts])
    order = np.argsort(means, kind="stable")
    best, rest = order[: count // 2], np.sort(order[count // 2 :])
    return np.sort(np.concatenate([best, rest[evenly(len(rest), count - count // 2)]]))


def _recondition(fitted: FitResult, X: Array, y: Array, variance: Array) -> GaussianProcess:
    """The fitted process, conditioned on other rows of the same data."""
    inferred = np.nan if fitted.noise_variance is None else fitted.noise_variance
    noise = np.where(np.isnan(variance), inferred, variance)
    return GaussianProcess(X, y, noise, fitted.gp.kernel, fitted.gp.mean, fitted.gp.expected_noise)
