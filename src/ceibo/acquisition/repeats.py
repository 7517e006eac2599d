"""What the mean of several values at one point would teach.

The mean of m values of noise variance υ² is one measurement of variance υ²/m, so that its knowledge
gradient is KG(x; υ²/m).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ceibo.acquisition.build_joint import build_joint
from ceibo.acquisition.knowledge import KnowledgeGradient
from ceibo.acquisition.limits import Limit
from ceibo.acquisition.weighted import Weighted
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array
from ceibo.gp.linalg import limited_blas


def log_gains_of_repeats(
    gp: GaussianProcess, x: Array, most: int, limits: Sequence[Limit] = (), confidence: float = 0.95
) -> Array:
    """log KG(x; υ²/m) for m from 1 to `most`, (most,); −inf where nothing is to be learnt.

    The values of a trial are in one block of each kind, whose offset no number of them averages
    out: Σ_t σ_t² is added to υ²/m as it is.

    Args:
        gp: of the goal, conditioned on pending points; υ² is its `expected_noise`.
        x: (d,)
        most: values at one point.
        limits: on further outcomes. The chance that they hold at x is the same for every m, and is
            left out.
        confidence: with which x⁺ holds the limits.
    """
    function = build_joint("knowledge-gradient", [gp], limits, confidence=confidence)
    goal = function.goal if isinstance(function, Weighted) else function
    if not isinstance(goal, KnowledgeGradient):  # pragma: no cover - it was asked for by name
        raise TypeError(f"expected a knowledge gradient, got {type(goal).__name__}.")
    shared = gp.block_variance / gp.unit / gp.unit
    alone = float(gp.expected_noise or 0.0) / gp.unit / gp.unit
    with limited_blas(len(gp.state.points)):
        prediction = goal.predictor(x[None, :])
        found = [
            replace(goal, next_noise=shared + alone / m).logarithm(prediction).value[0]
            for m in range(1, most + 1)
        ]
    return np.array(found)
