"""The columns of a table of several outcomes, and what trials have in them."""

from collections.abc import Sequence
from typing import Final, NamedTuple, final

from ceibo.decide import Measurement, Outcomes
from ceibo.study import Trial
from ceibo.study.table import column_names, outcome_columns

FIRST: Final = ("trial", "state")
LAST: Final = ("reason",)


@final
class OutcomeColumns(NamedTuple):
    """The names of the columns of one outcome."""

    value: str
    noise: str
    replicates: str


def columns_of(outcomes: Outcomes) -> dict[str, OutcomeColumns]:
    """Outcome -> its columns: NAME, NAME_noise and NAME_replicates unless they are taken."""
    pairs = outcome_columns(outcomes.names, (*FIRST, *LAST))
    taken = {column for pair in pairs.values() for column in pair}
    found = {}
    for name, (value, noise) in pairs.items():
        replicates = f"{value}_replicates"
        while replicates in taken:
            replicates = f"outcomes_{replicates}"
        taken.add(replicates)
        found[name] = OutcomeColumns(value, noise, replicates)
    return found


def parameter_columns(names: Sequence[str], outcomes: Outcomes) -> dict[str, str]:
    """Parameter -> its column beside those of the outcomes."""
    others = [column for each in columns_of(outcomes).values() for column in each]
    return column_names(names, [*FIRST, *others, *LAST])


def rows_of(trial: Trial) -> list[dict[str, Measurement]]:
    """The rows of a trial: in each the next measurement of every outcome; one if it has none."""
    count = max(map(len, trial.outcomes.values()), default=1)
    return [
        {name: several[row] for name, several in trial.outcomes.items() if row < len(several)}
        for row in range(count)
    ]
