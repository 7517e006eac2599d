"""CeiboSearchCV as scikit-learn's users know a search, its noise against repeated cross-validation,
and its checks.
"""

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import (
    beta,
    binom,
    expon,
    gamma,
    geom,
    halfnorm,
    lognorm,
    loguniform,
    norm,
    poisson,
    randint,
    rankdata,
    truncnorm,
    uniform,
)
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

import ceibo
from ceibo.errors import InputError
from ceibo.integrations.sklearn import CeiboSearchCV
from ceibo.integrations.sklearn.noise import fold_noise, forecast_std
from ceibo.integrations.sklearn.space import Parameters

IRIS = load_iris(return_X_y=True)
SPACE = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-3, 1e1)}


def searched(**options: Any) -> CeiboSearchCV:
    return CeiboSearchCV(SVC(), SPACE, **{"n_iter": 8, "cv": 3, "random_state": 0, **options})


# scikit-learn's own searches fail this check too: the warning is raised inside of the fits, and
# lost there.
WHEN: Any = any  # a function, which says nothing of parents
KNOWN = {"check_supervised_y_2d": "DataConversionWarning not caught"}


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (CeiboSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}), KNOWN),
        (CeiboSearchCV(LogisticRegression(), {"C": loguniform(0.1, 10)}), {}),
        (
            CeiboSearchCV(
                make_pipeline(StandardScaler(), Ridge()),
                {"ridge__alpha": ceibo.Float(0.1, 10, log=True)},
            ),
            KNOWN,
        ),
    ],
    ids=["regression", "classification", "pipeline"],
)
@pytest.mark.needs("sklearn>=1.6")  # check_estimator names checks that may fail
def test_scikit_learns_own_checks(estimator: CeiboSearchCV, expected: dict[str, str]) -> None:
    estimator.set_params(n_iter=3, cv=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
    passed = [result["check_name"] for result in results if result["status"] == "passed"]
    assert len(passed) > 40
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(
        expected
    )


def test_results_are_those_users_know_and_the_posterior() -> None:
    search = searched().fit(*IRIS)
    results, n = search.cv_results_, 8
    for key in (
        "mean_fit_time",
        "param_C",
        "split2_test_score",
        "mean_test_score",
        "std_test_score",
        "rank_test_score",
    ):
        assert len(results[key]) == n
    for key in (
        "posterior_mean_test_score",
        "posterior_std_test_score",
        "noise_test_score",
        "rank_posterior_test_score",
    ):
        assert np.all(np.isfinite(results[key]))
    best = search.best_index_
    assert best == np.argmax(results["posterior_mean_test_score"])
    assert results["rank_posterior_test_score"][best] == 1
    assert search.best_params_ == results["params"][best]
    assert search.best_score_ == results["posterior_mean_test_score"][best]
    assert search.best_std_ == results["posterior_std_test_score"][best]
    assert search.predict(IRIS[0]).shape == IRIS[1].shape
    assert search.score(*IRIS) > 0.9
    assert search.best_estimator_.get_params()["C"] == search.best_params_["C"]


def test_the_seed_decides_whatever_n_jobs_is() -> None:
    first = searched().fit(*IRIS).cv_results_["params"]
    with parallel_config("threading"):
        assert searched(n_jobs=2).fit(*IRIS).cv_results_["params"] == first
    assert clone(searched()).fit(*IRIS).cv_results_["params"] == first
    assert searched(random_state=1).fit(*IRIS).cv_results_["params"] != first
    in_pairs = searched(batch_size=3, n_iter=10).fit(*IRIS).cv_results_["params"]
    assert len({tuple(each.values()) for each in in_pairs}) == 10


def test_a_splitter_that_shuffles_anew_is_asked_once() -> None:
    cv = KFold(3, shuffle=True, random_state=np.random.RandomState(0))
    search = CeiboSearchCV(
        SVC(), {"C": [1.0, 1.0 + 1e-12, 1.0 + 2e-12]}, n_iter=3, cv=cv, random_state=0, n_initial=1
    )
    scores = search.fit(*IRIS).cv_results_["mean_test_score"]
    assert len(set(scores)) == 1  # the same model on the same folds


def test_several_metrics() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    space = {"logisticregression__C": loguniform(1e-3, 1e2)}
    model = make_pipeline(StandardScaler(), LogisticRegression())
    options: dict[str, Any] = {
        "scoring": ["roc_auc", "accuracy"],
        "n_iter": 5,
        "cv": 3,
        "random_state": 0,
    }
    search = CeiboSearchCV(model, space, refit="roc_auc", **options).fit(X, y)
    assert "posterior_mean_test_roc_auc" in search.cv_results_
    assert "mean_test_accuracy" in search.cv_results_
    assert search.best_score_ == pytest.approx(
        search.cv_results_["mean_test_roc_auc"][search.best_index_], abs=0.02
    )


def test_refit_off_or_by_a_function() -> None:
    search = searched(refit=False).fit(*IRIS)
    assert not hasattr(search, "best_estimator_")
    assert search.best_params_ in search.cv_results_["params"]
    with pytest.raises((NotFittedError, AttributeError)):
        search.predict(IRIS[0])
    search = searched(refit=lambda results: int(np.argmin(results["mean_test_score"]))).fit(*IRIS)
    assert search.best_index_ == np.argmin(search.cv_results_["mean_test_score"])
    assert not hasattr(search, "best_score_")


class Fragile(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not annotated
    """Fails for x below 0.3; its score is highest at 0.5."""

    def __init__(self, x: float = 0.5) -> None:
        self.x = x

    def fit(self, X: Any, y: Any = None) -> "Fragile":
        if self.x < 0.3:
            raise RuntimeError("leaked")
        return self

    def score(self, X: Any, y: Any = None) -> float:
        return -abs(self.x - 0.5) + 0.01 * float(np.mean(X))


def test_failures_are_kept_off_and_never_the_best() -> None:
    X = np.random.default_rng(0).standard_normal((30, 2))
    search = CeiboSearchCV(Fragile(), {"x": uniform(0, 1)}, n_iter=15, cv=3, random_state=0)
    with pytest.warns((FitFailedWarning, UserWarning)):
        search.fit(X)
    assert {len(column) for column in search.cv_results_.values()} == {15}
    failed = ~np.isfinite(search.cv_results_["mean_test_score"])
    assert 1 <= failed.sum() <= 8
    np.testing.assert_array_equal(
        failed, [params["x"] < 0.3 for params in search.cv_results_["params"]]
    )
    assert not failed[search.best_index_]
    assert search.best_params_["x"] == pytest.approx(0.5, abs=0.1)
    with pytest.raises(RuntimeError, match="leaked"):
        CeiboSearchCV(
            Fragile(), {"x": uniform(0, 1)}, n_iter=8, cv=3, random_state=0, error_score="raise"
        ).fit(X)


def test_an_error_score_is_the_score_of_every_failure() -> None:
    """In the initial batch, where others succeed, and alone; with the ranks that RandomizedSearchCV
    gives.
    """
    X = np.random.default_rng(0).standard_normal((30, 2))
    for error_score, batch in ((-0.2, 1), (-1.0, 2), (-np.inf, 1)):
        search = CeiboSearchCV(
            Fragile(),
            {"x": uniform(0, 1)},
            n_iter=12,
            cv=3,
            random_state=0,
            error_score=error_score,
            batch_size=batch,
            return_train_score=True,
        )
        # ∞ − ∞, in scikit-learn
        with pytest.warns((FitFailedWarning, UserWarning)), np.errstate(invalid="ignore"):
            search.fit(X)
        results = search.cv_results_
        failed = np.array([params["x"] < 0.3 for params in results["params"]])
        assert {len(column) for column in results.values()} == {12}
        for key in (
            "mean_test_score",
            "split0_test_score",
            "split2_train_score",
            "mean_train_score",
        ):
            np.testing.assert_allclose(results[key][failed], error_score, rtol=1e-15)
            assert np.all(results[key][~failed] > -0.6)
        np.testing.assert_array_equal(
            results["rank_test_score"], rankdata(-results["mean_test_score"], method="min")
        )
        if np.isfinite(error_score):
            np.testing.assert_allclose(results["std_test_score"][failed], 0.0, atol=1e-15)
            np.testing.assert_array_equal(results["noise_test_score"][failed], 0.0)
            np.testing.assert_allclose(
                results["posterior_mean_test_score"][failed], error_score, atol=0.05
            )
        assert not failed[search.best_index_]


def test_a_small_grid_is_searched_once() -> None:
    space = {"C": [0.1, 1.0, 10.0], "kernel": ["rbf", "linear"], "shrinking": [True]}
    search = CeiboSearchCV(SVC(), space, n_iter=50, cv=3, random_state=0)
    with pytest.warns(UserWarning, match="6 points, fewer than n_iter=50"):
        params = search.fit(*IRIS).cv_results_["params"]
    assert search.stop_.message == "all 6 points of the space were evaluated."
    assert len(params) == 6
    assert len({(each["C"], each["kernel"]) for each in params}) == 6
    assert all(each["shrinking"] is True for each in params)


def test_spaces() -> None:
    parameters = Parameters.of(
        {
            "log": loguniform(1e-3, 1e3),
            "line": uniform(2, 3),
            "bell": norm(0, 1),
            "tail": expon(),
            "whole": randint(2, 9),
            "counts": poisson(3),
            "levels": [1, 10, 100],
            "kinds": ["a", None, 3],
            "ours": ceibo.Float(0, 1),
            "one": [7],
            "array": np.logspace(-2, 2, 5),
        }
    )
    space = parameters.space
    for u, wanted in ((0.0, (1e-3, 2.0)), (0.5, (1.0, 3.5)), (1.0, (1e3, 5.0))):
        params = parameters.decode(space.from_unit(np.full(len(space), u)))
        assert (params["log"], params["line"]) == pytest.approx(wanted)
        assert np.all(np.isfinite([params["bell"], params["tail"]]))
        assert params["whole"] in range(2, 9)
        assert type(params["whole"]) is int
        assert params["levels"] in (1, 10, 100)
        assert params["kinds"] in ("a", None, 3)
        assert params["one"] == 7
    assert space.categorical == (space.names.index("kinds"),)
    refused: tuple[tuple[Any, str], ...] = (
        ({"a": 3}, "'a'"),
        ({"a": [1]}, "more than one"),
        ([{"a": [1, 2]}], "one dict"),
        ({}, "param_distributions is empty; give at least one parameter"),
        ({"a": []}, "'a'"),
        ({"a": (0.01, 100)}, r"the tuple \(0.01, 100\); a range is ceibo.Float\(0.01, 100\)"),
        ({"a": (0.01, 100)}, r"just these values are the list \[0.01, 100\]"),
        ({"a": (1, 9)}, r"ceibo.Int\(1, 9\)"),
        ({"a": (0.01, 100, "log-uniform")}, r"ceibo.Float\(0.01, 100, log=True\)"),
        ({"a": ceibo.Float(0, 1, when=WHEN), "b": [1, 2]}, "'a': expected parents and"),
    )
    for wrong, message in refused:
        with pytest.raises(InputError, match=message):
            Parameters.of(wrong)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (np.logspace(-2, 2, 9), ceibo.Ordinal(list(np.logspace(-2, 2, 9)), log=True)),
        (np.arange(2, 8), ceibo.Ordinal([2, 3, 4, 5, 6, 7])),
        ([1, 2, 4, 8, 64], ceibo.Ordinal([1, 2, 4, 8, 64], log=True)),
        ([-1, 0, 0.5, 1], ceibo.Ordinal([-1, 0, 0.5, 1])),
        (np.array([1, 2, 4], dtype=np.float32), ceibo.Ordinal([1.0, 2.0, 4.0], log=True)),
        ([10**17, 10**17 + 1, 10**17 + 2], ceibo.Ordinal([10**17, 10**17 + 1, 10**17 + 2])),
    ],
)
def test_ascending_numbers_are_levels_on_the_scale_where_they_are_even(
    values: Any, shown: ceibo.Ordinal
) -> None:
    parameters = Parameters.of({"a": values})
    assert parameters.shown.dimensions == {"a": shown}
    for value in values:
        ((_, decoded),) = parameters.decode(parameters.space.check({"a": value})).items()
        assert decoded == value
        assert type(decoded) is type(value)  # as the estimator was to get it


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "choices",
    [{"loss": ["log_loss", "hinge"]}, {"loss": ["log_loss"], "penalty": ["l2", "none of these"]}],
)
def test_a_search_does_not_end_at_a_first_candidate_without_a_score(choices: Any) -> None:
    """One of two choices has no probabilities, or cannot be fitted; some seeds begin with it."""
    space = {**choices, "alpha": loguniform(1e-5, 1e-1)}
    options: dict[str, Any] = {"scoring": "neg_log_loss", "n_initial": 1, "n_iter": 6, "cv": 3}
    for seed in range(4):
        search = CeiboSearchCV(SGDClassifier(), space, random_state=seed, **options).fit(*IRIS)
        assert {
            name: each[0] for name, each in choices.items()
        }.items() <= search.best_params_.items()
        assert len(search.cv_results_["params"]) == 6


@pytest.mark.parametrize(
    "values",
    [
        [0, 1e-4, 1e-3, 1e-2, 0.1, 1],
        [1, 2, 10**400],
        [-(10**400), 0, 10**400],
        [0, 1, np.inf],
        [-np.inf, 0, 1],
        [-1e308, 0, 1, 1e308],
        [1, 1.1, 1e300],
    ],
)
def test_ascending_numbers_that_are_even_on_no_scale_are_evenly_apart(values: list[Any]) -> None:
    parameters = Parameters.of({"a": values})
    positions = ceibo.Int(0, len(values) - 1)
    assert parameters.shown.dimensions == {"a (position in its list)": positions}
    decoded = [parameters.decode({"a": place})["a"] for place in range(len(values))]
    assert decoded == values


def test_a_tuple_of_other_things_is_a_list_of_choices() -> None:
    choices = {"a": (True, False), "b": ("x", "y"), "c": (1, 2, 3), "d": ((1, 2), (3,))}
    assert Parameters.of(choices).size == 2 * 2 * 3 * 2


def ends(distribution: Any) -> tuple[Any, Any]:
    parameters = Parameters.of({"p": distribution})
    first, last = (parameters.decode(parameters.space.from_unit([u]))["p"] for u in (0.0, 1.0))
    return first, last


@pytest.mark.parametrize(
    ("distribution", "low", "high"),
    [
        # support and density disagree by a rounding about the end
        (uniform(0.1, 0.2), 0.1, 0.1 + 0.2),
        (uniform(1e9, 1), 1e9, 1e9 + 1),
        (loguniform(1e-3, 1e3), 1e-3, 1e3),
        (loguniform(1e-300, 1e300), 1e-300, 1e300),
        (truncnorm(-2, 2), -2.0, 2.0),
        (beta(1, 1), 0.0, 1.0),
        (randint(1, 5000), 1, 4999),
        (poisson(3), 0, 10),  # zero is drawn once in twenty
        (geom(0.01), 1, 688),
    ],
)
def test_ends_that_belong_to_a_distribution_are_reached(
    distribution: Any, low: float, high: float
) -> None:
    assert ends(distribution) == (low, high)


@pytest.mark.parametrize(
    "distribution",
    [
        expon(scale=100),
        expon(1, 0.1),
        gamma(2),
        gamma(0.5),
        gamma(0.005),
        lognorm(1),
        halfnorm(),
        norm(0, 1),
        beta(2, 2),
        beta(0.5, 0.5),
        beta(1, 3),
        beta(5, 0.05),
        truncnorm(0, np.inf),
        poisson(100),
        binom(100, 0.5),
    ],
    ids=lambda frozen: f"{frozen.dist.name}{frozen.args}",
)
def test_ends_that_no_draw_is_ever_at_are_not_suggested(distribution: Any) -> None:
    first, last = ends(distribution)
    low, high = distribution.support()
    assert low < first < last < high
    # Little is left out, but for what a double cannot tell from an end.
    assert first <= max(distribution.ppf(1e-3), np.nextafter(low, np.inf))
    assert last >= min(distribution.ppf(0.999), np.nextafter(high, -np.inf))


def test_a_search_keeps_off_the_open_end_of_a_distribution() -> None:
    """C = 0 and gamma = 0 are the ends of expon's support, and no support vector machine takes C =
    0.
    """
    space = {"C": expon(scale=100), "gamma": expon(scale=0.1)}
    search = CeiboSearchCV(SVC(), space, n_iter=12, cv=3, random_state=0, error_score="raise").fit(
        *IRIS
    )
    assert all(params["C"] > 0 and params["gamma"] > 0 for params in search.cv_results_["params"])


@pytest.mark.parametrize(
    "wrong", [{"n_iter": 0}, {"batch_size": 0}, {"acquisition": "best"}, {"n_initial": 0}]
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        searched(**wrong).fit(*IRIS)


def test_told_noise_matches_repeated_cross_validation() -> None:
    """Regression trees on the diabetes data: the spread over repeated cross-validations, and what
    one of them tells.

    What matters is the noise of comparisons between candidates, so the repeats' common shifts are
    taken out. The naive spread of the folds is several times too large, because folds differ in
    difficulty for all candidates alike.
    """
    X, y = load_diabetes(return_X_y=True)
    candidates = [(depth, leaf) for depth in (2, 3, 5) for leaf in (5, 20, 40)]
    scores = np.array(
        [
            [
                cross_val_score(
                    DecisionTreeRegressor(max_depth=depth, min_samples_leaf=leaf, random_state=0),
                    X,
                    y,
                    cv=KFold(5, shuffle=True, random_state=repeat),
                )
                for depth, leaf in candidates
            ]
            for repeat in range(12)
        ]
    )
    means = scores.mean(axis=2)
    actual = np.sqrt(np.mean(np.var(means - means.mean(axis=1, keepdims=True), axis=0, ddof=1)))
    told = np.sqrt(np.mean([fold_noise(each) ** 2 for each in scores]))
    naive = np.sqrt(np.mean(np.var(scores, axis=2, ddof=1) / 5))
    assert told / actual == pytest.approx(1.0, abs=0.25)
    assert naive / actual > 2


def test_fold_noise_recovers_what_it_was_made_with() -> None:
    rng = np.random.default_rng(0)
    folds, quality, noise = (
        rng.normal(0, 1.0, 5),
        rng.normal(0, 1.0, 200),
        np.repeat([0.1, 0.3], 100),
    )
    scores = quality[:, None] + folds + noise[:, None] * rng.standard_normal((200, 5))
    told = fold_noise(scores) * np.sqrt(5)
    # a little towards the typical
    assert np.sqrt(np.mean(told[:100] ** 2)) == pytest.approx(0.14, abs=0.03)
    assert np.sqrt(np.mean(told[100:] ** 2)) == pytest.approx(0.25, abs=0.05)
    scores[3, 2] = np.nan
    assert np.isnan(fold_noise(scores)[3])
    assert np.all(np.isnan(fold_noise(scores[:2])))
    assert np.all(np.isnan(fold_noise(scores[:, :1])))


def test_fold_noise_of_candidates_that_agree_but_for_rounding() -> None:
    """Nine candidates with the same folds' effects up to the last bits, three with a spread of
    their own.
    """
    rng = np.random.default_rng(0)
    scores = rng.random((12, 1)) + np.array([0.01, -0.01]) + 1e-16 * rng.standard_normal((12, 2))
    scores[:3] += [[0.01, -0.01], [-0.02, 0.02], [0.01, -0.01]]
    own = np.append(2.0 * np.array([0.01, 0.02, 0.01]) ** 2, np.zeros(9)) * 12 / 11
    expected = np.sqrt((4 * own.mean() + own) / 5 / 2)
    np.testing.assert_allclose(fold_noise(scores), expected, rtol=1e-9)
    np.testing.assert_allclose(fold_noise(1e9 * scores), 1e9 * expected, rtol=1e-6)
    # One hopeless score, however large, does not turn the others' differences into rounding.
    hopeless = np.append(scores, [[-1e20, -1e20]], axis=0)
    assert np.all(fold_noise(hopeless)[:12] > 1e-3)


def test_no_spread_at_all_is_unknown_noise_not_none() -> None:
    assert np.all(np.isnan(fold_noise(np.ones((4, 5)))))
    rng = np.random.default_rng(0)
    assert np.all(np.isnan(fold_noise(rng.random((20, 1)) + rng.random(5))))


def test_coarse_scores_on_two_folds_are_not_exact() -> None:
    search = CeiboSearchCV(
        SVC(), {"C": loguniform(1e-2, 1e2)}, n_iter=12, cv=2, random_state=0
    ).fit(*IRIS)
    assert np.all(search.cv_results_["noise_test_score"] > 1e-3)  # one sample of 150 is 0.007
    assert search.best_std_ > 1e-4


def test_one_split_and_one_candidate() -> None:
    search = searched(cv=ShuffleSplit(1, random_state=0), n_iter=7)
    with pytest.warns(UserWarning, match="cv is a single split") as said:
        search.fit(*IRIS)
    assert len(said) == 1
    assert np.isnan(search.best_forecast_std_)
    assert np.all(np.isnan(search.cv_results_["noise_test_score"]))
    assert np.isfinite(search.best_score_)
    assert searched(n_iter=1).fit(*IRIS).best_index_ == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_trials": 5}, "no option 'n_trials'; did you mean 'n_iter'"),
        ({"param_grid": SPACE}, "no option 'param_grid'; did you mean 'param_distributions'"),
        ({"njobs": 2}, "no option 'njobs'; did you mean 'n_jobs'"),
        ({"colour": 2}, "no option 'colour'; it has .*acquisition, "),
    ],
)
def test_an_option_that_there_is_not_is_named_with_what_was_meant(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(TypeError, match=rf"CeiboSearchCV\(\) has {words}"):
        CeiboSearchCV(SVC(), **options)
    names = inspect.signature(CeiboSearchCV).parameters
    assert names.keys() - {"estimator", "self"} == searched().get_params(False).keys() - {
        "estimator"
    }
    assert clone(searched(n_initial=3)).n_initial == 3


def score_of_proba(estimator: Any, X: Any, y: Any) -> float:
    return float(estimator.predict_proba(X).mean())  # which this SVC does not have


@pytest.mark.filterwarnings("ignore:Scoring failed", "ignore:One or more of the test scores")
@pytest.mark.parametrize("options", [{}, {"refit": False}, {"n_iter": 2}])
def test_no_score_at_all_is_an_error(options: dict[str, Any]) -> None:
    search = searched(scoring=score_of_proba, n_iter=30, cv=2).set_params(**options)
    with pytest.raises(InputError, match=r"got none in \d: every mean 'score'.*='raise'"):
        search.fit(*IRIS)
    assert len(search.cv_results_["params"]) <= 4  # the initial design alone


def test_the_forecast_covers_the_score_on_other_data_and_the_comparison_does_not() -> None:
    """Draws of 400 rows of 40,000; the truth is the score of as many models on fresh rows."""
    X, y = make_classification(40_000, 20, n_informative=6, flip_y=0.1, random_state=0)
    fresh = slice(20_000, None)
    rng = np.random.default_rng(0)
    space = {"max_depth": [2, 3, 4, 5, 6, 8], "min_samples_leaf": [1, 5, 20, 50]}
    rows_of: list[tuple[float, float, float]] = []
    for draw in range(40):
        rows = rng.choice(20_000, 400, replace=False)
        search = CeiboSearchCV(DecisionTreeClassifier(random_state=0), space, n_iter=6, cv=5)
        search.set_params(random_state=draw, refit=False).fit(X[rows], y[rows])
        best = DecisionTreeClassifier(random_state=0, **search.best_params_)
        others = (rng.choice(20_000, 320, replace=False) for _ in range(6))
        truth = np.mean([best.fit(X[o], y[o]).score(X[fresh], y[fresh]) for o in others])
        error = abs(float(search.best_score_ - truth))
        rows_of.append((error, search.best_forecast_std_, search.best_std_))
    errors, said, compared = np.array(rows_of).T
    assert np.mean(errors < 2 * said) >= 0.95  # it is rather too wide than too narrow
    assert 0.6 < np.mean(errors < said) < 0.9
    assert 0.6 < np.sqrt(np.mean(errors**2)) / np.mean(said) < 1.2
    assert np.mean(errors < 2 * compared) < 0.7


def test_a_forecast_is_the_corrected_resampled_variance() -> None:
    scores = np.array([0.7, 0.8, 0.9, 0.8])
    places = [(np.arange(30), np.arange(10))] * 4
    masks = [(np.arange(40) < 30, np.arange(40) >= 30)] * 4
    wanted = np.sqrt((1 / 4 + 1 / 3) * np.var(scores, ddof=1))
    assert forecast_std(scores, places) == pytest.approx(wanted)
    assert forecast_std(scores, masks) == pytest.approx(wanted)
    assert np.isnan(forecast_std(scores[:1], places[:1]))
    assert np.isnan(forecast_std(np.array([0.7, np.nan]), places[:2]))
