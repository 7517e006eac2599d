"""All trials of a study as CSV, which comes back as it was."""

import csv
import io
from collections.abc import Iterable, Sequence

from ceibo.decide import Measurement
from ceibo.decide.block_names import DEFAULT_KIND
from ceibo.decide.space import Params
from ceibo.sheets.cells import guard
from ceibo.sheets.columns import FIRST, LAST, columns_for
from ceibo.sheets.importing import rows_of
from ceibo.study import Study, Trial
from ceibo.text import to_text


def to_csv(study: Study) -> str:
    """The trials of a study: a row per measurement, or per trial without one.

    With outcomes a row has the next measurement of each. Replicates are separated by spaces. Blocks
    and counts have columns at the end, if there are any. No cell is a formula (cells.py), and
    numbers are as they are.
    """
    columns = columns_for(study.space.names, study.outcomes)
    trials = study.trials
    kinds, counted = _further(trials)
    heads = [*FIRST, *(column for each in columns.told.values() for column in each), *LAST]
    heads += columns.params.values()
    heads += [f"{columns.block} {'' if kind == DEFAULT_KIND else kind}".strip() for kind in kinds]
    heads += [columns.counts[name] for name in counted]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(map(guard, heads))
    for trial in trials:
        params = [cell_of(trial.params, name) for name in columns.params]
        for row in _rows(trial):
            cells = [cell for name in columns.told for cell in _cells(row.get(name))]
            block = next((dict(each.block) for each in row.values() if each.block), {})
            named = [guard(block.get(kind, "")) for kind in kinds]
            counts = [_count(row.get(name)) for name in counted]
            first = [trial.number, trial.state, *cells, guard(trial.reason or "")]
            writer.writerow([*first, *params, *named, *counts])
    return text.getvalue()


def _rows(trial: Trial) -> list[dict[str, Measurement]]:
    """The rows of a trial: measurements by outcome, "" where there is one objective."""
    if trial.names:
        return rows_of(trial)
    return [{"": each} for each in trial.measurements] or [{}]


def _further(trials: Iterable[Trial]) -> tuple[list[str], list[str]]:
    """The kinds of blocks that were told, and the outcomes with counted noises."""
    kinds: dict[str, None] = {}
    counted: dict[str, None] = {}
    for trial in trials:
        names = trial.names or ("",) * len(trial.measurements)
        for name, each in zip(names, trial.measurements, strict=True):
            kinds.update(dict.fromkeys(kind for kind, _ in each.block))
            if each.count is not None:
                counted[name] = None
    return list(kinds), list(counted)


def _count(measurement: Measurement | None) -> str:
    count = None if measurement is None else measurement.count
    return "" if count is None else str(count)


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
