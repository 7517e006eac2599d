"""Problems whose parameters are of several kinds: numbers, whole numbers, categories."""

import itertools
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import numpy as np

from ceibo.decide.space import Categorical, Float, Int, Space
from ceibo.gp.inputs import Array
from ceibo_lab.problem import Problem, box

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
    """From the optimum, 0, to the worst setting.

    That is a corner, as the truth is convex in each parameter.
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
    """A well per method, each elsewhere.

    The deepest belongs to a method that is bad nearly everywhere.
    """
    level, depth, dose, time, passes = _WELLS[p["method"]]
    distance = ((p["dose"] - dose) / 0.18) ** 2 + ((np.log10(p["time"]) - time) / 0.45) ** 2
    return float(
        level - depth * np.exp(-0.5 * distance) + 0.3 * ((p["passes"] - passes) / 19.0) ** 2
    )


def recipe_span() -> tuple[float, float]:
    """The least and the greatest value.

    The least is a well's own; the greatest, to within 1e-3, has no dip and all passes wrong.
    """
    lowest = min(level - depth for level, depth, *_ in _WELLS.values())
    highest = max(w[0] + 0.3 * (max(w[4] - 1, 20 - w[4]) / 19.0) ** 2 for w in _WELLS.values())
    return lowest, highest


def mixed_process() -> Problem:
    return _on_space("mixed-process", PROCESS, process_truth, (0.0, process_range()))


def mixed_recipe() -> Problem:
    return _on_space("mixed-recipe", RECIPE, recipe_truth, recipe_span())


def _on_space(
    name: str, space: Space, truth: Callable[[Mapping[str, Any]], float], span: tuple[float, float]
) -> Problem:
    def values(U: Array) -> Array:
        return np.array([truth(space.from_unit(u)) for u in U])

    nowhere = np.empty((0, len(space)))  # optimisers are not used here
    low, high = box(0, 1, len(space))
    lowest, highest = span
    return Problem(name, low, high, values, nowhere, lowest, highest - lowest, parameters=space)
