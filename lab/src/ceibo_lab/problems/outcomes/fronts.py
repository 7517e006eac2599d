"""Problems of several goals, all minimised; limits, if any, come last and hold at or below zero.

Sources: Belakaria et al. 2019 (branin-currin); Deb et al. 2005 and Deb and Jain 2013 (dtlz2 and
c2-dtlz2); Tanabe and Ishibuchi 2020 (vehicle-safety), in the form that BoTorch gives them.
"""

from typing import Final

import numpy as np

from ceibo.gp.inputs import Array
from ceibo_lab.problems.more import branin_values

_RADIUS: Final = 0.2  # of the parts of c2-dtlz2's front that are allowed


def branin_currin_values(X: Array) -> Array:
    """Branin's function over its own box scaled to the unit square, and Currin's."""
    a, b = X.T
    with np.errstate(divide="ignore"):  # b = 0: the exponential is zero
        factor = 1.0 - np.exp(-0.5 / b)
    above = 2300.0 * a**3 + 1900.0 * a**2 + 2092.0 * a + 60.0
    below = 100.0 * a**3 + 500.0 * a**2 + 4.0 * a + 20.0
    branin = branin_values(np.column_stack([15.0 * a - 5.0, 15.0 * b]))
    return np.column_stack([branin, factor * above / below])


def dtlz2_values(X: Array) -> Array:
    """Two goals on a quarter circle of radius 1 + Σ (x_i − ½)² over all coordinates but one."""
    radius = 1.0 + np.sum((X[:, 1:] - 0.5) ** 2, axis=1)
    angle = X[:, 0] * np.pi / 2.0
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def c2_dtlz2_values(X: Array) -> Array:
    """DTLZ2 where only the ends and the middle of the front are allowed."""
    goals = dtlz2_values(X)
    return np.column_stack([goals, c2_limit(goals)])


def c2_limit(goals: Array) -> Array:
    """(n,) at most zero near (1, 0), (0, 1) and (√½, √½)."""
    ends = (goals - 1.0) ** 2 + goals[:, ::-1] ** 2 - _RADIUS**2
    middle = np.sum((goals - np.sqrt(0.5)) ** 2 - _RADIUS**2, axis=1)
    return np.asarray(np.minimum(np.min(ends, axis=1), middle))


def vehicle_safety_values(X: Array) -> Array:
    """Mass, acceleration and intrusion of a car in a crash, as fitted polynomials."""
    a, b, c, d, e = X.T
    mass = 1640.2823 + 2.3573285 * a + 2.3220035 * b + 4.5688768 * c + 7.7213633 * d
    acceleration = (
        6.5856 + 1.15 * a - 1.0427 * b + 0.9738 * c + 0.8364 * d - 0.3695 * a * d
        + 0.0861 * a * e + 0.3628 * b * d - 0.1106 * a**2 - 0.3437 * c**2 + 0.1764 * d**2
    )  # fmt: skip
    intrusion = (
        -0.0551 + 0.0181 * a + 0.1024 * b + 0.0421 * c - 0.0073 * a * b + 0.024 * b * c
        - 0.0118 * b * d - 0.0204 * c * d - 0.008 * c * e - 0.0241 * b**2 + 0.0109 * d**2
    )  # fmt: skip
    return np.column_stack([mass + 4.4559504 * e, acceleration, intrusion])
