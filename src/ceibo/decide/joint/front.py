"""The front: measured settings of which none is known to be better in every goal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.acquisition.cube import reachable
from ceibo.decide.joint.evidence import JointEvidence
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array, Mask

_LIKELY: Final = 0.5  # chance of holding all limits below which a point is on no front
# Chance of being efficient from which on a point is on the front whatever the means say. Under
# noise the points that are truly efficient are often not those with the best means.
_FAIR: Final = 0.2


@final
@dataclass(frozen=True, eq=False)
class Front:
    """Points (m, d) of the unit cube, and for each the chance of being non-dominated, (m,)."""

    X: Array
    chances: Array


def find_front(
    goals: Sequence[GaussianProcess], limits: Sequence[acq.MixedLimit], confidence: float
) -> Front:
    """The front by posterior means, and all points with a fair chance of being efficient.

    Both are of the points whose limits hold more likely than not. One is left out of the former for
    another that is at least as good in every goal and at least as sure of its limits, where the
    confidence is sure enough. If no point holds its limits more likely than not, the front is the
    most likely one alone. In order of the first goal.
    """
    processes = [*goals, *(limit.gp for limit in limits)]
    rows = acq.common_rows([gp.X for gp in processes])[:, 0]
    found = reachable(goals[0])[rows]
    X = goals[0].X[rows[found] if found.any() else rows]
    if not len(X):
        return Front(X, np.zeros(0))
    efficient, held = acq.probability_efficient(goals, limits, X), acq.chances(limits, X)
    likely = held >= _LIKELY
    rows = np.flatnonzero(likely) if likely.any() else np.array([int(np.argmax(held))])
    means = np.column_stack([gp.posterior(X[rows])[0] for gp in goals])
    risk = -np.minimum(held[rows], confidence)
    beaten = _beaten(np.column_stack([means, risk]))
    kept = np.flatnonzero(~beaten | (efficient[rows] >= _FAIR))
    order = rows[kept[np.argsort(means[kept, 0], kind="stable")]]
    return Front(X[order], efficient[order])


def _beaten(values: Array) -> Mask:
    """Which rows (n,) another one equals or betters in every column; of equal rows, the later."""
    n = len(values)
    as_good = np.ones((n, n), dtype=bool)
    for column in values.T:
        as_good &= column[:, None] <= column[None, :]
    equal = as_good & as_good.T
    earlier = np.arange(n)[:, None] < np.arange(n)[None, :]
    return np.asarray(np.any(as_good & (~equal | earlier), axis=0))


def raw_front(evidence: JointEvidence) -> tuple[int, ...]:
    """The numbers of the trials that are on the front by their raw values, in order.

    A trial counts with the mean of its values of each outcome, if those hold every limit.
    """
    outcomes, numbers = evidence.outcomes, evidence.holding
    if not numbers:
        return ()
    columns = []
    for name in outcomes.goals:
        raw, flip = evidence.raw_values(name), outcomes[name].direction.flip
        columns.append([flip(raw[number]) for number in numbers])
    return tuple(np.array(numbers)[acq.nondominated(np.array(columns).T)].tolist())
