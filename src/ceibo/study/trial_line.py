"""A trial on one line, for people."""

from collections.abc import Sequence

from ceibo.decide.measurement import Measurement
from ceibo.study.trial import Trial
from ceibo.text import one_line, params_line, reason_line


def trial_line(trial: Trial) -> str:
    """Number, outcome and parameters of a trial."""
    return f"{trial.number:>5}  {outcome_line(trial):<22}  {params_line(trial.params, 40)}"


def outcome_line(trial: Trial) -> str:
    """The outcome of a trial: its last value, why it failed, or its state."""
    if trial.measurements:
        count = len(trial.measurements)
        more = f" (+{count - 1})" if count > 1 else ""
        return f"{trial.measurements[-1]}{_correction(trial.replaced[-1])}{more}"
    if trial.state == "failed":
        return f"failed: {one_line(reason_line(trial.reason or ''), 80)}"
    return trial.state


def _correction(replaced: Sequence[Measurement]) -> str:
    """A note about the value that a corrected one replaces."""
    return f" (corrected, was {replaced[-1]})" if replaced else ""
