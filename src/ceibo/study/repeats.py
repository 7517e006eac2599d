"""Repeated measurements of a trial: how many there are, and what their spread says of the noise."""

import math
import statistics

from ceibo.decide.measurement import Measurement
from ceibo.decide.outcome_words import with_unit
from ceibo.numbers import rounded
from ceibo.study.trial import Trial


def noise_of(measurement: Measurement) -> float | None:
    """The standard deviation of a value: told, or of a mean by the spread of its replicates."""
    if measurement.noise is not None:
        return measurement.noise
    return _standard_error(measurement.replicates)


def noise_of_mean(trial: Trial) -> float | None:
    """The standard deviation of the mean of a trial's values, where it is known."""
    told = trial.measurements
    if len(told) == 1:
        return noise_of(told[0])
    known = [each.noise for each in told if each.noise is not None]
    if known and len(known) == len(told):
        return math.hypot(*(noise / len(told) for noise in known))
    return _standard_error([each.value for each in told])


def measured_line(trial: Trial, outcome: str = "", unit: str = "") -> str:
    """What a trial measured, beside what is estimated there: "trial 3 measured 19.9 %"."""
    told = trial.outcomes.get(outcome, ()) if outcome else trial.measurements
    values = [value for each in told for value in each.replicates or (each.value,)]
    if not values:
        return f"trial {trial.number}"
    mean = with_unit(rounded(sum(value / len(values) for value in values)), unit)
    often = f" on average of {len(values)}" if len(values) > 1 else ""
    return f"trial {trial.number} measured {mean}{often}"


def repeats_of(trial: Trial) -> int:
    """How many values a trial has, those behind a mean or a standard error counted one by one."""
    return sum(each.count or max(len(each.replicates), 1) for each in trial.measurements)


def _standard_error(values: tuple[float, ...] | list[float]) -> float | None:
    if len(values) < 2:
        return None
    largest = max(map(abs, values)) or 1.0
    # in units in which squares neither overflow nor vanish
    scaled = [value / largest for value in values]
    return largest * (statistics.stdev(scaled) / math.sqrt(len(values)))
