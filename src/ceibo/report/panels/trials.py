"""The trials in a table that sorts by its columns."""

from collections.abc import Mapping, Sequence
from typing import Final

from ceibo.decide.block_names import block_line
from ceibo.numbers import rounded
from ceibo.report.facts import Facts
from ceibo.report.joint.facts import JointFacts
from ceibo.report.parts import panel
from ceibo.report.suspicion import wrong_note
from ceibo.report.svg import text_of
from ceibo.report.thinning import chosen_trials, mean_value
from ceibo.study import Trial
from ceibo.study.repeats import noise_of_mean, repeats_of
from ceibo.text import reason_line

_MOST_COLUMNS = 14  # of a table that fits on paper
_MOST_REASON = 1500  # characters of a failure's last output that the page keeps
_WORDS = ("asked", "added", "enqueued", "initial", "model", "confirm")  # how a trial came about
_EMPTY = '<td data-sort=""></td>'
NOTE: Final = (
    "Click a heading to sort. The best setting is highlighted. Of several measurements of a trial"
    " the mean is shown with their number n, and its noise is told or follows from their spread."
)


def trials(facts: Facts) -> str:
    """The panel of trials."""
    has_blocks = any(map(blocks_of, facts.trials))
    told = ["Value", "Noise", *(["Block"] if has_blocks else [])]
    heads = ["Trial", "State", *told, *facts.study.space.names, "From"]
    findings = facts.findings
    answers = () if findings is None else (findings.best.number or 0, findings.observed.number)
    shown = chosen_trials(facts.trials, facts.direction, len(heads), answers)
    rows = [(trial, _told_cells(facts, trial, has_blocks)) for trial in shown]
    return panel_of(facts, heads, rows, answers[:1], NOTE)  # the best one is highlighted


def panel_of(
    facts: Facts | JointFacts,
    heads: Sequence[str],
    rows: Sequence[tuple[Trial, Sequence[str]]],
    answers: Sequence[int],
    note: str,
) -> str:
    """The panel of the table of some trials, each with the cells of what was told."""
    has_price = facts.study.settings.precision is not None
    has_failures = any(trial.reason for trial, _ in rows)
    further = ("Times to measure", has_price), ("Last failure", has_failures)
    heads = [*heads, *(name for name, is_there in further if is_there)]
    body = ""
    for trial, told in rows:
        cells = [cell(trial.number), _state_cell(trial), *told]
        cells += [cell(trial.params.get(name)) for name in facts.study.space.names]
        cells.append(_source_cell(facts.sources.get(trial.number)))
        if has_price:
            cells.append(cell(trial.repeats))
        if has_failures:
            cells.append(_reason_cell(trial.reason or ""))
        opening = '<tr class="best">' if trial.number in answers else "<tr>"
        body += f"{opening}{''.join(cells)}</tr>"
    buttons = [f'<button type="button">{text_of(name, 60)}</button>' for name in heads]
    head = "".join(f'<th scope="col">{button}</th>' for button in buttons)
    parts = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    kind = "trials broad" if len(heads) > _MOST_COLUMNS else "trials"
    table = f'<div class="scroll"><table class="{kind}">{parts}</table></div>'
    left_out = len(facts.trials) - len(rows)
    if not left_out:
        return panel("trials", "All trials", table, note)
    note = (
        f"{len(rows):,} of {len(facts.trials):,} trials: the best by value, the latest, and the"
        f" latest of those that failed or are under way. {left_out:,} are left out;"
        f" <code>ceibo export</code> writes them all. {note}"
    )
    return panel("trials", "Trials", table, note)


def blocks_of(trial: Trial) -> str:
    """The blocks in which a trial was measured, each once."""
    lines = [block_line(each.block) for each in trial.measurements if each.block]
    return "; ".join(dict.fromkeys(lines))


def _told_cells(facts: Facts, trial: Trial, has_blocks: bool) -> list[str]:
    value = mean_value(trial) if trial.measurements else None
    noise, repeats = noise_of_mean(trial), repeats_of(trial)
    of_many = f" (n = {repeats})" if repeats > 1 else ""
    note = _correction(trial) + wrong_note(facts.suspects, trial.number)
    shown = noise if noise is None else float(rounded(noise, 3))
    blocks = [cell(blocks_of(trial))] if has_blocks else []
    return [cell(value, note), cell(shown, of_many), *blocks]


def shown_state(trial: Trial) -> str:
    """The state of a trial in words."""
    return "under way" if trial.state == "running" else text_of(trial.state, 20)


def _state_cell(trial: Trial) -> str:
    """The cell of a trial's state."""
    word = shown_state(trial)
    return f'<td data-sort="{word}" class="state-{text_of(trial.state, 20)}">{word}</td>'


def _source_cell(source: object) -> str:
    """The cell of how a trial came about."""
    word = "asked"
    if isinstance(source, Mapping):
        word = source.get("purpose") or source.get("source", word)
    return cell(str(word))


def _correction(trial: Trial) -> str:
    """What follows a corrected value: the value before it, where the trial has only one."""
    if not any(trial.replaced):
        return ""
    if len(trial.replaced) > 1:
        return " (corrected)"
    return f" (corrected, was {rounded(trial.replaced[0][-1].value)})"


def cell(value: object, note: str = "") -> str:
    """A cell that sorts by its exact value; empty if there is none."""
    if value is None:
        return _EMPTY
    exact = repr(value) if isinstance(value, float) else text_of(value, 100)
    # what is not a number may be broken into lines where there is no room for it
    kind = ' class="text"' if isinstance(value, str) and value not in _WORDS else ""
    return f'<td data-sort="{exact}"{kind}>{text_of(value, 100)}{note}</td>'


def _reason_cell(reason: str) -> str:
    """The cell of a failure: its line that says most, the rest behind it."""
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
