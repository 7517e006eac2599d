"""Whether an acquisition function fits the goals and limits of a door, before anything is run."""

from functools import cache

import numpy as np

from ceibo import acquisition as acq
from ceibo.gp import GaussianProcess, Matern52


@cache
def check_acquisition(name: str, goals: int = 1, limits: int = 0) -> None:
    """Refuses an acquisition function that is not known for so many goals and limits."""
    if goals == 1 and not limits:
        return
    X, y = np.array([[0.0], [1.0]]), np.array([0.0, 1.0])
    gp = GaussianProcess(X, y, np.full(2, 0.1), Matern52(np.ones(1), 1.0))
    acq.build_joint(name, [gp] * goals, [acq.Limit(gp, 0.5)] * limits)
