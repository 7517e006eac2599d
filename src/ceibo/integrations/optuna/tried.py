"""The best point of a branch within what was tried there."""

from dataclasses import replace
from typing import Final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide import Belief
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array

# around failed points, in length scales (see acquisition/guides.py)
_FENCE: Final = 0.1
# of the box: values of a parameter no further apart count as one
_NARROW: Final = 1e-9


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
    parts = X, gp.y, gp.noise_variance, kernel, gp.mean, gp.expected_noise
    within = GaussianProcess(*parts, gp.blocks)
    fence = acq.Fence((belief.evidence.failed - offset) / width, kernel, _FENCE)
    mean = acq.posterior_mean(within)
    found = acq.maximize(mean, seed=belief.seed, discrete=levels, guides=(fence,)).x
    # The best point tried is a candidate too, as the fence may have kept the search away from it.
    choices = np.concatenate([[np.clip(offset + width * found, low, high)], tried])
    return np.asarray(choices[int(np.argmin(gp.posterior(choices)[0]))])
