"""A function over three parts of a mixture, on a grid of the picture that holds the triangle."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.gp.inputs import Array, Mask
from ceibo.report.simplex import Simplex

_SIZE: Final = (57, 65)  # points up and across


@final
@dataclass(frozen=True, eq=False)
class Ternary:
    """The posterior mean over three parts, (rows from the bottom up, columns).

    `chance` is that with which limits hold, if there are any, to be compared with `confidence`.
    """

    simplex: Simplex
    names: tuple[str, str, str]
    mean: Array
    held: Mask  # where the grid lies in the triangle and rules hold
    chance: Array | None = None
    confidence: float = 1.0

    @property
    def seen(self) -> Array:
        """The values that the drawing shows, (n,)."""
        return self.mean[self.held] if np.any(self.held) else self.mean.ravel()


def ternary_of(
    simplex: Simplex,
    names: tuple[str, ...],
    place: Array,
    mean: Callable[[Array], Array],
    chance: tuple[Callable[[Array], Array], float] | None = None,
) -> Ternary:
    """The picture of a function of points (n, d), everything but three parts as at a place.

    Args:
        simplex: the three parts.
        names: of all parameters.
        place: (d,).
        mean: what is shown.
        chance: that limits hold, and the confidence that it is compared with.
    """
    rows, columns = _SIZE
    across = np.tile(np.linspace(0, 1, columns), rows)
    up = np.repeat(np.linspace(0, 1, rows), columns)
    X = np.tile(place, (len(across), 1))
    X[:, simplex.columns] = simplex.units(across, up)
    first, second, third = (names[k] for k in simplex.columns)
    return Ternary(
        simplex=simplex,
        names=(first, second, third),
        mean=mean(X).reshape(_SIZE),
        held=simplex.inside(across, up).reshape(_SIZE),
        chance=None if chance is None else chance[0](X).reshape(_SIZE),
        confidence=1.0 if chance is None else chance[1],
    )
