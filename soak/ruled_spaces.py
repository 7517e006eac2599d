"""Random spaces with rules between parameters, each with a setting that is known to obey them.

A setting is drawn first, and every rule is made so that it holds there. `families` names what a
space has for certain; the rest is up to chance.

    mixture      parts that sum to one
    few          a mixture of which only some parts may be there
    conditions   rules that hold for some choices only, and forbidden combinations
    thin         sums within bands whose width is 1e-4 of their scale
    sums         inequalities and equalities over numbers of all kinds
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

import ceibo
from ceibo.decide.dimensions import Dimension
from ceibo_lab.problems.inputs.rules import Few, Forbidden, Rule, Total, condition, quoted

FAMILIES: Final = ("mixture", "few", "conditions", "thin", "sums")
SMALLEST, LARGEST = 3, 20  # parameters
MOST_RULES: Final = 12
THIN: Final = 1e-4  # relative width of a band
_WORDS: Final = ("red", "green", "blue", "it's", "THF")


@final
@dataclass(frozen=True)
class RuledSpace:
    """A space as data: its parameters, its rules, their texts, and a setting that obeys."""

    family: str
    dimensions: Mapping[str, Dimension]
    rules: tuple[Rule, ...]
    texts: tuple[str, ...]
    witness: Mapping[str, Any]

    @property
    def widths(self) -> dict[str, float]:
        """Name -> range, of the numbers."""
        return {
            name: each.high - each.low
            for name, each in self.dimensions.items()
            if isinstance(each, (ceibo.Float, ceibo.Int))
        }

    def build(self) -> ceibo.Space:
        """The space itself."""
        return ceibo.Space(self.dimensions, constraints=list(self.texts))

    def fault(self, params: Mapping[str, Any], tolerance: float = 1e-9) -> str | None:
        """What is wrong with a setting; found without any of ceibo's code for rules."""
        if list(params) != list(self.dimensions):
            return f"parameters are {list(params)}"
        for name, each in self.dimensions.items():
            if not _is_value(each, params[name]):
                return f"{name} = {params[name]!r} is no value of {each!r}"
        widths = self.widths
        for rule, text in zip(self.rules, self.texts, strict=True):
            broken = rule.excess(params) / rule.scale(widths)
            if not broken <= tolerance:
                return f"{text!r} is broken by {broken:.3g} of its scale"
        return None


def random_space(seed: int, family: str | None = None) -> RuledSpace:
    """The space of a seed; families take turns unless one is given."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, 16]))
    chosen = FAMILIES[seed % len(FAMILIES)] if family is None else family
    return _Maker(chosen, rng).make()


@final
@dataclass
class _Maker:
    """A space under construction."""

    family: str
    rng: np.random.Generator
    dimensions: dict[str, Dimension] = field(default_factory=dict)
    witness: dict[str, Any] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)  # continuous columns not bound by an equality

    def make(self) -> RuledSpace:
        d = int(self.rng.integers(SMALLEST, LARGEST + 1))
        if self.family in ("mixture", "few") or (d >= 6 and self.rng.random() < 0.25):
            self._add_mixture(int(self.rng.integers(3, min(d, 9) + 1)))
        if self.family in ("thin", "sums"):
            for _ in range(min(2, d - len(self.dimensions))):
                self._add(self._float())
        if self.family == "conditions":
            for _ in range(min(int(self.rng.integers(1, 3)), d - len(self.dimensions))):
                self._add(self._categorical())
        while len(self.dimensions) < d:
            self._add(self._any())
        if self.family == "thin":
            self._add_sum(thin=True)
        if self.family == "conditions":
            self._add_conditional()
        wanted = int(self.rng.integers(1, MOST_RULES + 1))
        for _ in range(4 * MOST_RULES):
            if len(self.rules) >= wanted:
                break
            self._add_rule()
        texts = tuple(self._phrase(rule) for rule in self.rules)
        names = list(self.dimensions)
        witness = {name: self.witness[name] for name in names}
        return RuledSpace(self.family, self.dimensions, tuple(self.rules), texts, witness)

    # -- parameters

    def _name(self) -> str:
        number = len(self.dimensions)
        return f"flow rate {number}" if self.rng.random() < 0.1 else f"x{number}"

    def _add(self, dimension: Dimension) -> str:
        name = self._name()
        self.dimensions[name] = dimension
        self.witness[name] = dimension.from_unit(float(self.rng.uniform(0.15, 0.85)))
        if isinstance(dimension, ceibo.Float) and not dimension.log and dimension.step is None:
            self.loose.append(name)
        return name

    def _float(self) -> Dimension:
        low = float(np.round(self.rng.normal() * 10.0 ** self.rng.integers(-2, 4), 4))
        return ceibo.Float(low, low + float(10.0 ** self.rng.uniform(-2, 4)))

    def _categorical(self) -> Dimension:
        count = int(self.rng.integers(2, len(_WORDS) + 1))
        return ceibo.Categorical(list(_WORDS[:count]))

    def _any(self) -> Dimension:
        kind = self.rng.choice(["float", "float", "log", "step", "int", "categorical"])
        if kind == "float":
            return self._float()
        if kind == "log":
            low = float(10.0 ** self.rng.uniform(-5, 1))
            return ceibo.Float(low, low * float(10.0 ** self.rng.uniform(0.5, 4)), log=True)
        if kind == "step":
            step = float(self.rng.choice([0.05, 0.1, 0.5, 5.0]))
            return ceibo.Float(0.0, step * int(self.rng.integers(2, 40)), step=step)
        if kind == "int":
            log = bool(self.rng.random() < 0.3)
            low = int(self.rng.integers(1, 4)) if log else int(self.rng.integers(-3, 2))
            return ceibo.Int(low, low + int(self.rng.integers(1, 60)), log=log)
        return self._categorical()

    def _add_mixture(self, count: int) -> None:
        """Parts that sum to one; of the family `few`, some are not there in the witness."""
        there = count
        if self.family == "few":
            there = int(self.rng.integers(1, count))
        shares = np.zeros(count)
        chosen = self.rng.permutation(count)[:there]
        shares[chosen] = self.rng.dirichlet(np.full(there, 2.0))
        first = np.flatnonzero(shares)[0]
        shares[first] = 1.0 - np.delete(shares, first).sum()
        for share in shares.tolist():
            low = 0.0
            if self.family != "few" and self.rng.random() < 0.3:
                low = float(np.round(share * self.rng.uniform(0.1, 0.9), 3))
            high = min(1.0, float(np.round(share + self.rng.uniform(0.05, 1.0), 2)))
            name = self._name()
            self.dimensions[name] = ceibo.Float(low, max(high, share))
            self.witness[name] = share
            self.parts.append(name)
        self.rules.append(Total(dict.fromkeys(self.parts, 1.0), 1.0, equal=True))
        if self.family == "few":
            self.rules.append(Few(tuple(self.parts), int(self.rng.integers(there, count))))

    # -- rules

    def _add_rule(self) -> None:
        drawn = self.rng.random()
        if drawn < 0.4:
            self._add_inequality()
        elif drawn < 0.65:
            self._add_conditional()
        elif drawn < 0.8:
            self._add_forbidden()
        else:
            self._add_sum(thin=bool(self.rng.random() < 0.5))

    @property
    def _numbers(self) -> list[str]:
        dimensions = self.dimensions.items()
        return [n for n, each in dimensions if not isinstance(each, ceibo.Categorical)]

    @property
    def _categories(self) -> list[str]:
        return [name for name in self.dimensions if name not in self._numbers]

    def _weights(self, names: Sequence[str]) -> dict[str, float]:
        """Some of the size of one over the range, with a sign, so that every column counts."""
        weights = {}
        for name in names:
            dimension: Any = self.dimensions[name]
            size = self.rng.uniform(0.3, 3.0) / (dimension.high - dimension.low)
            weights[name] = float(f"{size * self.rng.choice([-1.0, 1.0]):.3g}")
        return weights

    def _at(self, weights: Mapping[str, float], params: Mapping[str, Any]) -> float:
        return float(sum(weight * params[name] for name, weight in weights.items()))

    def _some(self, names: Sequence[str], most: int) -> list[str]:
        count = int(self.rng.integers(1, min(most, len(names)) + 1))
        return [str(name) for name in self.rng.permutation(np.array(names, dtype=object))[:count]]

    def _add_inequality(self, where: Mapping[str, Any] | None = None) -> None:
        if not self._numbers:
            return
        weights = self._weights(self._some(self._numbers, 4))
        bound = self._at(weights, self.witness) + self.rng.uniform(0.05, 0.6)
        self.rules.append(Total(weights, float(bound), where=where or {}))

    def _add_conditional(self) -> None:
        if not self._categories:
            return
        name = str(self.rng.choice(self._categories))
        dimension: Any = self.dimensions[name]
        options = self._some(dimension.choices, 2)
        where = {name: options[0] if len(options) == 1 else tuple(options)}
        if self.rng.random() < 0.15 and len(self.loose) >= 2:
            self._add_sum(thin=False, where=where)
        else:
            self._add_inequality(where)

    def _add_forbidden(self) -> None:
        """A combination of two or three choices that the witness does not have."""
        if len(self._categories) < 2:
            return
        names = self._some(self._categories, 3)
        if len(names) < 2:
            return
        together = {}
        for name in names:
            dimension: Any = self.dimensions[name]
            together[name] = str(self.rng.choice(np.array(dimension.choices, dtype=object)))
        if any(self.witness[name] != choice for name, choice in together.items()):
            self.rules.append(Forbidden(together))

    def _add_sum(self, thin: bool, where: Mapping[str, Any] | None = None) -> None:
        """An equality, or a thin band, in which two continuous columns are not bound before."""
        room = MOST_RULES - len(self.rules)
        if len(self.loose) < 2 or room < 2:
            return
        bound = [str(name) for name in self.rng.permutation(np.array(self.loose, dtype=object))[:2]]
        others = [name for name in self._numbers if name not in bound and name not in self.parts]
        extra = self._some(others, 2) if others and self.rng.random() < 0.4 else []
        weights = self._weights([*bound, *extra])
        at = self._at(weights, self.witness)
        # one column of the two stays free for another sum
        self.loose.remove(bound[0])
        if not thin:
            self.rules.append(Total(weights, at, equal=True, where=where or {}))
            return
        half = 0.5 * THIN * Total(weights, at).scale(self._widths(weights))
        self.rules.append(Total(weights, at + half))
        self.rules.append(Total({name: -w for name, w in weights.items()}, -(at - half)))

    def _widths(self, names: Mapping[str, float]) -> dict[str, float]:
        return {n: self.dimensions[n].high - self.dimensions[n].low for n in names}  # type: ignore[attr-defined]  # numbers have both

    # -- texts

    def _phrase(self, rule: Rule) -> str:
        """One of the ways to say it."""
        if not isinstance(rule, Total) or self.rng.random() < 0.4:
            return rule.text
        left = dict(rule.weights)
        right: dict[str, float] = {}
        for name in list(left)[1:]:
            if self.rng.random() < 0.4:
                right[name] = -left.pop(name)
        sides = [_sum_text(left, 0.0), _sum_text(right, rule.bound)]
        sign = "==" if rule.equal else "<="
        if self.rng.random() < 0.5:
            sides.reverse()
            sign = "==" if rule.equal else ">="
        said = f"{sides[0]} {sign} {sides[1]}"
        return f"{said} if {condition(rule.where)}" if rule.where else said


def _sum_text(weights: Mapping[str, float], constant: float) -> str:
    terms = [f"{weight!r} * {quoted(name)}" for name, weight in weights.items()]
    if constant != 0.0 or not terms:
        terms.append(repr(constant))
    return " + ".join(terms)


def _is_value(dimension: Dimension, value: Any) -> bool:
    """Whether the value is one of the dimension's, by what its fields mean."""
    if isinstance(dimension, ceibo.Categorical):
        return value in dimension.choices
    if isinstance(dimension, ceibo.Int):
        return type(value) is int and dimension.low <= value <= dimension.high
    if not isinstance(dimension, ceibo.Float) or type(value) is not float:
        return False
    if not dimension.low <= value <= dimension.high:
        return False
    if dimension.step is None:
        return True
    steps = (value - dimension.low) / dimension.step
    return abs(steps - round(steps)) <= 1e-9
