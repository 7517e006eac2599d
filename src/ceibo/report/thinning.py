"""What a page of very many trials shows: dots that can be told apart, rows that matter.

Up to MOST_DOTS dots and MOST_ROWS rows everything is shown.
"""

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ceibo.decide import Direction
from ceibo.gp.inputs import Array, Indices
from ceibo.study import Trial

MOST_DOTS: Final = 2500  # of a drawing
MOST_ROWS: Final = 2000  # of a table
_FEWEST_ROWS: Final = 100
_FINEST: Final = 800  # cells in each direction of which each may have a dot
_MOST_CELLS: Final = 80_000
_Item = TypeVar("_Item")


def visible(across: ArrayLike, up: ArrayLike, first: Iterable[int] = ()) -> Indices:
    """The dots to draw, in order: where several would cover each other, one of them.

    Args:
        across, up: where the dots are (n,), in any units.
        first: dots that are drawn whatever is near them.
    """
    at = np.stack([_shares(across), _shares(up)])
    if at.shape[1] <= MOST_DOTS:
        return np.arange(at.shape[1])
    kept = np.unique(np.fromiter(first, dtype=np.intp))
    cells = _FINEST
    while True:
        column, row = np.floor(at * cells)
        alone = np.unique(column * (cells + 1) + row, return_index=True)[1]
        if len(alone) <= MOST_DOTS:
            return np.union1d(kept, alone)
        cells = cells * 4 // 5


def _shares(values: ArrayLike) -> Array:
    """Values as shares of the way from the smallest to the largest; halves keep them finite."""
    halves = np.asarray(values, dtype=float) / 2
    low, high = np.min(halves, initial=np.inf), np.max(halves, initial=-np.inf)
    return (halves - low) / (high - low) if high > low else np.zeros(len(halves))


def chosen_trials(
    trials: Sequence[Trial], direction: Direction, columns: int, also: Iterable[int]
) -> list[Trial]:
    """The trials of a table, in order: all, or the best, the latest, those without a value.

    Args:
        trials: all of them.
        direction: of the objective.
        columns: of the table; the more there are, the fewer rows it has.
        also: numbers of trials that are in the table in any case.
    """
    most = min(MOST_ROWS, max(_FEWEST_ROWS, _MOST_CELLS // columns))
    if len(trials) <= most:
        return list(trials)
    quarter = most // 4
    measured = [trial for trial in trials if trial.measurements]
    order = np.argsort([direction.flip(mean_value(trial)) for trial in measured], kind="stable")
    under_way = [trial for trial in trials if trial.state in ("running", "queued")]
    failed = [trial for trial in trials if trial.state == "failed"]
    chosen = {trial.number for trial in (*trials[-quarter:], *under_way[-quarter:])}
    chosen |= {trial.number for trial in failed[-quarter:]} | set(also)
    for index in order:
        if len(chosen) >= most:
            break
        chosen.add(measured[index].number)
    return [trial for trial in trials if trial.number in chosen]


def mean_value(trial: Trial) -> float:
    """The mean of the values of a measured trial."""
    values = [each.value for each in trial.measurements]
    if len(values) == 1:
        return values[0]
    return sum(value / len(values) for value in values)
