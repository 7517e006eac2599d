"""Limits of a search on further metrics and on times, settled before the first fit."""

import re
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np

from ceibo.checks import ask_nearest, check_confidence
from ceibo.decide.direction import Direction
from ceibo.decide.outcomes import Maximize, Outcome, Outcomes
from ceibo.decide.settings import DEFAULT_CONFIDENCE
from ceibo.errors import InputError, show_value
from ceibo.gp.inputs import Array
from ceibo.integrations.sklearn.metric import SINGLE

# name of a limit -> the column of cv_results_ that it is on
TIMES: Final = {"fit_time": "mean_fit_time", "score_time": "mean_score_time"}


@final
@dataclass(frozen=True)
class Limits:
    """Name of a metric, or of a time, -> AtMost or AtLeast."""

    each: Mapping[str, Outcome]

    @staticmethod
    def of(given: object) -> "Limits | None":
        """The limits of a search; None where there are none."""
        if given is None or given == {}:
            return None
        example = '{"recall": AtLeast(0.9)}'
        if not isinstance(given, Mapping):
            raise InputError(f"limits must be a dict such as {example}, got {show_value(given)}.")
        for name, limit in given.items():
            if not isinstance(limit, Outcome) or limit.bound is None:
                raise InputError(
                    f"limits must be AtMost(…) or AtLeast(…) by the name of a metric, as in"
                    f" {example}, got {show_value(limit)} for {name!r}."
                )
        return Limits(dict(given))

    def check(self, metrics: Collection[str], metric: str) -> None:
        """Refuses a limit on what is not measured, or on the metric that is optimised.

        `metrics` are by name; of a single one, which has none, there are none.
        """
        known = [*metrics, *TIMES]
        for name in self.each:
            if name == metric:
                raise InputError(
                    f"{name!r} is the metric that is optimised, and cannot have a limit as well."
                )
            if name not in known:
                end = ask_nearest(name, known) if isinstance(name, str) else "."
                if not metrics and end == ".":
                    end = (
                        "; scoring has a single metric: name both, as in"
                        f' scoring=["accuracy", {name!r}], refit="accuracy".'
                    )
                raise InputError(
                    f"a limit must be on one of the metrics in scoring, or on"
                    f" {' or '.join(TIMES)}; they are {', '.join(known)}, got {name!r}{end}"
                )

    def check_early(self, scoring: Any, metric: str | None) -> None:
        """The same before the first fit, unless only that will tell the metrics."""
        if metric is not None:
            self.check(() if metric == SINGLE else tuple(scoring), metric)
        self._warn_of_signs(scoring)

    def _warn_of_signs(self, scoring: object) -> None:
        """Warns of limits on losses, which scikit-learn turns around, that are hardly meant."""
        scorers = scoring if isinstance(scoring, Mapping) else {}
        for name, limit in self.each.items():
            scorer, bound = scorers.get(name, name), limit.bound or 0.0
            is_named = isinstance(scorer, str) and scorer.startswith("neg_")
            if not is_named and getattr(scorer, "_sign", 1) != -1:
                continue
            if limit.direction is Direction.MINIMIZE or bound > 0:
                warnings.warn(
                    f"limits: {name!r} is a loss with its sign turned around, so that larger is"
                    " better and 0 the best there is, and its limit is"
                    f" {type(limit).__name__}({bound:g}); that of a loss of at most {abs(bound):g}"
                    f" is AtLeast({-abs(bound):g}).",
                    UserWarning,
                    stacklevel=2,
                )

    def outcomes(self, metric: str) -> Outcomes:
        """The metric to optimise and the limits."""
        limits = {
            name: replace(limit, unit="s") if name in TIMES and not limit.unit else limit
            for name, limit in self.each.items()
        }
        return Outcomes({metric: Maximize(), **limits})

    def scores(self, results: Mapping[str, Any]) -> dict[str, Array]:
        """Name -> scores (C, K) on the folds; a time is the mean over them, (C, 1)."""
        return {
            name: np.asarray(results[TIMES[name]], dtype=float)[:, None]
            if name in TIMES and f"mean_test_{name}" not in results
            else fold_scores(results, name)
            for name in self.each
        }


def check_limits(given: object, confidence: object) -> tuple[Limits | None, float | None]:
    """The limits of a search and their confidence, neither of which is without the other."""
    checked, limits = check_confidence(confidence), Limits.of(given)
    if limits is not None:
        return limits, checked
    if checked != DEFAULT_CONFIDENCE:
        raise InputError(
            "confidence is that with which limits hold, and a search without limits has none; leave"
            f" it out, or give limits, got confidence={checked:g}."
        )
    return None, None


def warn_if_doubtful(chances: Array, confidence: float) -> None:
    """Warns if no candidate holds the limits with the confidence asked for."""
    known = chances[np.isfinite(chances)]
    if not np.any(known >= confidence):
        most = f"the most likely one, with {known.max():.2g}," if known.size else "the likeliest"
        warnings.warn(
            f"No candidate holds all limits with confidence={confidence:g}: {most} comes first. See"
            " p_feasible in cv_results_; more candidates (n_iter), a wider space or a looser limit"
            " may help.",
            UserWarning,
            stacklevel=2,
        )


def fold_scores(results: Mapping[str, Any], metric: str) -> Array:
    """The scores (C, K) of a metric on the folds, in cv_results_."""
    fold = re.compile(rf"split\d+_test_{re.escape(metric)}")
    return np.column_stack([column for key, column in results.items() if fold.fullmatch(key)])
