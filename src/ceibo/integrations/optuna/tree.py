"""Which parameters an objective asks for, learnt from the trials it has finished.

An objective with if and else asks for some parameters in some trials only. Here a parameter of some
trials gets conditions on parameters asked for before it: that they have values with which it was
always asked for. Of several parameters that say the same the simplest counts, and of those the last
one asked. What no such condition explains, as a branch decided by a continuous number or by chance,
is left over. More trials correct what few have suggested wrongly.

Notation: n trials, p parameters; U (n, p) their coordinates, NaN where a trial does not have one.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np
from optuna.trial import FrozenTrial

from ceibo.gp.inputs import Array, Indices, Mask
from ceibo.integrations.optuna.axis import Axis

# A parent with an order has the values of one interval, or those below and above one.
_MOST_CHANGES: Final = 2

When = dict[str, list[Any]]  # parent -> values of its dimension


@final
class _Found(NamedTuple):
    """A condition: the parent's column, the coordinates that it allows, and how simple it is."""

    parent: int
    units: Array
    trials: Mask  # (n,) those in which it holds
    rank: tuple[int, int, int]  # less is better


def learn_conditions(
    trials: Sequence[FrozenTrial], axes: Mapping[str, Axis], singles: Collection[str]
) -> tuple[dict[str, When], list[str]]:
    """The conditions of parameters that not all trials have, and the names not explained by any.

    Args:
        trials: finished ones.
        axes: of the parameters that vary.
        singles: other parameters, of a single value.
    """
    names = [*axes, *sorted(singles)]
    held = {name: np.array([name in trial.params for trial in trials]) for name in names}
    partial = [name for name in names if not held[name].all()]
    if not partial:
        return {}, []
    U, asked = _tables(trials, axes)
    conditions: dict[str, When] = {}
    left_over = []
    for name in partial:
        order = [list(trial.params).index(name) if name in trial.params else -1 for trial in trials]
        found = _explain(U, list(axes.values()), held[name], asked, np.array(order))
        if found is None:
            left_over.append(name)
        elif name in axes:
            conditions[name] = _values(found, axes)
    return conditions, left_over


def _tables(trials: Sequence[FrozenTrial], axes: Mapping[str, Axis]) -> tuple[Array, Indices]:
    """Coordinates (n, p), and in which place each parameter was asked for (n, p), -1 if never."""
    U = np.full((len(trials), len(axes)), np.nan)
    asked = np.full(U.shape, -1)
    for row, trial in enumerate(trials):
        places = {name: place for place, name in enumerate(trial.params)}
        for column, (name, axis) in enumerate(axes.items()):
            if name in places and axis.contains(trial.params[name]):
                U[row, column] = axis.unit(trial.params[name])
                asked[row, column] = places[name]
    return U, asked


def _explain(
    U: Array, axes: Sequence[Axis], has: Mask, asked: Indices, order: Indices
) -> list[_Found] | None:
    """Conditions that hold in just the trials that have a parameter (n,); None without such."""
    within = np.ones(len(U), dtype=bool)
    chosen: list[_Found] = []
    earlier = (asked[has] >= 0) & (asked[has] < order[has, None])
    always: Mask = np.all(earlier, axis=0)
    parents = [k for k, axis in enumerate(axes) if always[k] and _may_decide(axis)]
    while not np.array_equal(within, has):
        candidates = (_condition(U, axes[k], k, has, within) for k in parents)
        ranked = [
            each._replace(rank=(*each.rank[:2], -int(asked[has, each.parent].max())))
            for each in candidates
            if each is not None
        ]
        best = min(ranked, key=lambda each: each.rank, default=None)
        if best is None or best.rank[0] >= int(np.sum(within & ~has)):
            return None
        chosen.append(best)
        parents.remove(best.parent)
        within &= best.trials
    return chosen


def _may_decide(axis: Axis) -> bool:
    return axis.dimension.coordinates is not None


def _condition(U: Array, axis: Axis, column: int, has: Mask, within: Mask) -> _Found | None:
    """What a parent says of the trials that have a parameter."""
    levels = axis.dimension.coordinates
    u = U[:, column]
    seen = np.unique(u[within & ~np.isnan(u)])
    wanted = np.isin(seen, u[has])
    changes = int(np.sum(wanted[1:] != wanted[:-1]))
    units = seen[wanted]
    if axis.dimension.is_ordered and levels is not None:
        if changes > _MOST_CHANGES:
            return None
        # a level not seen yet is like the nearest that was
        units = levels[wanted[np.argmin(np.abs(levels[:, None] - seen), axis=1)]]
    trials = np.isin(u, units)
    rest = int(np.sum(within & trials & ~has))
    return _Found(column, units, trials, (rest, changes if axis.dimension.is_ordered else 1, 0))


def _values(found: Sequence[_Found], axes: Mapping[str, Axis]) -> When:
    names, dimensions = list(axes), [axis.dimension for axis in axes.values()]
    return {
        names[each.parent]: [dimensions[each.parent].from_unit(float(u)) for u in each.units]
        for each in found
    }
