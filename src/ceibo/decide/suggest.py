"""The heart: from what is known to what to measure next. Pure and deterministic.

    (observations, pending, failed), space, settings, start values, seed, trial number  ->
    Suggestion

Every door to ceibo goes through here. Nothing is remembered between calls: the model is factorized
afresh, and random numbers are keyed by (seed, trial number), so a suggestion can be computed again
from its record.

Values are minimised; a study that maximises flips the sign before and after.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, NamedTuple, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide.space import Params, Space
from ceibo.errors import InputError
from ceibo.gp import KERNELS, FitResult, GaussianProcess, Hyperparameters, fit_gp
from ceibo.gp.grid import evenly
from ceibo.gp.inputs import Array, Indices

# Chosen on a suite of noisy problems: docs/default.md has the figures, and what they leave
# undecided.
DEFAULT_ACQUISITION: Final = "noisy-ei"
DEFAULT_KERNEL: Final = "matern52"
_RIVALS: Final = ("matern52", "squared-exponential")  # of kernel "auto"
# Fences (see acquisition/guides.py), in length scales: wide around failures, and just enough around
# points that are being measured to keep a batch from collapsing into one point.
_FAILED_FENCE: Final = 0.1
_PENDING_FENCE: Final = 0.02
# How much more the chance of a failure counts with each failure in a row: a probe of where failures
# begin is worth a trial, but several in a row are not, and would end a run.
_CAUTION, _LARGEST_CAUTION = 4.0, 1e3
# of very many observations: hyperparameters need fewer than the mean does, and cost more
_FIT_ROWS: Final = 400
# in units of the largest value: beyond it an observation says nothing at all
_LARGEST_NOISE: Final = 2.0**200


@final
@dataclass(frozen=True)
class Settings:
    """How suggestions are made; stored with a study, as plain JSON. docs/default.md says why the
    defaults are these.

    Args:
        acquisition: a name from ceibo.acquisition.ACQUISITIONS; "corrected-ei" is the paper's.
        kernel: a name from ceibo.gp.KERNELS, or "auto": of Matérn 5/2 and the squared exponential
            the one that explains the observations better, chosen anew for every suggestion.
        fit: "map" or "ml".
        n_initial: size of the initial design, which counts existing data; twice the number of
            parameters, at least four, by default.
        max_observations: above this many, the model uses a subset: half of it the observations with
            the best posterior means, half spread evenly over the rest. Hyperparameters are then
            fitted to 400 of them.
    """

    acquisition: str = DEFAULT_ACQUISITION
    kernel: str = DEFAULT_KERNEL
    fit: str = "map"
    n_initial: int | None = None
    max_observations: int = 1000

    def __post_init__(self) -> None:
        acq.ACQUISITIONS.find(self.acquisition)
        if self.kernel != "auto":
            KERNELS.find(self.kernel, also=("auto",))
        if self.fit not in ("map", "ml"):
            raise InputError(f"fit must be one of map, ml, got {self.fit!r}.")
        if self.n_initial is not None and (type(self.n_initial) is not int or self.n_initial < 1):
            raise InputError(
                f"n_initial must be a whole number above zero, got {self.n_initial!r}."
            )
        if type(self.max_observations) is not int or self.max_observations < 10:
            raise InputError(
                "max_observations must be a whole number, at least 10, got"
                f" {self.max_observations!r}."
            )

    def initial_size(self, dimension: int) -> int:
        return self.n_initial if self.n_initial is not None else max(4, 2 * dimension)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Settings":
        return Settings(**data)


@final
@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known, in the unit cube: observations, points being measured, points where
    evaluations failed.

    Observations are in the order they were told; `noise` are standard deviations, NaN where
    unknown. The replicates of one measurement are rows of one `group`, counted from 0; `trials`
    counts all trials so far, whatever became of them, and `streak` those that have failed since one
    was last measured.
    """

    X: Array  # (n, d)
    y: Array  # (n,)
    noise: Array  # (n,)
    group: Indices  # (n,)
    pending: Array  # (p, d)
    failed: Array  # (q, d)
    trials: int
    streak: int = 0
    withdrawn: Array | None = None  # (w, d) will not be measured, for reasons of their own

    def __len__(self) -> int:
        return len(self.y)

    @property
    def measurements(self) -> int:
        """How many measurements there are, each with one replicate or more."""
        return int(self.group[-1]) + 1 if len(self) else 0

    def without_last(self) -> "Evidence":
        """As it was before the last measurement."""
        rest = slice(0, int(np.searchsorted(self.group, self.measurements - 1)))
        return replace(
            self, X=self.X[rest], y=self.y[rest], noise=self.noise[rest], group=self.group[rest]
        )


@final
@dataclass(frozen=True, eq=False)
class Model:
    """A fitted model of the evidence. Its process is in units of 2^exponent, so that no square
    over- or underflows.
    """

    gp: GaussianProcess
    fit: FitResult
    exponent: int
    observations: int  # how many there are
    used: int  # how many the model was conditioned on

    def natural(self, value: float) -> float:
        """From the process's units to those of the objective."""
        return float(np.ldexp(value, self.exponent))

    def conditioned(self, evidence: Evidence, limit: int) -> GaussianProcess:
        """The process with (the latest) pending points: the variance shrinks there, the
        mean stays.
        """
        pending = evidence.pending[-limit:]
        return self.gp.condition(pending) if len(pending) else self.gp


@final
@dataclass(frozen=True, eq=False)
class Suggestion:
    """What to measure next, and why.

    `source` is "initial" (a point of the initial design) or "model". For the latter: the
    acquisition's value there in the units of the objective, the incumbent's posterior mean and
    standard deviation as seen, the hyperparameters fitted and those the fit started from, how the
    fit ended, why a point was suggested that would usually be kept off (`fallback`), and how many
    of the observations the model used.
    """

    x: Array
    params: Params
    source: str
    acquisition: str | None = None
    value: float | None = None
    incumbent_mean: float | None = None
    incumbent_std: float | None = None
    start: Hyperparameters | None = None
    hyperparameters: Hyperparameters | None = None
    fit_status: str | None = None
    fallback: str | None = None
    observations: int = 0
    used: int = 0
    model: Model | None = field(default=None, repr=False)


def suggest(
    evidence: Evidence,
    space: Space,
    settings: Settings,
    start: Hyperparameters | None,
    seed: int,
    number: int,
) -> Suggestion:
    """The next point: from the initial design until that is complete, from the model afterwards.

    Args:
        evidence: what is known.
        space: of the parameters.
        settings: how to suggest.
        start: hyperparameters recorded with an earlier trial, for the fit to start from as well.
        seed: of the study.
        number: of the trial that the suggestion is for.
    """
    if evidence.trials < settings.initial_size(len(space)) or len(evidence) == 0:
        x = initial_point(len(space), seed, number)
        params = space.from_unit(x)
        return Suggestion(space.to_unit(params), params, "initial", observations=len(evidence))
    model = fit_model(evidence, space, settings, start)
    found = search(model, evidence, space, settings, _key(seed, number))
    params = space.from_unit(found.x)
    in_objective_units = acq.ACQUISITIONS[settings.acquisition].in_objective_units
    return Suggestion(
        x=space.to_unit(params),
        params=params,
        source="model",
        acquisition=settings.acquisition,
        value=model.natural(found.value) if in_objective_units else found.value,
        incumbent_mean=model.natural(found.incumbent.mean),
        incumbent_std=model.natural(found.incumbent.std),
        start=start,
        hyperparameters=model.fit.hyperparameters,
        fit_status=model.fit.status.name.lower(),
        fallback=found.fallback,
        observations=model.observations,
        used=model.used,
        model=model,
    )


class Found(NamedTuple):
    """Where the acquisition is largest, in the units of the model."""

    x: Array
    value: float
    incumbent: acq.Incumbent
    fallback: str | None


def search(model: Model, evidence: Evidence, space: Space, settings: Settings, seed: int) -> Found:
    """Maximises the acquisition over the space, off the points that are being measured or have
    failed, and off regions where measurements are likely to fail.

    In a space of finitely many points there may be no other point left: then those being measured
    may be suggested once more, and if all have failed, those too.
    """
    function = acq.build(
        settings.acquisition, model.conditioned(evidence, settings.max_observations), seed=seed
    )
    kernel = function.gp.kernel
    guides: list[acq.Guide] = []
    if (outcomes := outcome_model(evidence, space)) is not None:
        caution = min(_CAUTION**evidence.streak, _LARGEST_CAUTION)
        guides.append(acq.Chance(outcomes, caution=caution))
    if evidence.withdrawn is not None:  # a neighbour of such a point is not wanted next either
        guides.append(acq.Fence(evidence.withdrawn, kernel, _FAILED_FENCE))
    pending, failed, fallback = evidence.pending, evidence.failed, None
    while True:
        fences = (
            acq.Fence(pending, kernel, _PENDING_FENCE),
            acq.Fence(failed, kernel, _FAILED_FENCE),
        )
        x, value = acq.maximize(
            function, seed=seed, discrete=space.discrete, guides=(*guides, *fences)
        )
        fenced = np.concatenate([pending, failed])
        if len(space.discrete) < len(space) or not np.any(np.all(fenced == x, axis=1)):
            return Found(x, value, function.incumbent, fallback)
        if len(pending):
            pending, fallback = pending[:0], "every other point has failed or is being measured"
        else:
            failed, fallback = failed[:0], "every point has failed or is being measured"


def initial_point(dimension: int, seed: int, number: int) -> Array:
    """Point `number` of the Sobol sequence scrambled by `seed`, (d,)."""
    from scipy.stats import qmc  # slow to import, and not needed once a study has a model

    sobol = qmc.Sobol(dimension, scramble=True, rng=np.random.default_rng(_key(seed, 0)))
    return np.asarray(sobol.fast_forward(number).random(1)[0] if number else sobol.random(1)[0])


def fit_model(
    evidence: Evidence, space: Space, settings: Settings, start: Hyperparameters | None = None
) -> Model:
    """The model of all observations, or of the most telling ones if there are very many."""
    if len(evidence) == 0:
        raise InputError("a model needs at least one measurement.")
    # Divide by a power of two first: exact, and noise can then be squared whatever the objective's
    # units.
    exponent = int(np.frexp(np.max(np.abs(evidence.y)))[1])
    y = np.ldexp(evidence.y, -exponent)
    variance = np.minimum(np.ldexp(evidence.noise, -exponent), _LARGEST_NOISE) ** 2
    X, n = evidence.X, len(evidence)

    def fit(rows: Indices) -> FitResult:
        fits = [
            fit_gp(
                X[rows],
                y[rows],
                variance[rows],
                kernel=kernel,
                method=settings.fit,
                categorical=space.categorical,
                start=start,
            )
            for kernel in (_RIVALS if settings.kernel == "auto" else (settings.kernel,))
        ]
        return max(fits, key=lambda fitted: fitted.log_density)

    limit = settings.max_observations
    if n <= limit:
        whole = fit(np.arange(n))
        return Model(whole.gp, whole, exponent, n, n)
    first = fit(evenly(n, min(limit, _FIT_ROWS)))
    rows = _telling(first.gp, X, limit)
    gp = _reconditioned(first, X[rows], y[rows], variance[rows])
    return Model(gp, first, exponent, n, limit)


def outcome_model(evidence: Evidence, space: Space) -> GaussianProcess | None:
    """The process of outcomes, +1 where a measurement was made and −1 where it failed; None without
    a failure.
    """
    if len(evidence.failed) == 0:
        return None
    measured, failed = np.unique(evidence.X, axis=0), evidence.failed[-_FIT_ROWS:]
    measured = measured[evenly(len(measured), min(len(measured), _FIT_ROWS))]
    outcomes = np.repeat([1.0, -1.0], [len(measured), len(failed)])
    # Outcomes change abruptly, which a rough process follows best.
    return fit_gp(
        np.concatenate([measured, failed]),
        outcomes,
        kernel="matern12",
        categorical=space.categorical,
    ).gp


def _telling(gp: GaussianProcess, X: Array, count: int) -> Indices:
    """Rows of the half with the best posterior means, and of an even spread over the rest."""
    means = np.concatenate(
        [gp.posterior(part)[0] for part in np.array_split(X, len(X) // 2000 + 1)]
    )
    order = np.argsort(means, kind="stable")
    best, rest = order[: count // 2], np.sort(order[count // 2 :])
    return np.sort(np.concatenate([best, rest[evenly(len(rest), count - count // 2)]]))


def _reconditioned(fitted: FitResult, X: Array, y: Array, variance: Array) -> GaussianProcess:
    """The fitted process, conditioned on other rows of the same data."""
    inferred = np.nan if fitted.noise_variance is None else fitted.noise_variance
    noise = np.where(np.isnan(variance), inferred, variance)
    return GaussianProcess(X, y, noise, fitted.gp.kernel, fitted.gp.mean, fitted.gp.expected_noise)


def _key(seed: int, number: int) -> int:
    """One seed per (study seed, trial number)."""
    return int(
        np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0] >> np.uint64(1)
    )
