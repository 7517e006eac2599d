"""What to measure next. Pure and deterministic.

    evidence, space, settings, start values, seed, trial number  ->  Suggestion

Every door to ceibo goes through here. Nothing is remembered between calls: the model is factorised
afresh, and random numbers are keyed by (seed, trial number), so a suggestion can be computed again
from its record.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide.evidence import Evidence
from ceibo.decide.holding import Held, hold
from ceibo.decide.model import Model, failure_model, fit_model
from ceibo.decide.region import maximize_in, region_in, settle
from ceibo.decide.settings import Settings
from ceibo.decide.space import Params, Space, check_searchable
from ceibo.gp import Hyperparameters, Kernel
from ceibo.gp.inputs import Array

# Fences (see acquisition/guides.py), in length scales: wide around failures, and just enough around
# points that are being measured to keep a batch from collapsing into one point.
_FAILED_FENCE: Final = 0.1
_PENDING_FENCE: Final = 0.02
# Of more points than this only the latest are fenced, each once. It is above the number of points
# of any space that is searched exhaustively.
_MOST_FENCED: Final = 4096
# What a trial is for that goes into the answer instead of the search, as recorded with it.
CONFIRM: Final = "confirm"
# How much more the chance of a failure counts with each failure in a row: a probe of where failures
# begin is worth a trial, but several in a row are not, and would end a run.
_CAUTION, _LARGEST_CAUTION = 4.0, 1e3


@final
@dataclass(frozen=True, eq=False)
class Suggestion:
    """What to measure next, and why.

    `source` is "initial" (a point of the initial design) or "model". For the latter: its
    `purpose`, which is "confirm" or None, the search; the
    acquisition's value there in the units of the objective, the incumbent's posterior mean and
    standard deviation in the user's units and direction, the hyperparameters fitted and those the
    fit started from, how the fit ended, why a point was suggested that is usually avoided
    (`fallback`), how many of the observations the model used, and how many values to take
    (`repeats`), in a study in which precision has a price.
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
    purpose: str | None = None
    repeats: int | None = None
    model: Model | None = field(default=None, repr=False)


def suggest(  # noqa: PLR0913 - six, and options that are mostly left out
    evidence: Evidence,
    space: Space,
    settings: Settings,
    start: Hyperparameters | None,
    seed: int,
    number: int,
    *,
    fixed: Mapping[str, object] | None = None,
    confirm: bool = False,
) -> Suggestion:
    """The next point: from the initial design until that is complete, from the model afterwards.

    Args:
        evidence: what is known.
        space: of the parameters.
        settings: how to suggest.
        start: hyperparameters recorded with an earlier trial, for the fit to start from as well.
        seed: of the study.
        number: of the trial that the suggestion is for.
        fixed: name -> value of the parameters that are not to be searched.
        confirm: choose what tells most about the answer, by the knowledge gradient, rather than
            what may be better; measured settings may come again, and one measurement is enough.
    """
    check_searchable(space)
    held = hold(space, fixed)
    settings = confirming(settings) if confirm else settings
    wanted = 1 if confirm else settings.initial_size(space.breadth)
    if evidence.trials < wanted or len(evidence) == 0:
        params = initial_params(held, seed, number)
        return Suggestion(space.to_unit(params), params, "initial", observations=len(evidence))
    model = fit_model(evidence, space, settings, start)
    found = search(model, evidence, held, settings, seed_of(seed, number), confirm)
    params = settle(held, found.x)
    x = space.to_unit(params)
    in_objective_units = acq.ACQUISITIONS[settings.acquisition].in_objective_units
    return Suggestion(
        x=x,
        params=params,
        source="model",
        acquisition=settings.acquisition,
        value=model.natural(found.value) if in_objective_units else found.value,
        incumbent_mean=evidence.direction.flip(model.natural(found.incumbent.mean)),
        incumbent_std=model.natural(found.incumbent.std),
        start=start,
        hyperparameters=model.fit.hyperparameters,
        fit_status=model.fit.status.name.lower(),
        fallback=found.fallback,
        observations=model.observations,
        used=model.used,
        purpose=CONFIRM if confirm else None,
        repeats=_repeats(model, evidence, settings, x),
        model=model,
    )


def confirming(settings: Settings) -> Settings:
    """The settings by which a trial is chosen that goes into the answer."""
    return replace(settings, acquisition="knowledge-gradient", draws=None)


def _repeats(model: Model, evidence: Evidence, settings: Settings, x: Array) -> int | None:
    """How many values to take at x (d,); None where precision has no price."""
    price = settings.precision
    if price is None:
        return None
    gp = model.conditioned(evidence, settings.max_observations)
    gp = model.expecting_at(gp, x)
    return price.repeats(acq.log_gains_of_repeats(gp, x, price.most))


@final
class Found(NamedTuple):
    """Where the acquisition is largest, in the units of the model."""

    x: Array
    value: float
    incumbent: acq.Incumbent
    fallback: str | None


def search(
    model: Model,
    evidence: Evidence,
    held: Held,
    settings: Settings,
    seed: int,
    repeats: bool = False,
) -> Found:
    """Maximises the acquisition over the space, off points under way and likely to fail."""
    gp = model.conditioned(evidence, settings.max_observations)
    function = acq.build(settings.acquisition, gp, seed=seed, draws=settings.draws)
    x, value, fallback = explore(function, evidence, held, settings, seed, repeats)
    return Found(x, value, function.incumbent, fallback)


def explore(
    function: acq.Surface[Any],
    evidence: Evidence,
    held: Held,
    settings: Settings,
    seed: int,
    repeats: bool = False,
) -> tuple[Array, float, str | None]:
    """Where a surface is largest over the space, its value there, and a note on a fallback.

    The search keeps off points that are being measured or have failed, and off regions where
    measurements are likely to fail. In a space of finitely many points there may be no other point
    left: then those being measured may be suggested once more, and if all have failed, those too.

    With `repeats` it keeps off neither points that are being measured nor those that were measured.
    """
    kernel = function.kernel
    guides: list[acq.Guide] = []
    if (outcomes := failure_model(evidence, held.space, settings.max_observations)) is not None:
        caution = min(_CAUTION**evidence.failures_in_a_row, _LARGEST_CAUTION)
        guides.append(acq.Chance(outcomes, caution=caution))
    withdrawn, pending, failed = evidence.withdrawn, evidence.pending, evidence.failed
    if repeats:
        pending = pending[:0]
        withdrawn, failed = (_without(each, evidence.X) for each in (withdrawn, failed))
    # What speaks against a withdrawn point is likely to speak against its neighbours.
    guides += _fences(_latest(withdrawn), kernel, _FAILED_FENCE)
    pending, failed = _latest(pending), _latest(failed)
    fallback = None
    while True:
        fences = _fences(pending, kernel, _PENDING_FENCE) + _fences(failed, kernel, _FAILED_FENCE)
        x, value = maximize_in(held, function, seed, (*guides, *fences))
        fenced = np.concatenate([pending, failed])
        if not held.is_finite or not np.any(np.all(fenced == x, axis=1)):
            return x, value, fallback
        if len(pending):
            fallback = "every other point has failed or is being measured"
            pending = pending[:0]
        else:
            fallback = "every point has failed or is being measured"
            failed = failed[:0]


def _without(points: Array, measured: Array) -> Array:
    """The points that were not measured."""
    known = set(map(bytes, measured))
    return points[[bytes(point) not in known for point in points]]


def _latest(points: Array) -> Array:
    """The points, or of very many the latest, in order and without repeats."""
    if len(points) <= _MOST_FENCED:
        return points
    latest = np.unique(points[::-1], axis=0, return_index=True)[1]
    return points[::-1][np.sort(latest)[:_MOST_FENCED]][::-1]


def _fences(points: Array, kernel: Kernel, share: float) -> list[acq.Guide]:
    return [acq.Fence(points, kernel, share)] if len(points) else []


def initial_params(held: Held, seed: int, number: int) -> Params:
    """The setting of the initial design for trial `number`."""
    region = region_in(held)
    if region is not None:
        return settle(held, region.design.point(number, seed_of(seed, 0)))
    shares = initial_point(len(held.space), seed, number).tolist()
    columns = zip(held.space.dimensions.values(), shares, strict=True)
    return held.params(np.array([dimension.at_share(share) for dimension, share in columns]))


def initial_point(dimension: int, seed: int, number: int) -> Array:
    """Point `number` of the Sobol sequence scrambled by `seed`, (d,)."""
    # slow to import, and not needed once a study has a model
    from scipy.stats import qmc

    sobol = qmc.Sobol(dimension, scramble=True, rng=np.random.default_rng(seed_of(seed, 0)))
    return np.asarray(sobol.fast_forward(number).random(1)[0] if number else sobol.random(1)[0])


def seed_of(seed: int, number: int) -> int:
    """The seed of a search: one per (study seed, trial number)."""
    state = np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))
