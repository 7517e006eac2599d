"""Problems by name. A new one is a function returning a Problem, in a file of its own, and a line
here.
"""

from collections.abc import Callable
from typing import Final

from ceibo.errors import InputError
from ceibo_lab.problems.base import Problem, shifted, stream
from ceibo_lab.problems.classics import griewank, hartmann, levy, powell, sphere
from ceibo_lab.problems.scenario import scenario

__all__ = ["PROBLEMS", "VARIANTS", "Problem", "problem", "shifted", "stream"]

PROBLEMS: Final[dict[str, Callable[[], Problem]]] = {
    "hartmann": hartmann,
    "griewank": griewank,
    "levy": levy,
    "powell": powell,
    "sphere": sphere,
    "scenario": scenario,
}
VARIANTS: Final = ("plain", "shifted")


def problem(name: str, variant: str = "plain", seed: int = 0) -> Problem:
    """The problem called `name`; `shifted` by random numbers of the replication's seed if that
    variant is asked for.
    """
    if name not in PROBLEMS:
        raise InputError(f"problem must be one of {', '.join(PROBLEMS)}, got {name!r}.")
    if variant not in VARIANTS:
        raise InputError(f"variant must be one of {', '.join(VARIANTS)}, got {variant!r}.")
    plain = PROBLEMS[name]()
    return plain if variant == "plain" else shifted(plain, seed)
