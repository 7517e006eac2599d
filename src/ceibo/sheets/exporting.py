"""All trials of a study as CSV, which comes back as it was."""

import csv
import io
from collections.abc import Sequence

from ceibo.decide import Measurement, Outcomes
from ceibo.decide.space import Params
from ceibo.sheets.cells import guard
from ceibo.sheets.columns import EXPORTED, FIRST, LAST, columns_of, parameter_columns
from ceibo.sheets.importing import rows_of
from ceibo.study import Study
from ceibo.text import to_text


def to_csv(study: Study) -> str:
    """The trials of a study; no cell is a formula (cells.py), and numbers are as they are."""
    if study.outcomes is None:
        return _one_csv(study)
    return _joint_csv(study, study.outcomes)


def _one_csv(study: Study) -> str:
    """One row per measurement, or per trial without one; replicates are separated by spaces."""
    columns = parameter_columns(study.space.names, None)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([*EXPORTED, *map(guard, columns.values())])
    for trial in study.trials:
        params = [cell_of(trial.params, name) for name in columns]
        for each in trial.measurements or (None,):
            reason = guard(trial.reason or "")
            writer.writerow([trial.number, trial.state, *_cells(each), reason, *params])
    return text.getvalue()


def _joint_csv(study: Study, outcomes: Outcomes) -> str:
    """One row per trial with the columns of every outcome; repeated values make further rows."""
    columns = columns_of(outcomes)
    params = parameter_columns(study.space.names, outcomes)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    told = [column for each in columns.values() for column in each]
    writer.writerow([*FIRST, *map(guard, told), *LAST, *map(guard, params.values())])
    for trial in study.trials:
        setting = [cell_of(trial.params, name) for name in params]
        for row in rows_of(trial):
            cells = [cell for name in columns for cell in _cells(row.get(name))]
            reason = guard(trial.reason or "")
            writer.writerow([trial.number, trial.state, *cells, reason, *setting])
    return text.getvalue()


def _cells(measurement: Measurement | None) -> tuple[str, str, str]:
    """The cells of a value, its noise and its replicates."""
    if measurement is None:
        return "", "", ""
    noise = "" if measurement.noise is None else repr(measurement.noise)
    value = repr(measurement.value)
    if measurement.replicates:  # which are written exactly, and have this mean
        value = repr(float(f"{measurement.value:.15g}"))
    return value, noise, _replicates(measurement.replicates)


def cell_of(params: Params, name: str) -> str:
    """The value of a parameter as a cell, which is empty where it does not exist."""
    if name not in params:
        return ""
    value = params[name]
    return guard(value) if isinstance(value, str) else to_text(value)


def _replicates(values: Sequence[float]) -> str:
    """Replicates as a cell; several are no number, and -1.0 -2.0 would be run as a difference."""
    text = " ".join(map(repr, values))
    return guard(text) if len(values) > 1 else text
