"""How close an answer is to the best there is: P(f(answer) − min f ≤ δ), and its inverse.

The minimum over the space is that of joint posterior draws over the measured settings and a set of
candidates: points spread over the space, clouds around what promises most, and then, twice, clouds
around the settings that were lowest in a draw (Thompson samples). Where the space has few settings
these are all of them. The last draws are new ones, so that the choice of candidates does not favour
what happened to be low. A set of points never quite reaches the minimum between them, and all of it
is as true as the model: the hyperparameters are taken as known.
"""

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.attached import Shown
from ceibo.checks import check_choice, check_not_negative, check_probability
from ceibo.decide.belief import Belief
from ceibo.decide.holding import Held, hold
from ceibo.decide.model import failure_model
from ceibo.decide.region import admissible, maximize_in, region_in
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array
from ceibo.numbers import percent, rounded

ANSWERS: Final = ("best", "recommended")
STATED: Final = 0.9
"""The probability for which a distance is stated where nothing else is asked."""
_DRAWS: Final = 2048
_ROUNDS: Final = 2
_CENTRES: Final = 48  # Thompson samples around which candidates are gathered
_SEARCH: Final = acq.SearchSettings(raw=384, cloud=192)
_NEAR: Final = acq.SearchSettings(raw=64, cloud=384)
_BEST: Final = 8  # measured settings around which there are candidates from the beginning
_BETAS: Final = (0.0, 4.0, 16.0)  # of the confidence bounds whose minima are candidates
_LIKELY: Final = math.log(0.5)


@final
@dataclass(frozen=True)
class Closeness(Shown):
    """That an answer is within so much of the best there is, with a probability.

    `of` is "best" or "recommended". The distance is in the objective's units.
    """

    within: float
    probability: float
    of: str = "best"

    def __str__(self) -> str:
        where = f"within {rounded(self.within, 2)} of the best" if self.within else "the best"
        return f"{where} with {percent(self.probability)} probability"


def closeness(
    belief: Belief, within: object = None, *, probability: object = None, of: str = "best"
) -> Closeness:
    """How close an answer is to the best over the space.

    Args:
        belief: whose answer it is.
        within: a distance, in the objective's units: with which probability is the answer within
            it?
        probability: of being within a distance: which one?
        of: "best" or "recommended".
    """
    check_choice(of, "of", ANSWERS)
    if within is not None and probability is not None:
        raise InputError(
            "closeness: give a distance to learn its probability, or a probability to learn its"
            " distance, and not both."
        )
    distance = None if within is None else check_not_negative(within, "within")
    share = STATED if probability is None else check_probability(probability, "probability")
    gaps = distances(belief, of)
    if distance is not None:
        return Closeness(distance, float(np.mean(gaps <= distance)), of)
    return Closeness(float(np.quantile(gaps, share, method="inverted_cdf")), share, of)


def distances(belief: Belief, of: str) -> Array:
    """Draws (S,) of how far an answer is from the best over the space, in the objective's units."""
    held, gp = hold(belief.space), belief.model.gp
    x = _place(belief, of)
    outcomes = failure_model(belief.evidence, belief.space, belief.settings.max_observations)
    rivals, kept = _promising(belief, held, outcomes), _measured(held, gp)
    for turn in range(_ROUNDS):
        drawn = acq.draw_regrets(gp, x, rivals, _DRAWS // 2, belief.seed + turn)
        found = drawn.lowest[drawn.lowest >= 0]
        if not len(found):
            return np.zeros(_DRAWS)
        numbers, counts = np.unique(found, return_counts=True)
        lowest = rivals[numbers[np.argsort(-counts, kind="stable")]]
        near = _candidates(belief, held, outcomes, lowest[:_CENTRES], turn + 1)
        kept = np.concatenate([kept, lowest])
        rivals = np.unique(np.concatenate([kept, near]), axis=0)
    drawn = acq.draw_regrets(gp, x, rivals, _DRAWS, belief.seed + _ROUNDS)
    return belief.model.natural_values(drawn.values)


def _place(belief: Belief, of: str) -> Array:
    """The place (d,) of an answer in the unit cube."""
    if of == "best":
        return acq.find_incumbent(belief.model.gp).x
    return belief.space.to_unit(belief.recommended.params)


def _measured(held: Held, gp: GaussianProcess) -> Array:
    """The measured points that are settings of the space."""
    return gp.X[admissible(held, gp.X)]


def _promising(belief: Belief, held: Held, outcomes: GaussianProcess | None) -> Array:
    """Points over the space, around the best measured and where confidence bounds are lowest."""
    gp, measured = belief.model.gp, _measured(held, belief.model.gp)
    order = np.argsort(acq.posterior_mean(gp).measured[1], kind="stable")
    around = [x for x in gp.X[order] if np.any(np.all(x == measured, axis=1))][:_BEST]
    for beta in _BETAS:
        bound = acq.build("ucb", gp, beta=beta)
        around.append(maximize_in(held, bound, belief.seed).x)
    found = _candidates(belief, held, outcomes, np.array(around), 0)
    return np.unique(np.concatenate([found, measured]), axis=0)


def _candidates(
    belief: Belief, held: Held, outcomes: GaussianProcess | None, around: Array, turn: int
) -> Array:
    """Candidates of which a measurement would likely succeed."""
    gp = belief.model.gp
    points = acq.candidates(
        acq.posterior_mean(gp),
        around,
        seed=belief.seed + turn,
        discrete=held.discrete,
        settings=_NEAR if turn else _SEARCH,
        branches=held.space.branches,
        region=region_in(held),
    )
    if outcomes is None:
        return points
    return points[acq.Chance(outcomes).guidance(points)[0] >= _LIKELY]
