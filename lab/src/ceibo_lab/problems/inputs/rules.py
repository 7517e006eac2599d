"""Rules between parameters as data: written out in ceibo's words, and judged without ceibo.

A method of another tool reads the data; ceibo gets the text. How far a setting breaks a rule is
computed here with exactly rounded sums, so that a referee does not depend on what it judges.
"""

import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import fsum
from typing import Any, final

Params = Mapping[str, Any]


@final
@dataclass(frozen=True)
class Total:
    """Σ weight · value ≤ bound, or = bound; only in settings with these choices, if there are."""

    weights: Mapping[str, float]
    bound: float
    equal: bool = False
    where: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        terms = [_term(weight, name) for name, weight in self.weights.items()]
        total = " ".join(terms).removeprefix("+ ")
        said = f"{total} {'==' if self.equal else '<='} {self.bound!r}"
        return f"{said} if {condition(self.where)}" if self.where else said

    def applies(self, params: Params) -> bool:
        """Whether the setting has the choices and all the numbers that it speaks of."""
        present = all(name in params for name in (*self.weights, *self.where))
        return present and agrees(params, self.where)

    def excess(self, params: Params) -> float:
        """By how much a setting breaks it, in the units of the sum; zero if it does not apply."""
        if not self.applies(params):
            return 0.0
        parts = [weight * float(params[name]) for name, weight in self.weights.items()]
        over = fsum([*parts, -self.bound])
        return abs(over) if self.equal else max(over, 0.0)

    def scale(self, widths: Mapping[str, float]) -> float:
        """Σ |weight| · range + |bound|, in which the excess is stated."""
        ranges = [abs(weight) * widths[name] for name, weight in self.weights.items()]
        return fsum([*ranges, abs(self.bound)])


@final
@dataclass(frozen=True)
class Forbidden:
    """A combination of choices that must not be."""

    together: Mapping[str, Any]

    @property
    def text(self) -> str:
        return f"not ({condition(self.together)})"

    def excess(self, params: Params) -> float:
        """1 where the combination is, 0 elsewhere."""
        present = all(name in params for name in self.together)
        return float(present and agrees(params, self.together))

    def scale(self, _widths: Mapping[str, float]) -> float:
        return 1.0


@final
@dataclass(frozen=True)
class Few:
    """At least `least` and at most `most` of some numbers are not zero."""

    names: tuple[str, ...]
    most: int
    least: int = 0

    @property
    def text(self) -> str:
        names = ", ".join(map(quoted, self.names))
        if self.least == 0:
            return f"at most {self.most} of {names}"
        if self.least == self.most:
            return f"exactly {self.most} of {names}"
        return f"between {self.least} and {self.most} of {names}"

    def excess(self, params: Params) -> float:
        """How many too many, or too few, are not zero."""
        count = sum(params.get(name, 0) != 0 for name in self.names)
        return float(max(count - self.most, self.least - count, 0))

    def scale(self, _widths: Mapping[str, float]) -> float:
        return 1.0


Rule = Total | Forbidden | Few


def agrees(params: Params, choices: Mapping[str, Any]) -> bool:
    """Whether the setting has these choices; a list or tuple of them means any of its members."""
    return all(params[name] in _options(wanted) for name, wanted in choices.items())


def condition(choices: Mapping[str, Any]) -> str:
    """The choices as a condition in ceibo's words."""
    return " and ".join(_among(name, _options(wanted)) for name, wanted in choices.items())


def quoted(name: str) -> str:
    """A name as it stands in a rule: in backquotes unless it is a word."""
    is_word = name.isidentifier() and not keyword.iskeyword(name)
    return name if is_word and name not in ("at", "of", "between", "exactly") else f"`{name}`"


def _options(wanted: Any) -> tuple[Any, ...]:
    return tuple(wanted) if isinstance(wanted, (list, tuple)) else (wanted,)


def _among(name: str, options: tuple[Any, ...]) -> str:
    if len(options) == 1:
        return f"{quoted(name)} == {options[0]!r}"
    return f"{quoted(name)} in ({', '.join(map(repr, options))})"


def _term(weight: float, name: str) -> str:
    sign, size = ("-" if weight < 0 else "+"), abs(weight)
    return f"{sign} {quoted(name)}" if size == 1 else f"{sign} {size!r} * {quoted(name)}"
