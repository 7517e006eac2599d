"""What a report of several outcomes shows, gathered from a study once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from ceibo.decide import Direction, Estimate, JointBelief, Observed, Outcomes, Suspect
from ceibo.decide.joint import joint_improvement, raw_front
from ceibo.decide.outcome_words import with_unit
from ceibo.decide.outcomes import Outcome
from ceibo.decide.surface.existence import columns_at, pair_of
from ceibo.decide.surface.grids import along, axis_of, excluded, over
from ceibo.decide.surface.joint_standings import joint_standings_of, some_counts
from ceibo.decide.surface.ruled import holding
from ceibo.decide.surface.sensitivity import Importance, filled, importance
from ceibo.decide.surface.standings import Sources, Standing
from ceibo.errors import NoMeasurementError
from ceibo.gp.inputs import Array
from ceibo.report.facts import Aspect, Facts, Findings, Map, Slice, failed_places, with_rules
from ceibo.report.gains import gains_of
from ceibo.report.simplex import Simplex, simplex_of
from ceibo.report.ternary import Ternary, ternary_of
from ceibo.study import Study, Trial
from ceibo.study.drawn import chosen_of, place_of, places_of

_MOST_SLICES: Final = 24  # parameters with a picture, for each goal and limit


@final
@dataclass(frozen=True, eq=False)
class OutcomeFacts:
    """What is shown of one outcome; nothing follows before every goal and limit is measured."""

    outcome: Outcome
    aspect: Aspect
    standings: tuple[Standing, ...] = ()
    importance: Importance | None = None
    slices: tuple[Slice, ...] = ()
    map: Map | None = None
    ternary: Ternary | None = None  # of a goal, with a mixture


@final
@dataclass(frozen=True, eq=False)
class JointFindings:
    """What follows from the measurements."""

    belief: JointBelief
    chosen: Estimate  # the best setting, or the surest of the front: slices go through it
    best: Estimate | None  # with one goal, as the next two
    recommended: Estimate | None
    observed: Observed | None
    front: tuple[Estimate, ...]  # with several goals, as the next
    raw_front: tuple[int, ...]
    chance: Map | None = None  # of every limit; None without limits and with one parameter
    goal: Facts | None = None  # the facts of a single goal, for the panel of the stopping rule
    ternary: Ternary | None = None  # of the chance, with a mixture


@final
@dataclass(frozen=True, eq=False)
class JointFacts:
    """Everything a report needs; there are findings once every goal and limit is measured."""

    study: Study
    outcomes: Outcomes
    confidence: float
    initial: int
    cost: float | None
    trials: tuple[Trial, ...]
    sources: Sources
    each: Mapping[str, OutcomeFacts]
    findings: JointFindings | None
    suspects: tuple[Suspect, ...] = ()  # values that look wrong

    @property
    def needed(self) -> dict[str, OutcomeFacts]:
        """Goals and limits."""
        return {name: self.each[name] for name in self.outcomes.needed}

    @property
    def missing(self) -> list[str]:
        """The goals and limits of which there is no measurement."""
        return [name for name, each in self.needed.items() if not each.aspect.measured]


def gather_jointly(study: Study, cost: float | None) -> JointFacts:
    """The facts of a study with outcomes as it is now."""
    outcomes = study.outcomes
    assert outcomes is not None
    trials, sources = study.trials, study.suggestions
    belief = study.ledger.any_belief()
    assert isinstance(belief, JointBelief)
    chosen, holding = _chosen(study), tuple(belief.evidence.holding)
    each = {
        name: OutcomeFacts(
            outcome, replace(aspect_of(study, trials, name, chosen), holding=holding)
        )
        for name, outcome in outcomes.items()
    }
    facts = JointFacts(
        study=study,
        outcomes=outcomes,
        confidence=belief.settings.assurance,
        initial=study.settings.initial_size(study.space.breadth),
        cost=cost if len(outcomes.goals) == 1 else None,
        trials=trials,
        sources=sources,
        each=each,
        findings=None,
        suspects=study.suspects,
    )
    return facts if chosen is None else _with_findings(facts, belief, chosen)


def _chosen(study: Study) -> Estimate | None:
    """The setting that slices and maps go through; None before there is an answer."""
    try:
        return chosen_of(study)
    except NoMeasurementError:
        return None


def aspect_of(
    study: Study, trials: tuple[Trial, ...], name: str, chosen: Estimate | None
) -> Aspect:
    """One outcome as it is drawn."""
    assert study.outcomes is not None
    outcome, space = study.outcomes[name], study.space
    alone = tuple(replace(trial, measurements=trial.outcomes.get(name, ())) for trial in trials)
    measured = tuple(trial for trial in alone if trial.measurements)
    return Aspect(
        name=with_unit(name, f"({outcome.unit})" if outcome.unit else ""),
        direction=outcome.direction,
        trials=alone,
        measured=measured,
        places=places_of(study, measured),
        best_place=np.full(len(space), 0.5) if chosen is None else place_of(study, chosen.params),
        answers=() if chosen is None else (chosen.number,),
        limit=outcome.bound,
        is_goal=outcome.is_goal,
        failed=failed_places(study, trials),
    )


def _with_findings(facts: JointFacts, belief: JointBelief, chosen: Estimate) -> JointFacts:
    """The facts with what follows from the measurements."""
    study, space, outcomes = facts.study, facts.study.space, facts.outcomes
    one = len(outcomes.goals) == 1
    place = study.ledger.frame.place(chosen.params)
    standings = joint_standings_of(belief, facts.sources) if one else {}
    shares = {
        name: importance(belief.predictions.model_of(name).gp, space)
        for name in belief.predictions.names
    }
    total = sum(shares[name].total for name in outcomes.needed)
    order = [int(column) for column in np.argsort(-np.asarray(total), kind="stable")]
    columns = columns_at(space, place, order)
    pair = pair_of(space, columns)
    place = filled(space, place, belief.predictions.model_of(outcomes.goals[0]).gp)
    simplex = simplex_of(space, place, columns)
    paths = {k: along(space, place, k) for k in columns[:_MOST_SLICES]}
    each = {}
    for name, known in facts.each.items():
        if name not in shares:
            each[name] = known
            continue
        goal = known.outcome.is_goal
        each[name] = replace(
            known,
            standings=standings.get(name, ()),
            importance=shares[name],
            slices=tuple(_slice(belief, X, name, k) for k, X in paths.items()),
            map=None if pair is None or not goal else _map(belief, place, name, pair),
            ternary=_ternary(belief, place, simplex, name) if goal else None,
        )
    chance = None
    if outcomes.limits and pair is not None:
        chance = _map(belief, place, None, pair)
    findings = JointFindings(
        belief=belief,
        chosen=chosen,
        best=chosen if one else None,
        recommended=study.recommended if one else None,
        observed=study.best_observed if one else None,
        front=() if one else study.front,
        raw_front=() if one else raw_front(belief.evidence),
        chance=chance,
        ternary=_ternary(belief, place, simplex, None) if outcomes.limits else None,
    )
    facts = replace(facts, each=each, findings=findings)
    if one:
        facts = replace(facts, findings=replace(findings, goal=_goal(facts, findings)))
    return facts


def _slice(belief: JointBelief, X: Array, name: str, column: int) -> Slice:
    """An outcome along one parameter; of a goal also the chance that limits hold, or the gain."""
    mean, std = belief.predictions.at_points(X, name)
    places, parameter, dimension = axis_of(belief.space, X, column)
    outcome, outcomes = belief.evidence.outcomes[name], belief.evidence.outcomes
    found = Slice(column, parameter, dimension, places, mean, std, possible=outcome.possible)
    found = with_rules(found, belief.space, X)
    if not outcome.is_goal:
        return found
    if outcomes.limits:
        return replace(found, chance=belief.predictions.feasibility(X))
    return replace(found, gain=joint_improvement(belief, X)) if len(outcomes.goals) == 1 else found


def _map(belief: JointBelief, place: Array, name: str | None, pair: tuple[int, int]) -> Map:
    """An outcome over the two most important parameters; without a name, the chance alone."""
    space = belief.space
    X, shape = over(space, place, pair)
    chance = None
    if belief.evidence.outcomes.limits:
        chance = belief.predictions.feasibility(X).reshape(shape)
    if name is None:
        assert chance is not None
        mean = chance
    else:
        mean = belief.predictions.at_points(X, name)[0].reshape(shape)
    held = holding(space, X)
    return Map(
        columns=pair,
        names=(space.names[pair[0]], space.names[pair[1]]),
        mean=mean,
        chance=chance,
        confidence=belief.settings.assurance,
        held=None if held is None else held.reshape(shape),
        excluded=excluded(space, place, pair),
    )


def _ternary(
    belief: JointBelief, place: Array, simplex: Simplex | None, name: str | None
) -> Ternary | None:
    """An outcome over three parts of a mixture; without a name, the chance alone."""
    if simplex is None:
        return None
    predictions, limits = belief.predictions, belief.evidence.outcomes.limits
    chance = (predictions.feasibility, belief.settings.assurance) if limits else None
    if name is None:
        return ternary_of(simplex, belief.space.names, place, predictions.feasibility, chance)
    return ternary_of(
        simplex, belief.space.names, place, lambda X: predictions.at_points(X, name)[0], chance
    )


def _goal(facts: JointFacts, findings: JointFindings) -> Facts:
    """The single goal as if it were the objective of a study without limits."""
    (name,) = facts.outcomes.goals
    known = facts.each[name]
    belief, aspect = findings.belief, known.aspect
    assert findings.best is not None
    assert findings.recommended is not None
    assert findings.observed is not None
    assert known.importance is not None
    cost = facts.cost
    return Facts(
        study=facts.study,
        direction=Direction(known.outcome.direction),
        initial=facts.initial,
        cost=cost,
        trials=aspect.trials,
        measured=aspect.measured,
        sources=facts.sources,
        findings=Findings(
            best=findings.best,
            recommended=findings.recommended,
            observed=findings.observed,
            standings=known.standings,
            gains=gains_of(
                belief,
                facts.sources,
                lambda least: [k for k in reversed(some_counts(belief)) if k >= least],
            ),
            verdict=None if cost is None else facts.study.should_stop(cost),
            importance=known.importance,
            slices=known.slices,
            map=known.map,
            best_place=aspect.best_place,
            places=aspect.places,
        ),
    )
