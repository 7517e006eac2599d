"""`Study.read_sheet`: takes a worksheet back, whole or not at all."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ceibo.errors import InputError, NumberTakenError
from ceibo.sheets import sentences
from ceibo.sheets.entries import STUDY_FILE, Entries, Wanted, read_entries
from ceibo.sheets.matching import values_of
from ceibo.sheets.naming import SheetNaming
from ceibo.sheets.problems import Problems
from ceibo.sheets.reconcile import Adding, Steps, Telling, reconcile
from ceibo.sheets.remarks import (
    broken,
    impossible,
    lacking,
    no_days,
    outside,
    unlike_others,
    unread,
)
from ceibo.study import Failure, Study, Trial
from ceibo.study.adding import new_trial
from ceibo.study.blocks import Naming
from ceibo.study.reported import Reported
from ceibo.study.sheet_reading import SheetReading
from ceibo.study.store import hand_out_key
from ceibo.text import params_line


def read_sheet(
    study: Study,
    path: str | os.PathLike[str],
    *,
    columns: Mapping[str, str] | None = None,
    again: bool = False,
    dry_run: bool = False,
    file: str = STUDY_FILE,
) -> SheetReading:
    """Reads a worksheet and stores what is new on it; see `Study.read_sheet`.

    `file` is the study file, as commands in sentences name it.
    """
    ledger = study.ledger
    stored = ledger.refresh().trials
    problems = Problems(Path(path))
    naming = SheetNaming.of(Naming.of(study.trials), stored, Path(path).name)
    wanted = Wanted(ledger.frame, study.outcomes, dict(columns or {}), naming, file)
    sheet = read_entries(Path(path), wanted, problems)
    before = study.trials
    while True:
        snapshot = ledger.refresh()
        found = Problems(problems.path, list(problems.found))
        steps = reconcile(sheet, snapshot, ledger.frame, found, again)
        found.check()
        numbers: Sequence[int] = [-1 - place for place in range(len(steps.addings))]
        if dry_run:
            break
        try:
            numbers = _add(study, steps.addings, len(snapshot.trials))
        except NumberTakenError:
            continue  # trials have come meanwhile; compare with them as well
        _store(study, steps)
        break
    mended = [] if dry_run else _mended(study, sheet, steps, numbers)
    notes = _remarks(study, sheet, steps, before, mended)
    return _reading(study, sheet, steps, numbers, before, notes)


def _add(study: Study, addings: Sequence[Adding], expected: int) -> list[int]:
    """Adds trials, all or none; their numbers."""
    new = [
        new_trial(study.ledger, each.params, each.result, attributes=each.attributes)
        for each in addings
    ]
    return [each.number for each in study.ledger.create(new, expect_number=expected)]


def _store(study: Study, steps: Steps) -> None:
    """Tells what is known of trials; what was stored before a failure is known the next time."""
    for each in steps.tellings:
        try:
            _tell(study, each)
        except InputError as error:
            raise InputError(
                f"trial {each.number}: {error} The rows before it were stored; read the sheet again"
                " for the others."
            ) from None
    for number in steps.withdrawn:
        study.ledger.store.withdraw(study.ledger.id, number)


def _tell(study: Study, telling: Telling) -> None:
    if isinstance(telling.result, Failure):
        reported = Reported(reason=telling.result.reason, attributes=telling.attributes)
        study.ledger.tell(telling.number, reported, "")
    elif telling.is_new:
        study.tell(telling.number, telling.result, key=telling.key, attributes=telling.attributes)
    else:
        reported = Reported(values_of(telling.result), attributes=telling.attributes)
        study.ledger.tell(telling.number, reported, telling.key or "")


def _reading(
    study: Study,
    sheet: Entries,
    steps: Steps,
    numbers: Sequence[int],
    before: Sequence[Trial],
    notes: Sequence[str],
) -> SheetReading:
    told = [each for each in steps.tellings if each.is_new]
    filled = [each.number for each in told if not isinstance(each.result, Failure)]
    failed = [each.number for each in told if isinstance(each.result, Failure)]
    noted = [each.number for each in steps.tellings if not each.is_new]
    added = list(zip(steps.addings, numbers, strict=True))
    results = [(each.number, each.result) for each in told]
    results += [(number, each.result) for each, number in added]
    return SheetReading(
        filled=tuple(dict.fromkeys(filled)),
        failed=tuple(dict.fromkeys(failed)),
        new=tuple(number for each, number in added if each.planned is None),
        as_run={each.planned: number for each, number in added if each.planned is not None},
        noted=tuple(dict.fromkeys(noted)),
        known=steps.known,
        waiting=steps.waiting,
        details=(
            *_claims(steps),
            *_details(study, added),
            *lacking(study.outcomes, before, results),
        ),
        notes=tuple(filter(None, (sheet.note, sheet.absent, sheet.units, *notes))),
    )


def _mended(study: Study, sheet: Entries, steps: Steps, numbers: Sequence[int]) -> list[str]:
    """For every new result the command that corrects it, up to the value."""
    trials = study.ledger.refresh().trials
    told: list[tuple[int, str | None]] = []
    for each in (each for each in steps.tellings if each.is_new):
        trial = trials[each.number]
        has_several = len({one.key for one in trial.measurements}) > 1
        key = hand_out_key(trial.attempt) if each.key is None else each.key
        told.append((each.number, key if has_several else None))
    told += [(number, None) for number in numbers]
    return [sentences.correcting(sheet.study, *each) for each in told]


def _remarks(
    study: Study, sheet: Entries, steps: Steps, before: Sequence[Trial], mended: Sequence[str]
) -> list[str]:
    """What is to be said about columns, settings that the study would not suggest, odd values."""
    frame = study.ledger.frame
    settings = [(each.spot, each.params) for each in steps.addings]
    results = [(each.spot, each.result) for each in steps.tellings if each.is_new]
    results += [(each.spot, each.result) for each in steps.addings]
    return [
        unread(sheet.unread),
        outside(frame, settings),
        broken(frame, settings),
        impossible(study.outcomes, results, mended),
        unlike_others(before, results),
        no_days(before, results),
    ]


def _claims(steps: Steps) -> list[str]:
    """Which rows without a number are about a trial that was under way."""
    return [sentences.claimed(entry.where, number) for entry, number in steps.claimed]


def _details(study: Study, added: Sequence[tuple[Adding, int]]) -> list[str]:
    """What was really run, and what became of rows without a number."""
    trials = study.ledger.snapshot.trials
    lines = []
    for each, number in added:
        new = f": trial {number}" if number >= 0 else ""
        if each.planned is None:
            lines.append(f"new: {params_line(each.params)}{new}")
            continue
        planned = trials[each.planned].params
        other = {name: v for name, v in each.params.items() if planned.get(name, ...) != v}
        was = {name: planned[name] for name in other if name in planned}
        lines.append(
            f"trial {each.planned} was really run at {params_line(other)} instead of"
            f" {params_line(was) or 'nothing'}{new}"
        )
    return lines
