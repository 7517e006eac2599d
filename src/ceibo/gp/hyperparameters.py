"""Hyperparameters in standard units, and how a search sees them: as logarithms θ.

    θ = (log ℓ_1 … log ℓ_d, log v, log υ², log σ_1² … log σ_b²)

log υ² is there if some noise is unknown, log σ_t² for each kind of block that varies.
"""

from dataclasses import dataclass, field
from typing import final

import numpy as np

from ceibo.errors import InputError
from ceibo.gp.inputs import Array

# what a search starts from where a value is not known
_NOISE, _BLOCK = 0.1, 0.1


@final
@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """Hyperparameters in standard units: the unit cube, y of unit variance."""

    lengthscales: Array
    variance: float
    noise: float = float("nan")  # NaN where all noise is known
    # σ_t² of each kind of block; 0 where it was not inferred, because there is one block alone
    blocks: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        lengthscales = np.atleast_1d(np.asarray(self.lengthscales, dtype=np.float64))
        values = np.append(
            lengthscales, [self.variance, 1.0 if np.isnan(self.noise) else self.noise]
        )
        if lengthscales.ndim != 1 or not np.all(np.isfinite(values)) or np.any(values <= 0):
            raise InputError(
                "hyperparameters must be finite and above zero, got lengthscales"
                f" {lengthscales.tolist()}, variance {self.variance!r} and noise {self.noise!r}."
                " Noise may also be NaN: all known."
            )
        blocks = np.array(self.blocks, dtype=np.float64)
        if blocks.ndim != 1 or not np.all(np.isfinite(blocks) & (blocks >= 0)):
            raise InputError(
                "hyperparameters: expected a finite variance, not below zero, for each kind of"
                f" block, got {blocks.tolist()}."
            )
        object.__setattr__(self, "lengthscales", lengthscales)
        object.__setattr__(self, "blocks", blocks)

    def to_theta(self, infers_noise: bool, varying: tuple[int, ...] = ()) -> Array:
        """θ, with the variances of the varying kinds of block."""
        noise = self.noise if np.isfinite(self.noise) else _NOISE
        theta: Array = np.log(np.concatenate([self.lengthscales, [self.variance, noise]]))
        known = {kind: float(each) for kind, each in enumerate(self.blocks) if each > 0}
        blocks = np.log([known.get(kind, _BLOCK) for kind in varying])
        return np.concatenate([theta if infers_noise else theta[:-1], blocks])

    @staticmethod
    def from_theta(
        theta: Array, dimension: int, varying: tuple[int, ...] = (), kinds: int = 0
    ) -> "Hyperparameters":
        """From θ; the kinds of block that do not vary have no variance."""
        values = np.exp(theta)
        end = len(values) - len(varying)
        noise = float(values[dimension + 1]) if end > dimension + 1 else float("nan")
        blocks = np.zeros(kinds)
        blocks[list(varying)] = values[end:]
        return Hyperparameters(values[:dimension], float(values[dimension]), noise, blocks)
