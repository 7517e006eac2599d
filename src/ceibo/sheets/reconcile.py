"""What a worksheet is to change in a study: compared row by row, before anything is stored."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from ceibo.decide.frame import Frame
from ceibo.decide.space import Params
from ceibo.errors import InputError
from ceibo.sheets import sentences
from ceibo.sheets.entries import NOWHERE, UNDER_WAY, Entries, Entry, Result, Spot
from ceibo.sheets.matching import Match, Values, as_really_run, differing, same_setting, values_of
from ceibo.sheets.naming import SHEET
from ceibo.sheets.problems import Problems
from ceibo.sheets.whole import setting_in
from ceibo.study import Failure
from ceibo.study.attributes import PLANNED
from ceibo.study.store import Snapshot, StoredTrial

_BETWEEN: Final = "; "  # several notes or dates of one trial


@final
@dataclass(frozen=True)
class Telling:
    """A result to tell of a trial that is there."""

    number: int
    result: Result
    key: str | None
    attributes: dict[str, Any]
    is_new: bool = True
    spot: Spot = NOWHERE


@final
@dataclass(frozen=True)
class Adding:
    """A trial to add; `planned` is the one that it was run in place of."""

    params: Params
    result: Result
    attributes: dict[str, Any]
    planned: int | None = None
    spot: Spot = NOWHERE


@final
@dataclass
class Steps:
    """What is to be stored, and how many rows change nothing.

    `claimed` are rows without a number that are about a trial under way, and its number.
    """

    tellings: list[Telling] = field(default_factory=list)
    addings: list[Adding] = field(default_factory=list)
    withdrawn: list[int] = field(default_factory=list)
    claimed: list[tuple[Entry, int]] = field(default_factory=list)
    known: int = 0
    waiting: int = 0


def reconcile(
    sheet: Entries, snapshot: Snapshot, frame: Frame, problems: Problems, again: bool
) -> Steps:
    """What the rows of a sheet mean for a study as it is now; contradictions are problems."""
    comparing = _Comparing(sheet, snapshot, frame, problems, again)
    for entry in sheet.entries:
        if entry.result is None:
            comparing.steps.waiting += entry.trial is not None
        elif entry.trial is not None:
            comparing.numbered(entry, entry.trial, entry.result)
    comparing.repeats()
    comparing.unnumbered(
        [each for each in sheet.entries if each.trial is None and each.result is not None]
    )
    return comparing.steps


@final
class _Comparing:
    """Compares the rows of one sheet with one state of a study."""

    def __init__(
        self, sheet: Entries, snapshot: Snapshot, frame: Frame, problems: Problems, again: bool
    ) -> None:
        self._sheet, self._frame, self._problems, self._again = sheet, frame, problems, again
        self._trials = snapshot.trials
        self._matches = [Match(trial) for trial in snapshot.trials]
        self._open: list[tuple[Entry, StoredTrial, Values]] = []  # rows with what is not on record
        self._seen: set[int] = set()  # trials that rows are about
        self._attributes = _together(sheet.entries)
        self.steps = Steps()

    def _report(self, entry: Entry, column: int | None, message: object) -> None:
        self._sheet.report(self._problems, entry, column, message)

    def _value_column(self, outcome: str = "") -> int | None:
        told = self._sheet.places.told
        places = told.get(outcome) or next(iter(told.values()))
        return places.column

    # -- rows with a trial number ----------------------------------------------------------

    def numbered(self, entry: Entry, number: int, result: Result) -> None:
        """A row about a trial of the study."""
        places = self._sheet.places
        if number >= len(self._trials):
            last = len(self._trials) - 1
            known = f"has trials up to {last}" if self._trials else "has none yet"
            message = f"there is no trial {number}; the study {known}. Is it another study's sheet?"
            self._report(entry, places.trial, message)
            return
        trial = self._trials[number]
        if None in (*entry.planned.values(), *entry.used.values()) and self._problems.found:
            return
        if wrong := differing(self._frame, trial, entry):
            if (meant := self._planned_as(entry)) is not None:
                message = sentences.other_trial(number, meant)
                self._report(entry, places.trial, message)
                return
            for name in wrong:
                message = sentences.not_planned(trial, entry, name, self._sheet.columns.used[name])
                self._report(entry, places.params[name], message)
            return
        run = trial
        params: Params | None = None
        if entry.used:
            try:
                params = as_really_run(self._frame, trial, entry.used)
            except InputError as error:
                self._report(entry, next(iter(places.used.values())), error)
                return
        if params is not None and not same_setting(params, trial.params):
            linked = self._linked(entry, trial, params)
            if linked is None:
                return
            if linked is trial:
                self._add_as_run(entry, trial, params, result)
                return
            run = linked
        self._compare(entry, run, result)

    def _planned_as(self, entry: Entry) -> int | None:
        """The only trial whose whole setting a row has; None if there is none or are several."""
        found = [
            trial.number
            for trial in self._trials
            if trial.params.keys() == entry.planned.keys()
            and not differing(self._frame, trial, entry)
        ]
        return found[0] if len(found) == 1 else None

    def _linked(self, entry: Entry, trial: StoredTrial, params: Params) -> StoredTrial | None:
        """The trial that was read before as what was really run; the planned one if none was."""
        linked = [each for each in self._trials if each.attributes.get(PLANNED) == trial.number]
        same = [each for each in linked if same_setting(each.params, params)]
        if same:
            values = {} if entry.result is None else values_of(entry.result)
            holding = [each for each in same if self._matches[each.number].holds(values)]
            if isinstance(entry.result, Failure):
                holding = [each for each in same if each.state == "failed"]
            unmatched = [each for each in same if self._matches[each.number].left]
            return [*holding, *unmatched, *same][0]
        column = next(iter(self._sheet.places.used.values()))
        if linked:
            self._report(entry, column, sentences.run_elsewhere(trial, linked[-1]))
            return None
        if trial.measurements:
            self._report(entry, column, sentences.told_as_planned(trial, self._sheet.study))
            return None
        return trial

    def _add_as_run(self, entry: Entry, trial: StoredTrial, params: Params, result: Result) -> None:
        self._seen.add(trial.number)
        attributes = {**entry.attributes, PLANNED: trial.number}
        self.steps.addings.append(
            Adding(params, result, attributes, trial.number, self._sheet.spot(entry))
        )
        if trial.state in UNDER_WAY and trial.number not in self.steps.withdrawn:
            self.steps.withdrawn.append(trial.number)

    def _compare(self, entry: Entry, trial: StoredTrial, result: Result) -> None:
        """Compares a row with what is on record of its trial."""
        self._seen.add(trial.number)
        if isinstance(result, Failure):
            self._failure(entry, trial, result)
            return
        rest = self._matches[trial.number].take(values_of(result))
        if rest:
            self._open.append((entry, trial, rest))
        else:
            self._known(entry, trial, result)

    def _failure(self, entry: Entry, trial: StoredTrial, result: Failure) -> None:
        if trial.state == "failed" or trial.reason == result.reason:  # measured after it had failed
            fresh = _fresh(self._given(entry), trial)
            self.steps.known += not fresh
            if fresh and trial.state == "failed":
                telling = Telling(trial.number, result, None, fresh, is_new=False)
                self.steps.tellings.append(telling)
        elif trial.measurements:
            message = sentences.not_failed(trial, self._sheet.study)
            self._report(entry, self._value_column(), message)
        else:
            given = self._given(entry)
            spot = self._sheet.spot(entry)
            self.steps.tellings.append(Telling(trial.number, result, None, given, spot=spot))

    def _known(self, entry: Entry, trial: StoredTrial, result: Result) -> None:
        """A row that is on record; its notes may be new."""
        fresh = _fresh(self._given(entry), trial)
        if not fresh:
            self.steps.known += 1
            return
        values = values_of(result)
        stored = [each for each in trial.measurements if each.outcome in values]
        if stored:
            told = {each.outcome: each.measurement for each in stored[:1]}
            again: Result = told.get("", told)
            telling = Telling(trial.number, again, stored[0].key, fresh, is_new=False)
            self.steps.tellings.append(telling)

    def repeats(self) -> None:
        """Rows with values that are not on record: first ones, repeats, or contradictions."""
        for entry, trial, rest in self._open:
            match = self._matches[trial.number]
            new: Values = {}
            for outcome, measurement in rest.items():
                other = match.other(outcome)
                if other is None:
                    new[outcome] = measurement
                else:
                    message = sentences.contradiction(trial, other, measurement, self._sheet.study)
                    self._report(entry, self._value_column(outcome), message)
            if new:
                result: Result = new.get("", new)
                key = match.key(new)
                given = _beside(trial.attributes, self._given(entry))
                spot = self._sheet.spot(entry)
                self.steps.tellings.append(Telling(trial.number, result, key, given, spot=spot))
        self._open = []

    def _given(self, entry: Entry) -> dict[str, Any]:
        """The attributes of a row; those of all rows of its trial together."""
        if entry.trial is None or entry.used:
            return dict(entry.attributes)
        return dict(self._attributes[entry.trial])

    # -- rows without ----------------------------------------------------------------------

    def unnumbered(self, entries: Sequence[Entry]) -> None:
        """Rows of one's own: known, filled in further, contradictory or new."""
        waiting: list[tuple[Entry, Params]] = []
        for entry in entries:
            params = setting_in(self._sheet, entry, self._frame, self._problems)
            if params is None or entry.result is None:
                continue
            found = self._on_record(params, entry.result)
            if found is None:
                waiting.append((entry, params))
            else:
                self._compare(entry, found, entry.result)
        self.repeats()
        under_way = [] if self._again else _under_way(self._trials, self._seen)
        for entry, params in waiting:
            assert entry.result is not None
            meant = next((each for each in under_way if same_setting(each.params, params)), None)
            if meant is not None:
                self.steps.claimed.append((entry, meant.number))
                self._compare(entry, meant, entry.result)
                continue
            changed = None if self._again else self._read_before(params)
            if changed is not None:
                self._seen.add(changed.number)
                message = sentences.changed(changed, entry.result, self._sheet)
                self._report(entry, self._value_column(), message)
                continue
            attributes = {**entry.attributes, SHEET: self._sheet.path.name}
            spot = self._sheet.spot(entry)
            self.steps.addings.append(Adding(params, entry.result, attributes, spot=spot))
        self.repeats()

    def _on_record(self, params: Mapping[str, Any], result: Result) -> StoredTrial | None:
        """The trial that has a row of one's own already, or a part of it."""
        values = values_of(result)
        for trial in self._trials:
            if not same_setting(trial.params, params):
                continue
            is_failed = isinstance(result, Failure) and trial.state == "failed"
            if is_failed and trial.number not in self._seen:
                return trial
            if values and self._matches[trial.number].holds(values):
                return trial
        return None

    def _read_before(self, params: Mapping[str, Any]) -> StoredTrial | None:
        """A trial from this file at the same setting, of which no row says what it has."""
        for trial in self._trials:
            same = trial.attributes.get(SHEET) == self._sheet.path.name
            if same and trial.number not in self._seen and same_setting(trial.params, params):
                return trial
        return None


def _under_way(trials: Iterable[StoredTrial], seen: Collection[int]) -> list[StoredTrial]:
    """The trials that wait for their first value, and of which no row with a number has one."""
    waiting = (each for each in trials if each.state == "running" and not each.measurements)
    return [each for each in waiting if each.number not in seen]


def _fresh(given: Mapping[str, Any], trial: StoredTrial) -> dict[str, Any]:
    """The attributes of a row that its trial does not have."""
    return {
        name: value
        for name, value in given.items()
        if not _parts(value) <= _parts(trial.attributes.get(name))
    }


def _parts(value: object) -> set[str]:
    """What an attribute says, each of several remarks by itself."""
    return set(value.split(_BETWEEN)) if isinstance(value, str) else set()


def _beside(stored: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a further value, with what the trial's earlier values were told with."""
    found = dict(given)
    for name, value in given.items():
        earlier = stored.get(name)
        if isinstance(earlier, str) and isinstance(value, str):
            several = (*earlier.split(_BETWEEN), *value.split(_BETWEEN))
            found[name] = _BETWEEN.join(dict.fromkeys(several))
    return found


def _together(entries: Sequence[Entry]) -> dict[int, dict[str, Any]]:
    """Trial -> the attributes of its rows that have results; different ones one after another."""
    found: dict[int, dict[str, list[str]]] = {}
    for entry in entries:
        if entry.trial is None or entry.result is None or entry.used:
            continue
        attributes = found.setdefault(entry.trial, {})
        for name, value in entry.attributes.items():
            several = attributes.setdefault(name, [])
            if value not in several:
                several.append(value)
    return {
        trial: {name: _BETWEEN.join(several) for name, several in attributes.items()}
        for trial, attributes in found.items()
    }
