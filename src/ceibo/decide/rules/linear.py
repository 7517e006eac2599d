"""Sums of numbers and parameters: read exactly, so that nothing is lost before it is used."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, final

from ceibo.checks import ask_nearest, nearest
from ceibo.decide.dimensions import Dimension
from ceibo.decide.rules.columns import range_of
from ceibo.decide.rules.fault import fault
from ceibo.decide.rules.tree import Kind, Node

_LARGEST: Final = Fraction(10) ** 150
_LINEAR: Final = "a sum of numbers and of parameters times numbers"


@final
@dataclass(frozen=True)
class Form:
    """Σ_k c_k · parameter_k + constant, the coefficients other than zero."""

    coefficients: Mapping[str, Fraction]
    constant: Fraction

    def plus(self, other: "Form", factor: Fraction) -> "Form":
        """This form and `factor` times the other."""
        names = dict.fromkeys((*self.coefficients, *other.coefficients))
        zero = Fraction()
        mine, theirs = self.coefficients, other.coefficients
        sums = {each: mine.get(each, zero) + factor * theirs.get(each, zero) for each in names}
        return Form(
            {name: value for name, value in sums.items() if value},
            self.constant + factor * other.constant,
        )

    def times(self, factor: Fraction) -> "Form":
        """`factor` times this form."""
        return Form({}, Fraction()).plus(self, factor)


@final
@dataclass(frozen=True)
class Scope:
    """A rule's text and the dimensions it may name."""

    text: str
    dimensions: Mapping[str, Dimension]

    def refusal(self, node: Node, expected: str, advice: str = "") -> Exception:
        """The error about a piece of the rule."""
        return fault(self.text, node.start, node.end, expected, advice)

    def dimension(self, node: Node) -> Dimension:
        """The dimension that a name stands for."""
        name = str(node.value)
        if name in self.dimensions:
            return self.dimensions[name]
        spaced = [each for each in self.dimensions if not each.isidentifier() and name in each]
        if spaced:
            advice = f"a name with spaces or signs stands in backquotes, as in `{spaced[0]}`"
        else:
            advice = ask_nearest(name, self.dimensions).strip("; .")
        listed = ", ".join(self.dimensions)
        if name.lower() in ("inf", "infinity", "nan"):
            advice = "numbers are finite, and what has no limit needs no rule"
        advice = advice or "a choice of a category stands in quotes, as in 'THF'"
        raise self.refusal(node, f"a parameter of the space ({listed})", advice)


def linear_form(node: Node, scope: Scope) -> Form:
    """The form that a node is; the error says what in it is not linear."""
    if node.kind is Kind.NUMBER:
        return Form({}, exact_number(node, scope))
    if node.kind is Kind.NAME:
        return Form({_quantity(node, scope): Fraction(1)}, Fraction())
    if node.kind is Kind.SUM and isinstance(node.value, tuple):
        total = Form({}, Fraction())
        for sign, part in zip(node.value, node.parts, strict=True):
            total = total.plus(linear_form(part, scope), Fraction(-1 if sign == "-" else 1))
        return _in_range(total, node, scope)
    if node.kind is Kind.PRODUCT and isinstance(node.value, tuple):
        total = Form({}, Fraction(1))
        for sign, part in zip(node.value, node.parts, strict=True):
            factor = linear_form(part, scope)
            total = _in_range(_product(total, str(sign), factor, (node, part, scope)), node, scope)
        return total
    if node.kind is Kind.WORD:
        advice = "a text, True, False or None is compared by == with a category"
        raise scope.refusal(node, _LINEAR, advice)
    if node.kind is Kind.LIST:
        raise scope.refusal(node, _LINEAR, "write decimals with a point; a list follows in")
    raise scope.refusal(node, _LINEAR, "conditions are joined by and, or, not")


def exact_number(node: Node, scope: Scope) -> Fraction:
    """The number as written, if a double can hold it."""
    written = str(node.value)
    size = abs(float(written))
    if not math.isfinite(size) or size > _LARGEST:
        raise scope.refusal(node, "a number below 1e150", "use other units")
    if size < 1 / _LARGEST:
        if any(digit in "123456789" for digit in written.lower().partition("e")[0]):
            raise scope.refusal(node, "zero or a number above 1e-150", "use other units")
        return Fraction()
    return Fraction(Decimal(written))


def _quantity(node: Node, scope: Scope) -> str:
    """The name of a parameter with numbers."""
    dimension, name = scope.dimension(node), str(node.value)
    ends = range_of(dimension)
    if ends is None:
        kind = f"{name!r} is {dimension.describe()}"
        advice = f"{kind}, and is compared by ==, != or in with its choices"
        raise scope.refusal(node, "a parameter with numbers", advice)
    if not math.isfinite(ends[1] - ends[0]) or max(map(abs, ends)) > _LARGEST:
        raise scope.refusal(node, "a parameter with values below 1e150", "use other units")
    return name


def _product(total: Form, sign: str, factor: Form, where: tuple[Node, Node, Scope]) -> Form:
    node, part, scope = where
    if sign == "/":
        if factor.coefficients:
            advice = "multiply both sides by it, as in a <= 0.5 * b for a / b <= 0.5"
            raise scope.refusal(part, "a number to divide by", advice)
        if not factor.constant:
            raise scope.refusal(part, "a number other than zero to divide by")
        return total.times(1 / factor.constant)
    if factor.coefficients and total.coefficients:
        raise scope.refusal(node, _LINEAR, "a product of two parameters is not linear")
    if factor.coefficients:
        return factor.times(total.constant)
    return total.times(factor.constant)


def _in_range(form: Form, node: Node, scope: Scope) -> Form:
    """The form, if a double can hold its numbers."""
    for value in (*form.coefficients.values(), form.constant):
        if value and not 1 / _LARGEST <= abs(value) <= _LARGEST:
            raise scope.refusal(node, "numbers between 1e-150 and 1e150", "use other units")
    return form


def closest(word: object, known: Sequence[object]) -> str:
    """Advice that names the value most like a wrong one, or nothing."""
    same = [each for each in known if each == word or str(each) == str(word)]
    if same:
        likely = min(same, key=lambda each: isinstance(each, bool))
        return f"the type counts too, did you mean {likely!r}?"
    close = nearest(str(word), [each for each in known if isinstance(each, str)])
    return "" if close is None else f"did you mean {close!r}?"
