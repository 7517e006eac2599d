"""Choosing the hyperparameters: maximum a posteriori (default) or maximum likelihood.

The search runs on growing subsets of the data and ends on all of them: most steps are then taken
where they are cheap, and the result is a local maximum of the objective over all data. It is
deterministic. With priors one fresh start finds the highest maximum nearly always. The likelihood
alone has many, and is climbed from several starts (see ceibo.gp.restarts); `python -m
bench.restarts` measures how often the highest is missed.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike

from ceibo.checks import check_whole
from ceibo.errors import InputError, NotPositiveDefiniteError
from ceibo.gp.ascent import Ascent, Box, Rules, climb
from ceibo.gp.basis import Basis
from ceibo.gp.grid import evenly
from ceibo.gp.hyperparameters import Hyperparameters
from ceibo.gp.inputs import (
    Array,
    Indices,
    as_block_indices,
    as_columns,
    as_counts,
    as_mask,
    as_noise,
    as_points,
    as_values,
)
from ceibo.gp.kernels import KERNELS
from ceibo.gp.likelihood import Objective, Priors
from ceibo.gp.linalg import limited_blas
from ceibo.gp.observations import standardize
from ceibo.gp.posterior import GaussianProcess
from ceibo.gp.restarts import distinct, spread_starts, switched
from ceibo.gp.scatter import NoiseShape

# Ranges searched, in standard units. Wide enough to never matter with priors; without them they
# stop length scales of dimensions that do not matter from running away.
_LENGTHSCALE_RANGE: Final = (5e-3, 1e4)
_VARIANCE_RANGE: Final = (1e-6, 1e4)
_NOISE_RANGE: Final = (1e-8, 1e2)
_BLOCK_RANGE: Final = (1e-8, 1e2)
_SMALLEST_SUBSET, _SUBSET_GROWTH = 40, 3
# a search ends when another step promises less log density: on a subset, on all data
_ROUGH, _FINE = 3e-2, 1e-3
_STEPS: Final = 200
# Fresh starts by method, where nothing else is asked for.
RESTARTS: Final = {"map": 1, "ml": 16}
_SCREENED: Final = 8  # starts tried for each that is climbed from
# Of the maxima found on a subset, how many are climbed on with more data: one in so many starts.
# They are chosen by their density with more data, since a subset may mislead, and are never fewer.
_CARRIED, _FEWEST_CARRIED = 4, 3
_ROUNDS: Final = 3  # of switching dimensions, at most
_GAIN: Final = 0.01  # that another round must bring


class FitStatus(Enum):
    """How a fit ended."""

    CONVERGED = "the search converged"
    STOPPED = "the search stopped early at its best point so far"
    PREVIOUS = "the search failed; the start values given were used"
    DEFAULT = "the search failed; default values were used"


@final
@dataclass(frozen=True, eq=False)
class FitResult:
    """A fitted Gaussian process, in the units of y, and how it came about.

    `hyperparameters` are in standard units and serve as `start` of a later fit. `noise_variance` is
    the inferred noise variance of one measurement, in squared units of y, or None if all noise was
    known. `log_density` is what the search maximised, in standard units: the likelihood, with
    priors if there were any; −inf if it failed. `basis` is what was fitted.
    """

    gp: GaussianProcess
    log_likelihood: float
    log_density: float
    hyperparameters: Hyperparameters
    noise_variance: float | None
    status: FitStatus
    message: str
    evaluations: int
    basis: Basis = field(repr=False)


def fit_gp(  # noqa: PLR0913 - public, keyword-only
    X: ArrayLike,
    y: ArrayLike,
    noise_variance: ArrayLike | None = None,
    *,
    kernel: str = "matern52",
    method: str = "map",
    categorical: Sequence[int] = (),
    start: Hyperparameters | None = None,
    restarts: int | None = None,
    breadth: int | None = None,
    counts: ArrayLike | None = None,
    blocks: ArrayLike | None = None,
    discounted: ArrayLike | None = None,
    noise_shape: NoiseShape | None = None,
) -> FitResult:
    """Fits a Gaussian process to noisy observations in any units.

    Args:
        X: (n, d) points in the unit cube.
        y: (n,) values, in any units; centred and scaled inside.
        noise_variance: known noise variances, one number or (n,); NaN, or None for all, where the
            noise is unknown: one variance is then inferred for those observations. Repeated rows of
            X are replicates.
        kernel: a name in ceibo.gp.KERNELS: "matern12", "matern32", "matern52",
            "squared-exponential", or one that another package has registered.
        method: "map" (maximum a posteriori, default) or "ml" (maximum likelihood, as in the paper).
        categorical: columns of X compared by equality.
        start: hyperparameters of an earlier fit to start from as well.
        restarts: from how many fresh starts to search; 1 for "map" and 16 for "ml" by default. With
            0, from `start` alone and less finely: the fit of data that have hardly changed.
        breadth: how many columns a point has on average, where others do not exist at it; the
            priors of "map" are those of so many. All by default.
        counts: (n,) of how many values each y is the mean; 1 by default. Where it is more, the
            noise variance is the square of a standard error computed from those values: they are
            then replicates of unknown noise.
        blocks: (n, b), or (n,) for one kind, the index of the block (a day, a plate) of each kind
            that each observation is of, −1 for none. Observations of one block share an offset,
            whose variance is inferred for each kind of which there are two blocks or more.
        discounted: (n,) whether a value is not believed. Its noise_variance says how little it
            counts; it is left out of the scale of y and of the noise that is expected of the next.
        noise_shape: how unknown noise differs over the space (ceibo.gp.scatter); the variance that
            is inferred is then where that is 1. One level by default.

    Returns:
        FitResult, whose `gp` is in the units of y.

    Raises:
        InputError: for wrong shapes, values that are not finite, negative noise, or unknown names.
    """
    points = as_points(X)
    n, d = points.shape
    values = as_values(y, n)
    noise = as_noise(np.nan if noise_variance is None else noise_variance, n, unknown=True)
    columns = as_columns(categorical, d, "categorical")
    kernel_class = KERNELS.find(kernel)
    if method not in RESTARTS:
        raise InputError(f"method must be 'map' or 'ml', got {method!r}.")
    fewest = 1 if start is None else 0
    count = RESTARTS[method] if restarts is None else check_whole(restarts, "restarts", fewest)
    if start is not None and len(start.lengthscales) != d:
        raise InputError(
            f"start must have {d} lengthscales, one per column of X, got {len(start.lengthscales)}."
        )
    sizes = np.ones(n) if counts is None else as_counts(counts, n)
    believed = np.ones(n, dtype=bool) if discounted is None else ~as_mask(discounted, n)
    of = None if blocks is None else as_block_indices(blocks, n)
    data = standardize(points, values, noise, sizes, of, believed)
    if noise_shape is not None:
        data = data.shaped(noise_shape.relative(data.X))
    priors = None
    if method == "map":
        priors = Priors.default(d, data.infers_noise, breadth, len(data.varying))
    known = ~np.isnan(noise)
    # with the values behind standard errors
    raw_count = n + int(np.sum(sizes[known] - 1.0))
    usual = known & (sizes == 1) & believed
    if data.infers_noise:
        usual &= noise > 0.0  # one told as exact says nothing of the noise of the next
    expected = float(np.mean(noise[usual])) if np.any(usual) else None
    search = _Search(Basis(data, kernel_class, columns, priors, expected))
    with limited_blas(len(data.X)):
        theta, status, message = search.run(start, count)
        return _result(search, theta, (status, message), raw_count)


def search_bounds(dimension: int, infers_noise: bool, blocks: int = 0) -> Array:
    """The range of each θ that is searched, (len(θ), 2)."""
    ranges = [_LENGTHSCALE_RANGE] * dimension + [_VARIANCE_RANGE] + [_NOISE_RANGE] * infers_noise
    return np.asarray(np.log(np.array(ranges + [_BLOCK_RANGE] * blocks)))


@final
class _Search:
    """The search for θ, from fresh starts and from `start`."""

    def __init__(self, basis: Basis):
        self.basis, data = basis, basis.data
        self.data = data
        self.evaluations = 0
        self.log_density = -np.inf  # the objective at the values found
        self.bounds = search_bounds(data.X.shape[1], data.infers_noise, len(data.varying))

    def run(self, start: Hyperparameters | None, restarts: int) -> tuple[Array, FitStatus, str]:
        layout = self.data.infers_noise, self.data.varying
        subsets = self._subsets() if restarts else [np.arange(len(self.data.X))]
        self.tolerance = _FINE if restarts else _ROUGH  # on all data
        objective = self._objective(subsets[0])
        defaults = [default.to_theta(*layout) for default in self.defaults()]
        previous = [] if start is None else [np.clip(start.to_theta(*layout), *self.bounds.T)]
        starts = previous
        if restarts:
            starts = [max(defaults, key=lambda theta: objective(theta)[0]), *previous]
        if restarts <= 1:
            ends = [self._climb(objective, theta[None, :], None) for theta in starts]
            best = max(ends, key=lambda end: float(end.values[0]))
        else:
            best = self._explore(objective, starts, restarts)
        self.evaluations += objective.evaluations
        for smaller, rows in itertools.pairwise(subsets):
            objective = self._objective(rows)
            if restarts > 1:
                densities = np.array([objective.value(theta) for theta in best.x])
                order = np.argsort(-densities, kind="stable")
                best = _chosen(best, order[: max(_FEWEST_CARRIED, restarts // _CARRIED)])
            # Curvature grows with the data, by a factor between 1 and their ratio: take its root.
            best = self._climb(objective, best.x, best.H * np.sqrt(len(smaller) / len(rows)))
            self.evaluations += objective.evaluations
        top = int(np.argmax(best.values))
        if not np.isfinite(best.values[top]):
            status = FitStatus.PREVIOUS if previous else FitStatus.DEFAULT
            return [*previous, *defaults][0], status, status.value
        status = FitStatus.CONVERGED if best.ended[top] else FitStatus.STOPPED
        self.log_density = float(best.values[top])
        return best.x[top], status, status.value

    def _explore(self, objective: Objective, starts: list[Array], restarts: int) -> Ascent:
        """The highest distinct maxima found from the starts given and from fresh ones."""
        d = self.data.X.shape[1]
        infers, blocks = self.data.infers_noise, len(self.data.varying)
        spread = spread_starts(_SCREENED * restarts, d, infers, blocks)
        order = np.argsort([-objective.value(theta) for theta in spread], kind="stable")
        ends = self._climb(objective, np.array([*starts, *spread[order[: restarts - 1]]]), None)
        for _ in range(_ROUNDS):
            highest = float(ends.values.max())
            near = switched(ends.x[int(np.argmax(ends.values))], d)
            ends = _joined(ends, self._climb(objective, near, None))
            if not ends.values.max() > highest + _GAIN:
                break
        # The starts themselves too: an earlier fit may be right with all data, and not on a subset.
        values = np.array([objective.value(theta) for theta in starts])
        ended = np.zeros(len(starts), dtype=bool)
        ends = _joined(ends, Ascent(np.array(starts), values, ends.H[: len(starts)], ended))
        return _chosen(ends, distinct(ends.values))

    def defaults(self) -> list[Hyperparameters]:
        """Fresh starts: smooth and wiggly, with little noise and with much; the same for blocks."""
        d = self.data.X.shape[1]
        noises = (0.03, 0.4) if self.data.infers_noise else (np.nan,)
        return [
            Hyperparameters(np.full(d, lengthscale * np.sqrt(d)), 1.0, noise)
            for lengthscale in (0.5, 0.2, 1.5)
            for noise in noises
        ]

    def _subsets(self) -> list[Indices]:
        """Rows of growing subsets, spread evenly over the order of measurement; all rows last."""
        n = len(self.data.X)
        sizes = [n]
        while sizes[-1] >= _SUBSET_GROWTH * _SMALLEST_SUBSET:
            sizes.append(sizes[-1] // _SUBSET_GROWTH)
        return [evenly(n, size) for size in reversed(sizes)]

    def _objective(self, rows: Indices) -> Objective:
        if len(rows) == len(self.data.X):
            return self.basis.objective()
        return replace(self.basis, data=self.data.rows(rows)).objective()

    def _climb(self, objective: Objective, thetas: Array, H: Array | None) -> Ascent:
        box = Box(self.bounds[:, 0], self.bounds[:, 1], np.ones(thetas.shape[1]))
        tolerance = self.tolerance if len(objective.data.X) == len(self.data.X) else _ROUGH
        rules = Rules(_STEPS, tolerance, first_step=0.7, longest_step=2.0)
        return climb(objective.at_each, thetas, box, rules, H)


def _joined(first: Ascent, second: Ascent) -> Ascent:
    """The ends of two climbs."""
    pairs = [(getattr(first, each.name), getattr(second, each.name)) for each in fields(Ascent)]
    return Ascent(*(np.concatenate(pair) for pair in pairs))


def _chosen(ends: Ascent, rows: Indices) -> Ascent:
    """Some of the ends, or all where there are none to choose."""
    if len(rows) == 0:
        return ends
    return Ascent(*(getattr(ends, each.name)[rows] for each in fields(Ascent)))


def _result(
    search: _Search, theta: Array, ending: tuple[FitStatus, str], raw_count: int
) -> FitResult:
    """The fitted process in the units of y, or that of the defaults if the fit cannot be used."""
    basis, data = search.basis, search.data
    status, message = ending
    try:
        hyperparameters = basis.hyperparameters(theta)
        gp = basis.process(hyperparameters)
    except (NotPositiveDefiniteError, InputError) as error:
        status, message = FitStatus.DEFAULT, f"{FitStatus.DEFAULT.value} ({error})"
        hyperparameters = search.defaults()[0]
        gp = basis.process(hyperparameters)
    likelihood = (
        gp.log_likelihood + data.log_factor - (raw_count - len(data.X)) * float(np.log(data.scale))
    )
    inferred = None
    if data.infers_noise:
        likelihood += data.replicate_term(float(np.log(hyperparameters.noise)))[0]
        inferred = hyperparameters.noise * data.scale**2
    return FitResult(
        gp,
        likelihood,
        search.log_density,
        hyperparameters,
        inferred,
        status,
        message,
        search.evaluations,
        basis,
    )
