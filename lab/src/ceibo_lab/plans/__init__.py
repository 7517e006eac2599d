"""The experiments by name. A new one is an Experiment in a file of its own, and a line here."""

from typing import Final

from ceibo.errors import InputError
from ceibo_lab.plans.answers import ANSWERS
from ceibo_lab.plans.benchmark import BENCHMARK
from ceibo_lab.plans.compression import COMPRESSION
from ceibo_lab.plans.inputs import INPUTS
from ceibo_lab.plans.many import MANY
from ceibo_lab.plans.outcomes import OUTCOMES
from ceibo_lab.plans.plan import Experiment
from ceibo_lab.plans.special import COST, GP_SAMPLES, PROFIT, SCENARIO, THEORY
from ceibo_lab.plans.suite import SUITE

_PAPER: Final = (SCENARIO, PROFIT, *BENCHMARK, GP_SAMPLES, COST, THEORY, *COMPRESSION)
_ALL: Final = (*_PAPER, *SUITE, *MANY, *ANSWERS, *OUTCOMES, *INPUTS)
EXPERIMENTS: Final[dict[str, Experiment]] = {each.id: each for each in _ALL}


def experiment(name: str) -> Experiment:
    """The experiment called `name`."""
    if name not in EXPERIMENTS:
        raise InputError(f"experiment must be one of {', '.join(EXPERIMENTS)}, got {name!r}.")
    return EXPERIMENTS[name]
