"""Finds the figures of these problems again: `python -m` with this module's name.

optimum   the least value where all rules hold: SLSQP over each choice of categories and of the
          parts that are there, from several random settings of it
worst     the greatest value at 2^14 random settings that obey the rules (any choice is as
          likely); the range, of which noise is a share, is worst − optimum
"""

import argparse
from typing import Any, Final

import numpy as np
from scipy.optimize import minimize

from ceibo.gp.inputs import Array
from ceibo_lab.problems.inputs import INPUT_PROBLEMS
from ceibo_lab.problems.inputs.choices import Choice
from ceibo_lab.problems.inputs.problem import InputProblem
from ceibo_lab.problems.inputs.rules import Total

STARTS: Final = 12
_EFFORT: Final[Any] = {"ftol": 1e-13, "maxiter": 500}
SAMPLES: Final = 2**14


def optimum(problem: InputProblem, starts: int = STARTS) -> tuple[float, dict[str, Any]]:
    """The least value found where all rules hold, and a setting that has it."""
    rng = np.random.default_rng(0)
    found = [least(problem, each, starts, rng) for each in problem.choices]
    return min(found, key=lambda pair: pair[0])


def least(
    problem: InputProblem, choice: Choice, starts: int, rng: np.random.Generator
) -> tuple[float, dict[str, Any]]:
    """The least value of one choice, and where."""
    names = choice.free

    def setting(z: Array) -> dict[str, Any]:
        clipped = np.clip(z, 0.0, 1.0).tolist()
        free = {n: problem.dimensions[n].from_unit(u) for n, u in zip(names, clipped, strict=True)}
        return problem.existing({**choice.fixed, **free})

    def value_at(z: Array) -> float:
        return problem.truth(setting(z))

    def room(z: Array, total: Total) -> float:
        values = setting(z)
        parts = [weight * values[name] for name, weight in total.weights.items()]
        return float(total.bound - sum(parts))

    rules: list[Any] = [
        {"type": "eq" if total.equal else "ineq", "fun": room, "args": (total,)}
        for total in choice.totals
    ]
    best: tuple[float, dict[str, Any]] = (float("inf"), {})
    for _ in range(starts):
        start = problem.sample_in(choice, rng)
        z: Array = np.array([problem.dimensions[name].to_unit(start[name]) for name in names])
        ended = minimize(
            value_at,
            z,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * len(names),
            constraints=rules,
            options=_EFFORT,
        )
        for params in (start, setting(ended.x)):
            if problem.excess(params) < 1e-9 and (value := problem.truth(params)) < best[0]:
                best = value, params
    return best


def worst(problem: InputProblem, samples: int = SAMPLES) -> float:
    """The greatest value at random settings that obey."""
    rng = np.random.default_rng(1)
    return max(problem.truth(problem.sample(rng)) for _ in range(samples))


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("names", nargs="*", help="problems; all by default")
    for name in options.parse_args().names or INPUT_PROBLEMS:
        each = INPUT_PROBLEMS[name]
        print(f"{name}: optimum, at {optimum(each)}, worst {worst(each)!r}")
        print(f"  has {each.optimum!r}, {each.worst!r}; {len(each.choices)} choices")
