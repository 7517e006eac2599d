"""How likely a point is to be efficient: on the front of several goals, and within every limit.

The front of posterior means says who is on it most likely, and nothing about how sure that is. Here
every process is drawn jointly at all points, and the draws in which a point holds its limits and
no other point that holds them dominates it are counted.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ceibo.acquisition.common import Bounded, common_rows, inside_units, seed_of
from ceibo.acquisition.sampling import normal_draws
from ceibo.checks import check_whole
from ceibo.errors import InputError, NotPositiveDefiniteError
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array, Mask, as_points
from ceibo.gp.linalg import JITTERS, limited_blas

_DRAWS: Final = 4096
_FEWEST: Final = 256
# Values drawn at most, and comparisons of pairs with three goals: about half a second.
_VALUES: Final = 2**20
_PAIRS: Final = 2**26
_CHUNK: Final = 2**22  # pairs compared at once
# A difference of this many standard deviations is certain: draws see one of 1/4,096 at the least.
_CERTAIN: Final = 4.0


def probability_efficient(
    goals: Sequence[GaussianProcess],
    limits: Sequence[Bounded] = (),
    points: ArrayLike | None = None,
    *,
    seed: int = 0,
) -> Array:
    """Chance (c,) of each point of holding its limits with no other one dominating it.

    From up to 4,096 quasi-random joint draws (standard error at most 0.008), fewer where more than
    256 points have a chance, or 128 with three goals: at least 256 draws (0.03).
    Repeated points count as one.

    Args:
        goals: processes of two or three goals that are minimised.
        limits: only points that hold them count.
        points: (c, d) to compare with each other; by default those observed by every process, in
            the order of `common_rows([gp.X for gp in processes])`.
        seed: of the draws.
    """
    if len(goals) not in (2, 3):
        raise InputError(f"a front is that of 2 or 3 goals, got {len(goals)}.")
    seed = check_whole(seed, "seed", 0)
    processes = [*goals, *(limit.gp for limit in limits)]
    if points is None:
        rows = common_rows([gp.X for gp in processes])
        if len(rows) == 0:
            return np.zeros(0)
        points = goals[0].X[rows[:, 0]]
    X = as_points(points, "points", goals[0].kernel.dimension)
    distinct, places = np.unique(X, axis=0, return_inverse=True)
    with limited_blas(max(len(distinct), *(len(gp.state.points) for gp in processes))):
        moments = [_moments(gp, distinct) for gp in processes]
        bounds = [inside_units(limit.gp, limit.bound) for limit in limits]
        rivals = np.flatnonzero(_contenders(moments, bounds))
        chances = np.zeros(len(distinct))
        count = _count(len(rivals), len(goals))
        draws = [
            _draw(mean[rivals], covariance[np.ix_(rivals, rivals)], count, seed_of(seed, j))
            for j, (mean, covariance) in enumerate(moments)
        ]
        chances[rivals] = _efficient(draws, bounds).mean(axis=0)
    return chances[places.reshape(-1)]


def _moments(gp: GaussianProcess, X: Array) -> tuple[Array, Array]:
    """Posterior mean (c,) and covariance (c, c) in inside units."""
    kernel, state = gp.unit_kernel, gp.state
    cross = kernel(X, state.points)
    whitened = cross @ state.factor.inverse.T
    return cross @ state.alpha, kernel(X, X) - whitened @ whitened.T


def _contenders(moments: Sequence[tuple[Array, Array]], bounds: Sequence[float]) -> Mask:
    """Points that are not certain to break a limit or to be dominated by one that holds them."""
    goals, limits = moments[: len(moments) - len(bounds)], moments[len(moments) - len(bounds) :]
    c = len(goals[0][0])
    possible, sure = np.ones(c, dtype=bool), np.ones(c, dtype=bool)
    for (mean, covariance), bound in zip(limits, bounds, strict=True):
        slack = _CERTAIN * np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
        possible &= mean <= bound + slack
        sure &= mean <= bound - slack
    beaten = np.broadcast_to(sure, (c, c)).copy()  # [i, j]: i by j
    for mean, covariance in goals:
        variance = np.diagonal(covariance)
        apart = np.maximum(variance[:, None] + variance - 2.0 * covariance, 0.0)
        gap = mean[:, None] - mean
        beaten &= (gap > 0) & (gap * gap > _CERTAIN**2 * apart)
    return np.asarray(possible & ~np.any(beaten, axis=1))


def _count(points: int, goals: int) -> int:
    """How many draws to take."""
    most = _VALUES // max(points, 1)
    if goals == 3:
        most = min(most, _PAIRS // max(points, 1) ** 2)
    return int(np.clip(most, _FEWEST, _DRAWS))


def _draw(mean: Array, covariance: Array, count: int, seed: int) -> Array:
    """Joint draws (count, c)."""
    c = len(mean)
    size = float(np.max(np.diagonal(covariance), initial=0.0)) + np.finfo(float).tiny
    for jitter in JITTERS:
        try:
            root = np.linalg.cholesky(covariance + jitter * max(size, 1e-8) * np.eye(c))
        except np.linalg.LinAlgError:
            continue
        return np.asarray(mean + normal_draws(count, c, seed) @ root.T)
    raise NotPositiveDefiniteError(
        f"no joint draws at {c} points: the posterior covariance cannot be factorized."
    )


def _efficient(draws: Sequence[Array], bounds: Sequence[float]) -> Mask:
    """Which points are on the front of each draw, (S, c)."""
    goals, limits = draws[: len(draws) - len(bounds)], draws[len(draws) - len(bounds) :]
    holds = np.ones(goals[0].shape, dtype=bool)
    for values, bound in zip(limits, bounds, strict=True):
        holds &= values <= bound
    # a point that breaks a limit dominates nothing
    feasible = [np.where(holds, values, np.inf) for values in goals]
    return holds & (_on_front_of_two(*feasible) if len(goals) == 2 else _on_front(feasible))


def _on_front_of_two(first: Array, second: Array) -> Mask:
    """Points below all those with a lower first goal, (S, c)."""
    order = np.argsort(first, axis=1, kind="stable")
    ordered = np.take_along_axis(second, order, axis=1)
    lowest = np.minimum.accumulate(ordered, axis=1)
    kept = np.ones(first.shape, dtype=bool)
    kept[:, 1:] = ordered[:, 1:] < lowest[:, :-1]
    front = np.empty_like(kept)
    np.put_along_axis(front, order, kept, axis=1)
    return front


def _on_front(goals: Sequence[Array]) -> Mask:
    """The same for any number of goals, by comparing all pairs."""
    count, c = goals[0].shape
    front = np.empty((count, c), dtype=bool)
    step = max(1, _CHUNK // max(c * c, 1))
    for start in range(0, count, step):
        part = [values[start : start + step] for values in goals]
        beaten = np.logical_and.reduce([v[:, None, :] < v[:, :, None] for v in part])
        front[start : start + step] = ~np.any(beaten, axis=2)
    return front
