"""Acquisitions of several outcomes by name: goals to be minimised, and limits that must hold."""

from collections.abc import Sequence
from typing import Any, Final

from ceibo.acquisition.base import Surface
from ceibo.acquisition.build import ACQUISITIONS, build
from ceibo.acquisition.build_constrained import Options, build_constrained
from ceibo.acquisition.hypervolume_improvement import build_hypervolume
from ceibo.acquisition.limits import Limit
from ceibo.checks import check_whole, to_float
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess

_MOST_GOALS: Final = 3


def build_joint(  # noqa: PLR0913 - public, keyword-only
    name: str,
    goals: Sequence[GaussianProcess],
    limits: Sequence[Limit] = (),
    *,
    confidence: float = 0.95,
    seed: int = 0,
    draws: int | None = None,
    next_noise_variance: float | None = None,
) -> Surface[Any]:
    """The acquisition function called `name` of one to three goals under limits.

    With one goal and no limits it is what `build` gives.

    Args:
        name: one of ACQUISITIONS but "ucb"; of two or three goals "noisy-ei".
        goals: processes of the outcomes to be minimised, conditioned on pending points.
        limits: on further outcomes.
        confidence: the chance of holding all limits with which x⁺ is chosen.
        seed: of the draws.
        draws: of "noisy-ei" and "q-noisy-ei", as in `build`.
        next_noise_variance: of the goal, for the knowledge gradients, as in `build`.

    Returns:
        The acquisition; larger values are better.
    """
    if not 1 <= len(goals) <= _MOST_GOALS:
        raise InputError(f"one to {_MOST_GOALS} goals are possible, got {len(goals)}.")
    ACQUISITIONS.find(name)
    if len(goals) > 1:
        if name != "noisy-ei":
            raise InputError(
                f"{name!r} has no meaning for {len(goals)} goals. Use 'noisy-ei', which is then the"
                " noisy expected hypervolume improvement."
            )
        return build_hypervolume(goals, limits, seed=seed, draws=draws)
    if not limits:
        return build(
            name, goals[0], seed=seed, draws=draws, next_noise_variance=next_noise_variance
        )
    seed = check_whole(seed, "seed", 0)
    options = Options(_check_confidence(confidence), seed, draws, next_noise_variance)
    return build_constrained(name, goals[0], limits, options)


def _check_confidence(value: object) -> float:
    confidence = to_float(value)
    if confidence is None or not 0.0 < confidence < 1.0:
        raise InputError(f"confidence must be a number between 0 and 1, got {value!r}.")
    return confidence
