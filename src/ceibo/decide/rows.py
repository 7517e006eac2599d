"""Observations as a model takes them: in units of a power of two, and merged where asked."""

from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from ceibo.decide.evidence import Evidence
from ceibo.gp import Blocks, FitResult, GaussianProcess
from ceibo.gp.inputs import Array, Indices, Mask
from ceibo.gp.observations import standardize
from ceibo.gp.scatter import NoiseShape

# In units of the largest value: beyond it an observation says nothing at all.
_LARGEST_NOISE: Final = 2.0**200
# In the same units: what is smaller is nothing beside the largest value.
_SMALLEST: Final = 2.0**-200


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """n observations; a noise variance is NaN where it is unknown, and that of a mean of counted
    values the square of its standard error."""

    X: Array  # (n, d)
    y: Array  # (n,)
    variance: Array  # (n,)
    counts: Array  # (n,)
    block: Indices  # (n, b)
    shape: NoiseShape | None = None  # of the unknown noise; None: it is the same everywhere

    @staticmethod
    def of(evidence: Evidence, exponent: int) -> "Rows":
        """In units of 2^exponent: exact, and the squares are finite."""
        with np.errstate(over="ignore"):
            noise = np.minimum(np.ldexp(evidence.noise, -exponent), _LARGEST_NOISE)
        y = np.ldexp(evidence.y, -exponent)
        if np.any(y):
            # A subset without the largest values must not be fitted in units in which these
            # overflow.
            y[np.abs(y) < _SMALLEST] = 0.0
            noise[noise < _SMALLEST] = 0.0
        return Rows(evidence.X, y, noise**2, evidence.counts, evidence.block)

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Indices) -> "Rows":
        return Rows(
            self.X[rows],
            self.y[rows],
            self.variance[rows],
            self.counts[rows],
            self.block[rows],
            self.shape,
        )

    def with_noise(self, variance: Array, mask: Mask) -> "Rows":
        """With other noise variances (n,), taken as known, where the mask (n,) says so."""
        changed = np.where(mask, variance, self.variance)
        return replace(self, variance=changed, counts=np.where(mask, 1.0, self.counts))

    def single_variance(self, level: float) -> Array:
        """(n,) noise variances of one value each where they are not told, by the inferred level."""
        relative = np.ones(len(self)) if self.shape is None else self.shape.relative(self.X)
        return level * relative

    def unknown_variance(self, level: float) -> Array:
        """(n,) the same of the means that the rows are."""
        return self.single_variance(level) / self.counts

    @property
    def told_variance(self) -> Array:
        """(n,) noise variances; NaN also where they are but estimated from a few values."""
        return np.where(self.counts > 1, np.nan, self.variance)

    def conditioned(self, fitted: FitResult, blocks: Array, *, merged: bool) -> GaussianProcess:
        """A fitted process, conditioned on these rows of the same data.

        Args:
            fitted: with kernel, mean and inferred noise.
            blocks: (b,) the variance of each kind of block of these rows.
            merged: whether the rows of each point are merged, which is exact.
        """
        inferred = _unknown_noise(fitted)
        told = self.told_variance
        X, y, of = self.X, self.y, self.block
        noise = np.where(np.isnan(told), self.unknown_variance(inferred), told)
        if merged:
            data = standardize(X, y, self.variance, self.counts, of)
            if self.shape is not None:
                data = data.shaped(self.shape.relative(data.X))
            squared = data.scale**2
            noise = data.noise_with(inferred / squared) * squared
            X, y, of = data.X, data.centre + data.scale * data.y, data.blocks
        gp = fitted.gp
        shared = Blocks(of, blocks) if len(blocks) else None
        return GaussianProcess(X, y, noise, gp.kernel, gp.mean, gp.expected_noise, shared)


def _unknown_noise(fitted: FitResult) -> float:
    """The variance that stands for an unknown one."""
    # A fit has data of unknown noise wherever there are any, so that the other case is no guess.
    inferred = fitted.noise_variance
    return float(fitted.gp.expected_noise or 0.0) if inferred is None else inferred
