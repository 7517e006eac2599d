"""A problem whose inputs have rules between them, or branches; with what only a referee knows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import Any, Final, final

import numpy as np

from ceibo.decide.dimensions import Dimension, Float
from ceibo.decide.space import Space
from ceibo.gp.inputs import Array
from ceibo_lab.problem import Problem
from ceibo_lab.problems.inputs.choices import Choice, When, choices_of, exists
from ceibo_lab.problems.inputs.rules import Few, Params, Rule

TOLERANCE: Final = 1e-6
"""Of a rule's scale: a setting that breaks no rule by more can be measured."""
_EXACT: Final = 1e-14  # what rounding may leave


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
    when: When = field(default_factory=dict)
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
            name: replace(each, when=dict(self.when[name])) if name in self.when else each
            for name, each in self.dimensions.items()
        }
        texts = [rule.text for rule in self.rules]
        return Space(dimensions, constraints=texts) if texts else Space(dimensions)

    @cached_property
    def _floats(self) -> dict[str, Float]:
        numbers = self.dimensions.items()
        return {name: each for name, each in numbers if isinstance(each, Float)}

    @cached_property
    def widths(self) -> dict[str, float]:
        """Name -> range, of the numbers."""
        return {name: each.high - each.low for name, each in self._floats.items()}

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """All that obey the rules, in a fixed order."""
        return tuple(choices_of(self.dimensions, self.rules, self.when))

    def excess(self, params: Params) -> float:
        """By how much the setting breaks the rule or range that it breaks most, as a share."""
        broken = [rule.excess(params) / rule.scale(self.widths) for rule in self.rules]
        for name in self.widths.keys() & params.keys():
            each, value = self._floats[name], params[name]
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
                drawn = _mixture([self._floats[name] for name in parts], rng)
                found |= dict(zip(parts, drawn, strict=True))
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
            if exists(self.when, name, found):
                found[name] = params[name]
        return found

    def to_box(self, params: Params) -> Array:
        """The coordinates (d,) in the box; parameters that do not exist are in the middle."""
        columns = self.dimensions.items()
        units = [each.to_unit(params[name]) if name in params else 0.5 for name, each in columns]
        return np.array(units)


def _mixture(dimensions: Sequence[Float], rng: np.random.Generator) -> list[float]:
    """Uniform on the simplex above the parts' least values; the last is what is missing."""
    least = np.array([each.low for each in dimensions])
    values = least + (1.0 - least.sum()) * rng.dirichlet(np.ones(len(least)))
    first = values[:-1].tolist()
    return [*first, fsum([1.0, *(-value for value in first)])]
