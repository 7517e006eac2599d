"""A problem whose inputs have rules between them, or branches; with what only a referee knows."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import Any, Final, final

import numpy as np

from ceibo.decide.dimensions import Categorical, Dimension, Float
from ceibo.decide.space import Space
from ceibo.gp.inputs import Array
from ceibo_lab.problem import Problem
from ceibo_lab.problems.inputs.rules import Few, Forbidden, Params, Rule, Total, agrees

TOLERANCE: Final = 1e-6
"""Of a rule's scale: a setting that breaks no rule by more can be measured."""
_EXACT: Final = 1e-14  # what rounding may leave


@final
@dataclass(frozen=True)
class Choice:
    """One way to choose all categories and the parts that are there: what is left is a polytope.

    Args:
        fixed: the categories, and the parts that are left out, which are zero.
        free: the names of the numbers that can be set.
        totals: the linear rules over these.
    """

    fixed: Mapping[str, Any]
    free: tuple[str, ...]
    totals: tuple[Total, ...]


@final
@dataclass(frozen=True, eq=False)
class InputProblem:
    """A function to minimise over settings that obey rules.

    Args:
        name: as used on the command line.
        dimensions: numbers (Float) and categories, without rules.
        truth: a setting, of the parameters that exist in its branch -> the true value.
        rules: that settings obey.
        parts: numbers from 0 on that sum to one, by one of the rules; none if it is no mixture.
        when: parameter -> the choices of others under which it exists.
        optimum: the least true value where all rules hold.
        worst: the greatest value at the points of `reference`; noise levels are shares of the
            difference of both.
    """

    name: str
    dimensions: Mapping[str, Dimension]
    truth: Callable[[Params], float]
    rules: tuple[Rule, ...] = ()
    parts: tuple[str, ...] = ()
    when: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    optimum: float = float("nan")
    worst: float = float("nan")

    @property
    def range(self) -> float:
        return self.worst - self.optimum

    @cached_property
    def box(self) -> Space:
        """The parameters without rules and branches."""
        return Space(self.dimensions)

    @cached_property
    def space(self) -> Space:
        """The parameters with their rules and branches, as ceibo takes them."""
        dimensions = {
            # a field that every dimension has since there are branches
            name: replace(each, when=dict(self.when[name])) if name in self.when else each  # type: ignore[call-arg, unused-ignore]
            for name, each in self.dimensions.items()
        }
        texts = [rule.text for rule in self.rules]
        return Space(dimensions, constraints=texts) if texts else Space(dimensions)  # type: ignore[call-arg, unused-ignore]  # as above

    @cached_property
    def widths(self) -> dict[str, float]:
        """Name -> range, of the numbers."""
        numbers = self.dimensions.items()
        return {name: each.high - each.low for name, each in numbers if isinstance(each, Float)}

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """All that obey the rules, in a fixed order."""
        return tuple(self._choices())

    def exists(self, name: str, params: Params) -> bool:
        """Whether a parameter exists, given those before it."""
        wanted = self.when.get(name, {})
        return all(each in params for each in wanted) and agrees(params, wanted)

    def excess(self, params: Params) -> float:
        """By how much the setting breaks the rule or range that it breaks most, as a share."""
        broken = [rule.excess(params) / rule.scale(self.widths) for rule in self.rules]
        for name in self.widths.keys() & params.keys():
            each, value = self._float(name), params[name]
            broken.append(max(each.low - value, value - each.high, 0.0) / self.widths[name])
        return max(broken, default=0.0)

    def obeys(self, params: Params) -> bool:
        """Whether the setting can be measured."""
        return self.excess(params) <= TOLERANCE

    def cleaned(self, params: Params) -> Params:
        """The setting with traces of parts, as numerical solvers leave them, taken as none."""
        counted = {name for rule in self.rules if isinstance(rule, Few) for name in rule.names}
        return {
            name: 0.0 if name in counted and abs(value) <= TOLERANCE * self.widths[name] else value
            for name, value in params.items()
        }

    def regret(self, params: Params) -> float:
        """How much worse than the optimum; of a setting that breaks a rule, the problem's range."""
        return self.truth(params) - self.optimum if self.obeys(params) else self.range

    def sample(self, rng: np.random.Generator) -> dict[str, Any]:
        """A random setting that obeys: any choice is as likely, and uniform given the choice."""
        return self.sample_in(self.choices[int(rng.integers(len(self.choices)))], rng)

    def sample_in(self, choice: Choice, rng: np.random.Generator) -> dict[str, Any]:
        """A random setting of a choice, uniform in the coordinates of the cube."""
        parts = tuple(name for name in self.parts if name in choice.free)
        while True:
            found = dict(choice.fixed)
            for name in choice.free:
                if name not in parts:
                    found[name] = self.dimensions[name].from_unit(float(rng.random()))
            if parts:
                found |= self._mixture(parts, rng)
            params = {name: found[name] for name in self.dimensions if name in found}
            if self.excess(params) <= _EXACT:
                return params

    def as_problem(self) -> Problem:
        """The same as a function of the cube's coordinates, for the noise to be added to."""
        d = len(self.box)

        def values(U: Array) -> Array:
            settings = (self.existing(self.box.from_unit(u)) for u in U)
            return np.array([self.truth(params) for params in settings])

        nowhere, span = np.empty((0, d)), self.range
        return Problem(
            self.name,
            np.zeros(d),
            np.ones(d),
            values,
            nowhere,
            self.optimum,
            span,
            parameters=self.box,
        )

    def existing(self, params: Params) -> dict[str, Any]:
        """Of a setting of the box, the parameters that exist; parents come before children."""
        found: dict[str, Any] = {}
        for name in self.dimensions:
            if self.exists(name, found):
                found[name] = params[name]
        return found

    def to_box(self, params: Params) -> Array:
        """The coordinates (d,) in the box; parameters that do not exist are in the middle."""
        columns = self.dimensions.items()
        units = [each.to_unit(params[name]) if name in params else 0.5 for name, each in columns]
        return np.array(units)

    def _mixture(self, parts: tuple[str, ...], rng: np.random.Generator) -> dict[str, float]:
        """Uniform on the simplex above the parts' least values; the last is what is missing."""
        least = np.array([self._float(name).low for name in parts])
        values = least + (1.0 - least.sum()) * rng.dirichlet(np.ones(len(parts)))
        first = values[:-1].tolist()
        return dict(zip(parts, [*first, fsum([1.0, *(-value for value in first)])], strict=True))

    def _float(self, name: str) -> Float:
        found = self.dimensions[name]
        if not isinstance(found, Float):
            raise TypeError(f"{name} is no Float")
        return found

    def _choices(self) -> Iterator[Choice]:
        for categories in self._categories({}, list(self.dimensions)):
            if any(rule.excess(categories) for rule in self.rules if isinstance(rule, Forbidden)):
                continue
            numbers = [n for n in self.widths if self.exists(n, categories)]
            for left_out in self._left_out():
                fixed = categories | dict.fromkeys(left_out, 0.0)
                free = tuple(name for name in numbers if name not in left_out)
                yield Choice(fixed, free, tuple(self._totals(fixed, free)))

    def _categories(self, chosen: dict[str, Any], names: list[str]) -> Iterator[dict[str, Any]]:
        """All combinations of the categories that exist."""
        if not names:
            yield chosen
            return
        name, *others = names
        dimension = self.dimensions[name]
        if not isinstance(dimension, Categorical) or not self.exists(name, chosen):
            yield from self._categories(chosen, others)
            return
        for option in dimension.choices:
            yield from self._categories(chosen | {name: option}, others)

    def _left_out(self) -> Iterator[tuple[str, ...]]:
        """The numbers that are zero, for each way to choose as many others as there may be."""
        counts = [rule for rule in self.rules if isinstance(rule, Few)]
        ways = (itertools.combinations(r.names, len(r.names) - r.most) for r in counts)
        for combined in itertools.product(*ways):
            yield tuple(itertools.chain(*combined))

    def _totals(self, fixed: Params, free: tuple[str, ...]) -> Iterator[Total]:
        for rule in self.rules:
            if isinstance(rule, Total) and agrees(fixed, rule.where):
                weights = {name: w for name, w in rule.weights.items() if name in free}
                yield Total(weights, rule.bound, rule.equal)
