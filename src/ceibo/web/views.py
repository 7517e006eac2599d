"""What the page fetches: pieces of HTML by their names, and numbers by what is shown."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from ceibo.decide import Belief
from ceibo.decide.belief import recommend
from ceibo.decide.joint import recommend_jointly
from ceibo.decide.space import Params
from ceibo.errors import InputError, NoMeasurementError, NotFoundError
from ceibo.gp.inputs import Array
from ceibo.numbers import to_number
from ceibo.report import render_report
from ceibo.study import Study
from ceibo.text import plural
from ceibo.web.answers import answer_part, trials_part
from ceibo.web.block_field import UsualBlock
from ceibo.web.entries import read_number, read_value, rows_in, text_in, whole_in, written_block
from ceibo.web.maps import kinds_of, map_part
from ceibo.web.news import news_of
from ceibo.web.parity import parity_part
from ceibo.web.plan import expected_texts, next_part
from ceibo.web.profiler import (
    Views,
    axes_of,
    believed,
    check_place,
    moved_place,
    place_of,
    profile,
    where,
    whole_place,
)
from ceibo.web.session import AnyBelief, Session, State
from ceibo.web.trial_view import trial_part

_POLICY: Final = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')
_MOST_EXPECTED: Final = 100
_MOST_BLOCKS: Final = 50
_LARGEST: Final = 2**31 - 1

Data = Mapping[str, Any]


def report_page(session: Session) -> tuple[str, str]:
    """The report of the study as it is now, and the policy that it brings."""
    text = session.reading.use(lambda study: render_report(study, cost=session.cost))
    found = _POLICY.search(text)
    return text, "default-src 'none'" if found is None else found[1]


# -- pieces of HTML --------------------------------------------------------------------


def _next(session: Session, _: str) -> str:
    def work(study: Study) -> str:
        trials, workers = study.trials, study.ledger.workers()
        return next_part(trials, study.space, study.outcomes, workers)

    return session.telling.use(work)


def _answer(session: Session, _: str) -> str:
    state = session.state()
    return answer_part(session, state, session.reading.use(lambda study: study))


def _trials(session: Session, _: str) -> str:
    state = session.state()
    return trials_part(session, state, session.reading.use(lambda study: study))


def _check(session: Session, _: str) -> str:
    return parity_part(session.state().belief)


def _trial(session: Session, number: str) -> str:
    wanted = to_number(number)

    def work(study: Study) -> str:
        trials = study.ledger.refresh().trials
        usual = UsualBlock.of(study.trials)
        if not isinstance(wanted, int) or not 0 <= wanted < len(trials):
            raise NotFoundError(f"there is no trial {number[:20]!r}.")
        return trial_part(trials[wanted], study.space, study.outcomes, usual)

    return session.telling.use(work)


PARTS: Final[Mapping[str, Callable[[Session, str], str]]] = {
    "next": _next,
    "answer": _answer,
    "trials": _trials,
    "check": _check,
    "trial": _trial,
}


# -- numbers ---------------------------------------------------------------------------


def _look(session: Session, data: Data) -> dict[str, Any]:
    """The number of the last event, and in words what happened since one that a page knows."""
    known = whole_in(data, "since", 0, _LARGEST)
    seq = session.seq()
    changes = session.watching.use(lambda study: len(study.ledger.changes))
    if seq <= known or known == 0:
        return {"seq": seq, "changes": changes, "news": []}
    events = session.watching.use(lambda study: study.ledger.store.events(study.ledger.id, known))
    return {"seq": seq, "changes": changes, "news": news_of(events)}


def _overview(session: Session, _: Data) -> dict[str, Any]:
    """How far the study has come, and the blocks named so far."""

    def work(study: Study) -> dict[str, Any]:
        states = [trial.state for trial in study.trials]
        parts = [plural(len(states), "trial"), f"{states.count('done')} measured"]
        for word, state in (("failed", "failed"), ("under way", "running"), ("queued", "queued")):
            if states.count(state):
                parts.append(f"{states.count(state)} {word}")
        told = (each.block for trial in study.trials for each in trial.measurements)
        kind = UsualBlock.of(study.trials).kind
        blocks = list(dict.fromkeys(written_block(each, kind) for each in told if each))
        return {"counts": " · ".join(parts), "blocks": blocks[-_MOST_BLOCKS:]}

    return session.telling.use(work)


def _axes(session: Session, _: Data) -> dict[str, Any]:
    """The parameters, and the setting that the profiler begins with."""
    state = session.state()
    space = session.reading.use(lambda study: study.space)
    place = [0.5] * len(space)
    start = moved_place(space, check_place(space, place), None)
    if state.belief is not None:
        with suppress(NoMeasurementError):  # outcomes may be known, and no setting with all of them
            start = _best_place(session, state.belief, state)
    return {"axes": axes_of(space), "at": start.tolist()}


def _best_place(session: Session, belief: AnyBelief, state: State) -> Array:
    """The place of the best measured setting, or of one of the front."""
    if isinstance(belief, Belief) or len(belief.evidence.outcomes.goals) == 1:
        number = belief.best.number
    else:
        number = belief.front[0].number
    assert number is not None
    frame = session.reading.use(lambda study: study.ledger.frame)  # parameters may have come later
    return whole_place(belief.space, frame.place(state.trials[number].params), belief)


def _profile(session: Session, data: Data) -> dict[str, Any]:
    """Slices through a place; what was typed or moved comes first, and equalities follow it."""
    state = session.state()
    space = session.reading.use(lambda study: study.space)
    place = check_place(space, data.get("at"))
    column = None
    if data.get("column") is not None:
        column = whole_in(data, "column", 0, len(space) - 1)
        if "text" in data:
            name = space.names[column]
            dimension = space.dimensions[name]
            place[column] = dimension.to_unit(read_value(dimension, data, name))
    place = moved_place(space, place, column)
    if state.belief is None:
        return where(space, place) | {"waiting": state.waiting}
    try:
        outcome = _outcome(session, data, state.belief)
    except NoMeasurementError as error:
        return where(space, place) | {"waiting": str(error)}
    return profile(state.belief, place, outcome, is_moving=data.get("moving") is True)


def _outcome(session: Session, data: Data, belief: AnyBelief) -> str:
    """The outcome that a page shows; an error where nothing is known of it yet."""
    names = session.outcome_names
    name = names[whole_in(data, "outcome", 0, len(names) - 1)]
    if name not in Views(belief).names:
        raise NoMeasurementError(f"{name!r} has not been measured yet; tell one first.")
    return name


def _jump(session: Session, data: Data) -> dict[str, Any]:
    """The place of the best setting, the recommended one, or that with parameters held."""
    state = session.state()
    if state.belief is None:
        raise InputError(state.waiting)
    belief, space = state.belief, state.belief.space
    to = text_in(data, "to")
    if to == "best":
        return {"at": _best_place(session, belief, state).tolist()}
    fixed: Params = {}
    if to == "held":
        place = check_place(space, data.get("at"))
        values = space.from_unit(place)
        for row in rows_in(data, "fixed", len(space)):
            name = space.names[whole_in(row, "column", 0, len(space) - 1)]
            if name in values:
                fixed[name] = values[name]
    with session.searching:
        if isinstance(belief, Belief):
            found = recommend(belief, fixed)
        else:
            found = recommend_jointly(belief, fixed)
    return {"at": place_of(space, found.params, belief).tolist()}


def _map(session: Session, data: Data) -> dict[str, Any]:
    """A map as SVG."""
    state = session.state()
    if state.belief is None:
        raise InputError(state.waiting)
    space = state.belief.space
    place = check_place(space, data.get("at"))
    pair = tuple(whole_in(data, name, 0, len(space) - 1) for name in ("first", "second"))
    kinds = kinds_of(session.outcomes)
    kind = kinds[whole_in(data, "kind", 0, len(kinds) - 1)]
    shown = kind, _outcome(session, data, state.belief)
    study = session.reading.use(lambda study: study)
    return {"html": map_part(study, state, place, (pair[0], pair[1]), shown)}


def _expected(session: Session, _: Data) -> dict[str, Any]:
    """What is expected of the trials under way, by their numbers."""
    state = session.state()
    if state.belief is None:
        return {"expected": {}}
    belief, frame = state.belief, session.reading.use(lambda study: study.ledger.frame)
    views, found = Views(belief), {}
    running = [trial for trial in state.trials if trial.state == "running"]
    for trial in running[:_MOST_EXPECTED]:
        rows = believed(views, frame.place(trial.params))
        chance = f"; limits hold with {rows['chance']}" if rows["chance"] else ""
        found[trial.number] = expected_texts(rows["outcomes"]) + chance
    return {"expected": found}


def _goal_unit(session: Session) -> str:
    """The unit of the goal, in which prices are."""
    return "" if session.outcomes is None else session.outcomes[session.outcomes.goals[0]].unit


def _verdict(session: Session, data: Data) -> dict[str, Any]:
    """Whether another measurement is worth its price."""
    text = text_in(data, "cost")
    state = session.state()
    if state.belief is None:
        return {"said": state.waiting, "stop": False}
    if not text:
        return {"said": "Type a price to see whether to go on.", "stop": False}
    verdict = session.verdict(state.belief, float(read_number(text, "price", _goal_unit(session))))
    message = verdict.message
    return {"said": message[:1].upper() + message[1:], "stop": verdict.stop}


VIEWS: Final[Mapping[str, Callable[[Session, Data], dict[str, Any]]]] = {
    "look": _look,
    "overview": _overview,
    "axes": _axes,
    "profile": _profile,
    "jump": _jump,
    "map": _map,
    "expected": _expected,
    "verdict": _verdict,
}
