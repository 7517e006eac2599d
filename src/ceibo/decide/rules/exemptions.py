"""Where a rule does not apply: a parameter that it names exists only in some branches."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ceibo.acquisition.region.terms import Among, Branch, Requirement
from ceibo.decide.dimensions import Dimension


def exempt(
    requirements: Iterable[Requirement],
    named: Sequence[int],
    branches: Sequence[Branch],
    dimensions: Mapping[str, Dimension],
) -> list[Requirement]:
    """Requirements of a rule that names some columns, each or else one of them does not exist."""
    lists = [each.coordinates for each in dimensions.values()] if branches else []
    absences = []
    for branch in _above(named, branches):
        known = lists[branch.parent]
        if known is not None:
            others = known[~np.isin(known, branch.coordinates)]
            if len(others):
                absences.append((Among(branch.parent, others),))
    return [Requirement((*each.alternatives, *absences), each.rule) for each in requirements]


def _above(columns: Sequence[int], branches: Sequence[Branch]) -> list[Branch]:
    """The branches of columns, of their parents, and so on."""
    found: list[Branch] = []
    wanted = list(columns)
    while wanted:
        column = wanted.pop()
        new = [each for each in branches if each.column == column and each not in found]
        found += new
        wanted += [each.parent for each in new]
    return found
