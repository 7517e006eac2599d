"""Three data sets × 30 seeds: CeiboSearchCV beside RandomizedSearchCV and Optuna.

python -m soak.sklearn_quality [candidates=25] [seeds=30]

Each seed splits the data anew. The search sees one part, with the same number of candidates and the
same five folds for every method; the model it chose is fitted to that part and scored on the other,
which nothing has seen. Differences are paired by seed; p is that of Wilcoxon's signed-rank test,
two-sided.
"""

import json
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import optuna
from scipy.stats import loguniform, randint, uniform, wilcoxon
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.model_selection import (
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from ceibo.integrations.sklearn import CeiboSearchCV


@final
@dataclass(frozen=True)
class Task:
    load: Callable[..., Any]
    model: Any
    space: dict[str, Any]
    suggest: Callable[[optuna.Trial], dict[str, Any]]  # the same space in Optuna's words
    train: int
    classifies: bool


def _digits(trial: optuna.Trial) -> dict[str, Any]:
    return {
        "C": trial.suggest_float("C", 1e-2, 1e4, log=True),
        "gamma": trial.suggest_float("gamma", 1e-6, 1, log=True),
    }


def _cancer(trial: optuna.Trial) -> dict[str, Any]:
    return {
        "max_depth": trial.suggest_int("max_depth", 1, 12),
        "min_samples_leaf": trial.suggest_int("min_samples_leaf", 1, 30),
        "ccp_alpha": trial.suggest_float("ccp_alpha", 1e-4, 1e-1, log=True),
        "criterion": trial.suggest_categorical("criterion", ["gini", "entropy"]),
    }


def _diabetes(trial: optuna.Trial) -> dict[str, Any]:
    return {
        "svr__C": trial.suggest_float("svr__C", 1e-1, 1e4, log=True),
        "svr__gamma": trial.suggest_float("svr__gamma", 1e-5, 1, log=True),
        "svr__epsilon": trial.suggest_float("svr__epsilon", 0, 50),
    }


TASKS: Final = {
    "digits, SVC": Task(
        load_digits,
        SVC(),
        {"C": loguniform(1e-2, 1e4), "gamma": loguniform(1e-6, 1)},
        _digits,
        250,
        True,
    ),
    "breast cancer, decision tree": Task(
        load_breast_cancer,
        DecisionTreeClassifier(random_state=0),
        {
            "max_depth": randint(1, 13),
            "min_samples_leaf": randint(1, 31),
            "ccp_alpha": loguniform(1e-4, 1e-1),
            "criterion": ["gini", "entropy"],
        },
        _cancer,
        250,
        True,
    ),
    "diabetes, SVR": Task(
        load_diabetes,
        make_pipeline(StandardScaler(), SVR()),
        {
            "svr__C": loguniform(1e-1, 1e4),
            "svr__gamma": loguniform(1e-5, 1),
            "svr__epsilon": uniform(0, 50),
        },
        _diabetes,
        200,
        False,
    ),
}
METHODS: Final = ("ceibo", "random", "optuna")


def run_all(name: str, seed: int, candidates: int) -> dict[str, float]:
    """Scores on fresh data of the model each method chose."""
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    task = TASKS[name]
    X, y = task.load(return_X_y=True)
    parts = train_test_split(
        X, y, train_size=task.train, random_state=seed, stratify=y if task.classifies else None
    )
    X_train, X_test, y_train, y_test = parts
    cv = (StratifiedKFold if task.classifies else KFold)(5, shuffle=True, random_state=seed)
    options = {"n_iter": candidates, "cv": cv, "random_state": seed}
    ceibo = CeiboSearchCV(task.model, task.space, **options).fit(X_train, y_train)
    random = RandomizedSearchCV(task.model, task.space, **options).fit(X_train, y_train)

    def objective(trial: optuna.Trial) -> float:
        model = clone(task.model).set_params(**task.suggest(trial))
        return float(np.mean(cross_val_score(model, X_train, y_train, cv=cv)))

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=candidates)
    chosen = clone(task.model).set_params(**study.best_params).fit(X_train, y_train)
    return {
        "ceibo": float(ceibo.score(X_test, y_test)),
        "random": float(random.score(X_test, y_test)),
        "optuna": float(chosen.score(X_test, y_test)),
        "ceibo said": float(ceibo.best_score_),
        "random said": float(random.best_score_),
        "optuna said": float(study.best_value),
    }


def main(candidates: int = 25, seeds: int = 30) -> int:
    jobs = [(name, seed, candidates) for name in TASKS for seed in range(seeds)]
    with ProcessPoolExecutor(2) as pool:
        rows = list(pool.map(run_all, *zip(*jobs, strict=True)))
    figures: dict[str, Any] = {"candidates": candidates, "seeds": seeds}
    pooled: dict[str, list[float]] = {"random": [], "optuna": []}
    for name in TASKS:
        found = [row for job, row in zip(jobs, rows, strict=True) if job[0] == name]
        figures[name] = {
            key: round(float(np.mean([row[key] for row in found])), 4) for key in found[0]
        }
        for other, differences in pooled.items():
            ours = np.array([row["ceibo"] - row[other] for row in found])
            differences += list(ours / max(float(np.std(ours)), 1e-12))
            figures[name][f"minus {other}"] = (
                f"{ours.mean():+.4f} ± {ours.std(ddof=1) / np.sqrt(seeds):.4f}"
            )
            figures[name][f"p {other}"] = _p(ours)
    for other, differences in pooled.items():
        figures[f"all, beside {other}"] = {
            "mean standardized": float(np.mean(differences)),
            "p": _p(differences),
        }
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    return 0 if all(np.mean(each) > -0.2 for each in pooled.values()) else 1


def _p(differences: Any) -> float:
    return float(wilcoxon(differences).pvalue) if np.any(differences) else 1.0


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
