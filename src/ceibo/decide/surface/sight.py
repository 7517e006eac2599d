"""Which values a picture over the trials has in sight."""

from collections.abc import Iterable
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ceibo.decide.surface.standings import Standing

_REACH: Final = 1.0  # of what is in sight: how far away a limit is still brought in sight


def in_sight(
    measured: ArrayLike, standings: tuple[Standing, ...], limit: float | None = None
) -> list[float]:
    """What is to be in sight: the incumbent's band, the ends of what is measured not far out.

    A limit is too, if it is not so far away that the measurements would be a line.
    """
    values = np.asarray(measured, dtype=float)
    # a quarter of them, as differences of the largest doubles are no numbers
    low, high = (4 * float(each) for each in np.percentile(values / 4, [25, 75]))
    reach = 3.0 * (high - low)
    if len(values) > 7 and 0 < reach < np.inf:
        values = values[(low - reach <= values) & (values <= high + reach)]
    late = standings[-max(len(standings) // 2, 1) :]
    seen = [float(np.min(values)), float(np.max(values)), *chain(*(each.band for each in late))]
    return seen if limit is None else [*seen, *_within_reach(limit, seen)]


def _within_reach(limit: float, seen: Iterable[float]) -> list[float]:
    ends = list(seen)
    low, high = min(ends) / 4, max(ends) / 4
    reach = _REACH * (high - low)
    return [limit] if low - reach <= limit / 4 <= high + reach else []
