"""A study as a table, for those who have pandas."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ceibo.study.trial import Trial

if TYPE_CHECKING:
    import pandas

OUTCOME = ("number", "state", "value", "noise", "replicates", "reason")


def to_dataframe(trials: Sequence[Trial], names: Sequence[str]) -> "pandas.DataFrame":
    """One row per measurement, or per trial without one; see `column_names`."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("Study.to_dataframe needs pandas: pip install pandas") from error
    rows = []
    columns = column_names(names, OUTCOME)
    for trial in trials:
        params = {columns[name]: value for name, value in trial.params.items()}
        for each in trial.measurements or (None,):
            told: tuple[float | None, float | None, int] = (None, None, 0)
            if each is not None:
                told = (each.value, each.noise, len(each.replicates))
            fields = (trial.number, trial.state, *told, trial.reason)
            rows.append(dict(zip(OUTCOME, fields, strict=True)) | params)
    table = pandas.DataFrame(rows, columns=[*OUTCOME, *columns.values()])
    return table.astype({"number": int, "value": float, "noise": float, "replicates": int})


def column_names(names: Sequence[str], outcome: Sequence[str]) -> dict[str, str]:
    """Parameter -> its column: its name, after "params_" as often as another has that name."""
    columns: dict[str, str] = {}
    for name in names:
        column = name
        while column in outcome or (column != name and column in names):
            column = f"params_{column}"
        columns[name] = column
    return columns
