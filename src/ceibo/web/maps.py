"""Two parameters as a map, through the setting in hand: mean, uncertainty, improvement, chance."""

from functools import partial
from typing import Final

import numpy as np

from ceibo.decide import Belief, Direction, JointBelief, Outcomes
from ceibo.decide.joint import joint_improvement
from ceibo.decide.outcome_words import with_unit
from ceibo.decide.surface.grids import excluded, over
from ceibo.decide.surface.ruled import holding
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo.report.facts import Aspect, Map, failed_places
from ceibo.report.map_drawing import draw_map, map_sizes
from ceibo.study import Study
from ceibo.study.drawn import places_of
from ceibo.web.profiler import Views
from ceibo.web.session import State

KINDS: Final = ("mean", "uncertainty", "improvement", "chance")


def kinds_of(outcomes: Outcomes | None) -> tuple[str, ...]:
    """What maps can show of an objective, or of outcomes."""
    if outcomes is None:
        return KINDS[:3]
    gain = KINDS[:3] if len(outcomes.goals) == 1 else KINDS[:2]
    return (*gain, "chance") if outcomes.limits else gain


def map_part(
    study: Study, state: State, place: Array, pair: tuple[int, int], shown: tuple[str, str]
) -> str:
    """A map, for large screens and for small ones; `shown` is the kind and the outcome."""
    belief = state.belief
    assert belief is not None
    kind, name = shown
    if pair[0] == pair[1]:
        raise InputError("map: choose two different parameters.")
    surface = _surface(belief, place, pair, shown)
    direction, label = _reading(belief, kind, name)
    trials = state.trials
    if not isinstance(belief, Belief):
        measured = tuple(each for each in trials if each.outcomes.get(name))
    else:
        measured = tuple(each for each in trials if each.measurements)
    aspect = Aspect(
        name=label,
        direction=direction,
        trials=trials,
        measured=measured,
        places=places_of(study, measured),
        best_place=place,
        answers=(),
        failed=failed_places(study, trials),
    )
    return map_sizes(partial(draw_map, surface, belief.space, aspect))


def _surface(
    belief: Belief | JointBelief, place: Array, pair: tuple[int, int], shown: tuple[str, str]
) -> Map:
    """What is shown, over a grid of the two parameters."""
    space, views = belief.space, Views(belief)
    kind, name = shown
    X, shape = over(space, place, pair)
    chance = views.chance(X)
    if kind == "improvement":
        if isinstance(belief, JointBelief):
            values = joint_improvement(belief, X)
        else:
            values = belief.improvement(X)
    elif kind == "chance":
        values = np.zeros(len(X)) if chance is None else chance
    else:
        values = views.moments(X, name)[kind == "uncertainty"]
    held = holding(space, X)
    hatched = chance is not None and kind == "mean"
    return Map(
        columns=pair,
        names=(space.names[pair[0]], space.names[pair[1]]),
        mean=values.reshape(shape),
        chance=chance.reshape(shape) if chance is not None and hatched else None,
        confidence=belief.settings.assurance,
        held=None if held is None else held.reshape(shape),
        excluded=excluded(space, place, pair),
    )


def _reading(belief: Belief | JointBelief, kind: str, name: str) -> tuple[Direction, str]:
    """Which values are drawn dark, and what the map is of: good ones, or those worth measuring."""
    what = "objective"
    direction = Direction.MAXIMIZE
    if isinstance(belief, JointBelief):
        outcome = belief.evidence.outcomes[name]
        what = with_unit(name, f"({outcome.unit})" if outcome.unit else "")
        direction = outcome.direction if kind == "mean" else direction
    elif kind == "mean":
        direction = belief.evidence.direction
    labels = {
        "mean": what,
        "uncertainty": f"the uncertainty of {what}",
        "improvement": "the expected improvement",
        "chance": "the chance that every limit holds",
    }
    return direction, labels[kind]
