"""Initial designs: random points that keep apart."""

from collections.abc import Callable, Sequence
from typing import Final, final

import numpy as np

from ceibo.gp.inputs import Array

_CANDIDATES: Final = 16  # from which each point of a design is chosen
_APART: Final = 64  # points of a design that are kept apart; later ones are drawn
_DIFFERENT: Final = 0.5  # how far apart two different words are


@final
class Design:
    """Designs of points that keep apart, one for each key.

    Each point is the one, of a few drawn for it, that is furthest from those before it.

    Args:
        sample: draws random points.
        words: columns whose coordinates are only equal or different.
    """

    def __init__(
        self, sample: Callable[[int, np.random.Generator], Array], words: Sequence[int]
    ) -> None:
        self._sample, self._words = sample, list(words)
        self._latest: tuple[int, Array] | None = None

    def point(self, index: int, key: int) -> Array:
        """Point `index` (d,) of a design."""
        if index >= _APART:
            return np.asarray(self._sample(1, np.random.default_rng([key, index]))[0])
        if self._latest is None or self._latest[0] != key:
            self._latest = key, self._chosen(key)
        return np.asarray(self._latest[1][index])

    def _chosen(self, key: int) -> Array:
        drawn = self._sample(_CANDIDATES * _APART, np.random.default_rng([key]))
        chosen = drawn[:1]
        for index in range(1, _APART):
            some = drawn[index * _CANDIDATES : (index + 1) * _CANDIDATES]
            gaps = np.abs(some[:, None, :] - chosen)
            gaps[:, :, self._words] = _DIFFERENT * (gaps[:, :, self._words] > 0.0)
            nearest = (gaps**2).sum(axis=2).min(axis=1)
            chosen = np.concatenate([chosen, some[[int(np.argmax(nearest))]]])
        return chosen
