"""A trial on one line, for people."""

from collections.abc import Sequence

from ceibo.decide.direction import Direction
from ceibo.decide.measurement import Measurement
from ceibo.decide.outcomes import Outcomes
from ceibo.study.trial import Trial
from ceibo.text import one_line, params_line, reason_line


def trial_line(trial: Trial, *, is_live: bool = False) -> str:
    """Number, outcome and parameters of a trial; of one just measured, rounded to its noise."""
    outcome = outcome_line(trial, is_live=is_live)
    return f"{trial.number:>5}  {outcome:<22}  {params_line(trial.params, 40)}"


def outcome_line(trial: Trial, *, is_live: bool = False) -> str:
    """The outcome of a trial: its last value, why it failed, or its state."""
    if trial.names:
        told = ", ".join(f"{name} {_last(trial, name, is_live)}" for name in trial.outcomes)
        return told if trial.state == "done" else f"{told}; {_state(trial)}"
    if trial.measurements:
        return _last(trial, None, is_live)
    return _state(trial)


def aims_line(outcomes: Outcomes) -> str:
    """What the goals and limits of a study are."""
    aims = []
    for name, each in outcomes.items():
        unit = f" {each.unit}" if each.unit else ""
        if each.is_goal:
            aims.append(f"{each.direction} {name}")
        elif each.bound is not None:
            sign = "≤" if each.direction is Direction.MINIMIZE else "≥"
            aims.append(f"{name} {sign} {each.bound:g}{unit}")
    return ", ".join(aims)


def _state(trial: Trial) -> str:
    """Why a trial has failed, or its state, and what was voided if nothing else is known."""
    if trial.state == "failed":
        return f"failed: {one_line(reason_line(trial.reason or ''), 80)}"
    if trial.repeats > 1 and trial.state in ("queued", "running"):
        return f"{trial.state}, measure it {trial.repeats} times"
    if trial.voided and not trial.measurements:
        voided = trial.voided[-1]
        return f"{trial.state} ({voided.measurement} voided: {one_line(voided.reason, 60)})"
    return trial.state


def _last(trial: Trial, name: str | None, is_live: bool) -> str:
    """The last value of a trial, or of one of its outcomes, with what it replaces."""
    rows = [i for i in range(len(trial.measurements)) if name in (None, *trial.names[i : i + 1])]
    more = f" (+{len(rows) - 1})" if len(rows) > 1 else ""
    last = trial.measurements[rows[-1]]
    told = last.rounded if is_live else str(last)
    return f"{told}{_correction(trial.replaced[rows[-1]])}{more}"


def _correction(replaced: Sequence[Measurement]) -> str:
    """A note about the value that a corrected one replaces."""
    return f" (corrected, was {replaced[-1]})" if replaced else ""
