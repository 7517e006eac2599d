"""One trial, opened: what is known of it, and what can be done about it."""

from datetime import datetime

from ceibo.decide import Outcomes, Space
from ceibo.report.panels.trials import shown_state
from ceibo.report.svg import text_of
from ceibo.study.store import StoredTrial
from ceibo.study.trial import Trial, trial_of
from ceibo.web.block_field import UsualBlock
from ceibo.web.entries import written_block, written_noise
from ceibo.web.forms import field, hidden, step, submit
from ceibo.web.plan import settings_of, value_fields


def trial_part(
    stored: StoredTrial, space: Space, outcomes: Outcomes | None, usual: UsualBlock
) -> str:
    """The inside of the dialog of a trial."""
    trial, number = trial_of(stored), stored.number
    names = ("",) if outcomes is None else outcomes.names
    parts = [f"<h2>Trial {number}</h2><p>{_standing(trial)}</p>", settings_of(trial, space)]
    for place, each in enumerate(stored.measurements):
        parts.append(_measurement(stored, place, names.index(each.outcome), usual))
    for bad in stored.voided:
        of = f"{text_of(bad.told.outcome, 100)} " if bad.told.outcome else ""
        value = text_of(str(bad.told.measurement))
        parts.append(f'<p class="void">{of}<s>{value}</s> is void: {text_of(bad.reason)}</p>')
    if trial.reason:
        parts.append(f"<pre>{text_of(trial.reason[-1500:], 1500)}</pre>")
    parts.append(_attributes(trial))
    if stored.measurements:
        note = hidden("trial", number) + field("note", "Notes", "notes", value=_note(trial))
        noted = step("Note…", "note", note, "Keep this note", "main")
        parts.append(f'<div class="steps">{_repeat(trial, outcomes, usual)}{noted}</div>')
    elif trial.state in ("failed", "withdrawn"):
        parts.append(_late(trial, outcomes, usual))
    return "".join(parts)


def _note(trial: Trial) -> str:
    """The note that a trial has, to be changed or added to."""
    notes = trial.attributes.get("notes", "")
    return notes if isinstance(notes, str) else ""


def _standing(trial: Trial) -> str:
    words = [f'<span class="state-{text_of(trial.state, 20)}">{shown_state(trial)}</span>']
    for word, moment in (("handed out", trial.started), ("ended", trial.ended)):
        if moment is not None:
            words.append(f"{word} {_time(moment)}")
    return " · ".join(words)


def _time(moment: datetime) -> str:
    return f'<time datetime="{moment.isoformat()}">{moment.strftime("%Y-%m-%d %H:%M UTC")}</time>'


def _measurement(stored: StoredTrial, which: int, place: int, usual: UsualBlock) -> str:
    """A value with what it replaces, and the steps that correct or void it."""
    each, prefix = stored.measurements[which], f"m{which}"
    of = f"<b>{text_of(each.outcome, 100)}</b> " if each.outcome else ""
    replaced = ", ".join(str(wrong) for wrong in each.replaced)
    before = f" <small>corrected, was {text_of(replaced)}</small>" if replaced else ""
    several = " ".join(f"{value:.6g}" for value in each.measurement.replicates)
    spread = f" <small>mean of {text_of(several)}</small>" if several else ""
    carried = (
        hidden("trial", stored.number)
        + hidden("told", each.seq)
        + hidden("version", each.version)
        + hidden("outcome", place)
    )
    label, hint = "The right value, or replicates", "stays if left empty"
    right = field(f"{prefix}-right", label, "value", hint=hint, mode="decimal")
    begun = written_noise(each.measurement)
    right += field(f"{prefix}-noise", "± if known", "noise", mode="decimal", value=begun)
    right += usual.field(f"{prefix}-block", written_block(each.measurement.block, usual.kind))
    why = field(f"{prefix}-why", "Why it does not count", "reason")
    value = text_of(str(each.measurement))
    steps = step("Correct…", "correct", carried + right, f"Correct {each.measurement}")
    steps += step("Void…", "void", carried + why, f"Void {each.measurement}")
    said = f"<p>{of}{value}{spread}{before}</p>"
    return f'<div class="value">{said}<div class="steps">{steps}</div></div>'


def _repeat(trial: Trial, outcomes: Outcomes | None, usual: UsualBlock) -> str:
    """A further measurement of the same setting, under a key of its own."""
    body = hidden("trial", trial.number) + hidden("attempt", trial.attempt)
    body += value_fields(trial, outcomes, "again", again=True)
    body += f'<div class="beside">{usual.field("again-block")}'
    body += f"{field('again-notes', 'Notes', 'notes')}</div>"
    form = f'<form data-action="tell" data-keyed="yes">{body}{submit("Record it too")}</form>'
    return f"<details><summary>Measured again…</summary>{form}</details>"


def _late(trial: Trial, outcomes: Outcomes | None, usual: UsualBlock) -> str:
    """A value of a trial that was given up."""
    body = hidden("trial", trial.number) + hidden("attempt", trial.attempt)
    body += value_fields(trial, outcomes, "late", again=False)
    body += f'<div class="beside">{usual.field("late-block")}'
    body += f"{field('late-notes', 'Notes', 'notes')}</div>"
    form = f'<form data-action="tell">{body}{submit("Record")}</form>'
    opening = "<summary>There is a value after all…</summary>"
    return f'<div class="steps"><details>{opening}{form}</details></div>'


def _attributes(trial: Trial) -> str:
    if not trial.attributes:
        return ""
    rows = "".join(
        f"<div><dt>{text_of(name, 100)}</dt><dd>{text_of(value, 1000)}</dd></div>"
        for name, value in trial.attributes.items()
    )
    return f'<dl class="dials">{rows}</dl>'
