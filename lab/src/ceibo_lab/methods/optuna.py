"""Optuna's GPSampler, used as its documentation recommends, on any space of ceibo's."""

import warnings
from typing import Any, final

import numpy as np
import optuna
import torch

from ceibo.decide import Evidence, Space
from ceibo.decide.model import Model
from ceibo.gp.inputs import Array
from ceibo_lab.method import Proposal, design_point
from ceibo_lab.methods.distributions import distribution
from ceibo_lab.problem import stream


@final
class Optuna:
    """One study with a GPSampler, told every measurement; it takes no noise and infers it.

    It begins to model after its own initial design, or after the measurements it begins with.
    Recommends its best trial, as `study.best_params` does.

    Args:
        space: of the problem.
        seed: of the replication.
        initial: points of an initial design of its own.
    """

    def __init__(self, space: Space, seed: int, initial: int) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        torch.set_num_threads(1)
        self.space, self.seed, self.initial = space, seed, initial
        self._distributions = {name: distribution(d) for name, d in space.dimensions.items()}
        self._study: Any = None
        self._asked: Any = None

    def propose(self, evidence: Evidence, number: int) -> Proposal:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self._study is None:
                self._study = self._begin(evidence)
            else:
                self._study.tell(self._asked, float(evidence.y[-1]))
            if number < self.initial:
                u = design_point(self.space, self.seed, number)
                self._study.enqueue_trial(self.space.from_unit(u))
            self._asked = self._study.ask(self._distributions)
        return Proposal(self.space.to_unit(self._asked.params))

    def model(self, _evidence: Evidence) -> Model | None:
        return None

    def recommend(self, evidence: Evidence) -> Array | None:
        return np.asarray(evidence.X[int(np.argmin(evidence.y))])

    def _begin(self, evidence: Evidence) -> Any:
        """A study that knows the measurements so far."""
        seed = int(stream(self.seed, "optuna").integers(2**31))
        startup = max(self.initial, len(evidence))
        sampler = optuna.samplers.GPSampler(seed=seed, n_startup_trials=startup)
        study = optuna.create_study(direction="minimize", sampler=sampler)
        for x, y in zip(evidence.X, evidence.y, strict=True):
            known: dict[str, Any] = {
                "params": self.space.from_unit(x),
                "distributions": self._distributions,
            }
            study.add_trial(optuna.trial.create_trial(**known, value=float(y)))
        return study
