"""The profiler: what is believed at a setting and along every parameter through it.

Pure: from a belief and a place in the unit cube to plain numbers that a page draws. All slices are
one batch of points, so that a picture follows the hand.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from ceibo.decide import Belief, Estimate, JointBelief, Space
from ceibo.decide.dimensions.dial import to_dial
from ceibo.decide.holding import hold
from ceibo.decide.outcome_words import wish_of, with_unit
from ceibo.decide.region import settle
from ceibo.decide.rules import first_broken
from ceibo.decide.space import Params
from ceibo.decide.surface.existence import canonical, fill
from ceibo.decide.surface.grids import units_along
from ceibo.decide.surface.ruled import holding, moved
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo.numbers import percent, with_uncertainty
from ceibo.text import one_line

_POINTS: Final = 25  # of a slice
_MOST_SLICES: Final = 40  # parameters with a picture
_DIGITS: Final = 7
_ROUNDING: Final = 1e-6  # of the unit cube: what rounding moves a setting by

AnyBelief = Belief | JointBelief


def axes_of(space: Space) -> list[dict[str, Any]]:
    """What the controls and pictures of the parameters need, in the order of the columns."""
    found = []
    for column, (name, dimension) in enumerate(space.dimensions.items()):
        listed = dimension.listed
        levels = space.discrete.get(column)
        ticks = dimension.ticks(4 if dimension.is_ordered else 12)
        found.append(
            {
                "name": one_line(name, 200),
                "about": dimension.describe()[:300],
                "ordered": dimension.is_ordered,
                "choices": None if listed is None else [one_line(each, 80) for each in listed],
                "places": None if levels is None else levels.tolist(),
                "ticks": [[at, one_line(text, 40)] for at, text in ticks],
            }
        )
    return found


def check_place(space: Space, at: object) -> Array:
    """A place (d,) of the unit cube that a page sent, on the levels of what has levels."""
    right = isinstance(at, list) and len(at) == len(space)
    if not right or not all(_is_share(each) for each in at):  # type: ignore[attr-defined]
        raise InputError(f"at: expected {len(space)} coordinates from 0 to 1.")
    place = np.array(at, dtype=float)
    for column, levels in space.discrete.items():
        place[column] = levels[np.argmin(np.abs(levels - place[column]))]
    return place


def place_of(space: Space, params: Params, belief: AnyBelief | None = None) -> Array:
    """The place of a setting, with coordinates also of parameters that do not exist there."""
    return whole_place(space, space.to_unit(params), belief)


def whole_place(space: Space, there: Array, belief: AnyBelief | None = None) -> Array:
    """A place (d,) within the cube, with coordinates also of parameters that do not exist."""
    place = np.clip(there, 0.0, 1.0)
    if space.conditions is None:
        return place
    middle = place[None, :]
    if belief is None:
        return fill(space, place, middle, np.zeros(1))
    gp = belief.model.gp if isinstance(belief, Belief) else belief.model.goals[0]
    return fill(space, place, gp.X, gp.posterior(gp.X)[0])


def moved_place(space: Space, place: Array, column: int | None) -> Array:
    """A place (d,) brought onto the equalities by moving other columns than the one in hand."""
    kept = () if column is None else (column,)
    return np.asarray(moved(space, place[None, :], kept)[0])


def setting_at(space: Space, place: Array) -> Params:
    """The setting at a place as a person would dial it; one that breaks a rule is refused."""
    there = canonical(space, place[None, :])[0]
    if not _is_held(space, there):
        space.check_rules(space.from_unit(there))
    params = settle(hold(space), there)
    if not _is_near(space, params, there):
        raise InputError(
            "the digits of the parameters leave no setting as near to this one as it is shown that"
            " obeys the rules; move one of the parameters a little."
        )
    dialled = dict(params)
    for name, value in params.items():
        if isinstance(value, float):
            dialled[name] = float(to_dial(space.dimensions[name], value))
    return params if first_broken(space.rules, dialled) is not None else dialled


def _is_held(space: Space, there: Array) -> bool:
    """Whether the rules hold at a place (d,)."""
    held = holding(space, there[None, :])
    return held is None or bool(held[0])


def _is_near(space: Space, params: Params, there: Array) -> bool:
    """Whether a setting differs from that at a place (d,) by no more than rounding."""
    if params.keys() != space.from_unit(there).keys():
        return False
    names = [name for name in space.names if name in params]
    found = np.array([space.dimensions[name].to_unit(params[name]) for name in names])
    columns = [space.names.index(name) for name in names]
    # grids that are searched as continuous are rounded to their levels, and others follow
    fine = [
        each.levels
        for column, each in enumerate(space.dimensions.values())
        if each.levels and column not in space.discrete
    ]
    reach = max([_ROUNDING, *(2 / levels for levels in fine)])
    return bool(np.all(np.abs(found - there[columns]) <= reach))


@final
@dataclass(frozen=True, eq=False)
class Views:
    """A belief, asked by the name of an outcome; that of a single objective is empty."""

    belief: AnyBelief

    @property
    def names(self) -> tuple[str, ...]:
        """The outcomes of which something is known; "" is a single objective."""
        return ("",) if isinstance(self.belief, Belief) else self.belief.predictions.names

    def moments(self, X: Array, name: str, lines: Sequence[slice] = ()) -> tuple[Array, Array]:
        """Mean and std of an outcome (N,) at points (N, d), less exact along `lines`."""
        if isinstance(self.belief, Belief):
            return self.belief.at_points(X, lines)
        return self.belief.predictions.at_points(X, name, lines)

    def chance(self, X: Array) -> Array | None:
        """The probability (N,) that every limit holds; None without limits."""
        if isinstance(self.belief, Belief) or not self.belief.evidence.outcomes.limits:
            return None
        return self.belief.predictions.feasibility(X)

    def possible(self, name: str) -> tuple[float, float]:
        """The ends of what is physically possible of an outcome."""
        if isinstance(self.belief, Belief):
            return -np.inf, np.inf
        return self.belief.evidence.outcomes[name].possible

    def limit(self, name: str) -> float | None:
        """The limit that an outcome is to hold, if it has one."""
        if isinstance(self.belief, Belief):
            return None
        return self.belief.evidence.outcomes[name].bound

    def estimate(self, place: Array) -> Estimate:
        """What is believed at a place (d,)."""
        X = place[None, :]
        if isinstance(self.belief, Belief):
            means, stds = self.belief.at_points(X)
            return Estimate({}, float(means[0]), float(stds[0]))
        return self.belief.predictions.estimates(X)[0]


def profile(belief: AnyBelief, place: Array, name: str, is_moving: bool = False) -> dict[str, Any]:
    """Slices of one outcome through a place, and what is believed of all outcomes at it.

    While the hand is moving, the bands are sketched where they take long; all else is exact.
    """
    space, views = belief.space, Views(belief)
    columns = range(min(len(space), _MOST_SLICES))
    parts = [_along(space, place, column) for column in columns]
    ends = np.cumsum([0, *(len(part) for part in parts)]).tolist()
    lines = [slice(ends[column], ends[column + 1]) for column in columns]
    X = canonical(space, np.concatenate(parts))
    smooth = [lines[column] for column in columns if column not in space.discrete]
    mean, std = views.moments(X, name, smooth if is_moving else ())
    low, high = views.possible(name)
    with np.errstate(over="ignore"):
        lower, upper = np.maximum(mean - std, low), np.minimum(mean + std, high)
    chance, held = views.chance(X), holding(space, X)
    slices = []
    for column, rows in zip(columns, lines, strict=True):
        slices.append(
            {
                "at": _numbers(parts[column][:, column]),
                "mean": _numbers(mean[rows]),
                "low": _numbers(lower[rows]),
                "high": _numbers(upper[rows]),
                "chance": None if chance is None else _numbers(chance[rows]),
                "held": None if held is None else held[rows].tolist(),
            }
        )
    found = {"slices": slices, "limit": views.limit(name), "believed": believed(views, place)}
    return found | where(space, place)


def where(space: Space, place: Array) -> dict[str, Any]:
    """A place as a page shows it: values, which parameters exist, and the rule it breaks."""
    there = canonical(space, place[None, :])[0]
    params = space.from_unit(there)
    broken = first_broken(space.rules, params) if space.rules else None
    is_held = _is_held(space, there)
    return {
        "at": _numbers(place, 17),
        "shown": [
            to_dial(each, params[name]) if name in params else None
            for name, each in space.dimensions.items()
        ],
        "broken": None if is_held or broken is None else broken.text,
    }


def believed(views: Views, place: Array) -> dict[str, Any]:
    """What is believed of every outcome at a place, in numbers and in words."""
    there = canonical(views.belief.space, place[None, :])[0]
    estimate = views.estimate(there)
    if isinstance(views.belief, Belief):
        row = _row("objective", "", estimate.mean, estimate.std)
        return {"outcomes": [row], "chance": None, "sure": None}
    outcomes, rows = views.belief.evidence.outcomes, []
    for name, each in estimate.outcomes.items():
        row = _row(name, each.unit, each.mean, each.std)
        rows.append(row | {"wish": wish_of(outcomes[name])})
    chance = estimate.p_feasible
    sure = None if chance is None else chance >= views.belief.settings.assurance
    text = None if chance is None else percent(chance)
    return {"outcomes": rows, "chance": text, "sure": sure}


def _row(name: str, unit: str, mean: float, std: float) -> dict[str, Any]:
    text = with_unit(with_uncertainty(mean, std), unit)
    return {"name": one_line(name, 100), "mean": mean, "std": std, "text": text}


def _along(space: Space, place: Array, column: int) -> Array:
    """Points (n, d) along one parameter, the others as at a place or as equalities demand."""
    units = units_along(space, column, _POINTS)
    X = np.tile(place, (len(units), 1))
    X[:, column] = units
    return moved(space, X, (column,))


def _numbers(values: Array, digits: int = _DIGITS) -> list[float | None]:
    """Numbers as a page draws them; what is no number is left out."""
    numbers: Sequence[float] = values.tolist()
    return [float(f"{each:.{digits}g}") if math.isfinite(each) else None for each in numbers]


def _is_share(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0.0 <= value <= 1.0
