"""The suite's problems: a space, the true function on the unit cube, its minimum and its range.

Test functions are moved by random numbers of the replication's seed, so that no method gains by the
centre of the box; draws of a Gaussian process are new for every seed. A new task is a function from
a seed to a Task, and a line in TASKS.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final, final

import numpy as np
from scipy.optimize import minimize

from ceibo.acquisition.sampling import spread_points
from ceibo.decide.space import Categorical, Float, Int, Space
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo_lab.problems import Problem, problem, shifted, stream
from ceibo_lab.problems.more import (
    ackley,
    branin,
    branin_in_20,
    hartmann_6,
    hartmann_6_in_12,
    michalewicz,
    rosenbrock,
)
from ceibo_lab.problems.tables import table
from ceibo_lab.proposers import unit_space


@final
@dataclass(frozen=True, eq=False)
class Task:
    """Something to minimise over a space, with what only a referee knows.

    Args:
        name: as used on the command line.
        space: what a method sees.
        truth: (n, d) points of the unit cube -> (n,) values without noise.
        minimum: the least true value.
        range: true maximum minus minimum; noise levels are shares of it.
    """

    name: str
    space: Space
    truth: Callable[[Array], Array]
    minimum: float
    range: float

    def regret(self, u: Array) -> float:
        """How much worse than the minimum the true value at u (d,) is."""
        return float(self.truth(u[None, :])[0]) - self.minimum


def _moved(make: Callable[[], Problem], seed: int) -> Task:
    return _from_problem(shifted(make(), seed))


def _fixed(make: Callable[[], Problem], seed: int) -> Task:
    return _from_problem(make())


def _from_problem(given: Problem) -> Task:
    return Task(given.name, unit_space(given.dimension), given.at_unit, given.minimum, given.range)


_FEATURES: Final = 400
# six standard deviations: noise levels need a range that is the same for every draw
_DRAW_RANGE: Final = 6.0


@lru_cache(maxsize=8)
def _draw(dimension: int, lengthscale: float, seed: int) -> Task:
    """A draw of a Matérn-5/2 process of unit variance, by random Fourier features (Rahimi and Recht
    2007).

    The kernel's spectral density is a multivariate t distribution with five degrees of freedom.
    """
    rng = stream(seed, f"draw in {dimension} dimensions")
    shrink = np.sqrt(5.0 / rng.chisquare(5.0, (_FEATURES, 1)))
    frequencies = rng.standard_normal((_FEATURES, dimension)) * shrink / lengthscale
    phases = rng.uniform(0.0, 2.0 * np.pi, _FEATURES)
    weights = rng.standard_normal(_FEATURES) * np.sqrt(2.0 / _FEATURES)

    def truth(U: Array) -> Array:
        return np.asarray(np.cos(U @ frequencies.T + phases) @ weights)

    def with_slope(u: Array) -> tuple[float, Array]:
        waves = frequencies @ u + phases
        return float(np.cos(waves) @ weights), -(np.sin(waves) * weights) @ frequencies

    starts = spread_points(4096, dimension, rng)
    order = np.argsort(truth(starts), kind="stable")[:24]
    bounds = [(0.0, 1.0)] * dimension
    minimum = min(
        float(minimize(with_slope, starts[k], jac=True, bounds=bounds).fun) for k in order
    )
    return Task(f"draw-{dimension}d", unit_space(dimension), truth, minimum, _DRAW_RANGE)


def _on_space(
    name: str, space: Space, truth: Callable[[Mapping[str, Any]], float], span: tuple[float, float]
) -> Task:
    def on_cube(U: Array) -> Array:
        return np.array([truth(space.from_unit(u)) for u in U])

    return Task(name, space, on_cube, span[0], span[1] - span[0])


PROCESS: Final = Space(
    {
        "temperature": Float(20, 90),
        "flow": Float(0, 5),
        "rate": Float(1e-5, 1e-1, log=True),
        "layers": Int(1, 8),
        "width": Int(4, 256, log=True),
        "solvent": Categorical(["water", "ethanol", "acetone"]),
        "catalyst": Categorical(["none", "nickel", "copper", "zinc"]),
    }
)
_SOLVENT: Final = {"water": 0.0, "ethanol": 0.25, "acetone": 0.5}
_CATALYST: Final = {"none": 0.6, "nickel": 0.0, "copper": 0.15, "zinc": 0.35}


def process_truth(p: Mapping[str, Any]) -> float:
    """A curved valley with some interplay of the parameters; 0 at its best and nowhere lower."""
    t = (p["temperature"] - 62.0) / 70.0
    flow = (p["flow"] - 1.8) / 5.0
    rate = np.log10(p["rate"] / 1e-3) / 4.0
    layers = (p["layers"] - 5.0) / 7.0
    width = np.log(p["width"] / 64.0) / np.log(64.0)
    squares = (
        3.0 * t**2
        + 2.0 * (flow - 0.5 * t) ** 2
        + 3.0 * rate**2
        + 1.5 * layers**2
        + 1.5 * (width + layers) ** 2
    )
    return float(squares + _SOLVENT[p["solvent"]] * (1 + t**2) + _CATALYST[p["catalyst"]])


@lru_cache(maxsize=1)
def process_range() -> float:
    """From the optimum, 0, to the worst setting: a corner, as the truth is convex in each
    parameter.
    """
    corners = itertools.product((0.0, 1.0), repeat=5)
    return max(
        process_truth(
            {**PROCESS.from_unit([*corner, 0.5, 0.5]), "solvent": solvent, "catalyst": catalyst}
        )
        for corner, solvent, catalyst in itertools.product(corners, _SOLVENT, _CATALYST)
    )


RECIPE: Final = Space(
    {
        "method": Categorical(["a", "b", "c", "d"]),
        "dose": Float(0, 1),
        "time": Float(1, 100, log=True),
        "passes": Int(1, 20),
    }
)
_WELLS: Final = {  # method: (level, depth, best dose, best log10 time, best passes)
    "a": (1.0, 0.4, 0.2, 0.5, 5),
    "b": (1.1, 0.9, 0.75, 1.5, 12),
    "c": (0.9, 0.5, 0.5, 1.0, 9),
    "d": (1.2, 0.5, 0.9, 0.3, 16),
}


def recipe_truth(p: Mapping[str, Any]) -> float:
    """A well per method, each elsewhere; the deepest belongs to a method that is bad nearly
    everywhere.
    """
    level, depth, dose, time, passes = _WELLS[p["method"]]
    distance = ((p["dose"] - dose) / 0.18) ** 2 + ((np.log10(p["time"]) - time) / 0.45) ** 2
    return float(
        level - depth * np.exp(-0.5 * distance) + 0.3 * ((p["passes"] - passes) / 19.0) ** 2
    )


def _recipe_span() -> tuple[float, float]:
    """The least value is a well's own; the greatest has no dip and all passes wrong, but for less
    than 1e-3.
    """
    lowest = min(level - depth for level, depth, *_ in _WELLS.values())
    highest = max(w[0] + 0.3 * (max(w[4] - 1, 20 - w[4]) / 19.0) ** 2 for w in _WELLS.values())
    return lowest, highest


def _measured(name: str, seed: int) -> Task:
    found = table(name)
    return Task(name, unit_space(found.dimension), found.truth, found.minimum, found.range)


TASKS: Final[dict[str, Callable[[int], Task]]] = {
    "hartmann": partial(_moved, lambda: problem("hartmann")),
    "griewank": partial(_moved, lambda: problem("griewank")),
    "levy": partial(_moved, lambda: problem("levy")),
    "powell": partial(_moved, lambda: problem("powell")),
    "branin": partial(_moved, branin),
    "hartmann-6": partial(_moved, hartmann_6),
    "ackley": partial(_moved, ackley),
    "rosenbrock": partial(_moved, rosenbrock),
    "michalewicz": partial(_fixed, michalewicz),
    "hartmann-6-in-12": partial(_moved, hartmann_6_in_12),
    "branin-in-20": partial(_moved, branin_in_20),
    "draw-2d": partial(_draw, 2, 0.2),
    "draw-6d": partial(_draw, 6, 0.6),
    "mixed-process": lambda seed: _on_space(
        "mixed-process", PROCESS, process_truth, (0.0, process_range())
    ),
    "mixed-recipe": lambda seed: _on_space("mixed-recipe", RECIPE, recipe_truth, _recipe_span()),
    "svm": partial(_measured, "svm"),
    "mlp": partial(_measured, "mlp"),
    "boosting": partial(_measured, "boosting"),
}


def task(name: str, seed: int) -> Task:
    """The task called `name`, as replication `seed` meets it."""
    if name not in TASKS:
        raise InputError(f"task must be one of {', '.join(TASKS)}, got {name!r}.")
    return TASKS[name](seed)
