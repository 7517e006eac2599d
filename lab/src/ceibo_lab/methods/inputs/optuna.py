"""Optuna on conditional searches, written as its users write them: suggest inside if and else."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final, final

import numpy as np
import optuna

from ceibo.decide.dimensions import Categorical, Dimension, Float
from ceibo_lab.inputs import INITIAL, Trials
from ceibo_lab.methods.distributions import distribution
from ceibo_lab.problem import stream
from ceibo_lab.problems.inputs.choices import exists
from ceibo_lab.problems.inputs.problem import InputProblem
from ceibo_lab.problems.inputs.rules import Params

NOISE: Final = "noise"  # the attribute of a trial with the standard deviation told
Answering = Callable[[optuna.Study], Mapping[str, Params]]


@final
class OptunaInputs:
    """One study, told every measurement; a trial asks for the parameters that exist, in order.

    Args:
        problem: with branches and without rules, which Optuna does not have.
        sampler: that suggests.
        answering: the answers of a study beside its best trial by the measured value.
    """

    def __init__(
        self, problem: InputProblem, sampler: Any, answering: Answering | None = None
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.problem, self._answering = problem, answering
        self._distributions = {n: distribution(d) for n, d in problem.dimensions.items()}
        self._study: Any = optuna.create_study(direction="minimize", sampler=sampler)
        self._asked: Any = None
        self._told = 0

    def propose(self, trials: Trials, _number: int) -> Params:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._tell(trials)
            self._asked = self._study.ask()
            params: dict[str, Any] = {}
            for name in self.problem.dimensions:
                if exists(self.problem.when, name, params):
                    params[name] = _suggest(self._asked, name, self.problem.dimensions[name])
        return params

    def answers(self, trials: Trials) -> Mapping[str, Params]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._tell(trials)
            own = {} if self._answering is None else self._answering(self._study)
        return {**own, "measured": trials.best}

    def _tell(self, trials: Trials) -> None:
        """Tells what is not told yet: the design, or the trial asked for last."""
        rows = list(zip(trials.settings, trials.values.tolist(), trials.noise, strict=True))
        for params, value, std in rows[self._told :]:
            noted = {} if np.isnan(std) else {NOISE: float(std)}
            if self._asked is None:
                made = optuna.trial.create_trial(
                    params=dict(params),
                    distributions={name: self._distributions[name] for name in params},
                    value=value,
                    user_attrs=noted,
                )
                self._study.add_trial(made)
            else:
                for key, each in noted.items():
                    self._asked.set_user_attr(key, each)
                self._study.tell(self._asked, value)
        self._told = len(rows)


def _suggest(trial: Any, name: str, dimension: Dimension) -> Any:
    if isinstance(dimension, Categorical):
        return trial.suggest_categorical(name, list(dimension.choices))
    if isinstance(dimension, Float):
        return trial.suggest_float(name, dimension.low, dimension.high, log=dimension.log)
    raise TypeError(f"a branch has numbers and categories, got {dimension!r}")


def tpe(problem: InputProblem, seed: int) -> OptunaInputs:
    """Its TPE sampler with its defaults."""
    start = int(stream(seed, "optuna").integers(2**31))
    return OptunaInputs(problem, optuna.samplers.TPESampler(seed=start))


def ceibo_sampler(problem: InputProblem, seed: int) -> OptunaInputs:
    """ceibo's sampler with its defaults; answers with `recommended` of the integration."""
    from ceibo.integrations.optuna import CeiboSampler, recommended

    def answering(study: optuna.Study) -> Mapping[str, Params]:
        return {"recommended": recommended(study).params}

    sampler = CeiboSampler(seed=seed, n_startup_trials=INITIAL, noise_attribute=NOISE)
    return OptunaInputs(problem, sampler, answering)
