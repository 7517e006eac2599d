"""All trials of a study as CSV, which comes back as it was."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ceibo.decide import Measurement
from ceibo.decide.block_names import DEFAULT_KIND
from ceibo.decide.space import Params
from ceibo.sheets.cells import guard
from ceibo.sheets.columns import FIRST, LAST, Columns, columns_for
from ceibo.sheets.importing import rows_of
from ceibo.sheets.text_form import PLAIN, TextForm
from ceibo.study import Study, Trial
from ceibo.text import to_text

Row = Mapping[str, Measurement]  # by outcome, "" where there is one objective


def to_csv(study: Study, form: TextForm = PLAIN) -> str:
    """The trials of a study: a row per measurement, or per trial without one.

    With outcomes a row has the next measurement of each. Replicates are separated by spaces.
    Blocks, counts, notes and dates have columns at the end, if there are any. No cell is a formula
    (cells.py), and numbers have all their digits.
    """
    columns = columns_for(study.space.names, study.outcomes)
    trials = study.trials
    rows = [(trial, row) for trial in trials for row in _rows(trial)]
    further = _further(columns, [row for _, row in rows])
    heads = [*FIRST, *(column for each in columns.told.values() for column in each), *LAST]
    heads += [*columns.params.values(), *(head for head, _ in further)]
    named = {"notes": columns.notes, "date": columns.date}
    kept = [each for each in named if any(_attribute(trial, each) for trial in trials)]
    heads += [named[each] for each in kept]
    lines: list[list[object]] = [list(map(guard, heads))]
    for trial, row in rows:
        told = [cell for name in columns.told for cell in _cells(row.get(name), form)]
        params = [cell_of(trial.params, name, form) for name in columns.params]
        first = [trial.number, trial.state, *told, guard(trial.reason or "")]
        last = [*(cell(row) for _, cell in further), *(_attribute(trial, each) for each in kept)]
        lines.append([*first, *params, *map(guard, last)])
    return form.table(lines)


def _attribute(trial: Trial, name: str) -> str:
    """What a worksheet or a page kept with a trial; empty if it did not."""
    value = trial.attributes.get(name, "")
    return value if isinstance(value, str) else ""


def _rows(trial: Trial) -> list[dict[str, Measurement]]:
    """The rows of a trial: measurements by outcome, "" where there is one objective."""
    if trial.names:
        return rows_of(trial)
    return [{"": each} for each in trial.measurements] or [{}]


def _further(columns: Columns, rows: Sequence[Row]) -> list[tuple[str, Callable[[Row], str]]]:
    """The columns of blocks and counts that were told: headers, and the cell of a row."""
    told = [each for row in rows for each in row.values()]
    kinds = dict.fromkeys(kind for each in told for kind, _ in each.block)
    counted = dict.fromkeys(
        name for row in rows for name, each in row.items() if each.count is not None
    )
    # the outcomes of a row may have been measured on different days
    uneven = any(len({each.block for each in row.values()}) > 1 for row in rows)
    found: list[tuple[str, Callable[[Row], str]]] = []
    for name in columns.told if uneven else [None]:
        before = columns.block if name is None else f"{name} {columns.block}"
        for kind in kinds:
            head = f"{before} {'' if kind == DEFAULT_KIND else kind}".strip()
            found.append((head, partial(_block, name, kind)))
    return found + [(columns.counts[name], partial(_count, name)) for name in counted]


def _block(name: str | None, kind: str, row: Row) -> str:
    """The block of an outcome in a row, or of any of them."""
    told = row.values() if name is None else [row[name]] if name in row else []
    return next((dict(each.block).get(kind, "") for each in told), "")


def _count(name: str, row: Row) -> str:
    count = row[name].count if name in row else None
    return "" if count is None else str(count)


def _cells(measurement: Measurement | None, form: TextForm) -> tuple[str, str, str]:
    """The cells of a value, its noise and its replicates."""
    if measurement is None:
        return "", "", ""
    noise = "" if measurement.noise is None else form.number(measurement.noise)
    value = measurement.value
    if measurement.replicates:  # which are written exactly, and have this mean
        value = float(f"{value:.15g}")
    return form.number(value), noise, _replicates(measurement.replicates, form)


def cell_of(params: Params, name: str, form: TextForm = PLAIN) -> str:
    """The value of a parameter as a cell, which is empty where it does not exist."""
    if name not in params:
        return ""
    value = params[name]
    if isinstance(value, float):
        return form.number(value)
    return guard(value) if isinstance(value, str) else to_text(value)


def _replicates(values: Sequence[float], form: TextForm) -> str:
    """Replicates as a cell; several are no number, and -1.0 -2.0 would be run as a difference."""
    text = " ".join(map(form.number, values))
    return guard(text) if len(values) > 1 else text
