"""The search behind CeiboSearchCV: candidates in the unit cube, their scores, and the tables of
results.
"""

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, final

import numpy as np

from ceibo.decide.suggest import Evidence, Settings, fit_model, suggest
from ceibo.gp.inputs import Array
from ceibo.integrations.sklearn.noise import fold_noise
from ceibo.integrations.sklearn.space import Parameters

_TIMES: Final = ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time")


class Candidate(NamedTuple):
    """A point of the unit cube, and what it means to the estimator."""

    x: Array
    params: dict[str, Any]


@final
@dataclass(eq=False)
class Search:
    """Candidates evaluated so far with their scores (C, K), those that failed beside them, and the
    next ones.

    A failed candidate has `error_score` on all folds: a number is a score like any other, NaN is
    none, and the search keeps off there.
    """

    parameters: Parameters
    settings: Settings
    seed: int
    error_score: float = np.nan
    evaluated: list[Candidate] = field(default_factory=list)
    failed: list[Candidate] = field(default_factory=list)
    scores: Array = field(default_factory=lambda: np.empty((0, 1)))

    @property
    def count(self) -> int:
        return len(self.evaluated) + len(self.failed)

    def batch(self, size: int) -> list[Candidate]:
        """Up to `size` new candidates, none of them evaluated before: the same folds would give the
        same score.
        """
        chosen: list[Candidate] = []
        blocked: list[Array] = []
        while len(chosen) < size:
            number = self.count + len(chosen)
            evidence = self._evidence([each.x for each in chosen] + blocked, number)
            # Points that came up again use up numbers too, so that the next attempt starts
            # elsewhere.
            key = number + len(blocked)
            found = suggest(evidence, self.parameters.space, self.settings, None, self.seed, key)
            known = [*self.evaluated, *self.failed, *chosen]
            if not any(np.array_equal(found.x, each.x) for each in known):
                chosen.append(Candidate(found.x, self.parameters.decode(found.params)))
            elif found.fallback is None and len(blocked) <= 2 * len(known) + 64:
                blocked.append(found.x)
            else:
                break
        return chosen

    def posterior(self) -> tuple[Array, Array, Array]:
        """Mean and standard deviation of every candidate's score, and the noise of its mean; NaN
        without a model.
        """
        candidates, (_, noise) = [*self.evaluated, *self.failed], self._scores()
        evidence = self._evidence([], self.count)
        if len(evidence) == 0:
            nothing = np.full(len(candidates), np.nan)
            return nothing, nothing.copy(), noise
        model = fit_model(evidence, self.parameters.space, self.settings)
        mean, variance = model.gp.posterior(np.array([each.x for each in candidates]))
        return -np.ldexp(mean, model.exponent), np.ldexp(np.sqrt(variance), model.exponent), noise

    def _scores(self) -> tuple[Array, Array]:
        """Mean score of every candidate, the failed ones last, and its noise."""
        folds = self.scores.shape[1]
        scores = np.concatenate([self.scores, np.full((len(self.failed), folds), self.error_score)])
        # scikit-learn has given the error score to candidates that failed beside others too. It is
        # no measurement: it has no noise, and says nothing about the noise of the others.
        assigned = np.all(scores == self.error_score, axis=1)
        noise = fold_noise(np.where(assigned[:, None], np.nan, scores))
        noise[assigned] = 0.0
        return scores.mean(axis=1), noise

    def _evidence(self, pending: list[Array], trials: int) -> Evidence:
        X = self._rows([each.x for each in [*self.evaluated, *self.failed]])
        means, noise = self._scores()
        good = np.isfinite(means)
        return Evidence(
            X=X[good],
            y=-means[good],
            noise=noise[good],
            group=np.arange(int(np.sum(good))),
            pending=self._rows(pending),
            failed=X[~good],
            trials=trials,
        )

    def _rows(self, points: list[Array]) -> Array:
        return np.array(points).reshape(-1, len(self.parameters.space))


@final
class SameSplits:
    """A splitter that splits once: all candidates share their folds even if the splitter shuffles
    anew every time.
    """

    def __init__(self, splitter: Any) -> None:
        self.splitter = splitter
        self.splits: list[Any] | None = None

    def split(self, X: Any, y: Any = None, **params: Any) -> list[Any]:
        if self.splits is None:
            self.splits = list(self.splitter.split(X, y, **params))
        return self.splits

    def get_n_splits(self, X: Any = None, y: Any = None, **params: Any) -> int:
        return int(self.splitter.get_n_splits(X, y, **params))

    def get_metadata_routing(self) -> Any:
        return self.splitter.get_metadata_routing()


def add_failed(results: dict[str, Any], failed: list[dict[str, Any]], scores: Array) -> None:
    """Appends a row to every column of cv_results_ for each candidate that failed: its parameters,
    and its `scores` (K,), which are the error score on every fold. How long its fits took is not
    known: NaN.
    """
    # the mean as scikit-learn rounds it, so that ranks tie
    error_score, mean = float(scores[0]), float(scores.mean())
    for params in failed:
        for key, column in results.items():
            if key == "params":
                column.append(params)
            elif key.startswith("param_"):
                longer = np.ma.MaskedArray(np.empty(len(column) + 1, dtype=object), mask=True)
                longer[:-1] = column
                longer[-1] = params[key.removeprefix("param_")]
                results[key] = longer
            elif key in _TIMES:
                results[key] = np.append(column, np.nan)
            elif key.startswith("std_"):
                # 0, or NaN if it is not finite
                results[key] = np.append(column, error_score - error_score)
            else:
                results[key] = np.append(column, mean if key.startswith("mean_") else error_score)
    for key in [key for key in results if failed and key.startswith("rank_")]:
        means = results[key.replace("rank_", "mean_", 1)]
        better = np.where(np.isnan(means), -np.inf, means)
        ranks = 1 + np.sum(better[None, :] > better[:, None], axis=1)
        results[key] = ranks.astype(np.int32)


def add_posterior(
    results: dict[str, Any], metric: str, posterior: tuple[Array, Array, Array]
) -> None:
    """The columns that RandomizedSearchCV does not have."""
    mean, std, noise = posterior
    results[f"posterior_mean_test_{metric}"] = mean
    results[f"posterior_std_test_{metric}"] = std
    results[f"noise_test_{metric}"] = noise
    measured = np.where(np.isfinite(results[f"mean_test_{metric}"]), mean, -np.inf)
    better = measured[None, :] > measured[:, None]
    results[f"rank_posterior_test_{metric}"] = (1 + better.sum(axis=1)).astype(np.int32)
