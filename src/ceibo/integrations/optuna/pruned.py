"""Pruned trials as measurements: where a trial that was stopped early would have ended.

An early report is not comparable with a final value: learning curves fall. So the last report of a
pruned trial is shifted by the median of (final value − report at the same step) over the finished
trials that report there. Without such a trial it stands as it is.
"""

import math
import statistics
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, final

from optuna.trial import FrozenTrial, TrialState


@final
class Report(NamedTuple):
    """An intermediate value and its step."""

    step: int
    value: float


def last_report(trial: FrozenTrial) -> Report | None:
    """The last report of a pruned trial; None if it has none, or one that is not finite."""
    if trial.state is not TrialState.PRUNED or not trial.intermediate_values:
        return None
    step = max(trial.intermediate_values)
    value = trial.intermediate_values[step]
    return Report(step, value) if math.isfinite(value) else None


@final
@dataclass(frozen=True)
class Curves:
    """The reports of the finished trials."""

    finished: Sequence[FrozenTrial]
    # Shifts found before: many trials are pruned at the same step.
    _memory: dict[int, float] = field(default_factory=dict, repr=False, compare=False)

    def extrapolate(self, report: Report) -> float:
        """The final value that a report leads to expect."""
        if report.step not in self._memory:
            self._memory[report.step] = self._shift(report.step)
        expected = report.value + self._memory[report.step]
        return expected if math.isfinite(expected) else report.value

    def _shift(self, step: int) -> float:
        """The median change from the report at a step, or the last before it, to the end."""
        changes = []
        for trial in self.finished:
            steps = sorted(trial.intermediate_values)
            before = bisect_right(steps, step)
            if before == 0 or trial.value is None:
                continue
            change = trial.value - trial.intermediate_values[steps[before - 1]]
            if math.isfinite(change):
                changes.append(change)
        return statistics.median(changes) if changes else 0.0
