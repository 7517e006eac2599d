"""The search behind CeiboSearchCV: candidates, their scores, and the tables of results."""

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

from ceibo.decide import (
    Belief,
    Direction,
    Evidence,
    Measurement,
    Settings,
    Told,
    Unmeasured,
    Verdict,
    evidence_of,
    suggest,
)
from ceibo.decide.stopping import Memory
from ceibo.gp.inputs import Array
from ceibo.integrations.copies import Copy
from ceibo.integrations.sklearn.noise import fold_noise
from ceibo.integrations.sklearn.space import Parameters

_TIMES: Final = ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time")


@final
class Candidate(NamedTuple):
    """A point of the unit cube, and the estimator's parameters there."""

    x: Array
    params: dict[str, Any]


@final
@dataclass(eq=False)
class Search:
    """Chooses candidates from the scores (C, K) of those evaluated, and from those that failed.

    A failed candidate has `error_score` on all folds. A number there is a score like any other;
    with NaN the search keeps off such candidates.
    """

    parameters: Parameters
    settings: Settings
    seed: int
    error_score: float = np.nan
    evaluated: list[Candidate] = field(default_factory=list)
    failed: list[Candidate] = field(default_factory=list)
    scores: Array = field(default_factory=lambda: np.empty((0, 1)))
    _memory: Memory = field(default_factory=dict)  # of verdicts

    @property
    def count(self) -> int:
        """How many candidates were evaluated or failed."""
        return len(self.evaluated) + len(self.failed)

    def batch(self, size: int) -> list[Candidate]:
        """Up to `size` candidates, none evaluated before, as the same folds give the same score."""
        chosen: list[Candidate] = []
        blocked: list[Array] = []
        while len(chosen) < size:
            number = self.count + len(chosen)
            evidence = self._evidence([each.x for each in chosen] + blocked, number)
            # A point that came up again is blocked and counted, so that the next key is another.
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
        """Mean and standard deviation of every candidate's score, and the noise of its mean.

        Means and standard deviations are NaN where there is no model.
        """
        candidates = [*self.evaluated, *self.failed]
        _, noise = self._scores()
        evidence = self._evidence([], self.count)
        if len(evidence) == 0:
            unknown = np.full(len(candidates), np.nan)
            return unknown, unknown.copy(), noise
        belief = Belief(evidence, self.parameters.space, self.settings, self.seed)
        mean, std = belief.at_points(np.array([each.x for each in candidates]))
        return mean, std, noise

    def verdict(self, cost: float) -> Verdict:
        """Whether another candidate is worth `cost`, in the units of the score."""
        evidence = self._evidence([], self.count)
        belief = Belief(evidence, self.parameters.space, self.settings, self.seed)
        return belief.verdict(cost, self._memory)

    def copy(self) -> Copy:
        """All candidates with their scores and noise, in the estimator's units."""
        measured = {told.number: told.measurement for told in self._evidence([], self.count).told}
        rows = []
        for number, each in enumerate([*self.evaluated, *self.failed]):
            params = self.parameters.show(self.parameters.space.from_unit(each.x))
            rows.append((params, measured.get(number, Measurement(np.nan))))
        space = self.parameters.shown
        return Copy(space, Direction.MAXIMIZE, self.settings, self.seed, tuple(rows))

    def _scores(self) -> tuple[Array, Array]:
        """Mean score of every candidate, the failed ones last, and its noise."""
        folds = self.scores.shape[1]
        scores = np.concatenate([self.scores, np.full((len(self.failed), folds), self.error_score)])
        # scikit-learn gives the error score to those candidates of a batch that fail. It is no
        # measurement: it has no noise, and says nothing about the noise of the others.
        assigned = np.all(scores == self.error_score, axis=1)
        noise = fold_noise(np.where(assigned[:, None], np.nan, scores))
        noise[assigned] = 0.0
        return scores.mean(axis=1), noise

    def _evidence(self, pending: list[Array], trials: int) -> Evidence:
        told: list[Told] = []
        failed: list[Array] = []
        means, noises = self._scores()
        for number, each in enumerate([*self.evaluated, *self.failed]):
            mean, noise = float(means[number]), float(noises[number])
            if np.isfinite(mean):
                measurement = Measurement(mean, None if np.isnan(noise) else noise)
                told.append(Told(number, each.x, measurement))
            else:
                failed.append(each.x)
        unmeasured = Unmeasured(pending, failed)
        dimension = len(self.parameters.space)
        return evidence_of(told, dimension, Direction.MAXIMIZE, unmeasured, trials)


@final
class SameSplits:
    """A splitter that splits once, so that all candidates share the folds of one that shuffles."""

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
                longer[-1] = params[key.removeprefix("param_")]
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
    results: dict[str, Any], metric: str, posterior: tuple[Array, Array, Array]
) -> None:
    """Adds the columns that RandomizedSearchCV does not have."""
    mean, std, noise = posterior
    results[f"posterior_mean_test_{metric}"] = mean
    results[f"posterior_std_test_{metric}"] = std
    results[f"noise_test_{metric}"] = noise
    measured = np.where(np.isfinite(results[f"mean_test_{metric}"]), mean, -np.inf)
    results[f"rank_posterior_test_{metric}"] = _ranks(measured)


def _ranks(values: Array) -> npt.NDArray[np.int32]:
    """Rank of each value (C,), 1 for the largest; equal values share the better rank."""
    larger = values[None, :] > values[:, None]
    return np.asarray(1 + larger.sum(axis=1), dtype=np.int32)
