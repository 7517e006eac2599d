"""The columns of cv_results_ that scikit-learn does not write by itself."""

from typing import Any, Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

from ceibo.gp.inputs import Array

_TIMES: Final = ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time")


@final
class Posterior(NamedTuple):
    """What is believed of every candidate (C,): score, noise of its mean score, and limits."""

    mean: Array
    std: Array
    noise: Array
    limited: dict[str, tuple[Array, Array]]  # name -> mean and standard deviation
    log_chance: Array | None  # of holding every limit


def add_failed(results: dict[str, Any], failed: list[dict[str, Any]], scores: Array) -> None:
    """Appends a row to every column of cv_results_ for each candidate that failed.

    `scores` (K,) are the error score on every fold. The times of its fits are not known: NaN.
    """
    error_score = float(scores[0])
    mean = float(scores.mean())  # rounded as scikit-learn does, so that ranks tie
    for params in failed:
        for key, column in results.items():
            if key == "params":
                column.append(params)
            elif key.startswith("param_"):
                longer = np.ma.MaskedArray(np.empty(len(column) + 1, dtype=object), mask=True)
                longer[:-1] = column
                if (name := key.removeprefix("param_")) in params:
                    longer[-1] = params[name]
                results[key] = longer
            elif key in _TIMES:
                results[key] = np.append(column, np.nan)
            elif key.startswith("std_"):
                # 0, or NaN if the error score is not finite
                results[key] = np.append(column, error_score - error_score)
            elif key.startswith("mean_"):
                results[key] = np.append(column, mean)
            else:
                results[key] = np.append(column, error_score)
    for key in results:
        if failed and key.startswith("rank_"):
            means = results[key.replace("rank_", "mean_", 1)]
            results[key] = _ranks(np.where(np.isnan(means), -np.inf, means))


def add_posterior(
    results: dict[str, Any], metric: str, posterior: Posterior, confidence: float
) -> None:
    """Adds the columns that RandomizedSearchCV does not have.

    With limits, candidates that hold them with `confidence` rank before all others, which rank by
    how likely they do.
    """
    results[f"posterior_mean_test_{metric}"] = posterior.mean
    results[f"posterior_std_test_{metric}"] = posterior.std
    results[f"noise_test_{metric}"] = posterior.noise
    for name, (mean, std) in posterior.limited.items():
        what = f"test_{name}" if f"mean_test_{name}" in results else name
        results[f"posterior_mean_{what}"] = mean
        results[f"posterior_std_{what}"] = std
    is_measured = np.isfinite(results[f"mean_test_{metric}"])
    measured = np.where(is_measured, posterior.mean, -np.inf)
    likely = np.zeros(len(measured))
    if posterior.log_chance is not None:
        results["p_feasible"] = np.exp(posterior.log_chance)
        likely = np.minimum(posterior.log_chance, np.log(confidence))
    likely = np.where(is_measured & ~np.isnan(likely), likely, -np.inf)
    results[f"rank_posterior_test_{metric}"] = _ranks(measured, likely)


def _ranks(values: Array, first: Array | None = None) -> npt.NDArray[np.int32]:
    """Rank of each value (C,), 1 for the largest; equal values share the better rank.

    With `first`, values are compared where that is equal.
    """
    larger = values[None, :] > values[:, None]
    if first is not None:
        larger = (first[None, :] > first[:, None]) | ((first[None, :] == first[:, None]) & larger)
    return np.asarray(1 + larger.sum(axis=1), dtype=np.int32)
