"""Problems of one goal under limits: outcome 0 is the goal, the others hold at or below zero.

Sources: Gramacy et al. 2016 (gramacy); Letham et al. 2019 and Jalali et al. 2017 for Hartmann 6
within both norms; Coello Coello and Mezura Montes 2002 (pressure-vessel, welded-beam), Lemonge et
al. 2010 (speed-reducer), Hedar and Fukushima 2006 (tension-string), in the form and box that
BoTorch gives them.
"""

from typing import Final

import numpy as np

from ceibo.gp.inputs import Array
from ceibo_lab.problems.more import hartmann_6_values

STEP: Final = 0.0625  # of the plates that a pressure vessel is made of
_MOST_STRAIN: Final = 100.0  # a limit of the string is not counted as broken by more


def gramacy_values(X: Array) -> Array:
    """The sum of both coordinates, outside a wave and inside a circle."""
    a, b = X.T
    wave = 1.5 - a - 2.0 * b - 0.5 * np.sin(2.0 * np.pi * (a**2 - 2.0 * b))
    return np.column_stack([a + b, wave, a**2 + b**2 - 1.5])


def hartmann_6_norms_values(X: Array) -> Array:
    """Hartmann 6 where the sum of coordinates is at most 3 and their Euclidean norm at most 1."""
    sums, norms = np.sum(np.abs(X), axis=1), np.linalg.norm(X, axis=1)
    return np.column_stack([hartmann_6_values(X), sums - 3.0, norms - 1.0])


def pressure_vessel_values(X: Array) -> Array:
    """The cost of a vessel whose two plates come in steps, thick enough and of a given volume."""
    shell, head, radius, length = X.T
    bought, cap = (np.clip(np.round(t / STEP) * STEP, 0.0, 10.0) for t in (shell, head))
    cost = (
        0.6224 * bought * radius * length
        + 1.7781 * cap * radius**2
        + 3.1661 * bought**2 * length
        + 19.84 * bought**2 * radius
    )
    volume = np.pi * radius**2 * length + 4.0 / 3.0 * np.pi * radius**3
    return np.column_stack(
        [cost, 0.0193 * radius - shell, 0.00954 * radius - head, 1296000.0 - volume, length - 240.0]
    )


def welded_beam_values(X: Array) -> Array:
    """The cost of a beam welded to a wall: shear, bending, sizes, deflection, buckling."""
    h, l, t, b = X.T  # noqa: E741 - the weld's length is l everywhere
    load, reach, young, shear = 6000.0, 14.0, 30e6, 12e6
    cost = 1.10471 * h**2 * l + 0.04811 * t * b * (14.0 + l)
    squares = l**2 + (h + t) ** 2
    radius = np.sqrt(0.25 * squares)
    inertia = 2.0 * np.sqrt(2.0) * h * l * (l**2 / 12.0 + 0.25 * (h + t) ** 2)
    direct = load / (np.sqrt(2.0) * h * l)
    twist = load * (reach + l / 2.0) * radius / inertia
    stress = np.sqrt(direct**2 + direct * twist * l / radius + twist**2)
    buckling = 4.013 * young * t * b**3 * 6.0 / reach**2
    buckling = buckling * (1.0 - 0.25 * t * np.sqrt(young / shear) / reach)
    return np.column_stack(
        [
            cost,
            stress - 13600.0,
            6.0 * load * reach / (b * t**2) - 30000.0,
            h - b,
            0.10471 * h**2 + 0.04811 * t * b * (14.0 + l) - 5.0,
            4.0 * load * reach**3 / (young * t**3 * b) - 0.25,
            load - buckling,
        ]
    )


def speed_reducer_values(X: Array) -> Array:
    """The weight of a gear box: bending and contact of teeth, shafts, sizes."""
    face, module, teeth, one, two, first, second = X.T
    weight = (
        0.7854 * face * module**2 * (3.3333 * teeth**2 + 14.9334 * teeth - 43.0934)
        - 1.508 * face * (first**2 + second**2)
        + 7.4777 * (first**3 + second**3)
        + 0.7854 * (one * first**2 + two * second**2)
    )
    wheel = module * teeth
    return np.column_stack(
        [
            weight,
            27.0 / (face * module * wheel) - 1.0,
            397.5 / (face * wheel**2) - 1.0,
            1.93 * one**3 / (wheel * first**4) - 1.0,
            1.93 * two**3 / (wheel * second**4) - 1.0,
            np.sqrt((745.0 * one / wheel) ** 2 + 16.9e6) / (0.1 * first**3) - 1100.0,
            np.sqrt((745.0 * two / wheel) ** 2 + 157.5e6) / (0.1 * second**3) - 850.0,
            wheel - 40.0,
            5.0 - face / module,
            face / module - 12.0,
            (1.5 * first + 1.9) / one - 1.0,
            (1.1 * second + 1.9) / two - 1.0,
        ]
    )


def tension_string_values(X: Array) -> Array:
    """The weight of a spring of wire d, coil D and N turns: deflection, shear, frequency, size."""
    d, D, N = X.T
    with np.errstate(divide="ignore"):  # where the coil is as thin as the wire
        shear = (4.0 * D**2 - d * D) / (12566.0 * d**3 * (D - d))
    limits = np.column_stack(
        [
            1.0 - D**3 * N / (71785.0 * d**4),
            shear + 1.0 / (5108.0 * d**2) - 1.0,
            1.0 - 140.45 * d / (N * D**2),
            (d + D) / 1.5 - 1.0,
        ]
    )
    return np.column_stack([d**2 * D * (N + 2.0), np.minimum(limits, _MOST_STRAIN)])
