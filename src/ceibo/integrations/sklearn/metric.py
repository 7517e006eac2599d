"""Which metric a search optimises, settled before the first fit wherever it can be."""

import inspect
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from sklearn.metrics._scorer import _BaseScorer

from ceibo.errors import InputError

# as a single metric is called in the keys of cv_results_
SINGLE: Final = "score"


def metric_of(scoring: Any, refit: Any, metric: str | None) -> str | None:
    """The metric to optimise; None for a function, which may return one score or several."""
    _check_refit(refit)
    if isinstance(scoring, str) or scoring is None or isinstance(scoring, _BaseScorer):
        if metric not in (None, SINGLE, scoring):
            raise InputError(
                f"metric must be left out where there is one score only, got {metric!r}; name"
                " several metrics in scoring to choose between them."
            )
        return SINGLE
    if callable(scoring):
        return None
    return choose(tuple(scoring), refit, metric)


def choose(known: Collection[str], refit: Any, metric: str | None) -> str:
    """The metric to optimise, of those known."""
    if set(known) == {SINGLE} and metric is None:
        return SINGLE
    named = [name for name in (metric, refit) if isinstance(name, str)]
    listed = ", ".join(known)
    if not named and len(known) == 1 and refit is not True:
        return next(iter(known))
    # scikit-learn, too, refuses True, and for a function only when all fits are done
    if not named or refit is True:
        raise InputError(
            "with metrics by name, refit must be one of them, which is then optimised, or False or"
            f" a function, and metric the one to optimise; they are {listed}, and there came"
            f" refit={refit!r}, metric={metric!r}."
        )
    for name in named:
        if name not in known:
            raise InputError(f"the metric to optimise must be one of {listed}, got {name!r}.")
    if len(set(named)) > 1:
        raise InputError(
            "refit must name the metric that is optimised, or be False or a function, got"
            f" refit={refit!r} with metric={metric!r}."
        )
    return named[0]


def metrics_in(keys: Iterable[str]) -> list[str]:
    """The names of the metrics in cv_results_."""
    return [key.removeprefix("mean_test_") for key in keys if key.startswith("mean_test_")]


@contextmanager
def warned_once(results: Mapping[str, Any]) -> Iterator[None]:
    """Leaves out scikit-learn's warning of scores that are not finite if it has come already."""
    with warnings.catch_warnings():
        if any(not np.isfinite(results[f"mean_test_{name}"]).all() for name in metrics_in(results)):
            warnings.filterwarnings("ignore", "One or more of the (test|train) scores", UserWarning)
        yield


def check_scored(results: Mapping[str, Any], metric: str) -> None:
    """Refuses an answer of which no candidate has a score."""
    scores = np.asarray(results[f"mean_test_{metric}"])
    if not np.isfinite(scores).any():
        raise InputError(
            f"expected a finite score of at least one candidate, got none in {len(scores)}: every"
            f" mean {metric!r} is NaN or infinite, so none of them is the best. error_score='raise'"
            " shows the error behind it, such as a scorer that needs a predict_proba that the"
            " estimator does not have."
        )


def _check_refit(refit: Any) -> None:
    """Refuses a function that cannot be called with cv_results_ alone."""
    if not callable(refit):
        return
    try:
        signature = inspect.signature(refit)
    except ValueError:  # some functions written in C have none
        return
    try:
        signature.bind({})
    except TypeError as error:
        raise InputError(
            "refit must be a function of cv_results_ that returns the index of the best candidate;"
            f" {refit!r} cannot be called with it alone: {error}."
        ) from error
