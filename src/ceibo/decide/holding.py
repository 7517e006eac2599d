"""Parameters that are held at one value while the others are searched."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, final

import numpy as np

from ceibo.acquisition.region.branching import Branching
from ceibo.checks import ask_nearest
from ceibo.decide.space import Params, Space
from ceibo.errors import InputError, show_value
from ceibo.gp.grid import snap
from ceibo.gp.inputs import Array, Mask

_SAME: Final = 1e-9  # of the unit cube: the distance within which coordinates are the same


@final
@dataclass(frozen=True, eq=False)
class Held:
    """A space in which some parameters are held; made by `hold`.

    A held column has one coordinate. The value of a held parameter is the one given, and not what
    its coordinate would be turned back into.
    """

    space: Space
    values: Params = field(default_factory=dict)

    @cached_property
    def columns(self) -> dict[int, float]:
        """Column -> the coordinate at which it is held."""
        places = {name: column for column, name in enumerate(self.space.names)}
        return {
            places[name]: self.space.dimensions[name].to_unit(value)
            for name, value in self.values.items()
        }

    @cached_property
    def discrete(self) -> Mapping[int, Array]:
        """Column -> its allowed coordinates, where it is not searched as continuous."""
        if not self.values:
            return self.space.discrete
        held = {column: np.array([u]) for column, u in self.columns.items()}
        return {**self.space.discrete, **self._parents, **held}

    @cached_property
    def _parents(self) -> dict[int, Array]:
        """Column -> the coordinates with which the held parameters exist, where that matters."""
        conditions = self.space.conditions
        if conditions is None:
            return {}
        found: dict[int, Array] = {}
        for name in self.values:
            for parent, known in conditions.ancestors.get(name, {}).items():
                column = conditions.columns[parent]
                allowed = found.get(column, self.space.discrete[column])
                found[column] = allowed[np.isin(allowed, sorted(known))]
                held = parent in self.values and self.columns[column] not in known
                if held or not len(found[column]):
                    raise InputError(
                        f"fixed: parameter {name!r} exists only where {conditions.describe(name)},"
                        " which the other values exclude; leave one of them out."
                    )
        return found

    @property
    def is_finite(self) -> bool:
        """Whether finitely many points are left to search."""
        gone = sum(
            column not in self.discrete and self._never(name)
            for column, name in enumerate(self.space.names)
        )
        return len(self.discrete) + gone == len(self.space)

    def _never(self, name: str) -> bool:
        """Whether what is held leaves no setting in which a parameter exists."""
        conditions = self.space.conditions
        if conditions is None:
            return False
        needed = conditions.ancestors.get(name, {})
        left = {parent: self.discrete[conditions.columns[parent]] for parent in needed}
        return any(not np.isin(left[each], sorted(known)).any() for each, known in needed.items())

    def point(self, x: Array) -> Array:
        """A point (d,) of the unit cube moved to where the held columns are."""
        if not self.values:
            return x
        moved: Array = snap(x[None, :], self._parents)[0]
        moved[list(self.columns)] = list(self.columns.values())
        return moved

    def params(self, x: Array) -> Params:
        """The parameters at a point (d,)."""
        found = self.space.from_unit(self.point(x))
        return {name: self.values.get(name, value) for name, value in found.items()}

    def has(self, X: Array) -> Mask:
        """Which points (N, d) are settings of the space with the held values, (N,)."""
        branching = Branching.of(self.space.branches)
        absent = np.zeros(X.shape, dtype=bool) if branching is None else ~branching.active(X)
        inside = np.all((X >= 0.0) & (X <= 1.0), axis=1)
        for column, allowed in self.discrete.items():
            place = np.searchsorted(allowed, X[:, column])
            last = len(allowed) - 1
            near = np.stack([allowed[np.clip(at, 0, last)] for at in (place - 1, place)])
            listed = np.any(np.abs(near - X[:, column]) <= _SAME, axis=0)
            inside &= listed | (absent[:, column] & (column not in self.columns))
        return np.asarray(inside)


def hold(space: Space, fixed: Mapping[str, object] | None = None) -> Held:
    """The space with parameters held at values, each of which must be one that it may have."""
    return Held(space, check_fixed(space, fixed))


def check_fixed(space: Space, fixed: Mapping[str, object] | None) -> Params:
    """The values at which parameters are held, in column order."""
    if fixed is None:
        return {}
    if not isinstance(fixed, Mapping):
        raise InputError(
            f"fixed: expected a dict of parameters and their values, got {show_value(fixed)}."
        )
    check_names(space, fixed, "fixed")
    return {
        name: dimension.check(fixed[name], name)
        for name, dimension in space.dimensions.items()
        if name in fixed
    }


def check_names(space: Space, names: Mapping[str, object] | tuple[str, ...], option: str) -> None:
    """Refuses names that are not those of parameters."""
    for name in names:
        if name not in space.dimensions:
            known = list(space.names)
            end = ask_nearest(name, known) if isinstance(name, str) else "."
            raise InputError(f"{option}: there is no parameter {name!r}{end}")
