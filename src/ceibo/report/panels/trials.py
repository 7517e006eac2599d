"""The trials in a table that sorts by its columns."""

from collections.abc import Mapping

from ceibo.report.facts import Facts
from ceibo.report.parts import panel
from ceibo.report.svg import text_of
from ceibo.report.thinning import chosen_trials, mean_value
from ceibo.study import Trial
from ceibo.text import reason_line

_MOST_REASON = 1500  # characters of a failure's last output that the page keeps
_EMPTY = '<td data-sort=""></td>'


def trials(facts: Facts) -> str:
    """The panel of trials."""
    heads = ["Trial", "State", "Value", "Noise", *facts.study.space.names, "From"]
    findings = facts.findings
    answers = () if findings is None else (findings.best.number or 0, findings.observed.number)
    shown = chosen_trials(facts.trials, facts.direction, len(heads), answers)
    failures = any(trial.reason for trial in shown)
    if failures:
        heads.append("Last failure")
    buttons = [f'<button type="button">{text_of(name, 60)}</button>' for name in heads]
    head = "".join(f'<th scope="col">{button}</th>' for button in buttons)
    body = "".join(_row(facts, trial, failures) for trial in shown)
    parts = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    table = f'<div class="scroll"><table class="trials">{parts}</table></div>'
    note = (
        "Click a heading to sort. The best setting is highlighted; several measurements of a trial"
        " show their mean."
    )
    left_out = len(facts.trials) - len(shown)
    if not left_out:
        return panel("trials", "All trials", table, note)
    note = (
        f"{len(shown):,} of {len(facts.trials):,} trials: the best by value, the latest, and the"
        f" latest of those that failed or are under way. {left_out:,} are left out;"
        f" <code>ceibo export</code> writes them all. {note}"
    )
    return panel("trials", "Trials", table, note)


def _row(facts: Facts, trial: Trial, failures: bool) -> str:
    value = mean_value(trial) if trial.measurements else None
    noise = trial.measurements[0].noise if len(trial.measurements) == 1 else None
    word = text_of(trial.state, 20)
    state = f'<td data-sort="{word}" class="state-{word}">{word}</td>'
    cells = [_cell(trial.number), state, _cell(value, _correction(trial)), _cell(noise)]
    cells += [_cell(trial.params[name]) for name in facts.study.space.names]
    source = facts.sources.get(trial.number)
    word = source.get("source", "asked") if isinstance(source, Mapping) else "asked"
    cells.append(_cell(str(word)))
    if failures:
        cells.append(_reason(trial.reason or ""))
    best = facts.findings is not None and facts.findings.best.number == trial.number
    opening = '<tr class="best">' if best else "<tr>"
    return f"{opening}{''.join(cells)}</tr>"


def _correction(trial: Trial) -> str:
    """What follows a corrected value: the value before it, where the trial has only one."""
    if not any(trial.replaced):
        return ""
    if len(trial.replaced) > 1:
        return " (corrected)"
    return f" (corrected, was {trial.replaced[0][-1].value:.6g})"


def _cell(value: object, note: str = "") -> str:
    if value is None:
        return _EMPTY
    exact = repr(value) if isinstance(value, float) else text_of(value, 100)
    return f'<td data-sort="{exact}">{text_of(value, 100)}{note}</td>'


def _reason(reason: str) -> str:
    lines = reason.strip().splitlines()
    if not lines:
        return _EMPTY
    line = reason_line(reason)
    opening = f'<td class="reason" data-sort="{text_of(line, 100)}">'
    if len(lines) == 1 and len(line) <= 160:
        return f"{opening}{text_of(line)}</td>"
    kept = text_of(reason[-_MOST_REASON:], _MOST_REASON)
    summary = f"<summary>{text_of(line, 160)}</summary>"
    return f"{opening}<details>{summary}<pre>{kept}</pre></details></td>"
