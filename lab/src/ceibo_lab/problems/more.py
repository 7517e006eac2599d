"""Test functions beyond the paper's; a test finds their ranges again by maximising."""

import math
from typing import Final

import numpy as np

from ceibo.gp.inputs import Array
from ceibo_lab.problem import Problem, box
from ceibo_lab.problems.classics import levy_values

_WEIGHTS: Final = np.array([1.0, 1.2, 3.0, 3.2])
_STEEPNESS: Final = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_CENTRES: Final = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def branin_values(X: Array) -> Array:
    """Branin's function, with the same least value at every a = π, 3π, −π ….

    (b − 5.1/(4π²) a² + 5/π a − 6)² + 10 (1 − 1/(8π)) cos a + 10
    """
    a, b = X[:, 0], X[:, 1]
    valley = b - 5.1 / (4.0 * np.pi**2) * a**2 + 5.0 / np.pi * a - 6.0
    return np.asarray(valley**2 + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(a) + 10.0)


def hartmann_6_values(X: Array) -> Array:
    """−Σ_i w_i exp(−Σ_j a_ij (x_j − c_ij)²)."""
    squares = (X[:, None, :] - _CENTRES) ** 2
    return np.asarray(-np.exp(-np.sum(_STEEPNESS * squares, axis=2)) @ _WEIGHTS)


def ackley_values(X: Array) -> Array:
    """A funnel with ripples: 20 + e − 20 exp(−|x|/(5√d)) − exp(mean of cos 2πx)."""
    length = np.sqrt(np.mean(X**2, axis=1))
    ripples = np.exp(np.mean(np.cos(2.0 * np.pi * X), axis=1))
    return np.asarray(20.0 + math.e - 20.0 * np.exp(-0.2 * length) - ripples)


def rosenbrock_values(X: Array) -> Array:
    """A bent valley: Σ 100 (x_{i+1} − x_i²)² + (1 − x_i)²."""
    return np.asarray(
        np.sum(100.0 * (X[:, 1:] - X[:, :-1] ** 2) ** 2 + (1.0 - X[:, :-1]) ** 2, axis=1)
    )


def michalewicz_values(X: Array) -> Array:
    """Steep grooves: −Σ sin(x_i) sin(i x_i²/π)²⁰."""
    order = np.arange(1, X.shape[1] + 1)
    return np.asarray(-np.sum(np.sin(X) * np.sin(order * X**2 / np.pi) ** 20, axis=1))


def branin() -> Problem:
    low, high = np.array([-5.0, 0.0]), np.array([10.0, 15.0])
    optimisers = np.array([[np.pi, 2.275], [-np.pi, 12.275], [3.0 * np.pi, 2.475]])
    # the maximum is at the corner (−5, 0)
    minimum, maximum = 0.39788735772973816, 308.12909601160663
    return Problem("branin", low, high, branin_values, optimisers, minimum, maximum - minimum)


def hartmann_6() -> Problem:
    where = np.array([[0.20168951, 0.15001069, 0.47687397, 0.27533243, 0.31165162, 0.65730054]])
    minimum, span = -3.3223680114155147, 3.322367983291009
    return Problem("hartmann-6", *box(0, 1, 6), hartmann_6_values, where, minimum, span)


def ackley() -> Problem:
    return Problem(
        "ackley", *box(-32.768, 32.768, 5), ackley_values, np.zeros((1, 5)), 0.0, 22.320334848401284
    )


def rosenbrock() -> Problem:
    return Problem("rosenbrock", *box(-2, 2, 4), rosenbrock_values, np.ones((1, 4)), 0.0, 10827.0)


def michalewicz() -> Problem:
    where = np.array([[2.20290552, 1.57079633, 1.28499157, 1.92305847, 1.72046977]])
    span = 4.6876581790881495
    return Problem("michalewicz", *box(0, np.pi, 5), michalewicz_values, where, -span, span)


def _embedded(inner: Problem, dimension: int, columns: tuple[int, ...], name: str) -> Problem:
    """The function over some coordinates of a larger box, whose other coordinates are inert."""
    low, high = np.zeros(dimension), np.ones(dimension)
    low[list(columns)], high[list(columns)] = inner.low, inner.high
    optimisers = np.full((len(inner.optimisers), dimension), 0.5)
    optimisers[:, list(columns)] = inner.optimisers

    def values(X: Array) -> Array:
        return inner.function(X[:, list(columns)])

    return Problem(name, low, high, values, optimisers, inner.minimum, inner.range, columns)


def hartmann_6_in_12() -> Problem:
    return _embedded(hartmann_6(), 12, (1, 3, 4, 7, 8, 11), "hartmann-6-in-12")


def hartmann_6_in(dimension: int) -> Problem:
    """Six of many parameters matter, spread evenly over them."""
    columns = tuple(int(k) for k in (np.arange(6) + 0.5) * dimension / 6)
    return _embedded(hartmann_6(), dimension, columns, f"hartmann-6-in-{dimension}")


def levy_20() -> Problem:
    span = 1531.0233700850756
    return Problem("levy-20", *box(-10, 10, 20), levy_values, np.ones((1, 20)), 0.0, span)


def rosenbrock_20() -> Problem:
    span = 19 * 3609.0  # the maximum is at the corner where every coordinate is −2
    return Problem("rosenbrock-20", *box(-2, 2, 20), rosenbrock_values, np.ones((1, 20)), 0.0, span)


def branin_in_20() -> Problem:
    return _embedded(branin(), 20, (6, 13), "branin-in-20")
