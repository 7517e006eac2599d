"""What the model would have predicted of each measured setting from all the others.

Notation as in ceibo.gp.posterior, with m the prior mean. A = (K + Σ)⁻¹ and α = A (y − m) hold the
answer for every setting at once. For the rows I of one setting (one row, unless values of known and
of unknown noise were told there), without them the values there are distributed as

    y_I | y_−I  ~  N(y_I − (A_II)⁻¹ α_I, (A_II)⁻¹)

the noise of these values included. Hyperparameters, the constant mean and the inferred noise are
those of all the data.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from ceibo.decide.belief import Belief
from ceibo.decide.evidence import Evidence
from ceibo.decide.joint import JointBelief
from ceibo.decide.view import view_of
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array


@final
@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Measured values beside what the others predict of them; a row per measured setting.

    Values measured repeatedly at one setting are one row, with their mean. `std` is that of the
    measured value, so that it has the noise in it.
    """

    numbers: tuple[int, ...]  # of the first trial at each setting
    X: Array  # (n, d) in the unit cube
    measured: Array  # (n,)
    predicted: Array  # (n,)
    std: Array  # (n,)

    @property
    def deviations(self) -> Array:
        """(n,) measured less predicted, in units of std: standard normal if the model is right."""
        return (self.measured - self.predicted) / self.std

    def __len__(self) -> int:
        return len(self.measured)


def leave_one_out(belief: Belief | JointBelief, outcome: str | None = None) -> LeaveOneOut:
    """Predicts every measured setting of an outcome from the others; see `LeaveOneOut`.

    Args:
        belief: what is known.
        outcome: which one, of several; the first goal by default.
    """
    view = view_of(belief, outcome)
    model, evidence = view.model, view.evidence
    flip = evidence.direction.flip
    means, variances = leave_out(model.gp)
    predicted = flip(model.natural_values(means))
    if view.outcome is not None:  # as elsewhere, nothing is predicted that is not possible
        predicted = np.clip(predicted, *view.outcome.possible)
    return LeaveOneOut(
        numbers=_first_trials(evidence, model.gp.X),
        X=model.gp.X,
        measured=flip(model.natural_values(model.gp.y)),
        predicted=predicted,
        std=model.natural_values(np.sqrt(variances)),
    )


def leave_out(gp: GaussianProcess) -> tuple[Array, Array]:
    """Mean and variance (n,) of each value that a process has, given those at other points."""
    inverse = gp.state.factor.inverse  # L⁻¹
    alpha = gp.state.alpha
    variance = 1.0 / np.sum(inverse**2, axis=0)  # 1 / A_ii
    shift = alpha * variance
    _, group, counts = np.unique(gp.X, axis=0, return_inverse=True, return_counts=True)
    for index in np.flatnonzero(counts > 1):
        rows = np.flatnonzero(group.reshape(-1) == index)
        block = np.linalg.inv(inverse[:, rows].T @ inverse[:, rows])  # (A_II)⁻¹
        shift[rows], variance[rows] = block @ alpha[rows], np.diagonal(block)
    return gp.y - gp.unit * shift, gp.unit**2 * variance


def _first_trials(evidence: Evidence, X: Array) -> tuple[int, ...]:
    """The first trial that measured at each of the points."""
    first: dict[bytes, int] = {}
    for told in evidence.told:
        key = (told.x + 0.0).tobytes()
        first[key] = min(told.number, first.get(key, told.number))
    return tuple(first[(x + 0.0).tobytes()] for x in X)
