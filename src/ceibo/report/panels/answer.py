"""The answer: what is best, in cards, and its parameters in a table."""

from typing import Final

from ceibo.decide.dialling import dial_setting
from ceibo.numbers import rounded, with_uncertainty
from ceibo.report.facts import Facts, Findings
from ceibo.report.parts import ABSENT, panel, table_row, value_cell
from ceibo.report.suspicion import suspicion
from ceibo.report.svg import text_of
from ceibo.study.repeats import measured_line

_LONG: Final = 48  # characters of HTML from which a card's value is set smaller


def answer(facts: Facts) -> str:
    """The cards and the panel of the answer; a sentence before the first measurement."""
    if facts.findings is None:
        note = "Panels appear with the first measurement."
        return panel("empty", "Nothing measured yet", "", note)
    best = facts.findings.best.params
    advice = dial_setting(facts.study.space, facts.findings.recommended.params)
    rows = []
    for name in facts.study.space.names:
        values = (each.get(name, ABSENT) for each in (best, advice))
        rows.append(table_row(text_of(name, 60), *(value_cell(value) for value in values)))
    head = "<tr><th>Parameter</th><th>Best measured</th><th>Recommended</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
    why = facts.findings.observed.why
    text = (
        f"{suspicion(facts.suspects)}<p>{text_of(why[:1].upper() + why[1:], 1000)}</p>"
        f"{_closeness(facts.findings)}"
        "<p>The <b>best measured</b> setting is the one whose true value is expected to be best,"
        " judged by all measurements together. The <b>recommended</b> setting is where the model"
        " expects the best value anywhere. ± is one standard deviation of what is not known about"
        " the true value.</p>"
    )
    body = f'<div class="answer">{table}<div>{text}</div></div>'
    return _cards(facts, facts.findings) + panel("answer", "The answer", body)


def _closeness(findings: Findings) -> str:
    """How close the best measured setting is to the best there is, where that is known."""
    if findings.closeness is None:
        return ""
    said = text_of(findings.closeness)
    return f"<p>By the model, the best measured setting is <b>{said}</b>.</p>"


def _cards(facts: Facts, findings: Findings) -> str:
    best, advice, raw = findings.best, findings.recommended, findings.observed
    assert best.number is not None
    sure = f"estimate; {measured_line(facts.trials[best.number])}"
    if best.probability is not None:
        sure += f"; best of all measured with probability {best.probability:.2f}"
    model = "best by the model, perhaps never measured"
    naive = f"trial {raw.number}; what a naive tool would report"
    cards = card("first", "Best setting measured", value_text(best.mean, best.std), sure)
    cards += card("", "Recommended", value_text(advice.mean, advice.std), model)
    cards += card("raw", "Raw best", value_text(raw.value, raw.noise), naive)
    return f'<div class="cards">{cards}{gain_card(findings)}</div>'


def gain_card(findings: Findings, unit: str = "") -> str:
    """Whether another measurement is worth its price; what it would bring, if that is not known."""
    if findings.verdict is None:
        gain = rounded(findings.gains[-1][1], 3) + unit
        return card("", "Still to gain", gain, "largest expected improvement")
    word = "Stop" if findings.verdict.stop else "Go on"
    return card("", "Another measurement?", word, text_of(f"{findings.verdict.reason}."))


def card(kind: str, title: str, value: str, detail: str) -> str:
    """A card; value and detail are HTML."""
    size = "big long" if len(value) > _LONG else "big"
    text = f'<h3>{text_of(title)}</h3><div class="{size}">{value}</div><p>{detail}</p>'
    return f'<div class="card {kind}">{text}</div>'


def value_text(value: float, std: float | None) -> str:
    """A value, with its standard deviation where it is known."""
    if std is None:
        return f"<span>{rounded(value)}</span>"
    mean, _, spread = with_uncertainty(value, std).partition(" ± ")
    return f"<span>{mean}</span> <small>± {spread}</small>"
