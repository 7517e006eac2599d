"""Trials that do not all have the same parameters, as points of one unit cube.

In a define-by-run study a trial has the parameters of its branch only, and a range may change from
trial to trial. The sampler searches the parameters that all trials share. The answers need the
others too, or trials that differ in them would be taken for repeats. Here every parameter of any
trial has a column, in which all trials without that parameter have the same coordinate; one more
column tells the branches apart. One process is fitted to all trials.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial

from ceibo import acquisition as acq
from ceibo.decide import Belief, Categorical, Space
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array
from ceibo.integrations.optuna.evidence import Axes, Axis

_BRANCH: Final = "ceibo:branch"  # name of the column that tells branches apart
_ABSENT: Final = 0.5  # coordinate of a number that a trial does not have
_NO_CHOICE: Final = 0.0  # the same of a categorical: its choices are all inside (0, 1)
# around failed points, in length scales (see acquisition/guides.py)
_FENCE: Final = 0.1
# of the box: values of a parameter no further apart count as one
_NARROW: Final = 1e-9


@final
@dataclass(frozen=True)
class Branch:
    """The trials with one set of parameters."""

    axes: Axes | None  # of the parameters that vary; None where none does
    columns: list[int]  # of these axes in the cube
    fixed: dict[str, Any]  # the parameters of a single value

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
        """The branches of finished trials; None if none of their parameters varies."""
        distributions = _union(trials)
        varying = {name: each for name, each in sorted(distributions.items()) if not each.single()}
        # Each set of names once, in the order of the trials.
        name_sets = list(dict.fromkeys(frozenset(trial.distributions) for trial in trials))
        axes = {name: Axis.of(each) for name, each in varying.items()}
        dimensions = {name: axis.dimension for name, axis in axes.items()}
        if len(name_sets) > 1:
            dimensions[_BRANCH] = Categorical(range(len(name_sets)))
        if not dimensions:
            return None
        branches = {}
        for names in name_sets:
            own = {name: each for name, each in varying.items() if name in names}
            columns = [column for column, name in enumerate(varying) if name in names]
            single = sorted(names - varying.keys())
            fixed = {name: single_value(distributions[name]) for name in single}
            branches[names] = Branch(Axes.of(own) if own else None, columns, fixed)
        return Branches(axes, branches, Space(dimensions))

    def branch_of(self, params: Mapping[str, Any]) -> Branch | None:
        """The branch with just these parameters."""
        return self.branches.get(frozenset(params))

    def coordinates(self, params: Mapping[str, Any]) -> Array | None:
        """The point in the unit cube; None if it has no branch, or a parameter is out of range."""
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


def best_in_branch(belief: Belief, tried: Array) -> Array:
    """The point with the best posterior mean within what a branch has tried, off failed points.

    Which values make an objective ask for which parameters is not known. So choices are those tried
    in the branch, and numbers lie between the least and the greatest tried there.

    Args:
        belief: of all trials of all branches.
        tried: (n, d) the points of the branch.
    """
    gp = belief.model.gp
    space = belief.space
    low, high = tried.min(axis=0), tried.max(axis=0)
    levels: dict[int, Array] = {}
    for column, listed in space.discrete.items():
        if column in space.categorical:
            levels[column] = np.unique(tried[:, column])
        else:
            levels[column] = listed[(listed >= low[column]) & (listed <= high[column])]
    for column in range(len(space)):
        if high[column] - low[column] < _NARROW:
            levels[column] = low[[column]]
    # The maximiser searches the whole unit cube, so the branch's box is stretched to it, and the
    # process with it.
    stretched = np.array([column not in levels for column in range(len(space))])
    offset = np.where(stretched, low, 0.0)
    width = np.where(stretched, high - low, 1.0)
    kernel = replace(gp.kernel, lengthscales=gp.kernel.lengthscales / width)
    X = (gp.X - offset) / width
    within = GaussianProcess(X, gp.y, gp.noise_variance, kernel, gp.mean, gp.expected_noise)
    fence = acq.Fence((belief.evidence.failed - offset) / width, kernel, _FENCE)
    mean = acq.posterior_mean(within)
    found = acq.maximize(mean, seed=belief.seed, discrete=levels, guides=(fence,)).x
    # The best point tried is a candidate too, as the fence may have kept the search away from it.
    choices = np.concatenate([[np.clip(offset + width * found, low, high)], tried])
    return np.asarray(choices[int(np.argmin(gp.posterior(choices)[0]))])


def single_value(distribution: BaseDistribution) -> Any:
    """The value of a distribution that has only one."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[0]
    return distribution.low  # type: ignore[attr-defined]  # a float or an int


def _union(trials: Iterable[FrozenTrial]) -> dict[str, BaseDistribution]:
    """The distribution of every parameter, and the union of its ranges where they differ."""
    union: dict[str, BaseDistribution] = {}
    for trial in trials:
        for name, distribution in trial.distributions.items():
            known = union.get(name, distribution)
            union[name] = known if known == distribution else _hull(known, distribution)
    return union


def _hull(first: BaseDistribution, second: BaseDistribution) -> BaseDistribution:
    """The smallest range that holds both, with their grid if it is the same."""
    # Optuna lets nothing but the range and the step change.
    if isinstance(first, IntDistribution) and isinstance(second, IntDistribution):
        low, high = min(first.low, second.low), max(first.high, second.high)
        step = first.step if _same_grid(first, second) else 1
        return IntDistribution(low, high, log=first.log, step=step)
    if isinstance(first, FloatDistribution) and isinstance(second, FloatDistribution):
        lowest, highest = min(first.low, second.low), max(first.high, second.high)
        spacing = first.step if _same_grid(first, second) else None
        return FloatDistribution(lowest, highest, log=first.log, step=spacing)
    return second


def _same_grid(first: Any, second: Any) -> bool:
    return bool(first.step == second.step and first.low == second.low)
