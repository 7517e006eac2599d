"""How values are made noisy, and what the model is told about the noise.

Notation: f_t the true value at step t, R the problem's range, u_t ~ U(0, 1) and z_t ~ N(0, 1) the
replication's own random numbers, drawn before it begins, so that every method meets the same ones.

    heteroscedastic        υ_t = u_t·level·R,  y_t = f_t + υ_t z_t,  told υ_t
    homoscedastic          υ = level·R,        y_t = f_t + υ z_t,    told υ
    homoscedastic-untold   the same, told nothing: the model infers one variance
    reference-code         the same, told |y_t − f_t|, the error just made, which no experimenter
                           can know
    noiseless              y_t = f_t, told 0
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo_lab.problems import Problem, stream


@final
@dataclass(frozen=True)
class Observed:
    """A noisy value, the standard deviation told to the model (NaN: none), and the one it was made
    with.
    """

    y: float
    told: float
    std: float


Rule = Callable[[float, float, float, float], Observed]  # f, level·R, u, z


def _heteroscedastic(f: float, largest: float, u: float, z: float) -> Observed:
    std = u * largest
    return Observed(f + std * z, std, std)


def _homoscedastic(f: float, largest: float, u: float, z: float) -> Observed:
    return Observed(f + largest * z, largest, largest)


def _untold(f: float, largest: float, u: float, z: float) -> Observed:
    return Observed(f + largest * z, float("nan"), largest)


def _reference_code(f: float, largest: float, u: float, z: float) -> Observed:
    return Observed(f + largest * z, abs(largest * z), largest)


def _noiseless(f: float, largest: float, u: float, z: float) -> Observed:
    return Observed(f, 0.0, 0.0)


PROTOCOLS: Final[dict[str, Rule]] = {
    "heteroscedastic": _heteroscedastic,
    "homoscedastic": _homoscedastic,
    "homoscedastic-untold": _untold,
    "reference-code": _reference_code,
    "noiseless": _noiseless,
}


@final
class NoisyProblem:
    """A problem under a protocol, for one replication: measurement t always meets the same random
    numbers.
    """

    def __init__(self, problem: Problem, protocol: str, level: float, seed: int) -> None:
        if protocol not in PROTOCOLS:
            raise InputError(f"protocol must be one of {', '.join(PROTOCOLS)}, got {protocol!r}.")
        if not 0 <= level < np.inf:
            raise InputError(f"level must be a share of the range, zero or above, got {level!r}.")
        self.problem, self._rule, self._largest = (
            problem,
            PROTOCOLS[protocol],
            level * problem.range,
        )
        self._uniform, self._normal = stream(seed, "noise level"), stream(seed, "noise")

    def measure(self, u: Array) -> tuple[float, Observed]:
        """The true value at point u (d,) of the unit cube, and the next measurement of it."""
        f = float(self.problem.at_unit(u[None, :])[0])
        return f, self._rule(
            f, self._largest, float(self._uniform.random()), float(self._normal.standard_normal())
        )
