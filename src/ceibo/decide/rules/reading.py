"""From the tree of a rule to what must hold."""

import math
from fractions import Fraction
from typing import Any, Final

from ceibo.decide.dimensions import Dimension
from ceibo.decide.rules.columns import range_of
from ceibo.decide.rules.conditions import (
    TOLERANCE,
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Counted,
    OneOf,
    is_same,
)
from ceibo.decide.rules.linear import Scope, closest, exact_number, linear_form
from ceibo.decide.rules.tree import Kind, Node
from ceibo.errors import InputError

_FLIPPED: Final = {">=": "<=", ">": "<"}
_CONDITION: Final = "a comparison, as in a + b <= 1"


def read(node: Node, scope: Scope) -> Condition:
    """What a node asks for; the error says which piece of the rule has no meaning."""
    if node.kind is Kind.IF:
        must, when = (read(part, scope) for part in node.parts)
        return AnyOf((must, when.negated()))
    if node.kind is Kind.AND:
        return AllOf(tuple(read(part, scope) for part in node.parts))
    if node.kind is Kind.OR:
        return AnyOf(tuple(read(part, scope) for part in node.parts))
    if node.kind is Kind.NOT:
        return read(node.parts[0], scope).negated()
    if node.kind is Kind.COUNT:
        return _count(node, scope)
    if node.kind is Kind.MEMBER:
        return _member(node, scope)
    if node.kind is Kind.COMPARISON and isinstance(node.value, tuple):
        pairs = zip(node.parts[:-1], node.value, node.parts[1:], strict=True)
        each = [_comparison(left, str(sign), right, scope) for left, sign, right in pairs]
        return each[0] if len(each) == 1 else AllOf(tuple(each))
    if node.kind is Kind.NAME:
        dimension = scope.dimension(node)
        listed = dimension.listed or ()
        choice = True if True in listed else listed[0] if listed else None
        what = ">= a number" if range_of(dimension) else f"== {choice!r}"
        raise scope.refusal(node, _CONDITION, f"write {scope.text[node.start : node.end]} {what}")
    raise scope.refusal(node, _CONDITION)


def _comparison(left: Node, sign: str, right: Node, scope: Scope) -> Condition:
    words = [side for side in (left, right) if _category(side, scope) is not None]
    if words:
        other = right if words[0] is left else left
        return _choice(words[0], sign, other, scope)
    whole = Node(Kind.COMPARISON, left.start, right.end)
    if sign in _FLIPPED:
        left, sign, right = right, _FLIPPED[sign], left
    form = linear_form(left, scope).plus(linear_form(right, scope), Fraction(-1))
    if not form.coefficients:
        expected = "a comparison that depends on a parameter"
        advice = "as it stands it is the same for all settings; leave it out"
        raise scope.refusal(whole, expected, advice)
    scale, is_exact = float(abs(form.constant)), True
    for name, coefficient in form.coefficients.items():
        dimension = scope.dimensions[name]
        low, high = range_of(dimension) or (0.0, 0.0)
        scale += abs(float(coefficient)) * (high - low)
        is_exact = is_exact and dimension.levels is not None
    if not 0 < scale < math.inf:
        raise scope.refusal(whole, "numbers between 1e-150 and 1e150", "use other units")
    return Comparison(form.coefficients, -form.constant, sign, scale, is_exact)


def _category(node: Node, scope: Scope) -> Dimension | None:
    """The dimension of words that a name stands for, or None."""
    if node.kind is not Kind.NAME:
        return None
    dimension = scope.dimension(node) if node.value in scope.dimensions else None
    return dimension if dimension is not None and range_of(dimension) is None else None


def _choice(name: Node, sign: str, other: Node, scope: Scope) -> OneOf:
    """A category compared with one of its choices."""
    if sign not in ("==", "!="):
        advice = f"{name.value!r} has no order: compare it by ==, != or in"
        whole = Node(Kind.COMPARISON, min(name.start, other.start), max(name.end, other.end))
        raise scope.refusal(whole, "== or !=", advice)
    one = _one_of(name, [other], scope)
    return one if sign == "==" else one.negated()


def _one_of(name: Node, nodes: list[Node], scope: Scope) -> OneOf:
    dimension = scope.dimension(name)
    known = list(dimension.listed or ())
    places = set()
    for node in nodes:
        value = _literal(node, scope)
        try:
            found = dimension.check(value, str(name.value))
        except InputError:
            listed = ", ".join(map(repr, known[:20]))
            expected = f"a choice of {name.value!r} ({listed})"
            raise scope.refusal(node, expected, closest(value, known)) from None
        places.add(next(k for k, each in enumerate(known) if is_same(each, found)))
    wanted = tuple(each for k, each in enumerate(known) if k in places)
    others = tuple(each for k, each in enumerate(known) if k not in places)
    return OneOf(str(name.value), wanted, others)


def _literal(node: Node, scope: Scope) -> Any:
    """A value written out: a number, a text, True, False, None, or several in parentheses."""
    if node.kind is Kind.WORD:
        return node.value
    if node.kind is Kind.LIST:
        return tuple(_literal(part, scope) for part in node.parts)
    if node.kind is Kind.NUMBER:
        exact_number(node, scope)
        written = str(node.value)
        return int(written) if written.isdigit() else float(written)
    if node.kind is Kind.SUM and len(node.parts) == 1 and node.parts[0].kind is Kind.NUMBER:
        value = _literal(node.parts[0], scope)
        return -value if node.value == ("-",) else value
    expected, advice = "a choice, as in solvent == 'THF'", ""
    if node.kind is Kind.NAME and node.value not in scope.dimensions:
        advice = f"put it in quotes: {str(node.value)!r}"
    elif node.kind is Kind.NAME:
        advice = "a category is compared with its choices, not with another parameter"
    raise scope.refusal(node, expected, advice)


def _member(node: Node, scope: Scope) -> Condition:
    """`name in (…)` or `name not in (…)`."""
    name, listed = node.parts
    if name.kind is not Kind.NAME:
        raise scope.refusal(name, "a parameter before in", "compare sums by ==")
    dimension = scope.dimension(name)
    members = list(listed.parts) if listed.kind is Kind.LIST else [listed]
    if listed.kind not in (Kind.LIST, Kind.WORD, Kind.NUMBER, Kind.SUM):
        raise scope.refusal(listed, "values in parentheses, as in ('THF', 'DMF')")
    found: Condition
    if range_of(dimension) is None:
        found = _one_of(name, members, scope)
    else:
        found = AnyOf(tuple(_comparison(name, "==", each, scope) for each in members))
    return found if node.value == "in" else found.negated()


def _count(node: Node, scope: Scope) -> Counted:
    """How many parameters may be other than zero."""
    names = [str(part.value) for part in node.parts]
    zeros = {}
    for part in node.parts:
        name, dimension = str(part.value), scope.dimension(part)
        ends = range_of(dimension)
        if ends is None:
            advice = f"{name!r} is {dimension.describe()}"
            raise scope.refusal(part, "a parameter with numbers to count", advice)
        if not _can_be_zero(dimension, name):
            advice = f"{name!r} is {dimension.describe()}; give it a low of 0, or leave it out"
            raise scope.refusal(part, "a parameter that can be zero", advice)
        if name in zeros:
            raise scope.refusal(part, "each parameter once")
        is_level = dimension.levels is not None
        zeros[name] = 0.0 if is_level else TOLERANCE * (ends[1] - ends[0])
    value = node.value if isinstance(node.value, tuple) else (0, None)
    least, most = (len(names) if each is None else int(each) for each in value)
    if least > len(names) or (value[1] is not None and most > len(names)):
        raise scope.refusal(node, f"a number of at most {len(names)}, as many as there are names")
    if least > most:
        raise scope.refusal(node, "the smaller number first, as in between 1 and 3 of a, b, c, d")
    if least == 0 and most == len(names):
        advice = "as it stands every setting holds it; name more parameters or count fewer"
        raise scope.refusal(node, "a count that says something", advice)
    return Counted(zeros, least, most)


def _can_be_zero(dimension: Dimension, name: str) -> bool:
    try:
        return dimension.check(0, name) == 0
    except InputError:
        return False
