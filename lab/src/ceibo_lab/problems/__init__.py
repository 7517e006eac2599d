"""Problems by name.

A new one is a function returning a Problem, in a file of its own, and a line in PROBLEMS; one that
differs from seed to seed takes the seed, and has its line in DRAWN.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from ceibo.errors import InputError
from ceibo_lab.problem import Problem, shifted
from ceibo_lab.problems import more
from ceibo_lab.problems.classics import griewank, hartmann, levy, powell, sphere
from ceibo_lab.problems.draws import matern_draw
from ceibo_lab.problems.mixed import mixed_process, mixed_recipe
from ceibo_lab.problems.scenario import scenario
from ceibo_lab.problems.tables import TABLES, table_problem

PROBLEMS: Final[dict[str, Callable[[], Problem]]] = {
    "hartmann": hartmann,
    "griewank": griewank,
    "levy": levy,
    "powell": powell,
    "sphere": sphere,
    "scenario": scenario,
    "branin": more.branin,
    "hartmann-6": more.hartmann_6,
    "ackley": more.ackley,
    "rosenbrock": more.rosenbrock,
    "michalewicz": more.michalewicz,
    "hartmann-6-in-12": more.hartmann_6_in_12,
    "branin-in-20": more.branin_in_20,
    **{f"hartmann-6-in-{d}": partial(more.hartmann_6_in, d) for d in (25, 50, 100)},
    "levy-20": more.levy_20,
    "rosenbrock-20": more.rosenbrock_20,
    "mixed-process": mixed_process,
    "mixed-recipe": mixed_recipe,
    **{name: partial(table_problem, name) for name in TABLES},
}
DRAWN: Final[dict[str, Callable[[int], Problem]]] = {
    "draw-2d": partial(matern_draw, 2, 0.2),
    "draw-6d": partial(matern_draw, 6, 0.6),
}
VARIANTS: Final = ("plain", "shifted")
NAMES: Final = {
    "hartmann": "Hartmann 3",
    "griewank": "Griewank 6",
    "levy": "Levy 4",
    "powell": "Powell 5",
    "sphere": "Sphere 3",
    "branin": "Branin 2",
    "hartmann-6": "Hartmann 6",
    "ackley": "Ackley 5",
    "rosenbrock": "Rosenbrock 4",
    "michalewicz": "Michalewicz 5",
    "hartmann-6-in-12": "Hartmann 6 in 12",
    "branin-in-20": "Branin 2 in 20",
    **{f"hartmann-6-in-{d}": f"Hartmann 6 in {d}" for d in (25, 50, 100)},
    "levy-20": "Levy 20",
    "rosenbrock-20": "Rosenbrock 20",
    "draw-2d": "GP draws 2",
    "draw-6d": "GP draws 6",
    "mixed-process": "mixed process 7",
    "mixed-recipe": "mixed recipe 4",
    "svm": "SVM 2",
    "mlp": "MLP 3",
    "boosting": "boosting 3",
}


def problem(name: str, variant: str = "plain", seed: int = 0) -> Problem:
    """The problem called `name`, as replication `seed` meets it.

    The variant `shifted` is moved by random numbers of the seed. A draw is made anew for every
    seed, in either variant.
    """
    if name not in PROBLEMS and name not in DRAWN:
        known = ", ".join([*PROBLEMS, *DRAWN])
        raise InputError(f"problem must be one of {known}, got {name!r}.")
    if variant not in VARIANTS:
        raise InputError(f"variant must be one of {', '.join(VARIANTS)}, got {variant!r}.")
    if name in DRAWN:
        return DRAWN[name](seed)
    plain = PROBLEMS[name]()
    return plain if variant == "plain" else shifted(plain, seed)
