"""The answer, the front and the trials, as the report shows them, from a state of the study."""

from dataclasses import replace

import numpy as np

from ceibo.decide import Belief, Direction, Estimate, JointBelief
from ceibo.decide.joint import raw_front
from ceibo.errors import NoMeasurementError
from ceibo.report.facts import Facts, Findings
from ceibo.report.joint.answer import answer as joint_answer
from ceibo.report.joint.blocks import blocks as joint_blocks
from ceibo.report.joint.facts import JointFacts, JointFindings, OutcomeFacts, aspect_of
from ceibo.report.joint.front import front
from ceibo.report.joint.trials import trials as joint_trials
from ceibo.report.panels.answer import answer
from ceibo.report.panels.blocks import blocks
from ceibo.report.panels.trials import trials
from ceibo.study import Study, Trial
from ceibo.web.session import Session, State


def answer_part(session: Session, state: State, study: Study) -> str:
    """The panels of the answer, of the front, and of blocks if there are any."""
    if session.outcomes is None:
        facts = _facts(session, state, study, search=True)
        return answer(facts) + session.reading.use(lambda _: blocks(facts))
    joint = _joint_facts(session, state, study, search=True)
    return joint_answer(joint) + front(joint) + session.reading.use(lambda _: joint_blocks(joint))


def trials_part(session: Session, state: State, study: Study) -> str:
    """The table of the trials."""
    if session.outcomes is None:
        return trials(_facts(session, state, study, search=False))
    return joint_trials(_joint_facts(session, state, study, search=False))


def _facts(session: Session, state: State, study: Study, *, search: bool) -> Facts:
    """What panels need of a study of one objective; what is searched for only if it is wanted."""
    belief = state.belief
    assert belief is None or isinstance(belief, Belief)
    return Facts(
        study=study,
        direction=Direction(session.direction),
        initial=session.settings.initial_size(study.space.breadth),
        cost=None,
        trials=state.trials,
        measured=tuple(trial for trial in state.trials if trial.measurements),
        sources=study.suggestions,
        findings=None if belief is None else _findings(session, belief, state.trials, search),
        suspects=() if belief is None else belief.suspects,
    )


def _findings(
    session: Session, belief: Belief, all_trials: tuple[Trial, ...], search: bool
) -> Findings:
    best = _as_recorded(belief.best, all_trials)
    with session.searching:
        advice = belief.recommended if search else best
        remaining = belief.remaining if search else 0.0
    raw = belief.best_observed
    return Findings(
        best=best,
        recommended=advice,
        observed=replace(raw, params=dict(all_trials[raw.number].params)),
        gains=((belief.evidence.trials, remaining),),
        blocks=belief.blocks,
    )


def _joint_facts(session: Session, state: State, study: Study, *, search: bool) -> JointFacts:
    """The same of a study with outcomes."""
    outcomes, belief = session.outcomes, state.belief
    assert outcomes is not None
    assert belief is None or isinstance(belief, JointBelief)
    chosen = None if belief is None else _chosen(belief, state.trials)
    each = {
        name: OutcomeFacts(outcome, aspect_of(study, state.trials, name, chosen))
        for name, outcome in outcomes.items()
    }
    findings = None
    if belief is not None and chosen is not None:
        findings = _joint_findings(session, belief, chosen, state.trials, search)
    return JointFacts(
        study=study,
        outcomes=outcomes,
        confidence=session.settings.assurance,
        initial=session.settings.initial_size(study.space.breadth),
        cost=None,
        trials=state.trials,
        sources=study.suggestions,
        each=each,
        findings=findings,
        suspects=() if belief is None else belief.suspects,
    )


def _chosen(belief: JointBelief, all_trials: tuple[Trial, ...]) -> Estimate | None:
    """The best setting, or the surest of the front; None before there is an answer."""
    try:
        if len(belief.evidence.outcomes.goals) == 1:
            return _as_recorded(belief.best, all_trials)
        return max(belief.front, key=lambda found: np.nan_to_num(found.p_efficient or 0.0))
    except NoMeasurementError:
        return None


def _joint_findings(
    session: Session,
    belief: JointBelief,
    chosen: Estimate,
    all_trials: tuple[Trial, ...],
    search: bool,
) -> JointFindings:
    one = len(belief.evidence.outcomes.goals) == 1
    with session.searching:
        advice = belief.recommended if one and search else chosen
    return JointFindings(
        belief=belief,
        chosen=chosen,
        best=chosen if one else None,
        recommended=advice if one else None,
        observed=belief.best_observed if one else None,
        front=() if one else tuple(_as_recorded(found, all_trials) for found in belief.front),
        raw_front=() if one else raw_front(belief.evidence),
    )


def _as_recorded(found: Estimate, all_trials: tuple[Trial, ...]) -> Estimate:
    """An answer about a measured setting, with the parameters of its trial."""
    if found.number is None:
        return found
    return replace(found, params=dict(all_trials[found.number].params))
