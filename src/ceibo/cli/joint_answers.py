"""The answers of a study with outcomes, for people: two settings, or a front, as a table."""

import typer

from ceibo.cli.common import print_table
from ceibo.decide import Estimate, Measurement, Outcomes
from ceibo.decide.dialling import dial_setting
from ceibo.decide.outcome_words import doubt_about, estimate_text, wish_of, with_unit
from ceibo.numbers import percent
from ceibo.study import Study
from ceibo.study.repeats import measured_line
from ceibo.text import one_line

_NAIVE = "what a naive tool would report"


def has_front(study: Study) -> bool:
    """Whether the answer of a study is a front, because it has several goals."""
    return study.outcomes is not None and len(study.outcomes.goals) > 1


def print_joint_answers(study: Study, outcomes: Outcomes) -> None:
    """Prints the answers of a study with outcomes."""
    if has_front(study):
        _print_front(study, outcomes)
    else:
        _print_settings(study, outcomes)


def _print_settings(study: Study, outcomes: Outcomes) -> None:
    """The best setting, the recommended one, and the raw best beside them."""
    found, advice, raw = study.best, study.recommended, study.best_observed
    (goal,) = outcomes.goals
    unit = outcomes[goal].unit
    value = with_unit(str(Measurement(raw.value, raw.noise)), unit)
    assert found.number is not None
    there = measured_line(study.trials[found.number], goal, unit)
    best_text, advice_text = (estimate_text(each.outcomes[goal]) for each in (found, advice))
    typer.echo(f"best         {goal} {best_text}  (estimate; {there}{_held(found)})")
    typer.echo(f"recommended  {goal} {advice_text}  (may never have been measured{_held(advice)})")
    typer.echo(f"raw best     {goal} {value}  (trial {raw.number}; {_NAIVE})")
    rows: list[tuple[str, ...]] = [("", "best", "recommended")]
    for name, outcome in outcomes.items():
        label = f"{one_line(name, 40)} ({wish_of(outcome)})"
        rows.append((label, _cell(found, name), _cell(advice, name)))
    if found.p_feasible is not None and advice.p_feasible is not None:
        held = percent(found.p_feasible), percent(advice.p_feasible)
        rows.append(("every limit holds", *held))
    dialled = dial_setting(study.space, advice.params)
    for name in study.space.names:
        values = (name, found.params.get(name, "-"), dialled.get(name, "-"))
        rows.append(tuple(one_line(each, 24) for each in values))
    typer.echo()
    if raw.number != found.number:
        typer.echo(raw.why)
    if doubt := doubt_about(found, study.settings.assurance):
        typer.echo(doubt)
    if doubt or raw.number != found.number:
        typer.echo()
    print_table(rows)


def print_recommended(found: Estimate, outcomes: Outcomes) -> None:
    """Prints what is believed of each outcome at a recommended setting."""
    goal = outcomes.goals[0]
    typer.echo(f"recommended  {goal} {estimate_text(found.outcomes[goal])}{_held(found)}\n")
    labels = {name: f"{one_line(name, 40)} ({wish_of(each)})" for name, each in outcomes.items()}
    print_table([(label, _cell(found, name)) for name, label in labels.items()])


def _held(estimate: Estimate) -> str:
    """How likely every limit holds, within brackets."""
    if estimate.p_feasible is None:
        return ""
    return f"; every limit holds with {percent(estimate.p_feasible)}"


def _cell(estimate: Estimate, name: str) -> str:
    """An outcome at a setting; a watched one may never have been told."""
    known = estimate.outcomes.get(name)
    return "-" if known is None else estimate_text(known)


def _print_front(study: Study, outcomes: Outcomes) -> None:
    """The settings of the front, with their chances, and which trials the raw front has."""
    front = study.front
    doubt = doubt_about(front[0], study.settings.assurance)
    typer.echo("front: settings of which none is expected to be better in every goal\n")
    heads = ["trial", *(one_line(name, 24) for name in outcomes), "non-dominated"]
    if outcomes.limits:
        heads.append("limits hold")
    rows = [[*heads, *(one_line(name, 24) for name in study.space.names)]]
    for each in front:
        cells = [str(each.number), *(_cell(each, name) for name in outcomes)]
        cells.append(percent(each.p_efficient))
        if outcomes.limits:
            cells.append(percent(each.p_feasible))
        values = (each.params.get(name, "-") for name in study.space.names)
        rows.append([*cells, *(one_line(value, 24) for value in values)])
    print_table(rows)
    if doubt:
        typer.echo(f"\n{doubt}")
    flukes = ", ".join(map(str, study.raw_front)) or "none"
    typer.echo(f"\nby raw values: trials {flukes}  ({_NAIVE})")
