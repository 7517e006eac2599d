"""Levels, steps and tuples through scikit-learn and Optuna."""

import warnings
from typing import Any

import numpy as np
import optuna
from sklearn.base import BaseEstimator

import ceibo
from ceibo import Categorical, Int, Ordinal
from ceibo.integrations.optuna import CeiboSampler, to_study
from ceibo.integrations.sklearn import CeiboSearchCV


class Net(BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """Scores best with two layers of 64, eight epochs and a batch of 24."""

    def __init__(self, layers: Any = (1,), epochs: int = 1, batch: int = 8, size: int = 1) -> None:
        self.layers, self.epochs, self.batch, self.size = layers, epochs, batch, size

    def fit(self, X: Any, _y: Any) -> "Net":
        assert isinstance(self.layers, tuple)
        self.classes_ = np.unique(X)
        return self

    def score(self, _X: Any, _y: Any) -> float:
        away = abs(np.log2(self.epochs / 8)) + abs(self.batch - 24) / 8 + abs(self.size - 10) / 9
        return float(-away - (self.layers != (64, 64)))


def test_a_scikit_learn_search_over_tuples_and_levels() -> None:
    search = CeiboSearchCV(
        Net(),
        {
            "layers": [(64, 64), (128,), (256, 128)],
            "epochs": Ordinal([1, 2, 4, 8, 24], log=True),
            "batch": Int(8, 64, step=8),
            "size": [1, 10, 100],
        },
        n_iter=25,
        cv=2,
        random_state=0,
        refit=False,
    )
    search.fit(np.zeros((8, 1)), np.zeros(8))
    params = search.cv_results_["params"]
    assert {each["layers"] for each in params} <= {(64, 64), (128,), (256, 128)}
    assert {each["epochs"] for each in params} <= {1, 2, 4, 8, 24}
    assert all(each["batch"] % 8 == 0 for each in params)
    assert search.best_params_["layers"] == (64, 64)
    copy = search.to_study(ceibo.Study.create)
    assert copy.space.dimensions["layers"] == Categorical([(64, 64), (128,), (256, 128)])
    assert copy.space.dimensions["epochs"] == Ordinal([1, 2, 4, 8, 24], log=True)
    assert copy.space.dimensions["size"] == Ordinal([1, 10, 100], log=True)
    assert copy.best.params["layers"] == (64, 64)


def test_an_optuna_search_over_tuples_and_steps() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=CeiboSampler(seed=1))

    def objective(trial: optuna.Trial) -> float:
        choices: Any = [(64, 64), (128,)]
        layers: Any = trial.suggest_categorical("layers", choices)
        n = trial.suggest_int("n", 8, 64, step=8)
        return float(abs(n - 40) / 8 + sum(layers) / 64)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna's own storages may not keep tuples
        study.optimize(objective, n_trials=14)
        copy = to_study(study, ceibo.Study.create)
    assert copy.space.dimensions["layers"] == Categorical([(64, 64), (128,)])
    assert copy.space.dimensions["n"] == Int(8, 64, step=8)
    assert [each.params for each in copy.trials] == [each.params for each in study.trials]
    assert copy.best.params["n"] == 40
