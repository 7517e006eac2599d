"""The page: everything in one file, nothing from outside, every text escaped, scripts bound by
their hash.
"""

import base64
import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.resources import files

from ceibo.decide.record import versions
from ceibo.report import heatmap, panels
from ceibo.report.facts import Facts
from ceibo.report.parts import panel
from ceibo.report.svg import text_of
from ceibo.study import Trial
from ceibo.text import reason_line

_REASON = 1500  # characters of a failure's last output that the page keeps


def render(facts: Facts, refresh: float | None = None) -> str:
    """The page of a study; with `refresh`, it loads itself again after that many seconds."""
    style, script = (
        files("ceibo.report").joinpath(name).read_text("utf-8") for name in ("page.css", "page.js")
    )
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src"
        f" '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    again = "" if refresh is None else f' data-refresh="{refresh:g}"'
    sections = [_header(facts)]
    if facts.best is None:
        sections.append(
            panel("empty", "Nothing measured yet", "", "Panels appear with the first measurement.")
        )
    else:
        sections += [
            _cards(facts),
            _answer(facts),
            panels.convergence(facts),
            panels.remaining(facts),
        ]
        sections += [panels.importance(facts), panels.slices(facts), heatmap.heatmap(facts)]
    sections += [_trials(facts), _settings(facts)]
    return (
        f'<!DOCTYPE html>\n<html lang="en"{again}><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="referrer" content="no-referrer"><link rel="icon" href="data:,">'
        f"<title>{text_of(facts.study.name, 100)} · ceibo</title><style>{style}</style></head>"
        f"<body><main>{''.join(sections)}</main><script>{script}</script></body></html>\n"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _header(facts: Facts) -> str:
    study = facts.study
    measured = sum(len(trial.measurements) for trial in facts.trials)
    failed = sum(trial.state == "failed" for trial in facts.trials)
    under_way = sum(trial.state in ("running", "queued") for trial in facts.trials)
    parameters = "1 parameter" if len(study.space) == 1 else f"{len(study.space)} parameters"
    parts = [
        f"{study.direction} over {parameters}",
        f"{len(facts.trials)} trials",
        f"{measured} measurements",
    ]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{under_way} under way"] if under_way else []
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    line = text_of(" · ".join([*parts, when]))
    return f"<header><h1>{text_of(study.name)}</h1><p>{line}</p></header>"


def _cards(facts: Facts) -> str:
    best, advice, raw = facts.best, facts.recommended, facts.observed
    assert best is not None
    assert advice is not None
    assert raw is not None
    sure = (
        ""
        if best.probability is None
        else f"; best of all measured with probability {best.probability:.2f}"
    )
    noise = "" if raw.noise is None else f"<small> ± {raw.noise:.2g}</small>"
    cards = [
        _card(
            "first", "Best setting measured", _pm(best.mean, best.std), f"trial {best.number}{sure}"
        ),
        _card(
            "",
            "Recommended",
            _pm(advice.mean, advice.std),
            "best by the model, perhaps never measured",
        ),
        _card(
            "raw",
            "Raw best",
            f"{raw.value:.5g}{noise}",
            f"trial {raw.number}; what a naive tool would report",
        ),
    ]
    if facts.verdict is not None:
        answer = "Stop" if facts.verdict.stop else "Go on"
        detail = text_of(f"{facts.verdict.reason}.")
        cards.append(_card("", "Another measurement?", answer, detail))
    elif facts.gains:
        cards.append(
            _card("", "Still to gain", f"{facts.gains[-1][1]:.3g}", "largest expected improvement")
        )
    return f'<div class="cards">{"".join(cards)}</div>'


def _card(kind: str, title: str, big: str, detail: str) -> str:
    return (
        f'<div class="card {kind}"><h3>{text_of(title)}</h3><div'
        f' class="big">{big}</div><p>{detail}</p></div>'
    )


def _pm(mean: float, std: float) -> str:
    return f"{mean:.5g}<small> ± {std:.2g}</small>"


def _answer(facts: Facts) -> str:
    best, advice, raw = facts.best, facts.recommended, facts.observed
    assert best is not None
    assert advice is not None
    assert raw is not None
    rows = "".join(
        f"<tr><td>{text_of(name, 60)}</td><td>{text_of(best.params[name], 80)}</td>"
        f"<td>{text_of(advice.params[name], 80)}</td></tr>"
        for name in facts.study.space.names
    )
    head = "<tr><th>Parameter</th><th>Best measured</th><th>Recommended</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
    why = f"<p>{text_of(raw.why[:1].upper() + raw.why[1:], 1000)}</p>"
    advice_text = (
        "<p>The <b>best measured</b> setting is the one whose true value is expected to be best,"
        " judged by all measurements together. The <b>recommended</b> setting is where the model"
        " expects the best value anywhere. ± is one standard deviation of what is not known about"
        " the true value.</p>"
    )
    body = f'<div class="answer">{table}<div>{why}{advice_text}</div></div>'
    return f'<section class="panel" id="answer"><h2>The answer</h2>{body}</section>'


def _trials(facts: Facts) -> str:
    names = facts.study.space.names
    failures = any(trial.reason for trial in facts.trials)
    heads = [
        "Trial",
        "State",
        "Value",
        "Noise",
        *names,
        "From",
        *(["Last failure"] if failures else []),
    ]
    head = "".join(
        f'<th scope="col"><button type="button">{text_of(name, 60)}</button></th>' for name in heads
    )
    best = None if facts.best is None else facts.best.number
    body = "".join(_row(facts, trial, failures, trial.number == best) for trial in facts.trials)
    table = (
        '<div class="scroll"><table'
        f' class="trials"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )
    note = (
        "Click a heading to sort. The best setting is highlighted; several measurements of a trial"
        " show their mean."
    )
    return panel("trials", "All trials", table, note)


def _row(facts: Facts, trial: Trial, failures: bool, best: bool) -> str:
    values = [each.value for each in trial.measurements]
    value = sum(value / len(values) for value in values) if values else None
    noise = trial.measurements[0].noise if len(values) == 1 else None
    cells = [
        _cell(trial.number),
        f'<td data-sort="{trial.state}" class="state-{trial.state}">{trial.state}</td>',
    ]
    cells += [_cell(value, _corrected(trial)), _cell(noise)]
    cells += [_cell(trial.params[name]) for name in facts.study.space.names]
    cells.append(_cell(panels.trial_source(facts, trial)))
    if failures:
        cells.append(_reason(trial.reason or ""))
    opening = '<tr class="best">' if best else "<tr>"
    return f"{opening}{''.join(cells)}</tr>"


def _corrected(trial: Trial) -> str:
    """What stands behind a value of which a part was corrected; the value before it, where the
    trial has only one.
    """
    if not any(trial.replaced):
        return ""
    return (
        f" (corrected, was {trial.replaced[0][-1].value:.6g})"
        if len(trial.replaced) == 1
        else " (corrected)"
    )


def _cell(value: object, note: str = "") -> str:
    if value is None:
        return '<td data-sort=""></td>'
    exact = repr(value) if isinstance(value, float) else text_of(value, 100)
    return f'<td data-sort="{exact}">{text_of(value, 100)}{note}</td>'


def _reason(reason: str) -> str:
    lines = reason.strip().splitlines()
    if not lines:
        return '<td data-sort=""></td>'
    last = reason_line(reason)
    if len(lines) == 1 and len(last) <= 160:
        return f'<td class="reason" data-sort="{text_of(last, 100)}">{text_of(last)}</td>'
    kept = text_of(reason[-_REASON:], _REASON)
    return (
        '<td class="reason"'
        f' data-sort="{text_of(last, 100)}"><details><summary>{text_of(last, 160)}</summary>'
        f"<pre>{kept}</pre></details></td>"
    )


def _settings(facts: Facts) -> str:
    study = facts.study
    general = [("study", study.name), ("direction", study.direction), ("seed", study.seed)]
    settings = study.settings.to_json() | {"n_initial": facts.initial}
    general += [(key.replace("_", " "), value) for key, value in settings.items()]
    general += [("price of a measurement, κ", facts.cost)] if facts.cost is not None else []
    space = [(name, each.describe()) for name, each in study.space.dimensions.items()]
    tables = "".join(
        '<div><table class="settings"><caption'
        f" hidden>{title}</caption><tbody>{_rows(rows)}</tbody></table></div>"
        for title, rows in (
            ("settings", general),
            ("space", space),
            ("versions", [*versions().items()]),
            ("fit", facts.fit),
        )
    )
    note = (
        "A study with these settings, this seed and these measurements makes the same suggestions"
        " again."
    )
    return panel("settings", "Settings and versions", f'<div class="two">{tables}</div>', note)


def _rows(rows: Iterable[tuple[object, object]]) -> str:
    return "".join(
        f"<tr><td>{text_of(key, 100)}</td><td>{text_of(value)}</td></tr>" for key, value in rows
    )
