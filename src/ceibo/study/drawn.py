"""Where the trials of a study lie in a picture, and through which setting pictures go."""

from collections.abc import Iterable

import numpy as np

from ceibo.decide.estimate import Estimate
from ceibo.decide.space import Params
from ceibo.decide.surface.existence import shown_places
from ceibo.gp.inputs import Array
from ceibo.study.study import Study
from ceibo.study.trial import Trial


def places_of(study: Study, trials: Iterable[Trial]) -> Array:
    """The places (n, d) of trials, NaN where a parameter does not exist or is off its axis."""
    X = study.ledger.frame.places(trial.params for trial in trials)
    return np.where((X < 0.0) | (X > 1.0), np.nan, shown_places(study.space, X))


def place_of(study: Study, params: Params) -> Array:
    """The place (d,) of a setting; one off an axis is at its end."""
    return np.clip(study.ledger.frame.place(params), 0.0, 1.0)


def chosen_of(study: Study) -> Estimate:
    """The setting that pictures go through: the best, or of a front the surest."""
    if study.outcomes is None or len(study.outcomes.goals) == 1:
        return study.best
    return max(study.front, key=lambda each: np.nan_to_num(each.p_efficient or 0.0))
