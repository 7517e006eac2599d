"""Parameters that exist only sometimes: where, by the values of their parents.

A dimension with `when={"optimizer": "sgd"}` exists where its parent exists and has that value, or
one of a list; of several parents, all must. So a parameter exists where each of its ancestors has
one of some values, which is what `Conditions` works out once for a space.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np

from ceibo.acquisition.region.terms import Branch
from ceibo.checks import ask_nearest
from ceibo.decide.dimensions import Dimension, Value
from ceibo.errors import Given, InputError, show_value
from ceibo.gp.inputs import Array, Mask

_EXAMPLE: Final = {"optimizer": "sgd"}
# coordinate where a parameter does not exist: choices of a categorical are all inside (0, 1)
_INACTIVE, _NO_CHOICE = 0.5, 0.0
_SLIGHTLY: Final = 1e-9


@final
@dataclass(frozen=True)
class Condition:
    """A parent that has one of some values, with their coordinates."""

    parent: str
    values: tuple[Value, ...]
    units: tuple[float, ...]

    def __str__(self) -> str:
        *most, last = map(show_value, self.values)
        return (
            f"{self.parent} is {', '.join(most)} or {last}" if most else f"{self.parent} is {last}"
        )


@final
@dataclass(frozen=True)
class Conditions:
    """Of a space with branches: what each conditional parameter needs, parents before children."""

    direct: Mapping[str, tuple[Condition, ...]]  # of conditional parameters, as given
    ancestors: Mapping[str, Mapping[str, frozenset[float]]]  # all that must hold, by coordinates
    order: tuple[str, ...]  # all parameters
    columns: Mapping[str, int]
    absent: Array  # (d,) coordinates where no parameter exists

    def describe(self, name: str) -> str:
        """Where a conditional parameter exists, in words."""
        return " and ".join(map(str, self.direct[name]))

    def active(self, name: str, units: Mapping[str, float]) -> bool:
        """Whether a parameter exists, by the coordinates of those before it that exist."""
        needed = self.ancestors.get(name)
        return needed is None or all(units.get(each) in known for each, known in needed.items())

    def check(
        self, params: Mapping[str, object], dimensions: Mapping[str, Dimension]
    ) -> dict[str, Any]:
        """The parameters that exist, checked, in column order; an error says what is wrong."""
        found: dict[str, Value] = {}
        units: dict[str, float] = {}
        for name in self.order:
            if not self.active(name, units):
                if name in params:
                    raise InputError(self._not_there(name, found))
                continue
            if name not in params:
                where = f"; it exists where {self.describe(name)}" if name in self.direct else ""
                raise InputError(f"parameter {name!r} is missing{where}.")
            found[name] = dimensions[name].check(params[name], name)
            units[name] = dimensions[name].to_unit(found[name])
        return {name: found[name] for name in dimensions if name in found}

    def place(self, params: Mapping[str, Any], dimensions: Mapping[str, Dimension]) -> Array:
        """The coordinates (d,) of checked parameters; fixed ones where a parameter is missing."""
        x = self.absent.copy()
        for name, value in params.items():
            x[self.columns[name]] = dimensions[name].to_unit(value)
        return x

    def place_rows(
        self, rows: Sequence[Mapping[str, object]], dimensions: Mapping[str, Dimension]
    ) -> Array:
        """The coordinates (n, d) of several parameter sets, which are checked."""
        X = np.tile(self.absent, (len(rows), 1))
        for name in self.order:
            there = self.mask(name, X)
            for index, row in enumerate(rows):
                if (name in row) != there[index]:
                    self.check(row, dimensions)  # says what is wrong
            chosen = np.flatnonzero(there)
            values = [rows[index][name] for index in chosen.tolist()]
            X[chosen, self.columns[name]] = dimensions[name].to_units(values, name)
        return X

    def values_at(
        self, coordinates: Sequence[float], dimensions: Mapping[str, Dimension]
    ) -> dict[str, Any]:
        """The parameters that exist at coordinates (d,), in column order."""
        found: dict[str, Value] = {}
        units: dict[str, float] = {}
        for name in self.order:
            if self.active(name, units):
                found[name] = dimensions[name].from_unit(coordinates[self.columns[name]])
                units[name] = dimensions[name].to_unit(found[name])
        return {name: found[name] for name in dimensions if name in found}

    def mask(self, name: str, X: Array) -> Mask:
        """Where a parameter exists, (n,), by points (n, d) with canonical coordinates."""
        there = np.ones(len(X), dtype=bool)
        for parent, known in self.ancestors.get(name, {}).items():
            there &= np.isin(X[:, self.columns[parent]], sorted(known))
        return there

    def canonical(self, X: Array) -> Array:
        """Points (n, d) with the fixed coordinates where a parameter does not exist."""
        X = X.copy()
        for name in self.order:
            if name in self.ancestors:
                column = self.columns[name]
                X[:, column] = np.where(self.mask(name, X), X[:, column], self.absent[column])
        return X

    def breadth(self, dimensions: Mapping[str, Dimension]) -> int:
        """How many parameters a setting has on average over all values of parents, rounded up."""
        total = 0.0
        for name in self.order:
            shares = (
                len(known) / (dimensions[parent].levels or 1)
                for parent, known in self.ancestors.get(name, {}).items()
            )
            total += math.prod(shares)
        return math.ceil(total - _SLIGHTLY)

    def branches(self) -> tuple[Branch, ...]:
        """The conditions on columns, in the order of the columns."""
        return tuple(
            Branch(
                column,
                self.columns[each.parent],
                np.array(sorted(each.units)),
                float(self.absent[column]),
            )
            for name, column in self.columns.items()
            for each in self.direct.get(name, ())
        )

    def _not_there(self, name: str, found: Mapping[str, Value]) -> str:
        """Why a parameter that was given does not exist, by the nearest condition that fails."""
        for each in self.direct[name]:
            if each.parent not in found:
                here = f"and {each.parent} does not exist here"
            elif not _holds(found[each.parent], each.values):
                here = f"and it is {show_value(found[each.parent])} here"
            else:
                continue
            return f"parameter {name!r} exists only where {each}, {here}; leave it out."
        raise AssertionError(f"{name!r} exists")  # pragma: no cover - only of one that does not


def _holds(value: Value, values: Collection[Value]) -> bool:
    return any(type(value) is type(each) and value == each for each in values)


def find_conditions(dimensions: dict[str, Dimension]) -> Conditions | None:
    """The conditions of a space, each `when` brought to one form in it; None without any."""
    given = {name: each.when for name, each in dimensions.items() if each.when is not None}
    if not given:
        return None
    direct = {name: _conditions(name, when, dimensions) for name, when in given.items()}
    order = _ordered(list(dimensions), direct)
    ancestors: dict[str, dict[str, frozenset[float]]] = {}
    for name in order:
        if name in direct:
            ancestors[name] = _merged(name, direct, ancestors)
            when = {each.parent: _plain(each.values) for each in direct[name]}
            if dimensions[name].when != when:
                dimensions[name] = replace(dimensions[name], when=when)
    absent = [_INACTIVE if each.is_ordered else _NO_CHOICE for each in dimensions.values()]
    columns = {name: column for column, name in enumerate(dimensions)}
    return Conditions(direct, ancestors, order, columns, np.array(absent))


def _plain(values: tuple[Value, ...]) -> Any:
    """Values as `when` keeps them: one by itself, several as a list."""
    return list(values) if len(values) > 1 or isinstance(values[0], tuple) else values[0]


def _conditions(
    name: str, when: object, dimensions: Mapping[str, Dimension]
) -> tuple[Condition, ...]:
    """What `when` of a parameter says."""
    subject = f"parameter {name!r}"
    wanted = ("parents and their values such as ", Given("when", _EXAMPLE))
    if not isinstance(when, Mapping) or not when:
        raise InputError(subject, wanted, Given("when", when), "leave it out if it always exists")
    found = []
    for parent, values in when.items():
        if not isinstance(parent, str):
            raise InputError(subject, wanted, Given("when", when))
        if parent == name:
            raise InputError(f"{subject} cannot exist depending on its own value; name another.")
        if parent not in dimensions:
            end = ask_nearest(parent, [each for each in dimensions if each != name])
            others = ", ".join(each for each in dimensions if each != name) or "no other parameter"
            raise InputError(
                f"{subject} exists depending on {parent!r}, but the space has {others}{end}"
            )
        found.append(_condition(subject, parent, values, dimensions[parent]))
    return tuple(found)


def _condition(subject: str, parent: str, given: object, dimension: Dimension) -> Condition:
    if dimension.coordinates is None:
        raise InputError(
            f"{subject} exists depending on {parent!r}, which is searched as continuous"
            f" ({dimension.describe()}); its parent must have a few values, as a categorical or an"
            " int has."
        )
    values: dict[float, Value] = {}
    for each in _listed(given, dimension):
        try:
            value = dimension.check(each, parent)
        except InputError as error:
            raise error.about(f"{subject}, when {parent}") from None
        values[dimension.to_unit(value)] = value
    if not values:
        raise InputError(
            f"{subject} would exist for no value of {parent!r}, as the list of them is empty; give"
            " the values for which it exists, or leave the parameter out."
        )
    units = sorted(values)
    return Condition(parent, tuple(values[unit] for unit in units), tuple(units))


def _listed(given: object, dimension: Dimension) -> list[object]:
    """One value or several as a list; a tuple is one value where the parent has such values."""
    if isinstance(given, list | set | frozenset):
        return [tuple(each) if isinstance(each, list) else each for each in given]
    listed: tuple[object, ...] = dimension.listed or ()
    if isinstance(given, tuple) and given not in listed:
        return list(given)
    return [given]


def _ordered(names: Sequence[str], direct: Mapping[str, tuple[Condition, ...]]) -> tuple[str, ...]:
    """All names, parents before children and otherwise in the order of the columns."""
    done: dict[str, None] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            cycle = " → ".join([*path[path.index(name) :], name])
            raise InputError(
                f"parameter {name!r} exists depending on itself ({cycle}); one of them must always"
                " exist."
            )
        if name not in done:
            for each in direct.get(name, ()):
                visit(each.parent, (*path, name))
            done[name] = None

    for name in names:
        visit(name, ())
    return tuple(done)


def _merged(
    name: str,
    direct: Mapping[str, tuple[Condition, ...]],
    ancestors: Mapping[str, Mapping[str, frozenset[float]]],
) -> dict[str, frozenset[float]]:
    """The coordinates that each ancestor of a parameter must have for it to exist."""
    merged: dict[str, frozenset[float]] = {}
    for each in direct[name]:
        further = dict(ancestors.get(each.parent, {}))
        further[each.parent] = further.get(each.parent, frozenset(each.units)) & set(each.units)
        for parent, units in further.items():
            merged[parent] = merged.get(parent, units) & units
    for parent, units in merged.items():
        if not units:
            where = " and ".join(map(str, direct[name]))
            raise InputError(
                f"parameter {name!r} can never exist: no value of {parent!r} allows that {where}."
            )
    return merged
