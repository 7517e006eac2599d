"""What a study, a result, a trial and an answer look like in a notebook."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Final

from ceibo.decide import Closeness, Estimate, Measurement, Outcomes, Verdict
from ceibo.decide.dialling import dial_setting
from ceibo.decide.estimate import Observed
from ceibo.decide.outcome_words import doubt_about, estimate_text, wish_of
from ceibo.decide.surface.existence import describe
from ceibo.errors import NoMeasurementError
from ceibo.numbers import percent, rounded, with_uncertainty
from ceibo.report import render_report
from ceibo.report.frame import dots, frame, line, table
from ceibo.report.svg import text_of
from ceibo.report.thinning import mean_value
from ceibo.study import Result, Study, Trial
from ceibo.study.blocks import Blocks, spread_line
from ceibo.study.page import Page
from ceibo.study.trial_line import aims_line, outcome_line
from ceibo.text import params_line, plural

_MOST_ROWS: Final = 24  # of a table
_MOST_PENDING: Final = 6
_ABSENT: Final = "–"


def report(study: Study, *, cost: float | None = None) -> Page:
    """The report of a study, as a page to look at and to keep."""
    return Page(f"{study.name} · ceibo", render_report(study, cost=cost))


@singledispatch
def face(shown: object) -> str:
    """A compact piece of HTML; without a face of its own, an object shows as its text."""
    return f"<pre>{text_of(shown)}</pre>"


@face.register
def study_face(study: Study) -> str:
    """The aim of a study, how far it has come, its answer, and what is under way."""
    return frame(*_about(study))


@face.register
def result_face(result: Result) -> str:
    """Why a run ended, above what the study says."""
    ended = [line(result.stop.message)]
    try:
        profit = result.profit
    except NoMeasurementError:
        profit = None
    if profit is not None:
        ended.append(line(f"profit: {profit}", "soft"))
    return frame(*ended, *_about(result.study))


@face.register
def trial_face(trial: Trial) -> str:
    """The setting of a trial and what came of it."""
    parts = [line(f"Trial {trial.number} · {outcome_line(trial)}")]
    parts.append(table(("", ""), _cut(list(trial.params.items()))))
    if trial.measurements:
        names = trial.names or ("",) * len(trial.measurements)
        told = [(name, _told(each)) for name, each in zip(names, trial.measurements, strict=True)]
        if trial.names or len(told) > 1:
            parts.append(table(("outcome" if trial.names else "", "measured"), _cut(told)))
    parts.append(table(("attribute", ""), _cut(list(trial.attributes.items()))))
    return frame(*parts)


@face.register
def estimate_face(estimate: Estimate) -> str:
    """What is believed at a setting, and the setting."""
    parts = [_headline(estimate), *_sureness(estimate)]
    if estimate.outcomes:
        rows = [(name, estimate_text(each)) for name, each in estimate.outcomes.items()]
        parts.append(table(("outcome", "expected"), rows))
    parts.append(table(("parameter", "value"), _cut(list(estimate.params.items()))))
    return frame(*parts)


@face.register
def observed_face(observed: Observed) -> str:
    """The best raw value, why it is not the answer, and its setting."""
    parts = [line(rounded(observed.value), "big"), line(observed.why, "soft")]
    parts.append(table(("parameter", "value"), _cut(list(observed.params.items()))))
    return frame(*parts)


@face.register
def blocks_face(blocks: Blocks) -> str:
    """The effects of the blocks, a table for each kind."""
    parts = [] if blocks else [line(blocks)]
    for kind, effects in blocks.by_kind.items():
        rows = [(each.label, with_uncertainty(each.mean, each.std), each.count) for each in effects]
        parts.append(line(spread_line(kind, effects)))
        parts.append(table((kind, "effect", "measurements"), _cut(rows)))
    return frame(*parts)


@face.register
def closeness_face(closeness: Closeness) -> str:
    """How close an answer is to the best there is."""
    answer = "best measured" if closeness.of == "best" else closeness.of
    return frame(line(f"The {answer} setting is {closeness}."))


@face.register
def verdict_face(verdict: Verdict) -> str:
    """Whether to go on, and why."""
    return frame(line(verdict.message))


def _about(study: Study) -> list[str]:
    trials = study.trials
    states = [trial.state for trial in trials]
    aim = study.direction if study.outcomes is None else aims_line(study.outcomes)
    counts = [f"{aim} over {plural(len(study.space), 'parameter')}", plural(len(trials), "trial")]
    for state in ("done", "failed", "running", "queued", "withdrawn"):
        if number := states.count(state):
            counts.append(f"{number} {'measured' if state == 'done' else state}")
    parts = [f"<p><b>{text_of(study.name, 100)}</b></p>", line(" · ".join(counts), "soft", 1000)]
    try:
        parts += _answer(study, trials)
    except NoMeasurementError:
        parts.append(line("Nothing can be said yet: every goal and limit needs a measurement."))
        rows = [(name, describe(study.space, name)) for name in study.space.names]
        parts.append(table(("parameter", ""), _cut(rows)))
    return [*parts, *_under_way(trials)]


def _answer(study: Study, trials: tuple[Trial, ...]) -> list[str]:
    outcomes = study.outcomes
    if outcomes is not None and len(outcomes.goals) > 1:
        return _front(study, outcomes)
    best, advice = study.best, study.recommended
    parts = [_headline(best), *_sureness(best)]
    if outcomes is None:
        values = [(each.number, mean_value(each)) for each in trials if each.measurements]
        parts.append(dots(values, best.number, "measured values over the trials"))
    if study.confidence is not None and (doubt := doubt_about(best, study.confidence)):
        parts.append(line(doubt[:1].upper() + doubt[1:], "doubt"))
    rows: list[tuple[object, ...]] = []
    for name, outcome in (outcomes or {}).items():
        expected = [each.outcomes.get(name) for each in (best, advice)]
        said = (_ABSENT if each is None else estimate_text(each) for each in expected)
        rows.append((f"{name} ({wish_of(outcome)})", *said))
    if outcomes is None:
        said = (with_uncertainty(each.mean, each.std) for each in (best, advice))
        rows.append(("expected", *said))
    elif outcomes.limits:
        rows.append(("limits hold with", *(percent(each.p_feasible) for each in (best, advice))))
    dialled = dial_setting(study.space, advice.params)
    for name in study.space.names:
        rows.append((name, *(each.get(name, _ABSENT) for each in (best.params, dialled))))
    parts.append(table(("", f"best measured (trial {best.number})", "recommended"), _cut(rows)))
    return parts


def _front(study: Study, outcomes: Outcomes) -> list[str]:
    front = study.front
    heads = ["trial", *outcomes.goals, "non-dominated"]
    heads += ["limits hold"] if outcomes.limits else []
    heads += study.space.names[:_MOST_ROWS]
    rows = []
    for each in front:
        row: list[object] = [each.number]
        row += [estimate_text(each.outcomes[goal]) for goal in outcomes.goals]
        row.append(percent(each.p_efficient))
        row += [percent(each.p_feasible)] if outcomes.limits else []
        row += [each.params.get(name, _ABSENT) for name in study.space.names[:_MOST_ROWS]]
        rows.append(row)
    said = f"{plural(len(front), 'setting')} on the front"
    return [f'<p class="ceibo-big">{text_of(said)}</p>', table(heads, rows[:_MOST_ROWS])]


def _headline(estimate: Estimate) -> str:
    """The value of an estimate, large; of several outcomes, that of the first goal."""
    if not estimate.outcomes:
        return line(with_uncertainty(estimate.mean, estimate.std), "big")
    belief = estimate.mean, estimate.std
    named = ((name, each) for name, each in estimate.outcomes.items())
    name, goal = next(both for both in named if (both[1].mean, both[1].std) == belief)
    return line(f"{name} {estimate_text(goal)}", "big")


def _sureness(estimate: Estimate) -> list[str]:
    """What is known about how good an answer is."""
    said = [] if estimate.number is None else [f"measured in trial {estimate.number}"]
    if estimate.probability is not None:
        said.append(f"the best of all measured with {percent(estimate.probability)} probability")
    if estimate.p_feasible is not None:
        said.append(f"every limit holds with {percent(estimate.p_feasible)}")
    if estimate.p_efficient is not None:
        said.append(f"on the front with {percent(estimate.p_efficient)}")
    return [line(" · ".join(said), "soft")] if said else []


def _under_way(trials: tuple[Trial, ...]) -> list[str]:
    """What is being measured or waits for it."""
    pending = [each for each in trials if each.state in ("running", "queued")]
    rows = [(each.number, each.state, params_line(each.params)) for each in pending]
    shown = table(("trial", "under way", ""), rows[-_MOST_PENDING:])
    more = len(rows) - _MOST_PENDING
    return [shown, line(f"and {more} more under way", "soft")] if more > 0 else [shown]


def _told(measurement: Measurement) -> str:
    if measurement.noise is None:
        return rounded(measurement.value)
    return with_uncertainty(measurement.value, measurement.noise)


def _cut(rows: Sequence[tuple[object, ...]]) -> Sequence[tuple[object, ...]]:
    """The first rows, with a last one that says how many more there are."""
    if len(rows) <= _MOST_ROWS:
        return rows
    rest = len(rows) - _MOST_ROWS + 1
    return [*rows[: _MOST_ROWS - 1], (f"… and {rest} more", *("" for _ in rows[0][1:]))]
