"""A study as a table, for those who have pandas."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ceibo.decide.block_names import DEFAULT_KIND
from ceibo.decide.measurement import Measurement
from ceibo.study.trial import Trial

if TYPE_CHECKING:
    import pandas


@runtime_checkable
class Frame(Protocol):
    """What is asked of a pandas DataFrame."""

    def to_dict(self, orient: Any) -> Any: ...
    def to_records(self) -> Any: ...


OUTCOME = ("number", "state", "value", "noise", "replicates", "reason")
TRIAL = ("number", "state", "reason")


def to_dataframe(trials: Sequence[Trial], names: Sequence[str]) -> "pandas.DataFrame":
    """One row per measurement, or per trial without one; see `column_names`."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("Study.to_dataframe needs pandas: pip install pandas") from error
    rows = []
    further = further_columns(each for trial in trials for each in trial.measurements)
    columns = column_names(names, [*OUTCOME, *further])
    for trial in trials:
        params = {columns[name]: value for name, value in trial.params.items()}
        for each in trial.measurements or (None,):
            told: tuple[float | None, float | None, int] = (None, None, 0)
            more: dict[str, int | str] = {}
            if each is not None:
                told = (each.value, each.noise, len(each.replicates))
                more = _further(each)
            fields = (trial.number, trial.state, *told, trial.reason)
            rows.append(dict(zip(OUTCOME, fields, strict=True)) | more | params)
    table = pandas.DataFrame(rows, columns=[*OUTCOME, *further, *columns.values()])
    return table.astype({"number": int, "value": float, "noise": float, "replicates": int})


def rows_of(frame: Frame) -> list[dict[str, Any]]:
    """The rows of a table by name, without what is missing in them."""
    rows = frame.to_dict("records")
    return [{name: each for name, each in row.items() if not _is_missing(each)} for row in rows]


def _is_missing(value: object) -> bool:
    """Whether a cell is empty: None, NaN, or the NA of pandas, which is neither true nor false."""
    return value is None or repr(value) == "<NA>" or bool(value != value)


def to_joint_dataframe(
    trials: Sequence[Trial], names: Sequence[str], outcomes: Sequence[str]
) -> "pandas.DataFrame":
    """One row per trial with the values of its outcomes; repeated ones make further rows."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("Study.to_dataframe needs pandas: pip install pandas") from error
    told = outcome_columns(outcomes)
    fixed = [*TRIAL, *(column for pair in told.values() for column in pair)]
    further: list[str] = []
    for name, (column, _) in told.items():
        values = (each for trial in trials for each in trial.outcomes.get(name, ()))
        further += [f"{column}_{each}" for each in further_columns(values)]
    columns = column_names(names, [*fixed, *further])
    rows = []
    for trial in trials:
        params = {columns[name]: value for name, value in trial.params.items()}
        state = dict(zip(TRIAL, (trial.number, trial.state, trial.reason), strict=True))
        for row in range(max(map(len, trial.outcomes.values()), default=1)):
            measured: dict[str, float | str | None] = {}
            for name, several in trial.outcomes.items():
                if row < len(several):
                    pair = (several[row].value, several[row].noise)
                    measured |= dict(zip(told[name], pair, strict=True))
                    more = _further(several[row]).items()
                    measured |= {f"{told[name][0]}_{column}": each for column, each in more}
            rows.append(state | measured | params)
    table = pandas.DataFrame(rows, columns=[*fixed, *further, *columns.values()])
    numbers = [column for column in fixed if column not in TRIAL]
    return table.astype({"number": int, **dict.fromkeys(numbers, float)})


def further_columns(measurements: Iterable[Measurement]) -> list[str]:
    """The columns of what only some measurements have: a count, and a block of each kind."""
    found = dict.fromkeys(column for each in measurements for column in _further(each))
    return sorted(found, key=lambda column: column != "count")


def _further(measurement: Measurement) -> dict[str, int | str]:
    """Column -> the count of a measurement, or the name of its block of a kind."""
    count = {} if measurement.count is None else {"count": measurement.count}
    kinds = ((kind if kind != DEFAULT_KIND else "", name) for kind, name in measurement.block)
    return {**count, **{f"block {kind}".strip(): name for kind, name in kinds}}


def outcome_columns(
    outcomes: Sequence[str], reserved: Sequence[str] = TRIAL
) -> dict[str, tuple[str, str]]:
    """Outcome -> the columns of its value and its noise: its name and NAME_noise.

    Where that is another's column, or a reserved one, its name comes after "outcomes_", as often
    as needed.
    """
    columns: dict[str, tuple[str, str]] = {}
    taken = set(reserved)
    for name in outcomes:
        column = name
        others = taken.union(each for each in outcomes if each != name)
        while not others.isdisjoint((column, f"{column}_noise")):
            column = f"outcomes_{column}"
        columns[name] = column, f"{column}_noise"
        taken.update(columns[name])
    return columns


def column_names(names: Sequence[str], outcome: Sequence[str]) -> dict[str, str]:
    """Parameter -> its column: its name, after "params_" as often as another has that name."""
    columns: dict[str, str] = {}
    for name in names:
        column = name
        while column in outcome or (column != name and column in names):
            column = f"params_{column}"
        columns[name] = column
    return columns
