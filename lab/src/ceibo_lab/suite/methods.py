"""The suite's methods by name: ceibo's candidates and the outside references.

A candidate of ceibo's is a line in CANDIDATES: what it changes of a study's settings.
"""

from typing import Any, Final, final

import numpy as np

from ceibo.decide.space import Space
from ceibo.decide.suggest import Evidence, Model, Settings
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo_lab.problems import stream
from ceibo_lab.suite.base import SuiteMethod, snapped
from ceibo_lab.suite.candidate import Candidate
from ceibo_lab.suite.variants import VARIANTS

REFERENCES: Final = ("random", "botorch-qlognei", "optuna-gp")


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


# What each changes of the default. The factors were screened one at a time around corrected KG with
# kernel "auto", as the names say; the first six are the combinations that followed.
_KG_AUTO: Final = {"acquisition": "corrected-kg", "kernel": "auto"}
CANDIDATES: Final[dict[str, dict[str, Any]]] = {
    "default": {},
    "ei": {"acquisition": "ei"},
    "corrected-ei": {"acquisition": "corrected-ei"},
    "knowledge-gradient": {"acquisition": "knowledge-gradient"},
    "corrected-kg": {"acquisition": "corrected-kg"},
    "ten-initial": {"n_initial": 10},
    "auto": {"kernel": "auto"},
    "ei-auto": {"acquisition": "ei", "kernel": "auto"},
    "corrected-ei-auto": {"acquisition": "corrected-ei", "kernel": "auto"},
    "ucb-auto": {"acquisition": "ucb", "kernel": "auto"},
    "q-noisy-ei-auto": {"acquisition": "q-noisy-ei", "kernel": "auto"},
    "knowledge-gradient-auto": {"acquisition": "knowledge-gradient", "kernel": "auto"},
    "corrected-kg-auto": _KG_AUTO,
    "corrected-kg-squared-exponential": {
        "acquisition": "corrected-kg",
        "kernel": "squared-exponential",
    },
    "corrected-kg-auto-ml": {**_KG_AUTO, "fit": "ml"},
    "corrected-kg-auto-four-initial": {**_KG_AUTO, "n_initial": 4},
    "corrected-kg-auto-ten-initial": {**_KG_AUTO, "n_initial": 10},
    **{name: {} for name in VARIANTS},  # the default's settings, used otherwise
}


def start(name: str, space: Space, seed: int) -> SuiteMethod:
    """The method called `name`, at the beginning of a replication."""
    if name in CANDIDATES:
        return VARIANTS.get(name, Candidate)(space, seed, Settings(**CANDIDATES[name]))
    if name == "random":
        return RandomSearch(space, seed)
    if name in REFERENCES:
        # torch, BoTorch and Optuna, only when one is asked for
        from ceibo_lab.suite.references import START

        return START[name](space, seed)
    raise InputError(
        f"method must be one of {', '.join([*CANDIDATES, *REFERENCES])}, got {name!r}."
    )
