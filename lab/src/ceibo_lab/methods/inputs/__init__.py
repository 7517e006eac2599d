"""Methods for spaces with rules or branches by name; all follow a design that they share."""

from importlib.util import find_spec
from typing import Final

from ceibo.decide import Settings
from ceibo.errors import InputError
from ceibo_lab.inputs import INITIAL, InputEntry, InputMethod
from ceibo_lab.method import RAW_SAMPLES, RESTARTS
from ceibo_lab.methods.inputs.ceibo import CeiboFailures, CeiboInputs
from ceibo_lab.methods.inputs.random import RandomInputs
from ceibo_lab.optional import optional
from ceibo_lab.problems.inputs.problem import InputProblem

# the default, but for the design that all methods share
SETTINGS: Final = Settings(n_initial=INITIAL)
BEFORE: Final = "9c871b0"  # the last commit whose sampler drew at random inside branches


def _ceibo(problem: InputProblem, seed: int) -> InputMethod:
    return CeiboInputs(problem, seed, SETTINGS)


def _failures(problem: InputProblem, seed: int) -> InputMethod:
    return CeiboFailures(problem, seed, SETTINGS)


def _botorch(problem: InputProblem, seed: int) -> InputMethod:
    from ceibo_lab.methods.inputs.botorch import BotorchInputs  # only when asked for

    return BotorchInputs(problem, seed)


def _bofire(problem: InputProblem, seed: int) -> InputMethod:
    with optional("the method bofire", "bofire[optimization]"):
        from ceibo_lab.methods.inputs.bofire import BofireInputs  # only when asked for

    return BofireInputs(problem, seed)


def _tpe(problem: InputProblem, seed: int) -> InputMethod:
    from ceibo_lab.methods.inputs.optuna import tpe  # only when asked for

    return tpe(problem, seed)


def _sampler(problem: InputProblem, seed: int) -> InputMethod:
    if not _has_regions():
        raise InputError(
            "optuna-ceibo is the sampler of now, and this ceibo has none for branches."
        )
    from ceibo_lab.methods.inputs.optuna import ceibo_sampler  # only when asked for

    return ceibo_sampler(problem, seed)


def _sampler_before(problem: InputProblem, seed: int) -> InputMethod:
    if _has_regions():
        raise InputError(
            f"optuna-ceibo-before is the sampler of commit {BEFORE}; put the src of a checkout of"
            " it before this one on PYTHONPATH."
        )
    from ceibo_lab.methods.inputs.optuna import ceibo_sampler  # only when asked for

    return ceibo_sampler(problem, seed)


def _has_regions() -> bool:
    """Whether the ceibo that is imported is one with rules and branches."""
    return find_spec("ceibo.decide.region") is not None


_SEARCH: Final = {"restarts": RESTARTS, "raw_samples": RAW_SAMPLES}
INPUT_METHODS: Final[dict[str, InputEntry]] = {
    "ceibo": InputEntry("ceibo's default", _ceibo, SETTINGS.to_json()),
    "ceibo-failures": InputEntry("ceibo without rules", _failures, SETTINGS.to_json()),
    "botorch": InputEntry("BoTorch qLogNEI", _botorch, _SEARCH, ("botorch", "gpytorch", "torch")),
    "bofire": InputEntry("BoFire SoboStrategy", _bofire, {}, ("bofire", "botorch", "torch")),
    "random": InputEntry("random search", RandomInputs, {}),
    "optuna-tpe": InputEntry("Optuna TPE", _tpe, {}, ("optuna",)),
    "optuna-ceibo": InputEntry("CeiboSampler", _sampler, {}, ("optuna",)),
    "optuna-ceibo-before": InputEntry(
        f"CeiboSampler of {BEFORE}", _sampler_before, {"commit": BEFORE}, ("optuna",)
    ),
}
BRANCHING: Final = ("ceibo", "optuna-tpe", "optuna-ceibo", "optuna-ceibo-before", "random")
"""Methods for spaces with branches."""
RULING: Final = ("ceibo", "ceibo-failures", "botorch", "bofire", "random")
"""Methods for spaces with rules."""


def input_method(name: str) -> InputEntry:
    """The method called `name`."""
    if name not in INPUT_METHODS:
        raise InputError(f"method must be one of {', '.join(INPUT_METHODS)}, got {name!r}.")
    return INPUT_METHODS[name]
