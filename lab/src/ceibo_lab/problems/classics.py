"""The paper's benchmark functions; a test finds their ranges again by maximising."""

from typing import Final

import numpy as np

from ceibo.gp.inputs import Array
from ceibo_lab.problem import Problem, box

_HARTMANN_WEIGHTS: Final = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN_STEEPNESS: Final = np.array([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0]] * 2)
_HARTMANN_CENTRES: Final = 1e-4 * np.array(
    [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]
)
_HARTMANN_OPTIMISER: Final = [[0.1145888805637612, 0.5556488894637463, 0.8525469842022668]]


def hartmann_values(X: Array) -> Array:
    """−Σ_i w_i exp(−Σ_j a_ij (x_j − c_ij)²)."""
    squares = (X[:, None, :] - _HARTMANN_CENTRES) ** 2
    return np.asarray(-np.exp(-np.sum(_HARTMANN_STEEPNESS * squares, axis=2)) @ _HARTMANN_WEIGHTS)


def griewank_values(X: Array) -> Array:
    """1 + Σ x_i²/4000 − Π cos(x_i/√i): a bowl with many small dents."""
    roots = np.sqrt(np.arange(1, X.shape[1] + 1))
    return np.asarray(1.0 + np.sum(X**2, axis=1) / 4000.0 - np.prod(np.cos(X / roots), axis=1))


def levy_values(X: Array) -> Array:
    """Waves of growing height on a bowl, in w = 1 + (x − 1)/4."""
    w = 1.0 + (X - 1.0) / 4.0
    first, body, last = w[:, 0], w[:, :-1], w[:, -1]
    waves = np.sum((body - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * body + 1.0) ** 2), axis=1)
    end = (last - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * last) ** 2)
    return np.asarray(np.sin(np.pi * first) ** 2 + waves + end)


def powell_values(X: Array) -> Array:
    """Powell's function over groups of four coordinates; those left over are inert.

    (a + 10b)² + 5(c − d)² + (b − 2c)⁴ + 10(a − d)⁴
    """
    total = np.zeros(len(X))
    for k in range(0, X.shape[1] - 3, 4):
        a, b, c, d = X[:, k : k + 4].T
        total += (a + 10.0 * b) ** 2 + 5.0 * (c - d) ** 2 + (b - 2.0 * c) ** 4 + 10.0 * (a - d) ** 4
    return total


def sphere_values(X: Array) -> Array:
    """Σ x_i²."""
    return np.asarray(np.sum(X**2, axis=1))


def hartmann() -> Problem:
    # the maximum is at the corner (1, 1, 0)
    minimum, maximum = -3.862779787332663, -3.772718514162667e-05
    where = np.array(_HARTMANN_OPTIMISER)
    return Problem("hartmann", *box(0, 1, 3), hartmann_values, where, minimum, maximum - minimum)


def griewank() -> Problem:
    return Problem(
        "griewank", *box(-600, 600, 6), griewank_values, np.zeros((1, 6)), 0.0, 540.995996902623
    )


def levy() -> Problem:
    return Problem("levy", *box(-10, 10, 4), levy_values, np.ones((1, 4)), 0.0, 254.89842685553828)


def powell() -> Problem:
    active = (0, 1, 2, 3)
    return Problem("powell", *box(-4, 5, 5), powell_values, np.zeros((1, 5)), 0.0, 105962.0, active)


def sphere() -> Problem:
    return Problem("sphere", *box(-10, 10, 3), sphere_values, np.zeros((1, 3)), 0.0, 300.0)
