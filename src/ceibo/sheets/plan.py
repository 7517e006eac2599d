"""What stands on a worksheet: columns of what to do, and of what is to be filled in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, final

from ceibo.decide import Estimate, Float
from ceibo.decide.block_names import DEFAULT_KIND
from ceibo.decide.dimensions import Dimension, Value
from ceibo.decide.dimensions.dial import to_dial
from ceibo.decide.estimate import OutcomeEstimate
from ceibo.errors import InputError, NoMeasurementError
from ceibo.numbers import with_uncertainty
from ceibo.sheets.columns import Columns, columns_for
from ceibo.study import Study, Trial
from ceibo.text import to_text

GENERAL: Final = "General"  # the number format that shows what there is
DAY: Final = "yyyy-mm-dd"


class Kind(Enum):
    """What a column is for."""

    PLAN = "what to set"
    BELIEF = "what is expected"
    INPUT = "to be filled in"


@final
@dataclass(frozen=True)
class Number:
    """A number with the number format that shows its digits."""

    value: int | float
    form: str = GENERAL

    def text(self) -> str:
        """The number as its format shows it; all its digits where it has none."""
        if self.form == GENERAL:
            return repr(self.value)
        return f"{self.value:.{len(self.form.partition('.')[2])}f}"


Content = str | Number | None


@final
@dataclass(frozen=True)
class PlanColumn:
    """A column of a worksheet: its header, its cells, and the format of cells filled in later.

    One for sentences `is_wide`.
    """

    header: str
    kind: Kind
    cells: tuple[Content, ...]
    form: str = GENERAL
    is_wide: bool = False


def plan_of(
    study: Study, trials: Sequence[Trial], replicates: int, blocks: Sequence[str]
) -> list[PlanColumn]:
    """The columns of a worksheet of these trials.

    Args:
        study: whose trials they are.
        trials: a row for each.
        replicates: how many columns of replicates there are for each outcome; none by default.
        blocks: the kinds of blocks that have a column, beside those that the study has.
    """
    columns = columns_for(study.space.names, study.outcomes)
    empty: tuple[Content, ...] = (None,) * len(trials)

    def blank(header: str, form: str = GENERAL) -> PlanColumn:
        return PlanColumn(header, Kind.INPUT, empty, form)

    numbers = tuple(Number(trial.number, "0") for trial in trials)
    found = [PlanColumn("trial", Kind.PLAN, numbers)]
    for name, column in columns.params.items():
        dimension = study.space.dimensions[name]
        cells = tuple(
            _content(dimension, each.params[name]) if name in each.params else None
            for each in trials
        )
        found.append(PlanColumn(column, Kind.PLAN, cells))
    found += _beliefs(study, trials, columns) + _on_record(trials, columns)
    for outcome, told in columns.told.items():
        unit = "" if study.outcomes is None else study.outcomes[outcome].unit
        found.append(blank(_with_unit(told.value, unit)))
        numbered = f"{outcome} replicate".strip()
        found += [blank(f"{numbered} {each + 1}") for each in range(replicates)]
        found.append(blank(told.noise.replace("_", " ")))
    found += [blank(each) for each in columns.used.values()]
    kinds = _kinds(study, blocks)
    found += [blank(f"{columns.block} {kind}".strip()) for kind in kinds]
    notes = PlanColumn(columns.notes, Kind.INPUT, empty, is_wide=True)
    return [*found, notes, blank(columns.date, DAY)]


def _with_unit(header: str, unit: str) -> str:
    return f"{header} ({unit})" if unit else header


def _kinds(study: Study, given: Sequence[str]) -> list[str]:
    """The kinds of blocks: those given and those measured before; "" is the one without a name."""
    known = {
        kind: None
        for trial in study.trials
        for each in trial.measurements
        for kind, _ in each.block
    }
    kinds = list(dict.fromkeys([*given, *known]))
    return [("" if kind == DEFAULT_KIND else kind) for kind in kinds] or [""]


def _content(dimension: Dimension, value: Value) -> Content:
    """A setting as a cell: numbers as numbers, with the digits that can be dialled."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value if isinstance(value, str) else to_text(value)
    return Number(value, _form(dimension, value))


def _form(dimension: Dimension, value: float) -> str:
    text = to_dial(dimension, value)
    if not isinstance(dimension, Float) or isinstance(value, int) or "e" in text.lower():
        return GENERAL
    if float(text) != value:
        return GENERAL  # asked for elsewhere, with digits that nobody dials
    places = len(text.partition(".")[2])
    return f"0.{'0' * places}" if places else "0"


def _beliefs(study: Study, trials: Sequence[Trial], columns: Columns) -> list[PlanColumn]:
    """What is expected of each trial, ± its standard deviation; empty while nothing is known."""
    estimates = [_estimate(study, trial) for trial in trials]
    found = []
    for outcome, names in columns.predicted.items():
        unit = "" if study.outcomes is None else study.outcomes[outcome].unit
        headers = [_with_unit(each, unit) for each in names]
        pairs = [_shown(_of(each, outcome)) for each in estimates]
        if any(pair != (None, None) for pair in pairs):
            cells = tuple(zip(*pairs, strict=True))
            found += [
                PlanColumn(header, Kind.BELIEF, each)
                for header, each in zip(headers, cells, strict=True)
            ]
    return found


def _on_record(trials: Sequence[Trial], columns: Columns) -> list[PlanColumn]:
    """The outcomes that a trial under way has already, which are not to be measured again."""
    found = []
    for outcome, header in columns.recorded.items():
        cells = tuple(", ".join(map(str, trial.outcomes.get(outcome, ()))) for trial in trials)
        if any(cells):
            found.append(PlanColumn(header, Kind.BELIEF, tuple(cell or None for cell in cells)))
    return found


def _estimate(study: Study, trial: Trial) -> Estimate | None:
    """What is believed at the setting of a trial; None before a measurement, or outside."""
    try:
        return study.predict([trial.params])[0]
    except (NoMeasurementError, InputError):
        return None


def _of(estimate: Estimate | None, outcome: str) -> Estimate | OutcomeEstimate | None:
    return estimate.outcomes.get(outcome) if estimate and outcome else estimate


def _shown(estimate: Estimate | OutcomeEstimate | None) -> tuple[Content, Content]:
    """A mean and its std, with the digits that the std leaves."""
    if estimate is None:
        return None, None
    mean, std = with_uncertainty(estimate.mean, estimate.std).split(" ± ")
    return _number(mean), _number(std)


def _number(text: str) -> Number:
    places = len(text.partition(".")[2])
    plain = "e" not in text and "n" not in text
    form = (f"0.{'0' * places}" if places else "0") if plain else GENERAL
    return Number(float(text), form)


def rows_of_plan(columns: Iterable[PlanColumn]) -> list[tuple[Content, ...]]:
    """The rows of a worksheet below its header."""
    return list(zip(*(each.cells for each in columns), strict=True))
