"""The trials in a table that sorts by its columns, one of them for each outcome."""

from ceibo.decide.outcome_words import with_unit
from ceibo.numbers import rounded
from ceibo.report.joint.facts import JointFacts
from ceibo.report.panels.trials import NOTE, blocks_of, cell, panel_of
from ceibo.report.suspicion import wrong_note
from ceibo.report.svg import text_of
from ceibo.report.thinning import chosen_trials, mean_value
from ceibo.study import Trial
from ceibo.study.repeats import noise_of_mean, repeats_of


def trials(facts: JointFacts) -> str:
    """The panel of trials."""
    columns = [with_unit(name, each.outcome.unit) for name, each in facts.each.items()]
    has_blocks = any(map(blocks_of, facts.trials))
    if has_blocks:
        columns.append("Block")
    heads = ["Trial", "State", *columns, *facts.study.space.names, "From"]
    answers = _answers(facts)
    goal = facts.each[facts.outcomes.goals[0]].aspect
    shown = chosen_trials(goal.trials, goal.direction, len(heads), answers)
    numbers = {trial.number for trial in shown}
    rows = []
    for trial in facts.trials:
        if trial.number in numbers:
            told = [_value_cell(facts, trial, name) for name in facts.outcomes]
            rows.append((trial, [*told, cell(blocks_of(trial))] if has_blocks else told))
    note = NOTE.replace("The best setting is", "The answer is")
    if facts.outcomes.limits:
        note += " A value beyond its limit is red."
    return panel_of(facts, heads, rows, answers, note)


def _answers(facts: JointFacts) -> tuple[int, ...]:
    """The trials that are the answer."""
    findings = facts.findings
    if findings is None:
        return ()
    found = findings.front or (findings.chosen,)
    return tuple(each.number for each in found if each.number is not None)


def _value_cell(facts: JointFacts, trial: Trial, name: str) -> str:
    """The mean of the values of one outcome, with the noise of a single one."""
    told = trial.outcomes.get(name, ())
    if not told:
        return cell(None)
    alone = facts.each[name].aspect.trials[trial.number]
    value, noise, repeats = mean_value(alone), noise_of_mean(alone), repeats_of(alone)
    text = text_of(value)
    if noise is not None:
        text += f" <small>± {rounded(noise, 2)}</small>"
    if repeats > 1:
        text += f" <small>(n = {repeats})</small>"
    text += wrong_note(facts.suspects, trial.number, name)
    broken = "" if facts.outcomes[name].holds(value) else ' class="broken"'
    return f'<td data-sort="{value!r}"{broken}>{text}</td>'
