"""Finds the figures of the problems of several outcomes again: `python -m` with this module's name.

ranges   max − min over the box, climbed to from Sobol points; where that is more than ten times
         the distance between the 5 % and the 95 % quantile over the box, as with stresses that
         grow without bound towards a corner, that distance is taken instead
optimum  the least, and `worst` the greatest, value of the goal where all limits hold: SLSQP from
         the best feasible Sobol points; of the pressure vessel, whose plates come in steps, by a
         search along the radius
best     the hypervolume of the true front: known in closed form for dtlz2, from the least
         allowed radius at each angle for c2-dtlz2, from a grid for branin-currin; that of
         vehicle-safety is the one BoTorch took from Tanabe and Ishibuchi's approximate front
"""

import argparse
from collections.abc import Callable
from typing import Final

import numpy as np
from scipy.optimize import NonlinearConstraint, minimize
from scipy.stats import qmc

from ceibo.acquisition.fronts import hypervolume
from ceibo.gp.inputs import Array
from ceibo_lab.problems.outcomes import OUTCOME_PROBLEMS
from ceibo_lab.problems.outcomes.fronts import branin_currin_values, c2_limit
from ceibo_lab.problems.outcomes.limits import STEP, pressure_vessel_values
from ceibo_lab.problems.outcomes.problem import OutcomeProblem

HEAVY: Final = 10.0  # a range so many times the 5–95 % distance is not taken
_STARTS: Final = 30
_EDGES: Final = (0.05, 0.95)


def sobol(dimension: int, power: int = 18) -> Array:
    """2^power scrambled points (n, d) of the unit cube, always the same."""
    return np.asarray(qmc.Sobol(dimension, scramble=True, rng=0).random_base2(power))


def ranges(problem: OutcomeProblem, U: Array) -> Array:
    """(k,) of each outcome, by the rule above."""
    Y = problem.at_unit(U)
    middle = np.diff(np.quantile(Y, _EDGES, axis=0), axis=0)[0]
    found = np.ptp(Y, axis=0)
    for k in np.flatnonzero(found <= HEAVY * middle):
        found[k] = -sum(_least(problem, U, Y, int(k), sign) for sign in (-1.0, 1.0))
    return np.asarray(np.where(found <= HEAVY * middle, found, middle))


def _least(problem: OutcomeProblem, U: Array, Y: Array, column: int, sign: float) -> float:
    """The least value of an outcome, or of its negative, over the box."""
    starts = U[np.argsort(sign * Y[:, column])[:_STARTS]]

    def value(u: Array) -> float:
        return sign * float(problem.at_unit(u[None, :])[0, column])

    square = [(0.0, 1.0)] * problem.dimension
    return min(min(value(u), float(minimize(value, u, bounds=square).fun)) for u in starts)


def extreme(problem: OutcomeProblem, U: Array, sign: float) -> float:
    """The least (sign 1) or greatest (−1) value of the goal where all limits hold."""
    if problem.name == "pressure-vessel" and sign > 0:
        return cheapest_vessel()
    Y = problem.at_unit(U)
    kept = problem.holds(Y)
    starts = U[kept][np.argsort(sign * Y[kept, 0])[:_STARTS]]
    scale = ranges(problem, U)

    def goal(u: Array) -> float:
        return sign * float(problem.at_unit(u[None, :])[0, 0]) / float(scale[0])

    def room(u: Array) -> Array:
        return np.asarray(-problem.at_unit(u[None, :])[0, 1:] / scale[1:])

    best = min(goal(u) for u in starts)
    limits = NonlinearConstraint(room, 0.0, np.inf)
    square = [(0.0, 1.0)] * problem.dimension
    for u in starts:
        found = minimize(goal, u, method="SLSQP", bounds=square, constraints=limits, tol=1e-12)
        x = np.clip(found.x, 0.0, 1.0)
        if np.all(room(x) >= -1e-9):
            best = min(best, goal(x))
    return sign * best * float(scale[0])


def cheapest_vessel() -> float:
    """Given a radius, the thinnest plates that round to one thick enough, the shortest length."""
    jumps = [(k + 0.5) * STEP / share for share in (0.0193, 0.00954) for k in range(160)]
    radius = np.append(np.linspace(10.0, 50.0, 400001), jumps)
    radius = radius[(radius >= 10.0) & (radius <= 50.0)]
    length = (1296000.0 - 4.0 / 3.0 * np.pi * radius**3) / (np.pi * radius**2)
    length = np.maximum(length, 150.0)
    possible = length <= 200.0
    # a plate just below half a step above its nominal size is sold as that
    plates = [
        np.maximum(np.ceil((share * radius - STEP / 2.0) / STEP - 1e-12), 0.0) * STEP
        for share in (0.0193, 0.00954)
    ]
    costs = pressure_vessel_values(np.column_stack([*plates, radius, length])[possible])[:, 0]
    return float(np.min(costs))


def best_dtlz2() -> float:
    """A square of side 1.1 without a quarter of the unit disc."""
    return 1.1**2 - np.pi / 4.0


def best_c2_dtlz2() -> float:
    """From the least allowed radius at each of many angles."""
    angles = np.linspace(0.0, np.pi / 2.0, 4001)
    rays = np.column_stack([np.cos(angles), np.sin(angles)])
    front = [ray * r for ray in rays if (r := _first_allowed(ray)) is not None]
    return hypervolume(np.array(front), np.full(2, 1.1))


def _first_allowed(ray: Array) -> float | None:
    radii = np.linspace(1.0, 1.75, 3001)
    allowed = np.flatnonzero(c2_limit(radii[:, None] * ray) <= 0.0)
    return float(radii[allowed[0]]) if len(allowed) else None


def best_branin_currin() -> float:
    """From a grid of 4001² points."""
    axis = np.linspace(0.0, 1.0, 4001)
    columns = [branin_currin_values(np.column_stack([np.full(4001, a), axis])) for a in axis]
    return hypervolume(np.concatenate(columns), np.array([18.0, 6.0]))


BEST: Final[dict[str, Callable[[], float]]] = {
    "branin-currin": best_branin_currin,
    "c2-dtlz2": best_c2_dtlz2,
    "dtlz2": best_dtlz2,
}


def describe(name: str, power: int) -> str:
    """The figures of one problem, beside those it has."""
    problem = OUTCOME_PROBLEMS[name]
    U = sobol(problem.dimension, power)
    lines = [
        name,
        f"  ranges  {ranges(problem, U).tolist()}",
        f"  has     {problem.ranges.tolist()}",
    ]
    share = float(np.mean(problem.holds(problem.at_unit(U))))
    if problem.goals == 1:
        found = extreme(problem, U, 1.0), extreme(problem, U, -1.0)
        lines.append(f"  optimum, worst {found}; has {problem.optimum, problem.worst}")
    elif name in BEST:
        lines.append(f"  hypervolume {BEST[name]()}; has {problem.best}")
    return "\n".join([*lines, f"  share of the box that holds all limits: {share:.5f}"])


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("names", nargs="*", help="problems; all by default")
    options.add_argument("--power", type=int, default=18, help="2 to this power Sobol points")
    given = options.parse_args()
    for each in given.names or OUTCOME_PROBLEMS:
        print(describe(each, given.power))
