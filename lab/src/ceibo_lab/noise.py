"""How values are made noisy, and what a method is told about the noise.

Notation: f_t the true value at step t, R the problem's range, u_t ~ U(0, 1) and z_t ~ N(0, 1) the
replication's own random numbers, drawn before it begins, so that every method meets the same ones.

    heteroscedastic        υ_t = u_t·level·R,  y_t = f_t + υ_t z_t,  told υ_t
    homoscedastic          υ = level·R,        y_t = f_t + υ z_t,    told υ
    homoscedastic-untold   the same, told nothing: the model infers one variance
    reference-code         the same, told |y_t − f_t|, the error just made, which no experimenter
                           can know
    noiseless              y_t = f_t, told 0
    varying-untold         υ(x) = level·R·(1/4 + 3/2·x₁), x₁ the first coordinate in the unit cube;
                           told nothing
    measured               the outcome of one real training run drawn at random from a table, told
                           the standard deviation of such runs at x
    measured-untold        the same, told nothing

Networks have noise of their own, in problems/networks/objective.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, final

import numpy as np

from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo_lab.problem import Problem, stream
from ceibo_lab.problems.tables import table

UNTOLD: Final = float("nan")


class Measuring(Protocol):
    """What a replication measures with; measurement t meets the same random numbers anywhere."""

    def measure(self, u: Array) -> None:
        """Takes the next measurement, at u (d,) of the unit cube."""

    @property
    def values(self) -> Array:
        """(t,) what was measured so far."""

    @property
    def told(self) -> Array:
        """(t,) the standard deviations told to the method, NaN where there is none."""


@final
@dataclass(frozen=True)
class Observed:
    """A noisy value, the standard deviation told (NaN: none), and the one it was made with."""

    y: float
    told: float
    std: float


@final
@dataclass(frozen=True, eq=False)
class Moment:
    """What a protocol makes a measurement from: f, level·R, u and z, at x (d,) of the unit cube."""

    problem: Problem
    x: Array
    f: float
    largest: float
    u: float
    z: float


def _heteroscedastic(at: Moment) -> Observed:
    std = at.u * at.largest
    return Observed(at.f + std * at.z, std, std)


def _homoscedastic(at: Moment) -> Observed:
    return Observed(at.f + at.largest * at.z, at.largest, at.largest)


def _untold(at: Moment) -> Observed:
    return Observed(at.f + at.largest * at.z, UNTOLD, at.largest)


def _reference_code(at: Moment) -> Observed:
    return Observed(at.f + at.largest * at.z, abs(at.largest * at.z), at.largest)


def _noiseless(at: Moment) -> Observed:
    return Observed(at.f, 0.0, 0.0)


def _varying(at: Moment) -> Observed:
    std = at.largest * (0.25 + 1.5 * float(at.x[0]))
    return Observed(at.f + std * at.z, UNTOLD, std)


def _measured(at: Moment) -> Observed:
    found = table(at.problem.name)
    std = found.std(at.x)
    return Observed(found.outcome(at.x, int(at.u * found.repetitions)), std, std)


def _measured_untold(at: Moment) -> Observed:
    seen = _measured(at)
    return Observed(seen.y, UNTOLD, seen.std)


PROTOCOLS: Final[dict[str, Callable[[Moment], Observed]]] = {
    "heteroscedastic": _heteroscedastic,
    "homoscedastic": _homoscedastic,
    "homoscedastic-untold": _untold,
    "reference-code": _reference_code,
    "noiseless": _noiseless,
    "varying-untold": _varying,
    "measured": _measured,
    "measured-untold": _measured_untold,
}


@final
class NoisyProblem:
    """A problem under a protocol, for one replication; `outcome` keeps random numbers apart."""

    def __init__(
        self, problem: Problem, protocol: str, level: float, seed: int, outcome: str = ""
    ) -> None:
        if protocol not in PROTOCOLS:
            raise InputError(f"protocol must be one of {', '.join(PROTOCOLS)}, got {protocol!r}.")
        if not 0 <= level < np.inf:
            raise InputError(f"level must be a share of the range, zero or above, got {level!r}.")
        self.problem = problem
        self.f: list[float] = []
        self.seen: list[Observed] = []
        self._protocol, self._largest = PROTOCOLS[protocol], level * problem.range
        self._uniform, self._normal = (
            stream(seed, f"{purpose}{outcome}") for purpose in ("noise level", "noise")
        )

    def measure(self, u: Array) -> None:
        f = float(self.problem.at_unit(u[None, :])[0])
        share, z = float(self._uniform.random()), float(self._normal.standard_normal())
        self.f.append(f)
        self.seen.append(self._protocol(Moment(self.problem, u, f, self._largest, share, z)))

    @property
    def values(self) -> Array:
        return np.array([each.y for each in self.seen])

    @property
    def told(self) -> Array:
        return np.array([each.told for each in self.seen])
