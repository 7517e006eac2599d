"""Discrete moves: what a climb over continuous columns cannot do.

From a point: another value of one listed column; of two listed columns in the same equality, one
up and the other down; of a count, one part in place of another, one more, or one less; and another
alternative of a requirement. What a move breaks is mended afterwards by the region.
"""

from typing import TYPE_CHECKING, Final

import numpy as np

from ceibo.gp.inputs import Array, Indices

if TYPE_CHECKING:
    from ceibo.acquisition.region.frame import Frame


def neighbours(frame: "Frame", X: Array) -> tuple[Array, Indices]:
    """Points (N, d) tried from X (B, d), and the place in X of each."""
    raise NotImplementedError
