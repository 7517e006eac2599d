"""A space that has changed: what its earlier trials mean in it.

Data are facts, and stay where they were measured. A number outside the range, or off the grid, has
the coordinate that the dimension's own scale gives it, below 0 or above 1 if need be. A choice that
is no longer offered has a coordinate of its own, below those of all that are. A parameter that came
later had the value `before` in the trials without it.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from ceibo.checks import ask_nearest
from ceibo.decide.dimensions.axis import share_of
from ceibo.decide.dimensions.base import Dimension, Value, to_plain
from ceibo.decide.dimensions.choices import identity
from ceibo.decide.dimensions.int_ import Int
from ceibo.decide.dimensions.spacing import are_numbers
from ceibo.decide.rules import first_broken
from ceibo.decide.space import Params, Space, SpaceLike, check_searchable
from ceibo.errors import InputError, show_value
from ceibo.gp.inputs import Array

# In widths of the range: farther away, a value says nothing about what is inside.
_FARTHEST: Final = 1e6
_LARGEST: Final = 1e300  # of a value outside a range
# Where a logarithmic scale has no place for a value, zero or negative.
_BELOW: Final = -1.0


@final
@dataclass(frozen=True, eq=False)
class Frame:
    """A space as it is now, and what is needed to place trials that were made before.

    `before` has the values of parameters that earlier trials do not have, `retired` the choices
    that were offered once, in the order in which they came.
    """

    space: Space
    before: Mapping[str, Any] = field(default_factory=dict)
    retired: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    # -- what was measured -----------------------------------------------------------------

    def check(self, params: Mapping[str, object]) -> Params:
        """The parameters of a measurement, inside the space or not, in column order.

        Names and types must be right, and choices ones that are or were offered.
        """
        try:
            return self.space.check(params)
        except InputError as error:
            checked = self._checked(params) if isinstance(params, Mapping) else None
            if checked is None:
                raise
            try:
                return {name: self._fact(name, value) for name, value in checked.items()}
            except InputError:
                raise error from None

    def _checked(self, params: Mapping[str, object]) -> dict[str, object] | None:
        """The parameters in column order, None if a name is unknown or missing."""
        known = self.space.dimensions
        if any(name not in known for name in params):
            return None
        given = {name: params[name] for name in known if name in params}
        lacking = [
            name
            for name in known
            if name not in given and name not in self.before and self._exists(name, given)
        ]
        return None if lacking else given

    def _exists(self, name: str, params: Mapping[str, Any]) -> bool:
        """Whether a parameter exists beside the values of others, some of which may be retired."""
        conditions = self.space.conditions
        if conditions is None:
            return True
        for parent, units in conditions.ancestors.get(name, {}).items():
            if parent not in params or self._coordinate(parent, params[parent]) not in units:
                return False
        return True

    def _fact(self, name: str, value: object) -> Value:
        """A value of a parameter that was once measured."""
        dimension = self.space.dimensions[name]
        plain = to_plain(value)
        if (lowest := _lowest(dimension)) is None:
            if identity(plain) in map(identity, self.retired.get(name, ())):
                return plain  # type: ignore[return-value]  # it is one of the choices
        elif isinstance(plain, int | float) and not isinstance(plain, bool):
            if abs(plain) > _LARGEST or math.isnan(plain):
                return dimension.check(value, name)
            if not isinstance(dimension, Int):
                return float(plain) if isinstance(lowest, float) else plain
            if float(plain).is_integer():
                return int(plain)
        return dimension.check(value, name)

    def complete(self, params: Mapping[str, Any]) -> Params:
        """Parameters with the values `before` of those that they lack."""
        whole = dict(params)
        conditions = self.space.conditions
        for name in self.before if conditions is None else conditions.order:  # parents first
            if name in self.before and name not in whole and self._exists(name, whole):
                whole[name] = self.before[name]
        return whole

    def existing(self, params: Mapping[str, Any]) -> Params:
        """Parameters without those that do not exist beside the values of the others."""
        return {name: value for name, value in params.items() if self._exists(name, params)}

    def fits(self, params: Mapping[str, Any]) -> bool:
        """Whether a setting is one of the space as it is now, with every parameter of it."""
        try:
            checked = self.space.check(params)
        except InputError:
            return False
        return first_broken(self.space.rules, checked) is None

    def outside(self, params: Mapping[str, Any]) -> str | None:
        """Which value of a setting, completed, the space does not have now; None if it has all."""
        try:
            self.space.check(self.complete(params))
        except InputError as error:
            return str(error)
        return None

    # -- where it is -----------------------------------------------------------------------

    def places(self, rows: Iterable[Mapping[str, Any]]) -> Array:
        """The coordinates (n, d) of the parameters of trials."""
        given = list(rows)
        try:
            return self.space.to_unit_rows(given)
        except InputError:
            points = [self.place(params) for params in given]
            return np.array(points).reshape(len(given), len(self.space))

    def place(self, params: Mapping[str, Any]) -> Array:
        """The coordinates (d,) of one trial's parameters."""
        whole = self.complete(self.check(params))
        try:
            return self.space.to_unit(whole)
        except InputError:
            place = self._absent.copy()
            for column, name in enumerate(self.space.names):
                if name in whole:
                    place[column] = self._coordinate(name, whole[name])
            return place

    @property
    def _absent(self) -> Array:
        """The coordinates (d,) of parameters that do not exist."""
        conditions = self.space.conditions
        return np.zeros(len(self.space)) if conditions is None else conditions.absent

    def _coordinate(self, name: str, value: Any) -> float:
        dimension = self.space.dimensions[name]
        try:
            return dimension.to_unit(dimension.check(value, name))
        except InputError:
            if _lowest(dimension) is not None:
                return _extended(dimension, value)
            once = list(map(identity, self.retired.get(name, ())))
            return -1.0 - once.index(identity(value)) if identity(value) in once else -1.0

    # -- how it changes --------------------------------------------------------------------

    def after(self, space: SpaceLike, before: Mapping[str, object] | None = None) -> "Frame":
        """The frame after a change to another space, which is checked."""
        new = Space(space)
        check_searchable(new)
        for name, old in self.space.dimensions.items():
            _check_kept(name, old, new)
        added = [name for name in new.names if name not in self.space.dimensions]
        values = _check_before(new, added, {} if before is None else before)
        retired = dict(self.retired)
        for name, old in self.space.dimensions.items():
            if _lowest(old) is None and old.listed is not None:
                retired[name] = _no_longer(old, new.dimensions[name], retired.get(name, ()))
        kept = {name: values for name, values in retired.items() if values}
        return Frame(new, {**self.before, **values}, kept)

    def is_same(self, space: Space) -> bool:
        """Whether another space is this one; the order of names and rules does not count."""
        same_rules = set(self.space.constraints) == set(space.constraints)
        return same_rules and self.space.dimensions == space.dimensions


def _lowest(dimension: Dimension) -> int | float | None:
    """The lowest value of a dimension of numbers; None if its values have no order or no size."""
    listed = dimension.listed
    if not dimension.extends or not (listed is None or are_numbers(listed)):
        return None
    lowest, highest = dimension.from_unit(0.0), dimension.from_unit(1.0)
    if isinstance(lowest, bool) or not isinstance(lowest, int | float):
        return None
    return lowest if isinstance(highest, int | float) else None


def _extended(dimension: Dimension, value: float) -> float:
    """The coordinate of a number outside a range, or between its levels, by the same scale."""
    low: Any = dimension.from_unit(0.0)
    high: Any = dimension.from_unit(1.0)
    log = bool(getattr(dimension, "log", False))
    if log and value <= 0:
        return _BELOW
    share = share_of(float(value), float(low), float(high), log)
    first, last = dimension.to_unit(low), dimension.to_unit(high)
    return min(max(first + share * (last - first), -_FARTHEST), _FARTHEST)


def _check_kept(name: str, old: Dimension, new: Space) -> None:
    """Refuses a change of a parameter that would leave its old trials without a meaning."""
    now = new.dimensions.get(name)
    if now is None:
        instead = "hold it at one value by ask(fixed={…}) if it no longer matters."
        if old.when:
            parent, values = next(iter(old.when.items()))
            several = values if isinstance(values, tuple | list) else (values,)
            rules = [f"{parent} != {value!r}" for value in several]
            instead = f"exclude where it exists by rules, constraints={rules!r}, if need be."
        raise InputError(
            f"parameter {name!r} is not in the new space, but trials were measured with it; keep"
            f" it, and {instead}"
        )
    if now.when != old.when:
        raise InputError(
            f"parameter {name!r} exists where it did before, and trials were measured so; leave its"
            " `when` as it is, or give it another name."
        )
    if type(now) is not type(old):
        raise InputError(
            f"parameter {name!r}: expected a {type(old).__name__} as before, got {now!r}; give a"
            " parameter of another kind another name."
        )


def _check_before(new: Space, added: list[str], before: Mapping[str, object]) -> Params:
    """The values that new parameters had in the trials without them."""
    if not isinstance(before, Mapping):
        raise InputError(f"before: expected a dict of values, got {show_value(before)}.")
    for name in before:
        if name in added:
            continue
        if name in new.dimensions:
            raise InputError(
                f"before: parameter {name!r} is not new, and its trials have their values; leave it"
                " out."
            )
        end = ask_nearest(name, added) if isinstance(name, str) else "."
        raise InputError(f"before: there is no new parameter {name!r}{end}")
    for name in added:
        if name not in before:
            raise InputError(
                f"parameter {name!r} is new; say which value the trials so far had, as in"
                f" before={{{name!r}: …}}."
            )
    try:
        return {name: new.dimensions[name].check(before[name], name) for name in added}
    except InputError as error:
        raise InputError(f"before: {error}") from None


def _no_longer(old: Dimension, new: Dimension, earlier: Iterable[Value]) -> tuple[Value, ...]:
    """The choices that were offered once and are not now, in the order in which they came."""
    offered = set(map(identity, new.listed or ()))
    once = {identity(value): value for value in (*earlier, *(old.listed or ()))}
    return tuple(value for key, value in once.items() if key not in offered)
