"""Methods for several outcomes by name; they follow an initial design that all of them share."""

from typing import Final

from ceibo.errors import InputError
from ceibo_lab.method import RAW_SAMPLES, RESTARTS
from ceibo_lab.methods.outcomes.random import RandomOutcomes
from ceibo_lab.outcomes import OutcomeEntry, OutcomeMethod
from ceibo_lab.problems.outcomes.problem import OutcomeProblem


def _botorch(problem: OutcomeProblem, seed: int) -> OutcomeMethod:
    from ceibo_lab.methods.outcomes.botorch import BotorchOutcomes  # only when asked for

    return BotorchOutcomes(problem, seed)


def _optuna(problem: OutcomeProblem, seed: int) -> OutcomeMethod:
    from ceibo_lab.methods.outcomes.optuna import OptunaOutcomes  # only when asked for

    return OptunaOutcomes(problem, seed)


_SEARCH: Final = {"restarts": RESTARTS, "raw_samples": RAW_SAMPLES}
OUTCOME_METHODS: Final[dict[str, OutcomeEntry]] = {
    "botorch": OutcomeEntry("BoTorch qLogNEI, qLogNEHVI", _botorch, _SEARCH),
    "optuna-gp": OutcomeEntry("Optuna GPSampler", _optuna, {}),
    "random": OutcomeEntry("random search", RandomOutcomes, {}),
}


def outcome_method(name: str) -> OutcomeEntry:
    """The method called `name`."""
    if name not in OUTCOME_METHODS:
        raise InputError(f"method must be one of {', '.join(OUTCOME_METHODS)}, got {name!r}.")
    return OUTCOME_METHODS[name]
