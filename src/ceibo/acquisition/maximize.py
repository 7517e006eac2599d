"""Global maximisation of an acquisition function over the unit cube.

1. Screen: a quasi-random set over the cube, and clouds around the observed points with the best
   posterior means.
2. Refine: the best few, kept apart from each other, climb together by a batched quasi-Newton method
   (gp/ascent.py). Discrete dimensions are searched as such: all values of one dimension are tried
   while the others stay, in turn with the climb over the continuous dimensions.
3. Polish the winner.

In a region (acquisition/region/) the points screened are drawn in it, the climb stays inside its
walls, and the discrete moves are those of the region.

What is screened and climbed is the acquisition's logarithm (`climbable`), whose gradient does not
vanish where the value does, and what guides add to it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from ceibo.acquisition.base import Surface
from ceibo.acquisition.build import posterior_mean
from ceibo.acquisition.guides import Guide, climbed
from ceibo.acquisition.region import Branch, Region
from ceibo.acquisition.region.branching import Branching
from ceibo.checks import check_whole
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess
from ceibo.gp.ascent import Ascent, Bounds, Box, Rules, climb
from ceibo.gp.grid import evenly, snap, spread_points
from ceibo.gp.inputs import Array, Mask, as_floats
from ceibo.gp.linalg import limited_blas

# starts end when another step promises less than this, in the logarithm
_ROUGH: Final = 1e-6
_LONGEST_STEP: Final = 0.5  # in length scales: longer ones jump over maxima
_POLISH: Final = Rules(iterations=25, tolerance=1e-13)  # of the winner
# a purely discrete space of at most this many points is searched exhaustively
_ENUMERATE_BELOW: Final = 2048
_WIDEST_SWEEP: Final = 64  # values of one discrete dimension tried at a time
_MOST_SWEPT: Final = 100  # discrete dimensions swept in a turn
# distances between starts are in length scales, none longer than this
_NEIGHBOURHOOD: Final = 0.4
# of a cloud, in length scales (at most 1, the cube's width)
_CLOUD_SCALES: Final = (0.3, 0.1, 0.02)


@final
@dataclass(frozen=True)
class SearchSettings:
    """How hard to search.

    The defaults find BoTorch's value or a better one nearly always (see bench/RESULTS.md).
    """

    raw: int = 512  # quasi-random points screened
    cloud: int = 96  # points screened around good observed points
    starts: int = 8  # points refined
    iterations: int = 60  # steps of the refinement, at most
    rounds: int = 4  # alternations of discrete sweeps and climbs, at most

    def __post_init__(self) -> None:
        least = {"raw": 1, "cloud": 0, "starts": 1, "iterations": 0, "rounds": 1}
        for name, low in least.items():
            check_whole(getattr(self, name), name, low)


class Maximum(NamedTuple):
    """The best point found (d,), and the acquisition's value there."""

    x: Array
    value: float


def maximize(  # noqa: PLR0913 - one, and options that are mostly left out
    acquisition: Surface[Any],
    *,
    seed: int = 0,
    discrete: Mapping[int, ArrayLike] | None = None,
    guides: Sequence[Guide] = (),
    settings: SearchSettings | None = None,
    branches: Sequence[Branch] = (),
    region: Region | None = None,
) -> Maximum:
    """The point of the unit cube where the acquisition is largest, and its value there.

    Args:
        acquisition: from `build`.
        seed: the search is deterministic for a seed.
        discrete: for integer and categorical columns, column -> allowed values in [0, 1]; others
            are continuous.
        guides: fences and chances of success, which lead the search elsewhere.
        settings: how hard to search.
        branches: of columns that exist only for some coordinates of a discrete column; elsewhere
            they have the coordinate `inactive`.
        region: where to search, if not in the whole cube; it knows its discrete columns and its
            branches, and those given are not used.
    """
    seed = check_whole(seed, "seed", 0)
    levels = _check_discrete(discrete if region is None else region.discrete, acquisition)
    branching = Branching.of(branches) if region is None else None
    settings = settings or SearchSettings()
    search = _Search(acquisition, levels, guides, settings, branching, region)
    with limited_blas(len(acquisition.points)):
        x = search.run(np.random.SeedSequence(seed))
        if branching is not None:
            x = branching.canonical(x[None, :])[0]
        return Maximum(x, float(acquisition.value(x[None, :])[0]))


def candidates(  # noqa: PLR0913 - two, and options that are mostly left out
    acquisition: Surface[Any],
    around: Array,
    *,
    seed: int = 0,
    discrete: Mapping[int, ArrayLike] | None = None,
    settings: SearchSettings | None = None,
    branches: Sequence[Branch] = (),
    region: Region | None = None,
) -> Array:
    """Different points (N, d) spread over the space and gathered around some; all, if few.

    Args:
        acquisition: whose length scales say how far clouds reach.
        around: (m, d), which are among the points unless these are all there are.
        seed, discrete, settings, branches, region: as in `maximize`.
    """
    levels = _check_discrete(discrete if region is None else region.discrete, acquisition)
    branching = Branching.of(branches) if region is None else None
    search = _Search(acquisition, levels, (), settings or SearchSettings(), branching, region)
    return search.candidates(around, np.random.default_rng(seed))


def recommend(
    gp: GaussianProcess,
    *,
    seed: int = 0,
    discrete: Mapping[int, ArrayLike] | None = None,
    settings: SearchSettings | None = None,
    region: Region | None = None,
) -> Maximum:
    """The minimiser of the posterior mean over the unit cube or a region, and that mean."""
    surface = posterior_mean(gp)
    x, value = maximize(surface, seed=seed, discrete=discrete, settings=settings, region=region)
    return Maximum(x, -value)


def _check_discrete(
    discrete: Mapping[int, ArrayLike] | None, acquisition: Surface[Any]
) -> dict[int, Array]:
    checked = {}
    for column, allowed in (discrete or {}).items():
        if not (isinstance(column, int | np.integer) and 0 <= column < acquisition.dimension):
            raise InputError(
                f"discrete columns must be from 0 to {acquisition.dimension - 1}, got {column!r}."
            )
        values = np.unique(as_floats(allowed, f"discrete[{column}]"))
        if values.size == 0 or not np.all((values >= 0) & (values <= 1)):
            got = np.asarray(allowed).tolist()
            raise InputError(f"discrete[{column}] must hold values from 0 to 1, got {got}.")
        checked[int(column)] = values
    missing = set(acquisition.kernel.categorical) - set(checked)
    for column in sorted(missing):
        # A categorical column without a list of values can only take those that were observed.
        checked[column] = np.unique(acquisition.points[:, column])
    return checked


@final
class _Search:
    """One search: the acquisition, the values of discrete columns, the guides, how hard to look."""

    def __init__(
        self,
        acquisition: Surface[Any],
        discrete: dict[int, Array],
        guides: Sequence[Guide],
        settings: SearchSettings,
        branching: Branching | None = None,
        region: Region | None = None,
    ):
        self.acquisition, self.discrete, self.region = acquisition, discrete, region
        self.guides, self.settings = guides, settings
        self.branching = branching
        self.dimension = acquisition.dimension
        self.continuous = np.array([k not in discrete for k in range(self.dimension)])
        self.widths = np.minimum(acquisition.kernel.lengthscales, 1.0)

    def run(self, seeds: np.random.SeedSequence) -> Array:
        if (points := self._few_points()) is not None:
            return np.asarray(points[int(np.argmax(self._scores(points)))])
        rng = np.random.default_rng(seeds)
        X = np.concatenate([self._raw(rng), self._clouds(rng)])
        scores = self._scores(X)
        X, scores = self._apart(X, scores)
        H = None
        rules = Rules(self.settings.iterations, _ROUGH, longest_step=_LONGEST_STEP)
        if len(self.discrete) > _MOST_SWEPT and self.region is None:
            X, scores = self._relax(X, scores, rules)
        for turn in range(self.settings.rounds):
            if np.any(self.continuous):
                ascent = self._climb(X, rules)
                X, scores, H = ascent.x, ascent.values, ascent.H
            sweep = self._sweep if self.region is None else self._move
            X, scores, moved = sweep(X, scores, turn)
            if not moved:
                break
        winner = [int(np.argmax(scores))]
        if np.any(self.continuous):
            X = self._climb(X[winner], _POLISH, None if H is None else H[winner]).x
            winner = [0]
        if self.region is not None:
            X = self.region.restore(self.region.tightened(X[winner]))
            winner = [0]
        return np.asarray(X[winner[0]])

    def _raw(self, rng: np.random.Generator) -> Array:
        """Points over the whole space."""
        if self.region is not None:
            return self.region.sample(self.settings.raw, rng)
        return snap(spread_points(self.settings.raw, self.dimension, rng), self.discrete)

    def _few_points(self) -> Array | None:
        """All points, where they are few."""
        if self.region is not None:
            points = self.region.points
            return points if points is not None and len(points) <= _ENUMERATE_BELOW else None
        count = math.prod(len(values) for values in self.discrete.values())
        if np.any(self.continuous) or count > _ENUMERATE_BELOW:
            return None
        columns = [self.discrete[k] for k in range(self.dimension)]
        return np.stack(np.meshgrid(*columns, indexing="ij"), axis=-1).reshape(-1, self.dimension)

    def _at(self, X: Array) -> Array:
        """The points at which the acquisition is looked at."""
        return X if self.branching is None else self.branching.canonical(X)

    def _scores(self, X: Array) -> Array:
        prediction = self.acquisition.predictor(self._at(X))
        scores = climbed(self.acquisition, prediction, self.guides).value
        return np.where(np.isnan(scores), -np.inf, scores)

    def _relax(self, X: Array, scores: Array, rules: Rules) -> tuple[Array, Array]:
        """Climbs as if ordered dimensions were continuous, and moves each to its nearest value."""
        free = np.ones(self.dimension, dtype=bool)
        free[list(self.acquisition.kernel.categorical)] = False
        moved = self._climb(X, rules, free=free).x
        for k, values in self.discrete.items():
            moved[:, k] = values[np.argmin(np.abs(values - moved[:, [k]]), axis=1)]
        found = self._scores(moved)
        better = found > scores
        return np.where(better[:, None], moved, X), np.where(better, found, scores)

    def _climb(
        self, X: Array, rules: Rules, H: Array | None = None, free: Mask | None = None
    ) -> Ascent:
        def evaluate(points: Array) -> tuple[Array, Array]:
            prediction = self.acquisition.predictor(self._at(points))
            jet = climbed(self.acquisition, prediction, self.guides)
            gradient = jet.gradient(prediction)
            if self.branching is not None:
                gradient = np.where(self.branching.active(points), gradient, 0.0)
            return jet.value, gradient

        moving: Mask = self.continuous if free is None else free
        widths = np.where(moving, self.widths, 0.0)
        box: Bounds = Box(np.zeros(self.dimension), np.ones(self.dimension), widths)
        if self.region is not None:
            box = self.region.walls(X, widths)
        return climb(evaluate, X, box, rules, H)

    def candidates(self, around: Array, rng: np.random.Generator) -> Array:
        """Points over the whole space and around some; all points, where they are few."""
        few = self._few_points()
        points = np.concatenate([self._raw(rng), self._clouds(rng, around)]) if few is None else few
        return np.unique(self._at(points), axis=0)

    def _clouds(self, rng: np.random.Generator, around: Array | None = None) -> Array:
        """Points (by default the best measured) moved into the space, and perturbations of them."""
        if around is None:
            X, merits = self.acquisition.measured
            points = X[np.argsort(merits, kind="stable")[: 2 * self.settings.starts]]
            distinct = np.sort(np.unique(points, axis=0, return_index=True)[1])
            around = points[distinct][: self.settings.starts]
        centres = np.clip(around, 0, 1)
        for k, values in self.discrete.items():
            centres[:, k] = values[np.argmin(np.abs(values - centres[:, [k]]), axis=1)]
        count = self.settings.cloud
        chosen = centres[np.arange(count) % len(centres)]
        scales = np.resize(np.repeat(_CLOUD_SCALES, len(centres)), count)[:, None]
        steps = scales * self.widths * rng.standard_normal((count, self.dimension))
        cloud = np.clip(chosen + steps, 0.0, 1.0)
        if self.discrete:
            columns = list(self.discrete)
            resampled = snap(rng.random((count, self.dimension)), self.discrete)
            keep = rng.random((count, len(columns))) > 1.0 / max(len(columns), 2)
            cloud[:, columns] = np.where(keep, chosen[:, columns], resampled[:, columns])
        points = np.concatenate([centres, cloud])
        return points if self.region is None else self.region.restore(points)

    def _apart(self, X: Array, scores: Array) -> tuple[Array, Array]:
        """The best points: half of them far from any better one, the rest not next to one."""
        order = np.argsort(-scores, kind="stable")[: 16 * self.settings.starts]
        X, scores = X[order], scores[order]
        scales = np.minimum(self.widths, _NEIGHBOURHOOD)
        kernel = replace(self.acquisition.kernel, lengthscales=scales)
        distance = kernel.squared_distance(self._at(X), self._at(X))
        chosen: list[int] = []
        starts = self.settings.starts
        for count, apart in ((starts // 2, 0.5), (starts, 0.15), (starts, 0.0)):
            free = np.all(distance[chosen] > apart**2, axis=0)
            free[chosen] = False
            while len(chosen) < count and np.any(free):
                chosen.append(int(np.argmax(free)))
                free &= distance[chosen[-1]] > apart**2
        return X[chosen], scores[chosen]

    def _swept(self, turn: int) -> list[int]:
        """The discrete dimensions swept in a turn: all, or of very many those that matter most.

        Each turn takes the next ones, in the order of their length scales.
        """
        columns = list(self.discrete)
        if len(columns) <= _MOST_SWEPT:
            return columns
        order = np.argsort(self.acquisition.kernel.lengthscales[columns], kind="stable")
        chosen = np.roll(order, -turn * _MOST_SWEPT)[:_MOST_SWEPT]
        return [columns[place] for place in chosen]

    def _sweep(self, X: Array, scores: Array, turn: int) -> tuple[Array, Array, bool]:
        """Tries every value of each discrete dimension while the rest stays, and keeps the best."""
        X, scores, moved = X.copy(), scores.copy(), False
        for k in self._swept(turn):
            values = self.discrete[k]
            tried = self._values_near(values, X[:, k])  # (B, m)
            candidates = np.repeat(X[:, None, :], tried.shape[1], axis=1)
            candidates[:, :, k] = tried
            found = self._scores(candidates.reshape(-1, self.dimension)).reshape(tried.shape)
            best = np.argmax(found, axis=1)
            top = found[np.arange(len(X)), best]
            better = top > scores + 1e-9 * np.abs(np.where(np.isfinite(scores), scores, 0.0))
            X[better, k] = tried[better, best[better]]
            scores = np.where(better, top, scores)
            moved |= bool(np.any(better))
        return X, scores, moved

    def _move(self, X: Array, scores: Array, turn: int) -> tuple[Array, Array, bool]:
        """Tries every discrete move of the region, kind by kind, and keeps the best of each."""
        if self.region is None:
            raise TypeError("only a region has moves")
        X, scores, moved = X.copy(), scores.copy(), False
        kinds = self.region.moves
        if len(kinds) > _MOST_SWEPT:
            kinds = (kinds * 2)[turn * _MOST_SWEPT % len(kinds) :][:_MOST_SWEPT]
        for kind in kinds:
            tried, owners = kind.tried(X)
            tried, found = self.region.mended(tried)
            if len(tried) == 0:
                continue
            owners, merits = owners[found], self._scores(tried)
            order = np.argsort(-merits, kind="stable")
            rows, first = np.unique(owners[order], return_index=True)
            best = order[first]
            slack = 1e-9 * np.abs(np.where(np.isfinite(scores[rows]), scores[rows], 0.0))
            better = merits[best] > scores[rows] + slack
            X[rows[better]], scores[rows[better]] = tried[best[better]], merits[best[better]]
            moved |= bool(np.any(better))
        return X, scores, moved

    @staticmethod
    def _values_near(values: Array, at: Array) -> Array:
        """(B, m) values to try: all, or of very many the nearest and an even spread."""
        if len(values) <= _WIDEST_SWEEP:
            return np.broadcast_to(values, (len(at), len(values)))
        half = _WIDEST_SWEEP // 4
        spread = evenly(len(values), _WIDEST_SWEEP // 2)
        places = np.searchsorted(values, at)[:, None] + np.arange(-half, half + 1)
        near = np.clip(places, 0, len(values) - 1)
        even = np.broadcast_to(spread, (len(at), len(spread)))
        return np.asarray(values[np.concatenate([near, even], axis=1)])
