"""CeiboSearchCV: several metrics, what is refused before the first fit, and the price of a fit."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

import ceibo
from ceibo import Categorical, Int
from ceibo.decide import StopReason
from ceibo.errors import InputError
from ceibo.integrations.sklearn import CeiboSearchCV
from ceibo.integrations.sklearn.space import Parameters

X = np.random.default_rng(0).standard_normal((40, 2))
Y = (X[:, 0] > 0).astype(int)
FITS: list[float] = []  # the parameter of every fit so far


@pytest.fixture(autouse=True)
def _no_fits_yet() -> None:
    FITS.clear()


class Threshold(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not annotated
    """Says 1 above x; its accuracy is highest at x = 0, its recall at the least x."""

    def __init__(self, x: float = 0.5) -> None:
        self.x = x

    def fit(self, X: Any, y: Any) -> "Threshold":
        FITS.append(self.x)
        if self.x > 0.9:
            raise RuntimeError("leaked")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return (X[:, 0] > self.x).astype(int)

    def score(self, X: Any, y: Any) -> float:
        return float(accuracy_score(y, self.predict(X)))


def both(estimator: Threshold, X: Any, y: Any) -> dict[str, float]:
    """A scoring function that returns several scores."""
    found = estimator.predict(X)
    return {"accuracy": accuracy_score(y, found), "f1": f1_score(y, found)}


def least_accurate(results: dict[str, Any]) -> int:
    return int(np.argmin(results["mean_test_accuracy"]))


def search_of(**options: Any) -> CeiboSearchCV:
    defaults: dict[str, Any] = {"n_iter": 9, "cv": KFold(4), "random_state": 0}
    return CeiboSearchCV(Threshold(), {"x": uniform(-2, 2.5)}, **{**defaults, **options})


SEVERAL: dict[str, Any] = {
    "list": ["accuracy", "f1"],
    "tuple": ("accuracy", "f1"),
    "dict": {"accuracy": "accuracy", "f1": make_scorer(f1_score)},
    "function": both,
}


@pytest.mark.parametrize("scoring", SEVERAL.values(), ids=SEVERAL)
@pytest.mark.parametrize("refit", [False, least_accurate], ids=["off", "function"])
def test_several_metrics_without_the_name_of_one_to_refit(scoring: Any, refit: Any) -> None:
    search = search_of(scoring=scoring, refit=refit, metric="accuracy").fit(X, Y)
    results = search.cv_results_
    assert len(results["params"]) == 9
    assert {"posterior_mean_test_accuracy", "mean_test_f1"} <= results.keys()
    assert not hasattr(search, "best_score_")
    best = int(np.argmin(results["rank_posterior_test_accuracy"]))
    assert abs(results["params"][best]["x"]) < 0.3
    if refit is False:
        assert not hasattr(search, "best_index_")
    else:
        assert search.best_index_ == least_accurate(results)
        assert search.best_estimator_.x == search.best_params_["x"]


def test_the_metric_named_is_the_one_optimised() -> None:
    options: dict[str, Any] = {"scoring": ["accuracy", "recall"], "refit": False, "n_iter": 12}
    by_recall = search_of(metric="recall", **options).fit(X, Y).cv_results_["params"]
    by_name = search_of(**{**options, "refit": "recall"}).fit(X, Y)
    assert by_recall == by_name.cv_results_["params"]
    assert by_name.best_score_ == by_name.cv_results_["posterior_mean_test_recall"].max()
    by_accuracy = search_of(metric="accuracy", **options).fit(X, Y).cv_results_["params"]
    assert by_accuracy != by_recall


def test_a_function_that_returns_several_scores_gives_the_candidates_of_a_list() -> None:
    """Its first candidate is fitted alone, to learn the names; it is the same candidate."""
    listed = search_of(scoring=["accuracy", "f1"], refit="f1").fit(X, Y)
    returned = search_of(scoring=both, refit="f1").fit(X, Y)
    assert returned.cv_results_["params"] == listed.cv_results_["params"]
    assert returned.best_score_ == listed.best_score_
    single = search_of(scoring=lambda e, X, y: e.score(X, y)).fit(X, Y)
    assert single.cv_results_["params"] == search_of().fit(X, Y).cv_results_["params"]


def test_a_function_whose_first_candidate_fails_goes_on_with_the_others() -> None:
    space = {"x": uniform(-2, 4)}
    for seed in range(20):
        search = CeiboSearchCV(
            Threshold(), space, n_iter=6, cv=3, random_state=seed, scoring=both, refit="f1"
        )
        FITS.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn's, of the failures
            search.fit(X, Y)
        if FITS[0] > 0.9:
            break
    else:
        pytest.fail("no seed begins with a candidate that fails")
    assert len(search.cv_results_["params"]) == 6
    assert search.best_params_["x"] < 0.9


def takes_nothing() -> int:
    return 0


def takes_two(results: Any, estimator: Any) -> int:
    return 0


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no metric, refit off": ({"scoring": ["accuracy", "f1"], "refit": False}, "accuracy, f1"),
    "no metric, a function": (
        {"scoring": ["accuracy", "f1"], "refit": least_accurate},
        "accuracy, f1",
    ),
    "refit=True": ({"scoring": ["accuracy", "f1"]}, "refit"),
    "an unknown refit": ({"scoring": ["accuracy", "f1"], "refit": "f2"}, "f2|refit"),
    "an unknown metric": (
        {"scoring": ["accuracy", "f1"], "refit": False, "metric": "f2"},
        "accuracy, f1, got 'f2'",
    ),
    "two names": (
        {"scoring": ["accuracy", "f1"], "refit": "f1", "metric": "accuracy"},
        "refit='f1' with metric='accuracy'",
    ),
    "a metric of one score": ({"scoring": "accuracy", "metric": "f1"}, "one score only"),
    "refit takes nothing": ({"refit": takes_nothing}, "takes_nothing"),
    "refit takes two": ({"refit": takes_two}, "takes_two"),
    "no price": ({"cost": 0.0}, "cost"),
    "a price that is no number": ({"cost": "cheap"}, "cost"),
    "n_iter": ({"n_iter": 0}, "n_iter"),
    "batch_size": ({"batch_size": 0}, "batch_size"),
    "acquisition": ({"acquisition": "luck"}, "luck"),
    "n_initial": ({"n_initial": 0}, "n_initial"),
    "several spaces": ({"param_distributions": [{"x": [0.1, 0.2]}]}, "one search per dict"),
    "a space of nothing": ({"param_distributions": {"x": []}}, "'x'"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_refused_before_the_first_fit(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        search_of().set_params(**options).fit(X, Y)
    assert FITS == []


@pytest.mark.parametrize(
    "options",
    [{}, {"refit": False}, {"refit": "f2"}, {"refit": "f1", "metric": "accuracy"}],
    ids=["refit=True", "no name", "an unknown name", "two names"],
)
def test_a_function_of_several_scores_is_refused_after_one_candidate(
    options: dict[str, Any],
) -> None:
    """What it returns cannot be known before."""
    with pytest.raises(InputError, match=r"accuracy, f1|refit='f1'"):
        search_of(scoring=both, **options).fit(X, Y)
    assert len(FITS) == 4  # folds


def test_one_metric_may_be_named_like_its_scoring() -> None:
    named = search_of(scoring="accuracy", metric="accuracy", n_iter=5).fit(X, Y)
    assert named.metric_ == "score"
    assert "posterior_mean_test_score" in named.cv_results_
    only = search_of(scoring={"acc": "accuracy"}, refit=False, n_iter=5).fit(X, Y)
    assert "posterior_mean_test_acc" in only.cv_results_


def test_a_search_ends_when_candidates_no_longer_pay(capsys: pytest.CaptureFixture[str]) -> None:
    search = search_of(n_iter=40, cost=0.05, verbose=1).fit(X, Y)
    count = len(search.cv_results_["params"])
    assert 4 <= count < 40
    assert len(FITS) == 4 * count + 1
    assert search.stop_.reason is StopReason.COST
    assert search.stop_.message.startswith("stop: the largest expected improvement is")
    assert search.stop_.message in capsys.readouterr().out
    # the same candidates as without a price, as far as it came
    without = search_of(n_iter=count).fit(X, Y)
    assert without.cv_results_["params"] == search.cv_results_["params"]
    assert without.stop_.reason is StopReason.BUDGET
    assert clone(search).fit(X, Y).cv_results_["params"] == search.cv_results_["params"]


def test_a_second_fit_keeps_nothing_of_the_first() -> None:
    search = search_of(n_iter=5).fit(X, Y)
    score = search.best_score_
    search.set_params(refit=least_accurate, scoring=["accuracy", "f1"], metric="f1").fit(X, Y)
    assert search.best_index_ == least_accurate(search.cv_results_)
    search.set_params(refit=True, scoring=None, metric=None).fit(X, Y)
    assert search.best_score_ == score


def test_a_builtin_without_a_signature_may_choose() -> None:
    first: Callable[[Any], int] = dict.fromkeys  # type: ignore[assignment]  # any C function
    search = CeiboSearchCV(Threshold(), {"x": loguniform(1e-2, 0.5)}, refit=first, n_iter=4, cv=2)
    with pytest.raises(TypeError, match="not an integer"):
        search.fit(X, Y)


def test_a_parameter_may_exist_only_sometimes(tmp_path: Path) -> None:
    """It is left at the estimator's own value where it does not exist, also after a restart."""
    space = {
        "weights": Categorical(["uniform", "distance"]),
        "leaf_size": Int(5, 50, when={"weights": "distance"}),
        "n_neighbors": [1, 3, 5, 7],
    }
    options: dict[str, Any] = {"random_state": 0, "cv": 4}
    search = CeiboSearchCV(KNeighborsClassifier(), space, n_iter=9, **options).fit(X, Y)
    results = search.cv_results_
    exists = np.array([params["weights"] == "distance" for params in results["params"]])
    assert exists.any()
    assert not exists.all()
    np.testing.assert_array_equal(~exists, results["param_leaf_size"].mask)
    np.testing.assert_array_equal(exists, ["leaf_size" in params for params in results["params"]])
    study = search.to_study(ceibo.Study.create)
    assert len(study.trials) == 9
    assert not study.belief.settings.outliers  # some hyperparameters are that bad
    for count in (6, 9):
        kept = CeiboSearchCV(
            KNeighborsClassifier(), space, n_iter=count, storage=tmp_path / "k", **options
        ).fit(X, Y)
    assert kept.cv_results_["params"] == results["params"]


NEIGHBORS, TREE = KNeighborsClassifier(), DecisionTreeClassifier(random_state=0)


def test_estimators_of_a_list_have_parameters_of_their_own(tmp_path: Path) -> None:
    model = Pipeline([("m", NEIGHBORS)])
    space = {
        "m__leaf_size": Int(5, 50, when={"m": NEIGHBORS}),
        "m": [NEIGHBORS, TREE],
        "m__criterion": Categorical(["gini", "entropy"], when={"m": clone(TREE)}),
        "m__max_depth": Int(1, 4, when={"m__criterion": "gini"}),
    }
    options: dict[str, Any] = {"random_state": 0, "cv": 2, "storage": tmp_path / "s.jsonl"}
    CeiboSearchCV(model, space, n_iter=6, **options).fit(X, Y)
    search = CeiboSearchCV(model, space, n_iter=12, **options).fit(X, Y)
    kinds = set()
    for params in search.cv_results_["params"]:
        kind = type(params["m"]).__name__
        own = {"m__leaf_size"} if kind == "KNeighborsClassifier" else {"m__criterion"}
        own |= {"m__max_depth"} if params.get("m__criterion") == "gini" else set()
        assert set(params) == {"m", *own}
        kinds.add(kind)
    assert len(kinds) == 2
    study = search.to_study(ceibo.Study.create)
    assert study.space.dimensions["m__criterion"].when == {
        "m": "DecisionTreeClassifier(random_state=0)"
    }
    assert {each.params["m"] for each in study.trials} == {str(NEIGHBORS), str(TREE)}


@pytest.mark.parametrize(
    ("values", "when", "kept"),
    [
        (["distance", "uniform"], "uniform", {"uniform"}),
        ([1, 2, 4], [2, 4], {2, 4}),
        ([1, 2, 3, 4, 5, 6, 10**6], 10**6, {10**6}),  # searched by their positions
        ([(1, 2), (3,)], (1, 2), {(1, 2)}),
        ([(1, 2), (3,)], ((1, 2), (3,)), {(1, 2), (3,)}),
        ([None, "sqrt", 0.5], [None, np.float64(0.5)], {None, 0.5}),
        # equal to what is searched of them
        ([False, True], [True], {True}),
        ([0, 1, 50], [0, 1], {0, 1}),
    ],
)
def test_a_parameter_exists_with_values_of_a_list(values: list[Any], when: Any, kept: Any) -> None:
    parameters = Parameters.of({"a": Int(1, 9, when={"p": when}), "p": values})
    shown = set()
    for u in np.linspace(0.01, 0.99, 60):
        found = parameters.space.from_unit(np.array([0.5, u]))
        decoded = parameters.decode(found)
        assert ("a" in decoded) == (decoded["p"] in kept)
        assert set(decoded) == {name.partition(" ")[0] for name in parameters.show(found)}
        shown.add(parameters.shown.to_unit(parameters.show(found)).tobytes())
    assert len(shown) == len(values)


@pytest.mark.parametrize(
    ("space", "words"),
    [
        (
            {"p": [1], "a": Int(5, 50, when={"p": 1})},
            "'p', which must then be a list of two values",
        ),
        ({"p": uniform(0, 1), "a": Int(5, 50, when={"p": 1})}, "must then be a list of two values"),
        ({"p": [1, 2], "a": Int(5, 50, when={"p": 3})}, r"when p: .* its list, \[1, 2\], got 3"),
        ({"p": [NEIGHBORS, TREE], "a": Int(5, 50, when={"p": "TREE"})}, "its list, .*got 'TREE'"),
        ({"p": [1, 2], "a": Int(5, 50, when={"p": []})}, "as the list of them is empty"),
    ],
)
def test_a_parent_that_has_no_such_values_is_refused(space: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Parameters.of(space)


def test_scores_that_are_not_finite_are_remarked_once() -> None:
    def half(estimator: Threshold, X: Any, y: Any) -> float:
        return np.nan if estimator.x > 0.4 else estimator.score(X, y)

    search = CeiboSearchCV(
        Threshold(), {"x": uniform(0, 0.8)}, n_iter=9, random_state=0, scoring=half, cv=2
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, Y)
    assert np.isnan(search.cv_results_["mean_test_score"]).sum() > 1
    assert sum("scores are non-finite" in str(each.message) for each in caught) == 1
