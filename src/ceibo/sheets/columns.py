"""The columns of a table of trials: what an export and a worksheet call them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, final

from ceibo.decide import Outcomes
from ceibo.sheets.names import fold
from ceibo.study.table import column_names, outcome_columns

FIRST: Final = ("trial", "state")
LAST: Final = ("reason",)
ONE: Final = ("value", "noise", "replicates")
"""The columns of a study of one objective."""
EXPORTED: Final = (*FIRST, *ONE, *LAST)
"""All of them in an export, before the parameters."""
ALIASES: Final = {
    "notes": ("notes", "note", "remarks", "remark", "comments", "comment"),
    "date": ("date",),
}
"""What the columns of attributes may be called, apart from capitals."""


@final
class OutcomeColumns(NamedTuple):
    """The names of the columns of one outcome."""

    value: str
    noise: str
    replicates: str


@final
@dataclass(frozen=True)
class Columns:
    """What the columns are called: of parameters, of outcomes ("" where there is one objective).

    `used` are those of the settings really used, `block` is that of a block, before whose kind it
    stands where it has one; `counts` are those of how many values a noise is of. `predicted` and
    `recorded` are for a person to see, and are not read.
    """

    params: dict[str, str]
    told: dict[str, OutcomeColumns]
    used: dict[str, str]
    block: str
    notes: str
    date: str
    predicted: dict[str, tuple[str, str]]
    recorded: dict[str, str]
    counts: dict[str, str]

    def all(self) -> list[str]:
        """The names of all columns that are read, for finding the header."""
        told = [column for each in self.told.values() for column in each]
        extra = (self.block, self.notes, self.date)
        further = (*self.used.values(), *self.counts.values())
        return [*FIRST, *self.params.values(), *told, *LAST, *further, *extra]

    def shown(self) -> list[str]:
        """The names of the columns that are written and not read."""
        predicted = [column for pair in self.predicted.values() for column in pair]
        return [*predicted, *self.recorded.values()]


def columns_for(names: Sequence[str], outcomes: Outcomes | None) -> Columns:
    """The columns of a study with these parameters and outcomes."""
    told = {"": OutcomeColumns(*ONE)} if outcomes is None else columns_of(outcomes)
    params = parameter_columns(names, outcomes)
    taken = {fold(each) for each in (*FIRST, *LAST, *params.values())}
    taken.update(fold(column) for each in told.values() for column in each)
    used = {name: _free(f"{column} used", taken) for name, column in params.items()}
    predicted = {}
    for name in told:
        base = f"{name} predicted".strip()
        predicted[name] = _free(base, taken), _free(f"{base} ±", taken)
    block, notes, date = (_free(each, taken) for each in ("block", "notes", "date"))
    counts = {name: _free(f"{name} count".strip(), taken) for name in told}
    recorded = {name: _free(f"{name} on record", taken) for name in told if name}
    return Columns(params, told, used, block, notes, date, predicted, recorded, counts)


def _free(name: str, taken: set[str]) -> str:
    """A name that no other column has, which is then taken."""
    while fold(name) in taken:
        name = f"sheet {name}"
    taken.add(fold(name))
    return name


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


def parameter_columns(names: Sequence[str], outcomes: Outcomes | None) -> dict[str, str]:
    """Parameter -> its column in an export, beside those of what is measured."""
    if outcomes is None:
        return column_names(names, EXPORTED)
    others = [column for each in columns_of(outcomes).values() for column in each]
    return column_names(names, [*FIRST, *others, *LAST])


def known_names(columns: Columns, names: Collection[str]) -> dict[str, str]:
    """What a header may be said to stand for -> the column: parameters and the others by name."""
    every = {each: each for each in columns.all()}
    outcomes = {name: each.value for name, each in columns.told.items() if name}
    return {**every, **outcomes, **{name: columns.params[name] for name in names}}
