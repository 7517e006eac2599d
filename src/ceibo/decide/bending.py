"""Values on a logarithmic scale of their own, on which steep responses are smooth.

An impurity that doubles every ten degrees, a loss that diverges, an answer proportional to 1/x: on
such a scale a Gaussian process follows what it would take for wrong values otherwise.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from ceibo.decide.rows import Rows

# How far beyond the last value a scale ends, in standard deviations of the values.
_OFFSETS: Final = (1.0, 0.3, 0.1, 0.03, 0.01)


def bendings(rows: Rows, side: float) -> Iterator[tuple[Rows, float]]:
    """The rows on scales w(y) that draw values on one side, +1 or −1, together, the mildest first.

    With each, log w'(y) summed over the values: it makes log densities those of y itself, to be
    compared with others. The noise is one unknown level of the new scale: with a noise that
    followed from each measured value, they would be no densities.
    """
    z = side * rows.y
    spread = float(np.std(z))
    if spread == 0.0:
        return
    for offset in _OFFSETS:
        above = z - float(np.min(z)) + offset * spread
        errors = rows.counts > 1  # standard errors of several values go with them
        bent = replace(
            rows,
            y=side * np.log(above),
            variance=np.where(errors, rows.variance / above**2, np.nan),
        )
        yield bent, -float(np.sum(rows.counts * np.log(above)))
