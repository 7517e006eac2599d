"""Levels as coordinates: of n levels, level k owns the cell [k/n, (k+1)/n) and lies at its centre.

So neighbours are equally far apart, and an even design gives every level the same share.
"""

import math

import numpy as np

from ceibo.gp.inputs import Array

MAX_LEVELS = 2**40
"""Beyond this many levels a double in [0, 1] barely tells neighbours apart."""
MAX_LISTED_LEVELS = 10_000
"""Most levels that are written out; a longer dimension is searched as continuous and rounded."""


def level_at(u: float, levels: int) -> int:
    """The level whose cell holds u; exact for cell centres, as n is at most 2^40."""
    return min(max(math.floor(min(max(u, 0.0), 1.0) * levels), 0), levels - 1)


def level_centres(levels: int | None) -> Array | None:
    """The centres of all cells, (n,), or None where there are no levels or too many to list."""
    if levels is None or levels > MAX_LISTED_LEVELS:
        return None
    return (np.arange(levels) + 0.5) / levels
