"""What to do next: the trials under way with a form each, the queue, and the plan on paper."""

from collections.abc import Mapping
from typing import Any, Final

from ceibo.decide import Outcomes, Space
from ceibo.decide.dimensions.dial import to_dial
from ceibo.decide.outcome_words import wish_of
from ceibo.report.svg import text_of
from ceibo.study import Trial
from ceibo.text import plural
from ceibo.web.block_field import UsualBlock
from ceibo.web.forms import field, hidden, step, submit

_MOST_CARDS: Final = 100
_MOST_ON_PAPER: Final = 8  # parameters of a plan that is a table on paper
_WIDTH_OF_DIAL: Final = 18  # millimetres of the column of a parameter on paper
_WIDTH_OF_BLANK: Final = 22  # of one to write in
_WIDTH_FOR_BOTH: Final = 145  # of both kinds, if what was really used is to have a column too


def next_part(
    trials: tuple[Trial, ...], space: Space, outcomes: Outcomes | None, workers: Mapping[int, str]
) -> str:
    """The cards of the trials under way, what workers measure, and the queue."""
    running = [trial for trial in trials if trial.state == "running"]
    by_hand = [trial for trial in running if trial.number not in workers]
    elsewhere = [trial for trial in running if trial.number in workers]
    queued = [trial for trial in trials if trial.state == "queued"]
    usual = UsualBlock.of(trials)
    parts = [
        _card(trial, space, value_fields(trial, outcomes, f"t{trial.number}", again=False), usual)
        for trial in by_hand[:_MOST_CARDS]
    ]
    if not by_hand:
        text = "Nothing waits for a value. Ask for trials above, or choose a setting of your own"
        parts.append(f'<p class="note" id="nothing">{text} in the profiler.</p>')
    if len(by_hand) > _MOST_CARDS:
        left = plural(len(by_hand) - _MOST_CARDS, "more trial")
        parts.append(
            f'<p class="note" id="more">{left} under way; they are in the table below.</p>'
        )
    parts += [_at_work(trial, space, workers[trial.number]) for trial in elsewhere]
    parts += [_waiting(trial, space) for trial in queued]
    return "".join(parts) + _paper(by_hand, space, outcomes, usual)


def settings_of(trial: Trial, space: Space) -> str:
    """The parameters of a trial as a person would dial them."""
    rows = []
    for name, value in trial.params.items():
        known = space.dimensions.get(name)
        shown = str(value) if known is None else to_dial(known, value)
        exact = f' title="{text_of(repr(value))}"' if isinstance(value, float) else ""
        rows.append(
            f"<div><dt>{text_of(name, 200)}</dt><dd{exact}>{text_of(shown, 200)}</dd></div>"
        )
    return f'<dl class="dials">{"".join(rows)}</dl>'


def value_fields(trial: Trial, outcomes: Outcomes | None, prefix: str, *, again: bool) -> str:
    """The fields of what was measured: a value or replicates, and the noise, of each outcome.

    Those that the trial has are shown as told, unless they are told again.
    """
    if outcomes is None:
        return _value_row(0, "", "", prefix)
    rows = []
    for place, (name, each) in enumerate(outcomes.items()):
        told = trial.outcomes.get(name)
        if told and not again:
            values = text_of(", ".join(map(str, told)))
            rows.append(f'<p class="told"><b>{text_of(name, 100)}</b> {values}</p>')
            continue
        unit = f" ({each.unit})" if each.unit else ""
        rows.append(_value_row(place, f"{name}{unit}", wish_of(each), prefix))
    return "".join(rows)


def _value_row(place: int, name: str, wish: str, prefix: str) -> str:
    label = name or "Value"
    wished = f", {wish}" if wish else ""
    hint = "number, or replicates"
    value = field(f"{prefix}-value-{place}", f"{label}{wished}", "value", hint=hint, mode="decimal")
    noise = field(f"{prefix}-noise-{place}", "± if known", "noise", mode="decimal")
    return f'<div class="measured" data-outcome="{place}">{value}{noise}</div>'


def _card(trial: Trial, space: Space, fields: str, usual: UsualBlock) -> str:
    number = trial.number
    prefix = f"t{number}"
    version = f"{trial.attempt}.{len(trial.measurements)}.{len(trial.voided)}"
    form = (
        f'<form data-action="tell">{hidden("trial", number)}{hidden("attempt", trial.attempt)}'
        f"{fields}"
        f'<div class="beside">{usual.field(f"{prefix}-block")}'
        f"{field(f'{prefix}-notes', 'Notes', 'notes')}</div>"
        f"{submit('Record')}</form>"
    )
    aside = [
        step(
            "Failed…",
            "fail",
            hidden("trial", number) + field(f"{prefix}-why", "Why it failed", "reason"),
            f"Record trial {number} as failed",
        ),
        step(
            "Not now…",
            "release",
            hidden("trial", number)
            + "<p>It goes back to the queue, and is the next asked for.</p>",
            f"Put trial {number} back",
        ),
        step(
            "Withdraw…",
            "withdraw",
            hidden("trial", number) + "<p>It will not be handed out again.</p>",
            f"Withdraw trial {number}",
        ),
    ]
    voided = "".join(
        f'<p class="note">{text_of(str(each.measurement))} is void: {text_of(each.reason)}</p>'
        for each in trial.voided
    )
    identity = f'id="card-{number}" data-version="{version}"'
    said = f'<span class="expected" data-trial="{number}"></span>'
    body = f'{voided}{form}<div class="steps">{"".join(aside)}</div>'
    return _folded(f'class="trial" {identity}', trial, space, said, body)


def _at_work(trial: Trial, space: Space, worker: str) -> str:
    identity = f'class="trial quiet" id="card-{trial.number}" data-version="worker"'
    said = f"<small>measured by worker {text_of(worker, 80)}</small>"
    return _folded(identity, trial, space, said, "")


def _waiting(trial: Trial, space: Space) -> str:
    away = step(
        "Withdraw…",
        "withdraw",
        hidden("trial", trial.number) + "<p>It will not be handed out.</p>",
        f"Withdraw trial {trial.number}",
    )
    identity = f'class="trial quiet" id="q{trial.number}" data-version="queued"'
    said = "<small>waits in the queue</small>"
    return _folded(identity, trial, space, said, f'<div class="steps">{away}</div>')


def _folded(identity: str, trial: Trial, space: Space, said: str, body: str) -> str:
    """The card of a trial, folded to a line with its settings."""
    line = ", ".join(f"{text_of(n, 60)} {_dialled(trial, n, space)}" for n in trial.params)
    return (
        f'<article {identity}><details class="fold"><summary><h3>Trial {trial.number} {said}</h3>'
        f'<span class="line">{line}</span></summary>{settings_of(trial, space)}{body}'
        "</details></article>"
    )


def _paper(trials: list[Trial], space: Space, outcomes: Outcomes | None, usual: UsualBlock) -> str:
    """The plan as it is printed, with room to write."""
    if not trials:
        return '<div id="plan" class="paper"><p>Nothing is to be measured.</p></div>'
    blanks = ["value", "±"] if outcomes is None else []
    for name, each in (outcomes or {}).items():
        blanks.append(f"{name} ({each.unit})" if each.unit else name)
    names = list(space.names)
    if len(names) > _MOST_ON_PAPER:
        lines = [*blanks, usual.head, "really used, if different", "notes"]
        sheets = "".join(_paper_card(trial, space, lines) for trial in trials)
        return f'<div id="plan" class="paper">{sheets}</div>'
    asides = ["really used, if different", "notes"]
    if _WIDTH_OF_DIAL * len(names) + _WIDTH_OF_BLANK * len(blanks) > _WIDTH_FOR_BOTH:
        asides = ["notes"]
    heads = [("", each) for each in ("Trial", *names)] + [("expected", "expected")]
    heads += [("blank", each) for each in (*blanks, usual.head)]
    heads += [("blank wide", each) for each in asides]
    head = "".join(f'<th scope="col" class="{k}">{text_of(each, 60)}</th>' for k, each in heads)
    empty = "".join(f'<td class="{kind}"></td>' for kind, _ in heads[len(names) + 2 :])
    rows = []
    for trial in trials:
        cells = [str(trial.number), *(_dialled(trial, name, space) for name in names)]
        filled = "".join(f"<td>{cell}</td>" for cell in cells)
        expected = f'<td class="expected" data-trial="{trial.number}"></td>'
        rows.append(f"<tr>{filled}{expected}{empty}</tr>")
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<div id="plan" class="paper">{table}</div>'


def _paper_card(trial: Trial, space: Space, names: list[str]) -> str:
    """A trial with very many parameters, on paper."""
    lines = "".join(f"<p>{text_of(name, 60)}: ____________</p>" for name in names)
    return (
        f'<div class="sheet"><h3>Trial {trial.number} <span class="expected"'
        f' data-trial="{trial.number}"></span></h3>{settings_of(trial, space)}{lines}</div>'
    )


def _dialled(trial: Trial, name: str, space: Space) -> str:
    if name not in trial.params:
        return "–"
    known, value = space.dimensions.get(name), trial.params[name]
    return text_of(str(value) if known is None else to_dial(known, value), 60)


def expected_texts(rows: list[dict[str, Any]]) -> str:
    """What is believed at the setting of a trial, on one line."""
    if len(rows) == 1 and rows[0]["name"] == "objective":
        return str(rows[0]["text"])
    return ", ".join(f"{row['name']} {row['text']}" for row in rows)
