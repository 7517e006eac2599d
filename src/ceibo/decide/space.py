"""The search space: named dimensions in a fixed order, as columns of the unit cube."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Self, final

import numpy as np
import numpy.typing as npt

from ceibo.acquisition.region.terms import Branch
from ceibo.decide.conditions import find_conditions
from ceibo.decide.dimensions import Categorical, Dimension, Float, Int, Value
from ceibo.decide.dimensions.table import check_registered, dimension_from_json
from ceibo.decide.rules import Rule, first_broken, parse_rules
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo.text import params_line

__all__ = ["Categorical", "Dimension", "Float", "Int", "Params", "Space", "SpaceLike", "Value"]

MOST_PARAMETERS: Final = 5_000
"""The most parameters that a space may have for ceibo to suggest settings of it."""

# of Value; Any, because a checker cannot know which parameter is a number
Params = dict[str, Any]


@final
class Space:
    """An ordered mapping of names to dimensions; column j of the unit cube is the j-th name.

    Args:
        dimensions: name -> Float, Int or Categorical; or a space, whose constraints are kept unless
            others are given.
        constraints: rules between the parameters, such as "a + b <= 1", that every setting
            suggested holds.

    Example:
        >>> import ceibo
        >>> parts = {"a": ceibo.Float(0, 1), "b": ceibo.Float(0, 1)}
        >>> ceibo.Space(parts, constraints=["a + b <= 1"]).constraints
        ('a + b <= 1',)
    """

    def __init__(
        self, dimensions: "Mapping[str, Dimension] | Space", constraints: Sequence[str] = ()
    ) -> None:
        rules: tuple[Rule, ...] = ()
        if isinstance(dimensions, Space):
            rules, dimensions = dimensions.rules, dimensions.dimensions
        if not isinstance(dimensions, Mapping) or not dimensions:
            raise InputError(
                'expected a space with at least one parameter, as in {"temp": Float(20, 90)},'
                f" got {dimensions!r}."
            )
        self.dimensions: dict[str, Dimension] = {}
        for name, dimension in dimensions.items():
            if not isinstance(name, str) or not name or not name.isprintable() or len(name) > 200:
                raise InputError(
                    f"expected parameter names of 1 to 200 printable characters, got {name!r}."
                )
            if not isinstance(dimension, Dimension):
                raise InputError(
                    f"parameter {name!r}: expected a dimension such as Float(0, 1), got"
                    f" {dimension!r}."
                )
            check_registered(dimension, name)
            self.dimensions[name] = dimension
        columns = enumerate(self.dimensions.values())
        self.categorical = tuple(column for column, each in columns if not each.is_ordered)
        """The columns whose coordinates have no order: equal or different, never near."""
        self.conditions = find_conditions(self.dimensions)
        """Where the parameters with `when` exist; None if there are none."""
        self.branches: tuple[Branch, ...] = ()
        """The conditions of parameters that exist only sometimes, by columns."""
        self.breadth = len(self.dimensions)
        """How many parameters a setting has: all, or with branches so many on average."""
        if self.conditions is not None:
            self.branches = self.conditions.branches()
            self.breadth = self.conditions.breadth(self.dimensions)
        given = not isinstance(constraints, Sequence) or len(constraints) > 0
        self.rules: tuple[Rule, ...] = rules
        """The constraints, read."""
        if given:
            self.rules = parse_rules(constraints, self.dimensions, self.branches)
        self.constraints = tuple(rule.text for rule in self.rules)
        """The rules between the parameters, as they were written."""

    def __len__(self) -> int:
        return len(self.dimensions)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space) or self.constraints != other.constraints:
            return False
        return list(self.dimensions.items()) == list(other.dimensions.items())

    __hash__ = None  # type: ignore[assignment]  # a space is compared, and is never a key

    def __repr__(self) -> str:
        constraints = f", constraints={list(self.constraints)!r}" if self.rules else ""
        return f"Space({self.dimensions!r}{constraints})"

    @property
    def names(self) -> tuple[str, ...]:
        """The parameter names, in column order."""
        return tuple(self.dimensions)

    @cached_property
    def discrete(self) -> dict[int, Array]:
        """Column -> its allowed coordinates, ascending, where it is not searched as continuous."""
        lists = enumerate(each.coordinates for each in self.dimensions.values())
        return {column: allowed for column, allowed in lists if allowed is not None}

    def is_conditional(self, name: str) -> bool:
        """Whether a parameter exists only sometimes."""
        return self.dimensions[name].when is not None

    def check(self, params: Mapping[str, object]) -> Params:
        """The parameters as plain Python values in column order; an error names a wrong one.

        A parameter with `when` must be given where it exists, and nowhere else.
        """
        names = ", ".join(self.dimensions)
        if not isinstance(params, Mapping):
            raise InputError(f"expected parameters as a dict of {names}, got {params!r}.")
        if unknown := [name for name in params if name not in self.dimensions]:
            raise InputError(f"unknown parameter {unknown[0]!r}; the space has {names}.")
        if self.conditions is not None:
            return self.conditions.check(params, self.dimensions)
        if missing := [name for name in self.dimensions if name not in params]:
            raise InputError(f"parameter {missing[0]!r} is missing; the space has {names}.")
        return {name: each.check(params[name], name) for name, each in self.dimensions.items()}

    def check_rules(self, params: Mapping[str, object]) -> None:
        """Refuses checked parameters that break a rule; the error names it."""
        broken = first_broken(self.rules, params)
        if broken is not None:
            shown = params_line({name: params[name] for name in broken.names})
            raise InputError(
                f"the setting breaks the rule {broken.text!r}, with {shown}; change one of them."
            )

    def to_unit(self, params: Mapping[str, object]) -> Array:
        """The coordinates (d,) of the parameters, which are checked first.

        A parameter that does not exist there has the coordinate 0.5, or 0 if it is categorical.
        """
        checked = self.check(params)
        if self.conditions is not None:
            return self.conditions.place(checked, self.dimensions)
        return np.array([d.to_unit(checked[name]) for name, d in self.dimensions.items()])

    def to_unit_rows(self, rows: Iterable[Mapping[str, object]]) -> Array:
        """The coordinates (n, d) of several parameter sets."""
        given = list(rows)
        names = self.dimensions.keys()
        for params in given:
            is_table = type(params) is dict or isinstance(params, Mapping)
            if self.conditions is not None and is_table and params.keys() <= names:
                continue  # which of them are to be there is checked below
            if not is_table or params.keys() != names:
                self.check(params)  # says what is wrong
        if self.conditions is not None:
            return self.conditions.place_rows(given, self.dimensions)
        columns = [
            each.to_units([params[name] for params in given], name)
            for name, each in self.dimensions.items()
        ]
        return np.column_stack(columns) if given else np.empty((0, len(self)))

    def from_unit(self, u: npt.ArrayLike) -> Params:
        """The parameters at coordinates u (d,); ends are exact, levels those whose cell holds u.

        Parameters that do not exist there are left out.
        """
        point = np.asarray(u, dtype=float)
        if point.shape != (len(self),):
            raise InputError(
                f"expected {len(self)} coordinates, got an array of shape {point.shape}."
            )
        coordinates: list[float] = point.tolist()
        if not all(map(math.isfinite, coordinates)):
            raise InputError(f"expected finite coordinates in [0, 1], got {coordinates!r}.")
        if self.conditions is not None:
            return self.conditions.values_at(coordinates, self.dimensions)
        columns = zip(self.dimensions.items(), coordinates, strict=True)
        return {name: dimension.from_unit(x) for (name, dimension), x in columns}

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data: name -> entry with its type, in column order."""
        return {name: dimension.to_json() for name, dimension in self.dimensions.items()}

    @classmethod
    def from_json(cls, data: object, constraints: Sequence[str] = ()) -> Self:
        """The space that `to_json` or a study file wrote down, with its constraints."""
        if not isinstance(data, Mapping):
            raise InputError(f"expected a table of parameters, got {data!r}.")
        entries = {name: dimension_from_json(entry, str(name)) for name, entry in data.items()}
        return cls(entries, constraints)

    def check_same(self, other: "Space") -> None:
        """Raises an error that names the first difference; the order of names does not count."""
        now = other.dimensions
        for name in [*self.dimensions, *now]:
            if name not in now:
                raise _change_error(f"parameter {name!r} is stored but not given now")
            if name not in self.dimensions:
                raise _change_error(f"parameter {name!r} is not in the stored space")
            if now[name] != self.dimensions[name]:
                stored = f"stored as {self.dimensions[name]!r}"
                raise _change_error(f"parameter {name!r} is {stored}, given now as {now[name]!r}")
        for rule in [*self.constraints, *other.constraints]:
            if rule not in other.constraints:
                raise _change_error(f"the rule {rule!r} is stored but not given now")
            if rule not in self.constraints:
                raise _change_error(f"the rule {rule!r} is not in the stored space")


def check_searchable(space: Space) -> None:
    """Refuses a space of so many parameters that suggestions would take minutes."""
    if len(space) > MOST_PARAMETERS:
        raise InputError(
            f"expected at most {MOST_PARAMETERS:,} parameters, got {len(space):,}; leave out those"
            " that matter least, or describe several by one."
        )


SpaceLike = Mapping[str, Dimension] | Space  # what users give


def _change_error(how: str) -> InputError:
    return InputError(
        f"the space has changed: {how}; open the study without a space to use the stored one, and"
        " give it another by study.change(space), or start a study under another name."
    )
