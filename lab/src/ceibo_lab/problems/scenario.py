"""The one-dimensional scenario: three normal densities, least at the end of the interval."""

from dataclasses import replace
from typing import Final

import numpy as np

from ceibo.gp.inputs import Array
from ceibo_lab.problem import Problem, box

_MEANS: Final = np.array([1.0, 5.0, 8.0])
_VARIANCE: Final = 0.8


def scenario_values(X: Array) -> Array:
    """Σ_i N(x; m_i, 0.8)."""
    densities = np.exp(-0.5 * (X[:, :1] - _MEANS) ** 2 / _VARIANCE) / np.sqrt(
        2.0 * np.pi * _VARIANCE
    )
    return np.asarray(np.sum(densities, axis=1))


def scenario() -> Problem:
    minimum, maximum = 0.03661252943691687, 0.4476927212539933  # at 10, and near 5
    where, span = np.array([[10.0]]), maximum - minimum
    plain = Problem("scenario", *box(0, 10, 1), scenario_values, where, minimum, span)
    return replace(plain, falls_beyond=True)
