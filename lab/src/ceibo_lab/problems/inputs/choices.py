"""The ways to choose all categories and the parts that are there; each leaves a polytope."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from ceibo.decide.dimensions import Categorical, Dimension
from ceibo_lab.problems.inputs.rules import Few, Forbidden, Params, Rule, Total, agrees

When = Mapping[str, Mapping[str, Any]]  # parameter -> the choices of others under which it exists


@final
@dataclass(frozen=True)
class Choice:
    """One of them.

    Args:
        fixed: the categories, and the parts that are left out, which are zero.
        free: the names of the numbers that can be set.
        totals: the linear rules over these.
    """

    fixed: Mapping[str, Any]
    free: tuple[str, ...]
    totals: tuple[Total, ...]


def exists(when: When, name: str, params: Params) -> bool:
    """Whether a parameter exists, given those before it."""
    wanted = when.get(name, {})
    return all(each in params for each in wanted) and agrees(params, wanted)


def choices_of(
    dimensions: Mapping[str, Dimension], rules: Sequence[Rule], when: When
) -> Iterator[Choice]:
    """All that obey the rules, in a fixed order."""
    forbidden = [rule for rule in rules if isinstance(rule, Forbidden)]
    for chosen in _categories(dimensions, when, {}, list(dimensions)):
        if any(rule.excess(chosen) for rule in forbidden):
            continue
        numbers = [
            name
            for name, each in dimensions.items()
            if not isinstance(each, Categorical) and exists(when, name, chosen)
        ]
        for left_out in _left_out(rules):
            fixed = chosen | dict.fromkeys(left_out, 0.0)
            free = tuple(name for name in numbers if name not in left_out)
            yield Choice(fixed, free, tuple(_totals(rules, fixed, free)))


def _categories(
    dimensions: Mapping[str, Dimension], when: When, chosen: dict[str, Any], names: list[str]
) -> Iterator[dict[str, Any]]:
    """All combinations of the categories that exist."""
    if not names:
        yield chosen
        return
    name, *others = names
    dimension = dimensions[name]
    if not isinstance(dimension, Categorical) or not exists(when, name, chosen):
        yield from _categories(dimensions, when, chosen, others)
        return
    for option in dimension.choices:
        yield from _categories(dimensions, when, chosen | {name: option}, others)


def _left_out(rules: Sequence[Rule]) -> Iterator[tuple[str, ...]]:
    """The numbers that are zero, for each way to choose as many others as there may be."""
    counts = [rule for rule in rules if isinstance(rule, Few)]
    ways = (itertools.combinations(r.names, len(r.names) - r.most) for r in counts)
    for combined in itertools.product(*ways):
        yield tuple(itertools.chain(*combined))


def _totals(rules: Sequence[Rule], fixed: Params, free: tuple[str, ...]) -> Iterator[Total]:
    for rule in rules:
        if isinstance(rule, Total) and agrees(fixed, rule.where):
            weights = {name: w for name, w in rule.weights.items() if name in free}
            yield Total(weights, rule.bound, rule.equal)
