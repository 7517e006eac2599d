"""The methods by name: the paper's acquisition functions through ceibo's own suggestion, and others
beside.

Methods of ceibo fit by maximum likelihood ("ml", as the paper) or the product's maximum a
posteriori ("map"). The model that `best` and `recommended` are read off is the method's own; for
random search and the outside references, which have none to offer, it is ceibo's maximum likelihood
fit to the same data.

A new method is a Proposer in a file of its own, and a line in METHODS.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

from ceibo.decide.suggest import Settings
from ceibo.errors import InputError
from ceibo_lab.proposers import (
    KERNEL,
    CeiboProposer,
    Proposer,
    RandomProposer,
    ShortSearchProposer,
    judge,
    unit_space,
)

__all__ = [
    "LABELS",
    "METHODS",
    "PAPER_SEVEN",
    "Method",
    "ceibo_method",
    "judge",
    "method",
    "unit_space",
]


@final
@dataclass(frozen=True)
class Method:
    """A method by name: how to start it for (dimension, seed), and how it is shown."""

    name: str
    label: str
    start: Callable[[int, int], Proposer]
    settings: dict[str, object]


LABELS: Final = {
    "corrected-ei": "corrected EI",
    "ei": "EI",
    "corrected-pi": "corrected PI",
    "pi": "PI",
    "ucb": "UCB",
    "noisy-ei": "noisy EI",
    "q-noisy-ei": "parallel noisy EI",
    "corrected-kg": "corrected KG",
    "knowledge-gradient": "knowledge gradient",
}
PAPER_SEVEN: Final = ("corrected-ei", "ei", "corrected-pi", "pi", "ucb", "noisy-ei", "q-noisy-ei")


def ceibo_method(acquisition: str, fit: str = "ml", short: bool = False) -> Method:
    """An acquisition of ceibo's: `name` is the acquisition, with /map or /short where that differs
    from the paper's.
    """
    settings = Settings(acquisition=acquisition, kernel=KERNEL, fit=fit, n_initial=1)
    suffix = ("/map" if fit == "map" else "") + ("/short" if short else "")
    words = (", MAP" if fit == "map" else "") + (", short search" if short else "")
    proposer = ShortSearchProposer if short else CeiboProposer
    described = {k: v for k, v in settings.to_json().items() if k != "n_initial"} | {
        "short_search": short
    }
    return Method(
        acquisition + suffix,
        LABELS[acquisition] + words,
        lambda dimension, seed: proposer(dimension, seed, settings),
        described,
    )


def _reference(name: str) -> Callable[[int, int], Proposer]:
    def start(dimension: int, seed: int) -> Proposer:
        # torch, BoTorch and Optuna, only when one of them is asked for
        from ceibo_lab.references import START

        return START[name](dimension, seed)

    return start


_OWN: Final = [
    *(ceibo_method(name, fit) for name in LABELS for fit in ("ml", "map")),
    *(ceibo_method(name, "ml", short=True) for name in PAPER_SEVEN),
]
METHODS: Final[dict[str, Method]] = {method.name: method for method in _OWN} | {
    "random": Method("random", "random search", RandomProposer, {}),
    "botorch-qlognei": Method(
        "botorch-qlognei", "BoTorch qLogNEI", _reference("botorch-qlognei"), {}
    ),
    "optuna-gp": Method("optuna-gp", "Optuna GPSampler", _reference("optuna-gp"), {}),
}


def method(name: str) -> Method:
    """The method called `name`."""
    if name not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {name!r}.")
    return METHODS[name]
