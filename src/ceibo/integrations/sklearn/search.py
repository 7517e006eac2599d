"""The search behind CeiboSearchCV: candidates, their scores, and the tables of results."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np

from ceibo.acquisition.limits import log_chances
from ceibo.decide import (
    Belief,
    Direction,
    Evidence,
    Measurement,
    Settings,
    Suggestion,
    Told,
    Unmeasured,
    Verdict,
    evidence_of,
    suggest,
)
from ceibo.decide.joint import (
    JointBelief,
    JointEvidence,
    JointSuggestion,
    joint_evidence_of,
    suggest_jointly,
)
from ceibo.decide.stopping import Memory
from ceibo.gp.inputs import Array, Mask
from ceibo.integrations.copies import Copy, Row
from ceibo.integrations.sklearn.limits import TIMES, Limits
from ceibo.integrations.sklearn.metric import SINGLE
from ceibo.integrations.sklearn.noise import fold_noise
from ceibo.integrations.sklearn.space import Parameters
from ceibo.integrations.sklearn.tables import Posterior


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
    limits: Limits | None = None
    evaluated: list[Candidate] = field(default_factory=list)
    failed: list[Candidate] = field(default_factory=list)
    scores: Array = field(default_factory=lambda: np.empty((0, 1)))
    metric: str = SINGLE
    limited: dict[str, Array] = field(default_factory=dict)  # scores of what has a limit
    _memory: Memory = field(default_factory=dict)  # of verdicts

    @property
    def count(self) -> int:
        """How many candidates were evaluated or failed."""
        return len(self.evaluated) + len(self.failed)

    def at(self, x: Array) -> Candidate:
        """The candidate at a point of the unit cube."""
        params = self.parameters.space.from_unit(x)
        return Candidate(x, self.parameters.decode(params))

    def batch(self, size: int) -> list[Candidate]:
        """Up to `size` candidates, none evaluated before, as the same folds give the same score."""
        chosen: list[Candidate] = []
        blocked: list[Array] = []
        while len(chosen) < size:
            number = self.count + len(chosen)
            # A point that came up again is blocked and counted, so that the next key is another.
            key = number + len(blocked)
            found = self._suggest([each.x for each in chosen] + blocked, number, key)
            known = [*self.evaluated, *self.failed, *chosen]
            if not any(np.array_equal(found.x, each.x) for each in known):
                chosen.append(Candidate(found.x, self.parameters.decode(found.params)))
            elif found.fallback is None and len(blocked) <= 2 * len(known) + 64:
                blocked.append(found.x)
            else:
                break
        return chosen

    def _suggest(self, pending: list[Array], trials: int, key: int) -> Suggestion | JointSuggestion:
        space, settings = self.parameters.space, self.settings
        if self.limits is None:
            evidence = self._evidence(pending, trials)
            return suggest(evidence, space, settings, None, self.seed, key)
        joint = self._joint_evidence(self.limits, pending, trials)
        return suggest_jointly(joint, space, settings, {}, self.seed, key)

    def posterior(self) -> Posterior:
        """What is believed of every candidate; NaN where there is no model."""
        candidates = [*self.evaluated, *self.failed]
        unknown = np.full(len(candidates), np.nan)
        noise = self._summary(self.scores)[1]
        belief = self._belief()
        if belief is None:
            names = () if self.limits is None else self.limits.each
            each = dict.fromkeys(names, (unknown, unknown))
            return Posterior(unknown, unknown, noise, each, unknown if self.limits else None)
        places = np.array([each.x for each in candidates])
        if isinstance(belief, Belief):
            return Posterior(*belief.at_points(places), noise, {}, None)
        predictions = belief.predictions
        mean, std = predictions.at_points(places, self.metric)
        limited = {name: predictions.at_points(places, name) for name in self.limited}
        log_chance = log_chances(belief.model.limits, places)
        return Posterior(mean, std, noise, limited, log_chance)

    def _belief(self) -> Belief | JointBelief | None:
        space, settings = self.parameters.space, self.settings
        if self.limits is None:
            evidence = self._evidence([], self.count)
            return Belief(evidence, space, settings, self.seed) if len(evidence) else None
        joint = self._joint_evidence(self.limits, [], self.count)
        return JointBelief(joint, space, settings, self.seed) if joint.is_sufficient else None

    def verdict(self, cost: float) -> Verdict | None:
        """Whether another candidate is worth `cost`, in the units of the score."""
        belief = self._belief()
        return None if belief is None else belief.verdict(cost, self._memory)

    def copy(self) -> Copy:
        """All candidates with their scores and noise, in the estimator's units."""
        told = self._told()
        measured = {
            name: {each.number: each.measurement for each in rows} for name, rows in told.items()
        }
        nothing = Measurement(np.nan)
        rows: list[Row] = []
        for number, each in enumerate([*self.evaluated, *self.failed]):
            params = self.parameters.show(self.parameters.space.from_unit(each.x))
            values = {name: known.get(number, nothing) for name, known in measured.items()}
            rows.append((params, values[self.metric] if self.limits is None else values))
        aim = Direction.MAXIMIZE if self.limits is None else self.limits.outcomes(self.metric)
        return Copy(self.parameters.shown, aim, self.settings, self.seed, tuple(rows))

    def _summary(self, given: Array) -> tuple[Array, Array]:
        """Mean score of every candidate, the failed ones last, and its noise."""
        scores = self._with_failed(given)
        # scikit-learn gives the error score to those candidates of a batch that fail. It is no
        # measurement: it has no noise, and says nothing about the noise of the others.
        assigned = np.all(scores == self.error_score, axis=1)
        noise = fold_noise(np.where(assigned[:, None], np.nan, scores))
        noise[assigned] = 0.0
        return scores.mean(axis=1), noise

    def _with_failed(self, given: Array) -> Array:
        """Scores (C, K) of every candidate, the error score for the failed ones."""
        return np.concatenate(
            [given, np.full((len(self.failed), given.shape[1]), self.error_score)]
        )

    def _is_failed(self) -> Mask:
        """Whether each candidate has the error score, or one that is not finite."""
        scores = self._with_failed(self.scores)
        assigned = np.all(scores == self.error_score, axis=1)
        return np.asarray(assigned | ~np.isfinite(scores.mean(axis=1)))

    def _told(self) -> dict[str, list[Told]]:
        """Name -> what was measured of the metric, and of everything with a limit."""
        candidates = [*self.evaluated, *self.failed]
        told: dict[str, list[Told]] = {}
        for name, scores in {self.metric: self.scores, **self.limited}.items():
            means, noises = self._summary(scores)
            if name in TIMES:  # that of a fit that failed says nothing
                means[self._is_failed()] = np.nan
            rows = []
            for number, each in enumerate(candidates):
                mean, noise = float(means[number]), float(noises[number])
                if np.isfinite(mean):
                    measurement = Measurement(mean, None if np.isnan(noise) else noise)
                    rows.append(Told(number, each.x, measurement))
            told[name] = rows
        return told

    def _unmeasured(self, told: dict[str, list[Told]], pending: list[Array]) -> Unmeasured:
        """The candidates under way, and those without a finite value of something."""
        numbers = [{each.number for each in rows} for rows in told.values()]
        whole = set.intersection(*numbers)
        candidates = enumerate([*self.evaluated, *self.failed])
        return Unmeasured(pending, [each.x for number, each in candidates if number not in whole])

    def _evidence(self, pending: list[Array], trials: int) -> Evidence:
        told = self._told()
        unmeasured = self._unmeasured(told, pending)
        dimension = len(self.parameters.space)
        return evidence_of(told[self.metric], dimension, Direction.MAXIMIZE, unmeasured, trials)

    def _joint_evidence(self, limits: Limits, pending: list[Array], trials: int) -> JointEvidence:
        told = self._told()
        unmeasured = self._unmeasured(told, pending)
        dimension = len(self.parameters.space)
        outcomes = limits.outcomes(self.metric)
        return joint_evidence_of(outcomes, dimension, told, unmeasured, trials=trials)


def patience_of(search: Search, wanted: int) -> int:
    """How many candidates are evaluated, of so many wanted, if none of them has a score."""
    dimension = len(search.parameters.space)
    sizes = (each.initial_size(dimension) for each in (search.settings, Settings()))
    return min(max(sizes), wanted)


def is_hopeless(search: Search, wanted: int) -> bool:
    """Whether none of as many candidates as a search has patience for has a score."""
    ended = len(search.evaluated) > 0 and search.count >= patience_of(search, wanted)
    return ended and not np.isfinite(search.scores.mean(axis=1)).any()


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
