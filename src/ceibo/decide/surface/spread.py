"""A few of many items."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from ceibo.gp.grid import evenly

_Item = TypeVar("_Item")


def spread(items: Sequence[_Item], most: int) -> list[_Item]:
    """At most so many of the items, evenly spread, with the first and the last."""
    places = np.unique(evenly(len(items), min(most, len(items))))
    return [items[place] for place in places]
