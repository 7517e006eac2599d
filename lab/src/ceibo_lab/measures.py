"""What is read off a record: regrets and distances at each state, and profit when stopping at κ.

    best         regret of x⁺_t, the measured point with the best posterior mean (the paper's
                 measure)
    recommended  regret of the minimiser of the posterior mean over the box; every few steps
    oracle       least true regret of all points measured so far, which nobody can see while
                 measuring
    distance     L2 from x⁺_t to the nearest optimiser; `distance_active` without inert coordinates

Regrets are in the problem's units and floored at 1e-12 of its range before a logarithm is taken.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo_lab.problems import PROBLEMS
from ceibo_lab.record import Cell, Record

FLOOR: Final = 1e-12  # of the range
MEASURES: Final = ("best", "recommended", "oracle", "distance", "distance_active")


def times(record: Record, measure: str) -> Array:
    """The states t at which `series` has values."""
    trace = record["trace"]
    if measure == "recommended":
        return np.array(trace["recommended"]["t"], dtype=np.float64)
    return np.arange(len(trace["best"]), dtype=np.float64)


def series(record: Record, measure: str) -> Array:
    """A measure at each state: log10 regret, or a distance."""
    if measure not in MEASURES:
        raise InputError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}.")
    trace = record["trace"]
    if measure in ("distance", "distance_active"):
        distances = np.array(trace.get(measure, trace["distance"]))
        return np.asarray(distances[trace["best"]])
    return log_regret(_regret(record, measure), _range(record))


def final_value(record: Record, measure: str) -> float:
    """The measure at the end of the run."""
    return float(series(record, measure)[-1])


def log_regret(regret: Array, scale: float) -> Array:
    """log10 of the regret, floored at 1e-12 of the range."""
    return np.asarray(np.log10(np.maximum(regret, FLOOR * scale)))


def _regret(record: Record, measure: str) -> Array:
    trace = record["trace"]
    if measure == "recommended":
        return np.array(trace["recommended"]["regret"])
    regrets = np.array(trace["regret"])
    if measure == "best":
        return np.asarray(regrets[trace["best"]])
    states = len(trace["best"])
    return np.asarray(np.minimum.accumulate(regrets)[len(regrets) - states :])


def _range(record: Record) -> float:
    return PROBLEMS[record["cell"]["problem"]]().range


def reach(record: Record) -> float:
    """Mean distance of each point from the incumbent of its time, in the unit cube, over √d."""
    return float(np.mean(record["trace"]["reach"]))


@final
@dataclass(frozen=True)
class Stopped:
    """A run stopped after t steps, `total` evaluations; `censored` if κ was never reached."""

    t: int
    total: int
    profit: float
    censored: bool


def stop_at(record: Record, kappa: float) -> Stopped:
    """Stops at the first t with acquisition value below κ; profit −f(x⁺_t) − κ t, with the true f.

    A run that never gets there is stopped at its end and marked censored.
    """
    trace, cell = record["trace"], Cell.from_json(record["cell"])
    below = [t for t, value in enumerate(trace["value"]) if value is not None and value < kappa]
    censored = not below
    t = cell.steps if censored else below[0]
    initial = len(trace["regret"]) - cell.steps
    f = PROBLEMS[cell.problem]().minimum + trace["regret"][trace["best"][t]]
    return Stopped(t, t + initial, -f - kappa * t, censored)
