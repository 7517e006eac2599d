"""Blocks: days, plates, batches, whose measurements share an offset.

Notation
    b kinds of block; the block of kind t that row i was measured in is of[i, t], −1 for none
    y_i = f(x_i) + Σ_t b_t[of[i, t]] + ε_i      with b_t[j] ~ N(0, σ_t²), independent
    Σ_ij = υ_i² [i = j] + Σ_t σ_t² [same block of kind t]

Blocks are noise that rows share: f itself is free of them, and so is everything that is said of f.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from ceibo.errors import InputError
from ceibo.gp.inputs import Array, Indices, as_block_indices, as_floats

_ALL = slice(None)


@final
@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of n rows, and how much the offsets of each kind vary.

    Args:
        of: (n, b) the index of each row's block of each kind, −1 where it is in none.
        variances: (b,) σ_t², in squared units of y.
    """

    of: Indices
    variances: Array

    def __init__(self, of: ArrayLike, variances: ArrayLike) -> None:
        indices = as_block_indices(of)
        numbers = np.atleast_1d(as_floats(variances, "block variances"))
        if numbers.shape != (indices.shape[1],):
            raise InputError(
                f"blocks of {indices.shape[1]} kinds need as many variances, got an array of"
                f" shape {numbers.shape}."
            )
        if not np.all(np.isfinite(numbers) & (numbers >= 0)):
            raise InputError(
                f"block variances must be finite and not negative, got {numbers.tolist()}."
            )
        object.__setattr__(self, "of", indices)
        object.__setattr__(self, "variances", numbers)

    def __len__(self) -> int:
        return len(self.of)

    @property
    def total(self) -> float:
        """Σ_t σ_t²: what a new block of every kind adds to the noise of a measurement."""
        return float(np.sum(self.variances))

    def columns(self, rows: Indices | slice = _ALL) -> Array:
        """(n, r) the columns of Σ at these rows, without each row's own noise."""
        total = np.zeros((len(self.of), len(self.of[rows])))
        for of, variance in zip(self.of.T, self.variances, strict=True):
            total += variance * ((of[:, None] == of[rows]) & (of[rows] >= 0))
        return total

    def scaled(self, divisor: float) -> "Blocks":
        """The same, of values divided by a power of two."""
        return Blocks(self.of, self.variances / divisor / divisor)

    def grown(self, further: ArrayLike) -> "Blocks":
        """With the blocks (p, b) of further rows."""
        return Blocks(np.concatenate([self.of, as_block_indices(further)]), self.variances)

    def with_new(self, count: int) -> "Blocks":
        """With so many further rows, all in one new block of each kind."""
        following = self.of.max(axis=0, initial=-1) + 1
        return self.grown(np.tile(following, (count, 1)))

    def members(self, kind: int) -> Array:
        """(n, J) which rows are in each block of a kind, as 0 and 1."""
        of = self.of[:, kind]
        inside = of[:, None] == np.arange(of.max(initial=-1) + 1)
        return np.asarray(inside, dtype=np.float64)


@final
class SharedNoise:
    """What blocks add to the covariance of n rows, and the sums its gradient needs.

    Matrices are square arrays whose pairs i < j stand at i·n + j, as in ceibo.gp.likelihood.

    Args:
        of: (n, b) as in Blocks.
    """

    def __init__(self, of: Indices):
        n = len(of)
        i, j = np.triu_indices(n, 1)
        self._inside = (of >= 0).T  # (b, n)
        same = [(kind[i] == kind[j]) & (kind[i] >= 0) for kind in of.T]
        # for each kind the pairs that share a block
        self._pairs = [(i[each], j[each], i[each] * n + j[each]) for each in same]

    def add_to(self, K: Array, variances: Array) -> None:
        """Adds Σ_t σ_t² [same block] to the diagonal and the pairs of K (n, n), in place."""
        flat = K.ravel()
        for inside, (_, _, places), variance in zip(
            self._inside, self._pairs, variances, strict=True
        ):
            flat[:: len(K) + 1] += variance * inside
            flat[places] += variance

    def gradient(self, alpha: Array, A: Array, diagonal: Array, variances: Array) -> Array:
        """½ Σ_ij (α_i α_j − A_ij) σ_t² [same block] for each kind, (b,).

        Args:
            alpha: (n,).
            A: (n, n), Fortran-ordered; only its lower triangle is read.
            diagonal: (n,) α_i² − A_ii.
            variances: (b,) σ_t².
        """
        flat = A.T.ravel()
        sums = [
            0.5 * float(diagonal @ inside) + float(alpha[i] @ alpha[j]) - float(flat[places].sum())
            for inside, (i, j, places) in zip(self._inside, self._pairs, strict=True)
        ]
        return np.asarray(variances * sums)
