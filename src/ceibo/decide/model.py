"""The fitted model of the evidence: of the objective, and of where measurements fail."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from ceibo.acquisition import find_incumbent
from ceibo.decide.discounts import Discount, discounted, discounts_of
from ceibo.decide.evidence import Evidence
from ceibo.decide.outliers import Doubted, find_outliers
from ceibo.decide.region import obeying
from ceibo.decide.rows import Rows
from ceibo.decide.settings import Settings
from ceibo.decide.space import Space
from ceibo.decide.subset import group, most_telling
from ceibo.decide.varying import REQUIRED, Varying, expecting, vary
from ceibo.errors import InputError
from ceibo.gp import FitResult, GaussianProcess, Hyperparameters, fit_gp
from ceibo.gp.grid import evenly
from ceibo.gp.inputs import Array, Mask
from ceibo.gp.scatter import NoiseShape

_RIVALS: Final = ("matern52", "squared-exponential")  # of kernel "auto"
# Of very many observations, hyperparameters need fewer than the mean does, and cost more.
_FIT_ROWS: Final = 400
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
    kinds: tuple[str, ...] = ()  # of the blocks of the fit
    discounts: tuple[Discount, ...] = ()  # of values that are not believed
    shape: NoiseShape | None = None  # of unknown noise that differs over the space
    space: Space | None = None  # whose rules say which measured settings can be had

    def natural(self, value: float) -> float:
        """From the process's units to those of the objective."""
        return float(self.natural_values(np.asarray(value, dtype=float)))

    def natural_values(self, values: Array) -> Array:
        """The same of an array; beyond the largest double stands the largest double."""
        with np.errstate(over="ignore"):
            return np.clip(np.ldexp(values, self.exponent), -_LARGEST, _LARGEST)

    @property
    def amplitude(self) -> float:
        """The standard deviation of the objective over the space, by the kernel's variance."""
        return self.natural(float(np.sqrt(self.gp.kernel.variance)))

    @property
    def noise(self) -> float | None:
        """The inferred std of one value of unknown noise, in the objective's units.

        Where it differs over the space, that at the best measured setting; None if all is known.
        """
        level = self.fit.noise_variance
        if level is None or self.shape is None:
            return None if level is None else self.natural(float(np.sqrt(level)))
        best = find_incumbent(self.gp).x[None, :]
        return self.natural(float(np.sqrt(level * self.shape.relative(best)[0])))

    @property
    def noise_span(self) -> tuple[float, float] | None:
        """Its smallest and largest among the measured settings, where it differs over the space."""
        level = self.fit.noise_variance
        if level is None or self.shape is None:
            return None
        stds = self.natural_values(np.sqrt(level * self.shape.relative(self.gp.X)))
        return float(np.min(stds)), float(np.max(stds))

    def expected_noise(self, X: Array) -> Array:
        """(N,) the variance expected of one more value at points (N, d), in squared units."""
        expected = np.full(len(X), float(self.gp.expected_noise or 0.0))
        level = self.fit.noise_variance
        if level is None or self.shape is None or self.fit.basis.expected is not None:
            return expected
        return np.asarray(level * self.shape.relative(X))

    def expecting_at(self, gp: GaussianProcess, x: Array) -> GaussianProcess:
        """One of the model's processes, that expects of the next value the noise at x (d,)."""
        if self.shape is None:
            return gp
        return replace(gp, expected_noise=float(self.expected_noise(x[None, :])[0]))

    def conditioned(self, evidence: Evidence, limit: int) -> GaussianProcess:
        """The process with (the latest) pending points: variances shrink there, means stay."""
        pending = evidence.pending[-limit:]
        return self.gp.condition(pending, self.expected_noise(pending)) if len(pending) else self.gp

    def refitted_to(self, evidence: Evidence, limit: int) -> "Model":
        """A model of earlier evidence, with the hyperparameters and inferred noise of this one."""
        n, blocks = len(evidence), self.block_variances(evidence.block_kinds)
        rows = replace(Rows.of(evidence, self.exponent), shape=self.shape)
        rows = discounted(rows, evidence, self.discounts)
        if n > limit:
            groups = group(rows.X, rows.told_variance, rows.block)
            if len(groups) > limit:
                chosen = most_telling(self.gp, evidence.X[groups.first], limit)
                rows = rows[groups.rows(chosen)]
        gp = _reaching(rows.conditioned(self.fit, blocks, merged=n > limit), self.space)
        return replace(self, gp=gp, observations=n, used=len(rows), discounts=())

    def block_variances(self, kinds: Sequence[str]) -> Array:
        """The variances of these kinds of block, in units of the process; 0 of other kinds."""
        blocks = self.fit.gp.blocks
        known = {} if blocks is None else dict(zip(self.kinds, blocks.variances, strict=True))
        return np.array([known.get(kind, 0.0) for kind in kinds])


def fit_model(
    evidence: Evidence, space: Space, settings: Settings, start: Hyperparameters | None = None
) -> Model:
    """Fits a model of all observations, or of a subset if there are very many settings."""
    if len(evidence) == 0:
        raise InputError("a model needs at least one measurement.")
    exponent = _exponent_of(evidence)
    whole, kinds = Rows.of(evidence, exponent), evidence.block_kinds
    n, limit = len(whole), settings.max_observations

    def fit_once(
        rows: Rows,
        kernel: str,
        start: Hyperparameters | None,
        restarts: int | None,
        wrong: Mask | None = None,
    ) -> FitResult:
        return fit_gp(
            rows.X,
            rows.y,
            rows.variance,
            kernel=kernel,
            method=settings.fit,
            categorical=space.categorical,
            start=start,
            restarts=restarts,
            breadth=space.breadth,
            counts=rows.counts,
            blocks=rows.block if kinds else None,
            discounted=wrong,
            noise_shape=rows.shape,
        )

    def fit(rows: Rows) -> FitResult:
        kernels = _RIVALS if settings.kernel == "auto" else (settings.kernel,)
        fits = [fit_once(rows, kernel, start, settings.restarts) for kernel in kernels]
        return max(fits, key=lambda fitted: fitted.log_density)

    def refit(rows: Rows, wrong: Mask, before: FitResult) -> FitResult:
        return fit_once(rows, before.gp.kernel.name, before.hyperparameters, 0, wrong)

    def varied(rows: Rows, fitted: FitResult) -> Varying | None:
        if not settings.varying_noise:
            return None
        certain = np.zeros(len(rows), dtype=bool)
        return vary(rows, fitted, lambda rows, before: refit(rows, certain, before))

    def doubted(rows: Rows, fitted: FitResult) -> Doubted:
        return find_outliers(rows, fitted, refit) if settings.outliers else Doubted(fitted, [], 0.0)

    groups = group(whole.X, whole.told_variance, whole.block) if n > limit else None
    if groups is None or len(groups) <= limit:
        fitted = fit(whole)
        found, shape = doubted(whole, fitted), None
        if (other := varied(whole, fitted)) is not None:
            # A few wrong values look like noise that is larger there, and the other way round.
            rival = doubted(other.rows, other.fit)
            if rival.gain + other.gain > found.gain + REQUIRED:
                found, shape = rival, other.rows.shape
        fitted, discounts = expecting(found.fit, shape), discounts_of(evidence, found.outliers)
        fitted = replace(fitted, gp=_reaching(fitted.gp, space))
        return Model(fitted.gp, fitted, exponent, n, n, kinds, discounts, shape, space)
    rows = whole[groups.rows(groups.spread(min(limit, _FIT_ROWS)))]
    fitted = fit(rows)
    if (other := varied(rows, fitted)) is not None:
        whole = replace(whole, shape=other.rows.shape)
        fitted = expecting(other.fit, whole.shape)
    rows = whole[groups.rows(most_telling(fitted.gp, whole.X[groups.first], limit))]
    variances = np.zeros(0) if fitted.gp.blocks is None else fitted.gp.blocks.variances
    gp = _reaching(rows.conditioned(fitted, variances, merged=True), space)
    return Model(gp, fitted, exponent, n, len(rows), kinds, shape=rows.shape, space=space)


def _reaching(gp: GaussianProcess, space: Space | None) -> GaussianProcess:
    """A process that knows which of its points obey the rules."""
    found = None if space is None else obeying(space, gp.X)
    return gp if found is None else replace(gp, reachable=found)


def _exponent_of(evidence: Evidence) -> int:
    """The power of two that is near the size of the values; of zeros, near that of their noise."""
    largest = np.max(np.abs(evidence.y))
    if largest == 0.0:
        largest = np.nanmax(evidence.noise, initial=0.0)
    return int(np.frexp(largest)[1])


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
