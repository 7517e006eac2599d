"""Optuna's trials as points of one unit cube, also where not all have the same parameters.

In a define-by-run study a trial has the parameters of its branch only, and a range may change from
trial to trial. Every parameter of any finished trial has a column here. Which values of others make
a parameter exist is learnt from the trials (tree.py); what that does not explain is put down to one
more column, whose values are the sets of unexplained parameters that trials have had.
"""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Final, final

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial

from ceibo.decide import Categorical, Space
from ceibo.decide.dimensions import Dimension
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo.integrations.optuna.axis import Axis
from ceibo.integrations.optuna.tree import learn_conditions

BRANCH: Final = "ceibo:branch"  # name of the column of sets of parameters
_MISSING: Final = object()

Names = frozenset[str]


@final
@dataclass(frozen=True)
class Axes:
    """The parameters that are searched together, in order of name, as columns of the unit cube."""

    axes: dict[str, Axis]
    space: Space
    # of parameters whose presence no other explains: the sets in which they have occurred
    sets: tuple[Names, ...] = ()
    # Coordinates seen before: a study asks for those of all its trials, every time.
    _memory: dict[tuple[Any, ...], Array | None] = field(
        default_factory=dict, repr=False, compare=False
    )

    @staticmethod
    def of(
        search_space: Mapping[str, BaseDistribution],
        trials: Sequence[FrozenTrial] = (),
        unexplained: Collection[str] = (),
    ) -> "Axes":
        """The axes of a search space, whose branches are learnt from finished trials.

        Args:
            search_space: of the parameters that vary.
            trials: finished ones.
            unexplained: parameters whose presence is not to be explained by others.
        """
        axes = {name: Axis.of(search_space[name]) for name in sorted(search_space)}
        dimensions = {name: axis.dimension for name, axis in axes.items()}
        others = {name for trial in trials for name in trial.params if name not in axes}
        conditions, left_over = learn_conditions(trials, axes, others)
        latent = {*left_over, *unexplained}
        if not conditions and not latent:
            return Axes(axes, Space(dimensions))
        sets = list(dict.fromkeys(frozenset(latent.intersection(t.params)) for t in trials))
        for name, when in conditions.items():
            if name not in latent:
                dimensions[name] = _with_when(dimensions[name], when)
        if len(sets) < 2:
            return Axes(axes, Space(dimensions))
        for name in latent.intersection(axes):
            places = [place for place, names in enumerate(sets) if name in names]
            dimensions[name] = _with_when(dimensions[name], {BRANCH: places})
        return Axes(axes, Space({**dimensions, BRANCH: Categorical(range(len(sets)))}), tuple(sets))

    @property
    def search_space(self) -> dict[str, BaseDistribution]:
        return {name: axis.distribution for name, axis in self.axes.items()}

    def coordinates(self, params: Mapping[str, Any]) -> Array | None:
        """The point in the unit cube; None if a parameter is missing or out of its range."""
        if self.space.conditions is None and any(name not in params for name in self.axes):
            return None
        key = tuple(params.get(name, _MISSING) for name in self.axes)
        if self.sets:
            key = (*key, self._latent(params))
        try:
            if key not in self._memory:
                self._memory[key] = self._coordinates(params)
            return self._memory[key]
        except TypeError:  # a choice that cannot be a key
            return self._coordinates(params)

    def _coordinates(self, params: Mapping[str, Any]) -> Array | None:
        own = {name: axis for name, axis in self.axes.items() if name in params}
        if not all(axis.contains(params[name]) for name, axis in own.items()):
            return None
        encoded = {name: axis.encode(params[name]) for name, axis in own.items()}
        if self.sets:
            if self._latent(params) not in self.sets:
                return None
            encoded[BRANCH] = self.sets.index(self._latent(params))
        if self.space.conditions is None:
            return self.space.to_unit(encoded)
        try:
            return self.space.to_unit(encoded)
        except InputError:  # a set of parameters that no finished trial has had
            return None

    def _latent(self, params: Mapping[str, Any]) -> Names:
        """Of the parameters whose presence no other explains those that there are."""
        return frozenset(frozenset().union(*self.sets).intersection(params))

    def decode(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """From the space's parameters to Optuna's."""
        return {name: self.axes[name].decode(params[name]) for name in params if name != BRANCH}

    def to_internal(self, params: Mapping[str, Any]) -> dict[str, float]:
        """Optuna's parameters as the numbers that its storages keep."""
        kept = self.search_space
        return {name: kept[name].to_internal_repr(value) for name, value in params.items()}

    def completed(self, asked: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
        """What a trial has asked for, with what is wanted for it where that belongs to it."""
        merged = {**wanted, **asked}
        conditions = self.space.conditions
        if conditions is None:
            return merged
        dimensions, kept, units = self.space.dimensions, {}, {}
        if self.sets:
            fitting = [names for names in self.sets if self._latent(asked) <= names]
            names = self._latent(merged)
            chosen = names if names in self.sets else next(iter(fitting), names)
            if chosen not in self.sets:
                return merged
            units[BRANCH] = dimensions[BRANCH].to_unit(self.sets.index(chosen))
        for name in conditions.order:
            if name in merged and name in self.axes and conditions.active(name, units):
                kept[name] = merged[name]
                if self.axes[name].contains(merged[name]):
                    units[name] = self.axes[name].unit(merged[name])
        return kept

    def held(
        self,
        params: Mapping[str, Any],
        wanted: str | None = None,
        distribution: BaseDistribution | None = None,
    ) -> "Axes | None":
        """The axes, searched only where these parameters have these values; None if nowhere.

        Args:
            params: what a trial has already.
            wanted: a parameter that must exist.
            distribution: the range in which it is asked for.
        """
        allowed: dict[str, Array] = {}
        for name, axis in self.axes.items():
            if name in params:
                if not axis.contains(params[name]):
                    return None
                allowed[name] = np.array([axis.unit(params[name])])
        if wanted is not None and distribution is not None:
            within = self.axes[wanted].units_within(distribution)
            if within is not None:
                allowed[wanted] = within
        if self.sets and wanted is not None:
            names = {wanted, *params}.intersection(*[frozenset().union(*self.sets)])
            places = [place for place, each in enumerate(self.sets) if names <= each]
            places = places or [k for k, each in enumerate(self.sets) if wanted in each]
            allowed[BRANCH] = np.array([(place + 0.5) / len(self.sets) for place in places])
        if any(len(each) == 0 for each in allowed.values()):
            return None
        return replace(self, space=_narrowed(self.space, allowed))


def _narrowed(space: Space, allowed: Mapping[str, Array]) -> Space:
    """The same space, in which some parameters are searched at these coordinates only."""
    narrow = copy(space)
    columns = {space.names.index(name): np.sort(each) for name, each in allowed.items()}
    narrow.discrete = {**space.discrete, **columns}
    return narrow


def _with_when(dimension: Dimension, when: Mapping[str, list[Any]]) -> Dimension:
    return replace(dimension, when=dict(when))
