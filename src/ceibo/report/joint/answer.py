"""The answer of a study with outcomes: cards, and every outcome ± beside the settings."""

from ceibo.decide import Estimate
from ceibo.decide.dialling import dial_setting
from ceibo.decide.outcome_words import doubt_about, estimate_text, wish_of
from ceibo.decide.outcomes import Outcome
from ceibo.numbers import distinct, percent
from ceibo.report.joint.facts import JointFacts, JointFindings
from ceibo.report.panels.answer import card, gain_card, value_text
from ceibo.report.parts import ABSENT, panel, table_row, value_cell
from ceibo.report.suspicion import suspicion
from ceibo.report.svg import text_of
from ceibo.study.repeats import measured_line
from ceibo.text import plural


def answer(facts: JointFacts) -> str:
    """The cards and the panel of the answer; a sentence as long as there is none."""
    findings = facts.findings
    if findings is None:
        return panel("empty", "No answer yet", "", _waiting(facts))
    if findings.best is None or findings.recommended is None:
        return _front_cards(facts, findings)
    best, advice = findings.best, findings.recommended
    rows = [_wide_row("What was measured")]
    for name, outcome in facts.outcomes.items():
        label = f"{text_of(name, 60)} <small>{_wish(outcome)}</small>"
        rows.append(table_row(label, *(_cell(each, name) for each in (best, advice))))
    if facts.outcomes.limits:
        held = [_chance(each, facts.confidence) for each in (best, advice)]
        rows.append(table_row("<b>every limit holds</b>", *held))
    rows.append(_wide_row("Parameters"))
    dialled = dial_setting(facts.study.space, advice.params)
    for name in facts.study.space.names:
        values = (each.get(name, ABSENT) for each in (best.params, dialled))
        rows.append(table_row(text_of(name, 60), *map(value_cell, values)))
    head = "<tr><th></th><th>Best measured</th><th>Recommended</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
    body = f'<div class="answer">{table}<div>{_text(facts, findings, best)}</div></div>'
    return _cards(facts, findings, best, advice) + panel("answer", "The answer", body)


def _waiting(facts: JointFacts) -> str:
    """What is missing before there can be an answer."""
    if len(facts.missing) == len(facts.needed):
        return "Panels appear with the first measurements."
    if facts.missing:
        names = ", ".join(text_of(name, 60) for name in facts.missing)
        return f"There is no measurement yet of {names}; the answer appears with the first."
    return "There is no setting yet at which every goal and limit was measured."


def _wide_row(text: str) -> str:
    return f'<tr><th colspan="3">{text_of(text)}</th></tr>'


def _cell(estimate: Estimate, name: str) -> str:
    """An outcome at a setting; of a watched one that was never told, nothing."""
    known = estimate.outcomes.get(name)
    return "–" if known is None else text_of(estimate_text(known))


def _chance(estimate: Estimate, confidence: float) -> str:
    """The chance that limits hold, marked where it is below the confidence."""
    if estimate.p_feasible is None:
        return "–"
    kind = "held" if estimate.p_feasible >= confidence else "broken"
    return f'<b class="{kind}">{percent(estimate.p_feasible)}</b>'


def _text(facts: JointFacts, findings: JointFindings, best: Estimate) -> str:
    parts = [suspicion(facts.suspects)]
    if doubt := doubt_about(best, facts.confidence):
        parts.append(f'<p class="doubt">{text_of(_capital(doubt))}</p>')
    if findings.observed is not None:
        parts.append(f"<p>{text_of(_capital(findings.observed.why), 1000)}</p>")
    what = "expected to be best"
    if facts.outcomes.limits:
        what += f", of those whose limits all hold with a probability of {facts.confidence:g}"
    parts.append(
        f"<p>The <b>best measured</b> setting is the one whose true value is {what}, judged by all"
        " measurements together. The <b>recommended</b> setting is where the models expect that"
        " anywhere. ± is one standard deviation of what is not known about the true value.</p>"
    )
    return "".join(parts)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cards(facts: JointFacts, findings: JointFindings, best: Estimate, advice: Estimate) -> str:
    (goal,) = facts.outcomes.goals
    unit = f" {text_of(facts.outcomes[goal].unit)}" if facts.outcomes[goal].unit else ""
    assert best.number is not None
    there = measured_line(facts.trials[best.number], goal, facts.outcomes[goal].unit)
    where = text_of(f"estimate; {there}", 200) + _hold(best)
    cards = card(
        "first", f"Best setting measured: {goal}", value_text(best.mean, best.std) + unit, where
    )
    expected = f"expected anywhere{_hold(advice)}"
    cards += card("", "Recommended", value_text(advice.mean, advice.std) + unit, expected)
    raw = findings.observed
    if raw is not None:
        naive = f"trial {raw.number}; what a naive tool would report"
        cards += card("raw", "Raw best", value_text(raw.value, raw.noise) + unit, naive)
    if findings.goal is not None and findings.goal.findings is not None:
        cards += gain_card(findings.goal.findings, unit)
    return f'<div class="cards">{cards}</div>'


def _hold(estimate: Estimate) -> str:
    """How likely limits hold, in a card."""
    if estimate.p_feasible is None:
        return ""
    return f"; limits hold with {percent(estimate.p_feasible)}"


def _front_cards(facts: JointFacts, findings: JointFindings) -> str:
    """Of several goals: how many settings are on the front, and between what they trade."""
    count = len(findings.front)
    detail = "measured, of which none is expected to be better in every goal"
    cards = card("first", "On the front", plural(count, "setting"), detail)
    for goal in facts.outcomes.goals:
        means = [each.outcomes[goal].mean for each in findings.front]
        unit = f" {text_of(facts.outcomes[goal].unit)}" if facts.outcomes[goal].unit else ""
        text = " … ".join(distinct([min(means), max(means)])) + unit
        cards += card("", f"{goal} on it", text, f"to {facts.outcomes[goal].direction}")
    if len(facts.outcomes.goals) == 2:
        naive = "what a naive tool would report"
        cards += card("raw", "On the raw front", plural(len(findings.raw_front), "trial"), naive)
    return f'<div class="cards">{cards}</div>'


def _wish(outcome: Outcome) -> str:
    """What is wanted of an outcome, with a number that is not broken over two lines."""
    first, *words = wish_of(outcome).split(" ")
    shown = [text_of(first)]
    for word in words:
        is_number = word.lstrip("-−")[:1].isdigit()
        shown.append(f'<span class="number">{text_of(word)}</span>' if is_number else text_of(word))
    return " ".join(shown)
