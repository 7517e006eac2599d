"""A search's file knows what it is about: whatever changes scores is refused, and nothing else."""

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, fbeta_score, make_scorer, zero_one_loss
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import ceibo
from ceibo.errors import InputError
from ceibo.integrations.sklearn import CeiboSearchCV
from ceibo.integrations.sklearn.fingerprint import fingerprint

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
Y = (X[:, 0] + 0.5 * RNG.standard_normal(60) > 0).astype(int)


def same(data: Any) -> Any:
    return data


def scaled(sign: float) -> Callable[..., float]:
    def score(estimator: Any, data: Any, y: Any) -> float:
        return sign * float(estimator.score(data, y))

    return score


def steps(places: int) -> Pipeline:
    """Longer than what `repr` shows, and different in its middle."""
    ranges = [1] * 6 + [places] + [1] * 7
    named = [
        (f"a_step_with_a_rather_long_name_{k}", MinMaxScaler(feature_range=(0, high), clip=True))
        for k, high in enumerate(ranges)
    ]
    return Pipeline([*named, ("m", DecisionTreeClassifier(random_state=0))])


def columns(last: int) -> ColumnTransformer:
    return ColumnTransformer([("n", StandardScaler(), [*([0] * 38), last, last, *([0] * 38)])])


class Own(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    def __init__(self, power: float = 1.0) -> None:
        super().__init__()
        self.power = power

    def transform(self, data: Any) -> Any:
        return data**self.power


# each makes the same at every call, from objects at other addresses, and none the same as others
MAKERS: dict[str, Callable[[], Any]] = {
    "tree": lambda: DecisionTreeClassifier(random_state=0),
    "tree of another seed": lambda: DecisionTreeClassifier(random_state=1),
    "whole features": lambda: DecisionTreeClassifier(max_features=1),
    "all features": lambda: DecisionTreeClassifier(max_features=1.0),
    "random state": lambda: DecisionTreeClassifier(random_state=np.random.RandomState(0)),
    "other random state": lambda: DecisionTreeClassifier(random_state=np.random.RandomState(1)),
    "global random state": lambda: DecisionTreeClassifier(random_state=np.random.mtrand._rand),
    "generator": lambda: np.random.default_rng(3),
    "long pipeline": lambda: steps(1),
    "other long pipeline": lambda: steps(9),
    "many columns": lambda: columns(1),
    "other many columns": lambda: columns(2),
    "function": lambda: FunctionTransformer(same),
    "lambda": lambda: FunctionTransformer(lambda data: data),
    "other lambda": lambda: FunctionTransformer(lambda data: data + 1),
    "options of a function": lambda: FunctionTransformer(same, kw_args={"a": 1}),
    "ufunc": lambda: FunctionTransformer(np.log1p),
    "kernel": lambda: SVC(kernel=lambda a, b: a @ b.T),
    "partial": lambda: SVC(kernel=functools.partial(same, data=1)),
    "other partial": lambda: SVC(kernel=functools.partial(same, data=2)),
    "method": lambda: CountVectorizer(tokenizer=str.split),
    "bound method": lambda: CountVectorizer(tokenizer=re.compile("a").split),
    "process": lambda: GaussianProcessRegressor(RBF(1.0)),
    "other process": lambda: GaussianProcessRegressor(RBF(2.0)),
    "weights": lambda: LogisticRegression(class_weight={0: 1, 1: 2}),
    "other weights": lambda: LogisticRegression(class_weight={0: 1, 1: 3}),
    "own": Own,
    "own, of another power": lambda: Own(2.0),
    "output": lambda: StandardScaler().set_output(transform="pandas"),
    "no output": StandardScaler,
    "accuracy": lambda: make_scorer(accuracy_score),
    "loss": lambda: make_scorer(zero_one_loss, greater_is_better=False),
    "loss the other way": lambda: make_scorer(zero_one_loss),
    "f1": lambda: make_scorer(fbeta_score, beta=1),
    "f2": lambda: make_scorer(fbeta_score, beta=2),
    "proba": lambda: make_scorer(fbeta_score, beta=2, response_method="predict_proba"),
    "metrics": lambda: {"a": make_scorer(accuracy_score)},
    "other metrics": lambda: {"a": make_scorer(zero_one_loss)},
    "name": lambda: "accuracy",
    "closure": lambda: scaled(1.0),
    "other closure": lambda: scaled(-1.0),
    "array": lambda: np.arange(4.0),
    "array of others": lambda: np.arange(4),
    "objects": lambda: np.array(["a", None], dtype=object),
    "set": lambda: {"a", "b", "c", 1},
    "slice": lambda: slice(1, 3),
}


@functools.cache
def fingerprints() -> dict[str, str]:
    return {name: fingerprint(make()) for name, make in MAKERS.items()}


def test_what_is_made_again_is_the_same_and_all_else_is_not() -> None:
    again = {name: fingerprint(make()) for name, make in MAKERS.items()}
    assert again == fingerprints()
    assert len(set(again.values())) == len(again)


def test_another_process_finds_the_same() -> None:
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1]);"
        "from test_sklearn_fingerprint import fingerprints; print(json.dumps(fingerprints()))"
    )
    env = {**os.environ, "PYTHONHASHSEED": "7"}
    run = [sys.executable, "-c", code, str(Path(__file__).parent)]
    said = subprocess.run(run, env=env, capture_output=True, text=True, check=True).stdout
    assert json.loads(said) == fingerprints()


def test_what_refers_to_itself_ends() -> None:
    one: list[Any] = [1]
    one.append(one)
    other: list[Any] = [2]
    other.append(other)
    assert fingerprint(one) != fingerprint(other)


def test_what_is_written_in_main_is_its_code() -> None:
    """A notebook's cell is edited under the same names."""

    def cell(text: str) -> Any:
        names: dict[str, Any] = {"__name__": "__main__", "Own": Own}
        exec(text, names)
        return names["made"]

    function = "def f(x):\n    'Doubles.'\n    return {} * x\nmade = f"
    method = "class A(Own):\n    def transform(self, x):\n        return {} * x\nmade = A()"
    constant = "class A(Own):\n    factor = {}\nmade = A()"
    hidden = "class A(Own):\n    @property\n    def factor(self):\n        return {}\nmade = A()"
    shared = "class A(Own):\n    @staticmethod\n    def f():\n        return {}\nmade = A()"
    cached = "import functools\n@functools.cache\ndef f(x):\n    return {} * x\nmade = f"
    for text in (function, method, constant, hidden, shared, cached):
        assert fingerprint(cell(text.format(2))) == fingerprint(cell("\n\n" + text.format(2)))
        assert fingerprint(cell(text.format(2))) != fingerprint(cell(text.format(3)))


def test_a_frozen_estimator_is_what_it_has_learnt() -> None:
    frozen = pytest.importorskip("sklearn.frozen").FrozenEstimator

    def taught(rows: int) -> Any:
        tree = DecisionTreeClassifier(random_state=0)
        return frozen(Pipeline([("t", tree)]).fit(X[:rows], Y[:rows]))

    assert fingerprint(taught(60)) == fingerprint(taught(60))
    assert fingerprint(taught(60)) != fingerprint(taught(30))


def kept(storage: Path, estimator: Any = None, n_iter: int = 2, **options: Any) -> CeiboSearchCV:
    tree = DecisionTreeClassifier(random_state=0)
    space = options.pop("space", {"max_depth": ceibo.Int(1, 9)})
    given = {"n_iter": n_iter, "random_state": 0, "cv": 2, "storage": storage, **options}
    return CeiboSearchCV(estimator or tree, space, refit=False, **given).fit(X, Y)


DEPTH = {"m__max_depth": ceibo.Int(1, 9)}
FUNCTION = Pipeline([("f", FunctionTransformer(same)), ("m", DecisionTreeClassifier())])


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        (
            {"scoring": make_scorer(accuracy_score)},
            {"scoring": make_scorer(zero_one_loss, greater_is_better=False)},
            "scoring",
        ),
        (
            {"estimator": steps(1), "space": DEPTH},
            {"estimator": steps(9), "space": DEPTH},
            "estimator",
        ),
        (
            {"space": {"ccp_alpha": norm(1, 0.1)}},
            {"space": {"ccp_alpha": norm(1, 0.2)}},
            "param_distributions",
        ),
        (
            {"space": {"max_depth": [1, 2], "ccp_alpha": [0.0]}},
            {"space": {"max_depth": [1, 2], "ccp_alpha": [0.1]}},
            "param_distributions",
        ),
    ],
)
def test_scores_that_cannot_be_compared_are_refused(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], word: str
) -> None:
    kept(tmp_path / "s.jsonl", **first)
    with pytest.raises(InputError, match=f"a search with another {word}; give this one a file"):
        kept(tmp_path / "s.jsonl", n_iter=3, **second)


def test_choices_that_are_functions_are_the_same_after_a_restart(tmp_path: Path) -> None:
    def space() -> dict[str, Any]:
        return {**DEPTH, "f__func": [None, lambda data: data]}

    kept(tmp_path / "s.jsonl", FUNCTION, space=space())
    again = kept(tmp_path / "s.jsonl", FUNCTION, n_iter=3, space=space())
    assert len(again.cv_results_["params"]) == 3
    assert " at 0x" not in (tmp_path / "s.jsonl").read_text(encoding="utf-8")


@pytest.mark.needs("torch")
def test_tensors_are_their_numbers() -> None:
    import torch

    assert fingerprint(torch.ones(3)) == fingerprint(torch.ones(3))
    assert fingerprint(torch.ones(3)) != fingerprint(torch.zeros(3))
    assert fingerprint(torch.ones(3)) != fingerprint(torch.ones(3, dtype=torch.float64))
