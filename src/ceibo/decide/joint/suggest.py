"""What to measure next when there are several outcomes. Pure and deterministic, as suggest.py.

A measurement is of all outcomes at once, so that there is one point to choose. With one goal the
acquisition is the study's own under limits, with two or three it is the noisy expected hypervolume
improvement.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide.evidence import Evidence
from ceibo.decide.holding import Held, hold
from ceibo.decide.joint.evidence import JointEvidence
from ceibo.decide.joint.model import JointModel, fit_jointly
from ceibo.decide.region import settle
from ceibo.decide.settings import Settings
from ceibo.decide.space import Params, Space, check_searchable
from ceibo.decide.suggest import CONFIRM, confirming, explore, initial_params, seed_of
from ceibo.gp import Hyperparameters
from ceibo.gp.inputs import Array

_LARGEST: Final = float(np.finfo(np.float64).max)


@final
@dataclass(frozen=True, eq=False)
class JointSuggestion:
    """What to measure next, and why.

    `source` is "initial" or "model". For the latter: the acquisition's value there, in the units of
    the goal (of several goals, in the product of their units), the incumbent under limits if there
    is one goal and a setting of which everything is measured, and for each goal and limit the
    hyperparameters that its fit started from, and its model.
    """

    x: Array
    params: Params
    source: str
    observations: Mapping[str, int]
    acquisition: str | None = None
    value: float | None = None
    incumbent: Mapping[str, float] | None = None
    starts: Mapping[str, Hyperparameters] = field(default_factory=dict)
    fallback: str | None = None
    purpose: str | None = None
    repeats: int | None = None
    model: JointModel | None = field(default=None, repr=False)

    @property
    def hyperparameters(self) -> dict[str, Hyperparameters]:
        """Name -> the hyperparameters fitted; none for a point of the initial design."""
        each = {} if self.model is None else self.model.each
        return {name: model.fit.hyperparameters for name, model in each.items()}


def suggest_jointly(  # noqa: PLR0913 - six, and options that are mostly left out
    evidence: JointEvidence,
    space: Space,
    settings: Settings,
    starts: Mapping[str, Hyperparameters],
    seed: int,
    number: int,
    *,
    fixed: Mapping[str, object] | None = None,
    confirm: bool = False,
) -> JointSuggestion:
    """The next point: from the initial design until that is complete, from the models afterwards.

    Args:
        evidence: what is known of every outcome.
        space: of the parameters.
        settings: how to suggest.
        starts: name -> hyperparameters recorded with an earlier trial, for its fit to start from.
        seed: of the study.
        number: of the trial that the suggestion is for.
        fixed: name -> value of the parameters that are not to be searched.
        confirm: choose what tells most about the answer, as in `suggest`; of one goal.
    """
    check_searchable(space)
    held = hold(space, fixed)
    settings = confirming(settings) if confirm else settings
    wanted = 1 if confirm else settings.initial_size(space.breadth)
    counts = {name: len(each) for name, each in evidence.each.items()}
    if evidence.trials < wanted or not evidence.is_sufficient:
        params = initial_params(held, seed, number)
        return JointSuggestion(space.to_unit(params), params, "initial", counts)
    model = fit_jointly(evidence, space, settings, starts)
    found = search_jointly(model, evidence, held, settings, seed_of(seed, number), confirm)
    params = settle(held, found.x)
    x = space.to_unit(params)
    used = {name: starts[name] for name in evidence.outcomes.needed if name in starts}
    return JointSuggestion(
        x=x,
        params=params,
        source="model",
        observations=counts,
        acquisition=settings.acquisition,
        value=_natural(found.value, model, settings),
        incumbent=_incumbent(model, evidence, settings),
        starts=used,
        fallback=found.fallback,
        purpose=CONFIRM if confirm else None,
        repeats=_repeats(model, evidence, settings, x),
        model=model,
    )


def _repeats(
    model: JointModel, evidence: JointEvidence, settings: Settings, x: Array
) -> int | None:
    """How many values of everything to take at x (d,), by what they teach about the one goal."""
    price = settings.precision
    if price is None:
        return None
    goals, limits = model.conditioned(evidence, settings.max_observations)
    goal = model.goal.expecting_at(goals[0], x)
    gains = acq.log_gains_of_repeats(goal, x, price.most, limits, settings.assurance)
    return price.repeats(gains)


@final
class Found(NamedTuple):
    """Where the acquisition is largest, in the units of the models."""

    x: Array
    value: float
    fallback: str | None


def search_jointly(
    model: JointModel,
    evidence: JointEvidence,
    held: Held,
    settings: Settings,
    seed: int,
    repeats: bool = False,
) -> Found:
    """Maximises the acquisition over the space, off points under way and likely to fail."""
    goals, limits = model.conditioned(evidence, settings.max_observations)
    function: acq.Surface[Any] = acq.build_joint(
        settings.acquisition,
        goals,
        limits,
        confidence=settings.assurance,
        seed=seed,
        draws=settings.draws,
    )
    return Found(*explore(function, combined(evidence), held, settings, seed, repeats))


def combined(evidence: JointEvidence) -> Evidence:
    """The evidence of the first goal, with all trials under way as pending."""
    return replace(
        evidence.goal, pending=evidence.under_way, failures_in_a_row=evidence.failures_in_a_row
    )


def _natural(value: float, model: JointModel, settings: Settings) -> float:
    """A value of the acquisition in the units of the goal, or in their product."""
    if not acq.ACQUISITIONS[settings.acquisition].in_objective_units:
        return value
    exponent = sum(model.each[name].exponent for name in model.outcomes.goals)
    with np.errstate(over="ignore"):
        return float(np.clip(np.ldexp(value, exponent), -_LARGEST, _LARGEST))


def _incumbent(
    model: JointModel, evidence: JointEvidence, settings: Settings
) -> dict[str, float] | None:
    """Mean, standard deviation and chance of the incumbent, in the user's units and direction."""
    if len(model.outcomes.goals) > 1:
        return None
    found = acq.find_feasible_incumbent(model.goal.gp, model.limits, settings.assurance)
    if found is None:
        return None
    mean = evidence.goal.direction.flip(model.goal.natural(found.mean))
    return {"mean": mean, "std": model.goal.natural(found.std), "p_feasible": found.chance}
