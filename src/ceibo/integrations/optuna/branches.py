"""Trials that do not all have the same parameters, as points of one unit cube.

In a define-by-run study a trial has the parameters of its branch only, and a range may change from
trial to trial. The sampler searches what all trials share; the answers need more, or trials that
differ in the rest would look the same. Here every parameter of any trial has its column. One that a
trial does not have stands at one place for all those without it, and one more column tells the
branches apart. So one process is fitted to all trials: what they say about the noise and the level
of the objective is shared, and their values can be compared.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial

from ceibo import acquisition as acq
from ceibo.decide.space import Categorical, Space
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array
from ceibo.integrations.optuna.evidence import Axes, Axis

_BRANCH: Final = "ceibo:branch"  # name of the column that tells branches apart
_ABSENT: Final = 0.5  # coordinate of a number that a trial does not have
# how far from points that failed to keep, in length scales (see acquisition/guides.py)
_FENCE: Final = 0.1
_NARROW: Final = 1e-9  # of the box: values of a parameter that are no further apart are one
# the same of a categorical: different from all its choices, which are inside of (0, 1)
_NO_CHOICE: Final = 0.0


@final
@dataclass(frozen=True)
class Branch:
    """The trials with one set of parameters: those that vary, with their columns, and those of a
    single value.
    """

    axes: Axes | None  # None where no parameter varies
    columns: list[int]
    fixed: dict[str, Any]

    def decode(self, x: Array) -> dict[str, Any]:
        """The parameters at a point of the cube."""
        if self.axes is None:
            return dict(self.fixed)
        return {**self.fixed, **self.axes.decode(self.axes.space.from_unit(x[self.columns]))}


@final
@dataclass(frozen=True)
class Branches:
    """All branches of a study, and the space of which each is a part."""

    axes: dict[str, Axis]
    branches: dict[frozenset[str], Branch]
    space: Space

    @staticmethod
    def of(trials: Sequence[FrozenTrial]) -> "Branches | None":
        """Of finished trials; None if nothing about their parameters varies."""
        distributions = _union(trials)
        varying = {name: each for name, each in sorted(distributions.items()) if not each.single()}
        names = list(dict.fromkeys(frozenset(trial.distributions) for trial in trials))
        axes = {name: Axis.of(each) for name, each in varying.items()}
        dimensions = {name: axis.dimension for name, axis in axes.items()}
        if len(names) > 1:
            dimensions[_BRANCH] = Categorical(range(len(names)))
        if not dimensions:
            return None
        branches = {}
        for each in names:
            own = [name for name in axes if name in each]
            branches[each] = Branch(
                Axes.of({name: varying[name] for name in own}) if own else None,
                [list(axes).index(name) for name in own],
                {name: single_value(distributions[name]) for name in sorted(each - axes.keys())},
            )
        return Branches(axes, branches, Space(dimensions))

    def branch_of(self, params: Mapping[str, Any]) -> Branch | None:
        """The branch with just these parameters."""
        return self.branches.get(frozenset(params))

    def coordinates(self, params: Mapping[str, Any]) -> Array | None:
        """The point in the unit cube; None if no finished trial has just these parameters, or one
        is out of range.
        """
        branch = self.branch_of(params)
        if branch is None:
            return None
        x = np.full(len(self.space), _ABSENT)
        x[list(self.space.categorical)] = _NO_CHOICE
        if branch.axes is not None:
            own = branch.axes.coordinates(params)
            if own is None:
                return None
            x[branch.columns] = own
        if len(self.branches) > 1:
            x[-1] = (list(self.branches).index(frozenset(params)) + 0.5) / len(self.branches)
        return x


def best_in_branch(
    gp: GaussianProcess, space: Space, tried: Array, failed: Array, seed: int
) -> Array:
    """The point with the best posterior mean within what a branch has tried, off points that
    failed.

    Which values make an objective ask for which parameters is not known, so choices are those tried
    in the branch, and numbers between the least and the greatest of them.

    Args:
        gp: of all trials, minimised.
        space: of all branches.
        tried: (n, d) the points of the branch.
        failed: (m, d) points to keep off.
        seed: of the search.
    """
    low, high = tried.min(axis=0), tried.max(axis=0)
    levels = {
        column: np.unique(tried[:, column])
        if column in space.categorical
        else listed[(listed >= low[column]) & (listed <= high[column])]
        for column, listed in space.discrete.items()
    }
    levels |= {
        column: low[[column]]
        for column in range(len(space))
        if high[column] - low[column] < _NARROW
    }
    # The maximiser searches the whole unit cube, so the branch's box is stretched to it, and the
    # process with it.
    stretched = np.array([column not in levels for column in range(len(space))])
    offset, width = np.where(stretched, low, 0.0), np.where(stretched, high - low, 1.0)
    kernel = replace(gp.kernel, lengthscales=gp.kernel.lengthscales / width)
    within = GaussianProcess(
        (gp.X - offset) / width, gp.y, gp.noise_variance, kernel, gp.mean, gp.expected_noise
    )
    fence = acq.Fence((failed - offset) / width, kernel, _FENCE)
    found = acq.maximize(acq.posterior_mean(within), seed=seed, discrete=levels, guides=(fence,)).x
    # Keeping off failures may have led away from the best point tried, which stands as well.
    choices = np.concatenate([[np.clip(offset + width * found, low, high)], tried])
    return np.asarray(choices[int(np.argmin(gp.posterior(choices)[0]))])


def single_value(distribution: BaseDistribution) -> Any:
    return distribution.choices[0] if hasattr(distribution, "choices") else distribution.low  # type: ignore[attr-defined]


def _union(trials: Iterable[FrozenTrial]) -> dict[str, BaseDistribution]:
    """The distribution of every parameter; the range from the least to the greatest where it
    changed.
    """
    union: dict[str, BaseDistribution] = {}
    for trial in trials:
        for name, distribution in trial.distributions.items():
            known = union.get(name, distribution)
            union[name] = known if known == distribution else _hull(known, distribution)
    return union


def _hull(first: BaseDistribution, second: BaseDistribution) -> BaseDistribution:
    """The smallest range that holds both; a grid stays where it is the same. Optuna lets nothing
    else change.
    """
    if isinstance(first, IntDistribution) and isinstance(second, IntDistribution):
        low, high = min(first.low, second.low), max(first.high, second.high)
        return IntDistribution(
            low, high, log=first.log, step=first.step if _same_grid(first, second) else 1
        )
    if isinstance(first, FloatDistribution) and isinstance(second, FloatDistribution):
        lowest, highest = min(first.low, second.low), max(first.high, second.high)
        return FloatDistribution(
            lowest, highest, log=first.log, step=first.step if _same_grid(first, second) else None
        )
    return second


def _same_grid(first: Any, second: Any) -> bool:
    return bool(first.step == second.step and first.low == second.low)
