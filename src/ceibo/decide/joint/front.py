"""The front: measured settings of which none is better in every goal."""

from dataclasses import dataclass
from typing import final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide.joint.evidence import JointEvidence
from ceibo.decide.joint.model import JointModel
from ceibo.gp.inputs import Array


@final
@dataclass(frozen=True, eq=False)
class Front:
    """Points (m, d) of the unit cube, and for each the chance of being non-dominated, (m,)."""

    X: Array
    chances: Array


def find_front(model: JointModel, confidence: float) -> Front:
    """The front by posterior means, of the points whose limits hold with that confidence.

    If there is no such point, it is the most likely one alone. In order of the first goal.
    """
    goals, limits = model.goals, model.limits
    processes = [*goals, *(limit.gp for limit in limits)]
    X = goals[0].X[acq.common_rows([gp.X for gp in processes])[:, 0]]
    if not len(X):
        return Front(X, np.zeros(0))
    efficient, held = acq.probability_efficient(goals, limits, X), acq.chances(limits, X)
    sure = held >= confidence
    rows = np.flatnonzero(sure) if sure.any() else np.array([int(np.argmax(held))])
    means = np.column_stack([gp.posterior(X[rows])[0] for gp in goals])
    kept = np.flatnonzero(acq.nondominated(means))
    order = rows[kept[np.argsort(means[kept, 0], kind="stable")]]
    return Front(X[order], efficient[order])


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
