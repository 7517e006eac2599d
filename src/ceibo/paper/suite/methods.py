"""The suite's methods by name: ceibo's candidates and the outside references.

A candidate of ceibo's is a line in CANDIDATES: what it changes of a study's settings.
"""

from typing import Any, Final, final

import numpy as np

from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo.paper.problems import stream
from ceibo.paper.suite.base import SuiteMethod, snapped
from ceibo.study.space import Space
from ceibo.study.suggest import Evidence, Model, Settings, fit_model, suggest

REFERENCES: Final = ("random", "botorch-qlognei", "optuna-gp")


@final
class Candidate:
    """ceibo's own suggestions under some settings, each fit also started from the one before, as a study does."""

    def __init__(self, space: Space, seed: int, settings: Settings) -> None:
        self.space, self.seed, self._settings = space, seed, settings
        self.settings = settings.to_json()
        self._previous: Model | None = None

    def propose(self, evidence: Evidence, number: int) -> tuple[Array, Model | None]:
        found = suggest(evidence, self.space, self._settings, self._start(), self.seed, number)
        self._previous = found.model or self._previous
        return found.x, found.model

    def model(self, evidence: Evidence) -> Model | None:
        return fit_model(evidence, self.space, self._settings, self._start())

    def recommend(self, evidence: Evidence) -> Array | None:
        return None

    def _start(self) -> Any:
        return None if self._previous is None else self._previous.fit.hyperparameters


@final
class RandomSearch:
    """Uniform random points."""

    def __init__(self, space: Space, seed: int) -> None:
        self.space, self._rng = space, stream(seed, "random search")
        self.settings: dict[str, Any] = {}

    def propose(self, evidence: Evidence, number: int) -> tuple[Array, Model | None]:
        return snapped(self.space, self._rng.random(len(self.space))), None

    def model(self, evidence: Evidence) -> Model | None:
        return None

    def recommend(self, evidence: Evidence) -> Array | None:
        return np.asarray(evidence.X[int(np.argmin(evidence.y))])


CANDIDATES: Final[dict[str, dict[str, Any]]] = {
    "default": {},
    "corrected-ei": {"acquisition": "corrected-ei"},
    "ei": {"acquisition": "ei"},
    "ucb": {"acquisition": "ucb"},
    "noisy-ei": {"acquisition": "noisy-ei"},
    "q-noisy-ei": {"acquisition": "q-noisy-ei"},
    "knowledge-gradient": {"acquisition": "knowledge-gradient"},
    "matern52": {"kernel": "matern52"},
    "squared-exponential": {"kernel": "squared-exponential"},
    "maximum-likelihood": {"fit": "ml"},
    "four-initial": {"n_initial": 4},
}


def start(name: str, space: Space, seed: int) -> SuiteMethod:
    """The method called `name`, at the beginning of a replication."""
    if name in CANDIDATES:
        return Candidate(space, seed, Settings(**CANDIDATES[name]))
    if name == "random":
        return RandomSearch(space, seed)
    if name in REFERENCES:
        from ceibo.paper.suite.references import START  # torch, BoTorch and Optuna, only when one is asked for

        return START[name](space, seed)
    raise InputError(f"method must be one of {', '.join([*CANDIDATES, *REFERENCES])}, got {name!r}.")
