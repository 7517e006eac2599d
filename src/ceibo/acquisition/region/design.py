"""Initial designs: random points that keep apart, and are even where nothing is asked of them.

Columns that no requirement concerns are cut into cells, their levels if those are few, and no cell
comes again before every other has come: points that only keep apart gather at the ends of ranges.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, final

import numpy as np

from ceibo.gp.inputs import Array, Indices, Mask

_CANDIDATES: Final = 16  # from which each point of a design is chosen
_APART: Final = 64  # points of a design that are kept apart; later ones are drawn
_DIFFERENT: Final = 0.5  # how far apart two different words are
_FEW: Final = 16  # levels that are a cell each
_CELLS: Final = 8  # of other columns


@final
class Design:
    """Designs of points that keep apart, one for each key.

    Each point is the one, of a few drawn for it, that is furthest from those before it.

    Args:
        sample: draws random points.
        words: columns whose coordinates are only equal or different.
        free: (d,) columns that may have any of their coordinates whatever the others have.
        discrete: column -> allowed coordinates.
    """

    def __init__(
        self,
        sample: Callable[[int, np.random.Generator], Array],
        words: Sequence[int],
        free: Mask,
        discrete: Mapping[int, Array],
    ) -> None:
        self._sample, self._words = sample, list(words)
        self._free: Indices = np.flatnonzero(free)
        self._discrete = discrete
        self._latest: tuple[int, Array] | None = None

    def point(self, index: int, key: int) -> Array:
        """Point `index` (d,) of a design."""
        if index >= _APART:
            return np.asarray(self._sample(1, np.random.default_rng([key, index]))[0])
        if self._latest is None or self._latest[0] != key:
            self._latest = key, self._chosen(key)
        return np.asarray(self._latest[1][index])

    def _chosen(self, key: int) -> Array:
        rng = np.random.default_rng([key])
        drawn = np.array(self._sample(_CANDIDATES * _APART, rng))
        cells = {k: _Cells(self._discrete.get(k)) for k in self._free.tolist()}
        chosen = drawn[:0]
        for index in range(_APART):
            some = drawn[index * _CANDIDATES : (index + 1) * _CANDIDATES]
            for column, each in cells.items():
                some[:, column] = each.drawn(rng)
            best = 0
            if index:
                gaps = np.abs(some[:, None, :] - chosen)
                gaps[:, :, self._words] = _DIFFERENT * (gaps[:, :, self._words] > 0.0)
                best = int(np.argmax((gaps**2).sum(axis=2).min(axis=1)))
            chosen = np.concatenate([chosen, some[[best]]])
            for each in cells.values():
                each.take(best)
        return chosen


@final
class _Cells:
    """The cells of a column, each of which is taken once before any is taken again.

    Args:
        levels: its allowed coordinates; None if it is continuous.
    """

    def __init__(self, levels: Array | None) -> None:
        self._levels = levels
        self._count = len(levels) if levels is not None and len(levels) <= _FEW else _CELLS
        self._left: list[int] = []
        self._latest = np.zeros(0, dtype=int)

    def drawn(self, rng: np.random.Generator) -> Array:
        """A coordinate for each candidate, in a cell that is left."""
        if not self._left:
            self._left = list(range(self._count))
        self._latest = rng.choice(self._left, _CANDIDATES)
        shares = (self._latest + rng.random(_CANDIDATES)) / self._count
        if self._levels is None:
            return np.asarray(shares)
        size = len(self._levels)
        return np.asarray(self._levels[np.minimum((shares * size).astype(int), size - 1)])

    def take(self, candidate: int) -> None:
        """Takes the cell of one of the candidates drawn last."""
        self._left.remove(int(self._latest[candidate]))
