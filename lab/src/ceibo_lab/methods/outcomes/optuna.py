"""Optuna's GPSampler with constraints and several objectives, as its documentation recommends."""

import warnings
from collections.abc import Mapping
from typing import Any, Final, final

import optuna
import torch

from ceibo.gp.inputs import Array
from ceibo_lab.methods.outcomes.raw import raw_answer, raw_front
from ceibo_lab.outcomes import Answer, Measured
from ceibo_lab.problem import stream
from ceibo_lab.problems.outcomes.problem import OutcomeProblem

_LIMITS: Final = "limits"  # the attribute of a trial that holds what its limits measured


@final
class OptunaOutcomes:
    """One study with a GPSampler, told every measurement; it takes no noise and infers it.

    Answers are its best trials by the measured values, as `best_trial` and `best_trials` give them.
    """

    def __init__(self, problem: OutcomeProblem, seed: int) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        torch.set_num_threads(1)
        self.space, self.goals, self.seed = problem.space, problem.goals, seed
        self._limited = problem.limits > 0
        self._distributions: dict[str, optuna.distributions.BaseDistribution] = {
            name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in self.space.dimensions
        }
        self._study: Any = None
        self._asked: Any = None

    def propose(self, measured: Measured, _number: int) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self._study is None:
                self._study = self._begin(measured)
            else:
                row = measured.Y[-1].tolist()
                self._asked.set_user_attr(_LIMITS, row[self.goals :])
                self._study.tell(self._asked, row[: self.goals])
            self._asked = self._study.ask(self._distributions)
        return self.space.to_unit(self._asked.params)

    def answers(self, measured: Measured) -> Mapping[str, Answer]:
        return {"measured": raw_answer(measured)}

    def front(self, measured: Measured) -> list[Answer]:
        return raw_front(measured)

    def _begin(self, measured: Measured) -> Any:
        """A study that knows the measurements so far."""
        sampler = optuna.samplers.GPSampler(
            seed=int(stream(self.seed, "optuna").integers(2**31)),
            n_startup_trials=len(measured.X),
            constraints_func=_limits if self._limited else None,
        )
        study = optuna.create_study(directions=["minimize"] * self.goals, sampler=sampler)
        for x, y in zip(measured.X, measured.Y.tolist(), strict=True):
            trial = optuna.trial.create_trial(
                params=self.space.from_unit(x),
                distributions=self._distributions,
                values=y[: self.goals],
                user_attrs={_LIMITS: y[self.goals :]},
                system_attrs={"constraints": y[self.goals :]} if self._limited else {},
            )
            study.add_trial(trial)
        return study


def _limits(trial: Any) -> list[float]:
    return list(trial.user_attrs[_LIMITS])
