"""Answers taken from the measured values alone, as tools without a model of the noise give them."""

import numpy as np

from ceibo.acquisition.fronts import nondominated
from ceibo.gp.inputs import Array
from ceibo_lab.outcomes import Answer, Measured


def raw_answer(measured: Measured) -> Answer:
    """The best measured goal where all limits held as measured; else the least broken trial.

    How much a trial breaks its limits is the largest excess of any, in standard deviations of the
    values measured of that outcome.
    """
    row = int(np.argmin(np.where(measured.holds, measured.Y[:, 0], np.inf)))
    if not np.any(measured.holds):
        limits = measured.Y[:, measured.goals :]
        row = int(np.argmin(np.max(limits / spread(limits), axis=1)))
    return Answer(measured.X[row], measured.Y[row])


def raw_front(measured: Measured) -> list[Answer]:
    """The trials that no other dominates, of those whose limits held as measured."""
    rows = np.flatnonzero(measured.holds)
    if not len(rows):
        return []
    kept = rows[nondominated(measured.Y[rows, : measured.goals])]
    return [Answer(measured.X[row], measured.Y[row]) for row in kept]


def spread(values: Array) -> Array:
    """(k,) the standard deviation of each column, 1 where there is none."""
    found = np.std(values, axis=0)
    return np.where(found > 0.0, found, 1.0)
