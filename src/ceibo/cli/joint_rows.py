"""The rows of a table as trials of a study with outcomes."""

from pathlib import Path

from ceibo.cli.cells import unguard
from ceibo.cli.joint_columns import FIRST, LAST, columns_of, parameter_columns
from ceibo.cli.rows import FAILED, Rows, measurement_of, param_places, params_of, trial_in
from ceibo.cli.spreadsheet import Numbers, Table, read_table
from ceibo.decide import Measurement, Outcomes
from ceibo.decide.frame import Frame
from ceibo.decide.space import Params
from ceibo.errors import InputError
from ceibo.study import Failure

Places = tuple[int | None, ...]  # of the columns of an outcome, in a row
JointRow = tuple[Params, dict[str, Measurement] | Failure]


def read_joint_rows(path: Path, frame: Frame, outcomes: Outcomes) -> Rows:
    """The rows of a file; an outcome without a value in a row was not measured there."""
    names = parameter_columns(frame.space.names, outcomes)
    columns = columns_of(outcomes)
    usual = [column for each in columns.values() for column in each]
    table = read_table(path, [*names.values(), *usual, *FIRST, *LAST])
    params = param_places(table, names, frame)

    def place_of(column: str) -> int | None:
        return table.column(column, loosely=True, but=params.values())

    told = {name: tuple(map(place_of, each)) for name, each in columns.items()}
    if all(value is None and several is None for value, _, several in told.values()):
        raise table.no_column(columns[outcomes.goals[0]].value)
    others = place_of("state"), place_of("reason")
    trial = place_of("trial")
    numbers = Numbers(table.separator)
    rows, trials = [], []
    for line, cells in table.rows:
        try:
            result = _result(told, others, cells, numbers)
            row = None if result is None else (params_of(frame, params, cells, numbers), result)
        except InputError as error:
            raise InputError(f"{path}, line {line}: {error}") from None
        if row is not None:
            rows.append(row)
            trials.append(trial_in(cells, trial, others[0]))
    blank = len(table.rows) - len(rows)
    return Rows(tuple(rows), blank, table.note, _absent(table, told), tuple(trials))


def _absent(table: Table, told: dict[str, Places]) -> str | None:
    """Says which outcomes a table has no column of."""
    absent = [name for name, (value, _, several) in told.items() if value is several is None]
    if not absent:
        return None
    return f"{table.path} has no column of {', '.join(absent)}; tell them when they are known."


def _result(
    told: dict[str, Places], others: Places, cells: tuple[str, ...], numbers: Numbers
) -> dict[str, Measurement] | Failure | None:
    """What was measured in a row, or why nothing was; None if it says neither."""

    def cell(place: int | None) -> str:
        return "" if place is None else cells[place].strip()

    found: dict[str, Measurement] = {}
    for name, places in told.items():
        value, noise, replicates = map(cell, places)
        try:
            measurement = measurement_of(value, noise, unguard(replicates), numbers)
        except InputError as error:
            raise InputError(f"{name!r}: {error}") from None
        if measurement is not None:
            found[name] = measurement
    state, reason = map(cell, others)
    if not found and state.casefold() == "failed":
        return Failure(unguard(reason) or FAILED)
    return found or None
