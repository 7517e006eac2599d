"""Methods for several outcomes by name; they follow an initial design that all of them share."""

from typing import Final

from ceibo.decide import Settings
from ceibo.errors import InputError
from ceibo_lab.method import RAW_SAMPLES, RESTARTS
from ceibo_lab.methods.outcomes.ceibo import CeiboOutcomes
from ceibo_lab.methods.outcomes.random import RandomOutcomes
from ceibo_lab.outcomes import INITIAL, OutcomeEntry, OutcomeMethod
from ceibo_lab.problems.outcomes.problem import OutcomeProblem

# the default, but for the design that all methods share
SETTINGS: Final = Settings(n_initial=INITIAL)


def _ceibo(problem: OutcomeProblem, seed: int) -> OutcomeMethod:
    return CeiboOutcomes(problem, seed, SETTINGS)


def _botorch(problem: OutcomeProblem, seed: int) -> OutcomeMethod:
    from ceibo_lab.methods.outcomes.botorch import BotorchOutcomes  # only when asked for

    return BotorchOutcomes(problem, seed)


def _optuna(problem: OutcomeProblem, seed: int) -> OutcomeMethod:
    from ceibo_lab.methods.outcomes.optuna import OptunaOutcomes  # only when asked for

    return OptunaOutcomes(problem, seed)


_SEARCH: Final = {"restarts": RESTARTS, "raw_samples": RAW_SAMPLES}
OUTCOME_METHODS: Final[dict[str, OutcomeEntry]] = {
    "ceibo": OutcomeEntry("ceibo's default", _ceibo, SETTINGS.to_json()),
    "botorch": OutcomeEntry(
        "BoTorch qLogNEI, qLogNEHVI", _botorch, _SEARCH, ("botorch", "gpytorch", "torch")
    ),
    "optuna-gp": OutcomeEntry("Optuna GPSampler", _optuna, {}, ("optuna", "torch")),
    "random": OutcomeEntry("random search", RandomOutcomes, {}),
}


def outcome_method(name: str) -> OutcomeEntry:
    """The method called `name`."""
    if name not in OUTCOME_METHODS:
        raise InputError(f"method must be one of {', '.join(OUTCOME_METHODS)}, got {name!r}.")
    return OUTCOME_METHODS[name]
