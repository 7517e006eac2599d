"""Whether small or large values are wanted. The only module that knows the sign."""

from enum import StrEnum
from typing import Literal, TypeVar, final

import numpy as np

from ceibo.gp.inputs import Array

Values = TypeVar("Values", float, Array)


@final
class Direction(StrEnum):
    """The direction of an objective; inside ceibo everything is minimised."""

    MINIMIZE = "minimize"
    MAXIMIZE = "maximize"

    def flip(self, values: Values) -> Values:
        """Turns the user's values into minimised ones, or minimised ones into the user's."""
        return -values if self is Direction.MAXIMIZE else values

    def accumulate(self, values: Array) -> Array:
        """The best of the user's values so far, at each position (n,)."""
        return self.flip(np.asarray(np.minimum.accumulate(self.flip(values))))


DirectionLike = Direction | Literal["minimize", "maximize"]
"""A direction as a user may give it."""
