"""What a sheet and the record say differently, with the command that mends it."""

import shlex

from ceibo.decide import Measurement
from ceibo.sheets.entries import Entries, Entry, Result
from ceibo.sheets.matching import values_of
from ceibo.study.store import StoredTrial
from ceibo.study.store.records import StoredMeasurement
from ceibo.text import one_line, params_line


def correction(
    study: str, number: int, outcome: str, measurement: Measurement, key: str | None = None
) -> str:
    """The command that puts a measurement in place of the one on record, in a study file."""
    words = [repr(each) for each in measurement.replicates] or [repr(measurement.value)]
    if measurement.noise is not None and not measurement.replicates:
        words.append(repr(measurement.noise))
        if measurement.count is not None:
            words += ["--count", str(measurement.count)]
    if outcome:
        words[0] = f"{outcome}={words[0]}"
    if measurement.replicates:
        words.append("--replicates")
    for kind, name in measurement.block:
        words += ["--block", f"{kind}={name}"]
    if key is not None:
        words += ["--key", key]
    return shlex.join(["ceibo", "correct", study, str(number), *words])


def _no_block(is_left_out: bool) -> str:
    """The option that takes a value out of its block, where it would stay in it otherwise."""
    return " --block ''" if is_left_out else ""


def correcting(study: str, number: int, key: str | None) -> str:
    """The command that corrects a trial, before what is right."""
    named = [] if key is None else ["--key", key]
    return shlex.join(["ceibo", "correct", *named, study, str(number)])


def voiding(study: str, trial: StoredTrial, reason: str) -> str:
    """The commands that take back all measurements of a trial."""
    commands = [_voiding(study, trial, each, reason) for each in trial.measurements]
    return " and ".join(commands)


def _voiding(study: str, trial: StoredTrial, told: StoredMeasurement, reason: str) -> str:
    """The command that takes back one measurement of a trial."""
    words = ["ceibo", "void", study, str(trial.number), reason]
    if told.outcome and len(trial.measurements) > 1:
        words += ["--outcome", told.outcome]
    if sum(each.outcome == told.outcome for each in trial.measurements) > 1:
        words += ["--key", told.key]
    return shlex.join(words)


def not_planned(trial: StoredTrial, entry: Entry, name: str, used: str) -> str:
    """A cell of the plan that was changed."""
    planned = one_line(trial.params.get(name, "nothing"))
    return (
        f"trial {trial.number} was planned with {name} = {planned}, got"
        f" {one_line(entry.texts[name])}; if that was really used, write it under {used!r} and"
        " leave the plan as it was."
    )


def other_trial(number: int, meant: int) -> str:
    """A row with the number of one trial and the setting of another."""
    return (
        f"the row has the setting of trial {meant}, and the number of trial {number}; write"
        f" {meant} if that was run, or put the setting of trial {number} back."
    )


def claimed(where: str, number: int) -> str:
    """A row without a number that is about a trial under way."""
    return (
        f"{where} has no trial number, and the setting of trial {number}, which is under way: it is"
        " that trial's value"
    )


def contradiction(
    trial: StoredTrial, stored: StoredMeasurement, measurement: Measurement, study: str
) -> str:
    """A value that is another than the one on record."""
    of = f"{stored.outcome} = " if stored.outcome else ""
    same = [each for each in trial.measurements if each.outcome == stored.outcome]
    key = stored.key if len(same) > 1 else None
    right = correction(study, trial.number, stored.outcome, measurement, key)
    right += _no_block(bool(stored.measurement.block) and not measurement.block)
    if measurement.replicates and measurement.noise is not None:  # which no command can tell
        right = f"{_voiding(study, trial, stored, 'REASON')} and read the sheet again"
    return (
        f"trial {trial.number} has {of}{stored.measurement} on record, and the sheet says"
        f" {measurement}; if the sheet is right: {right} (a further run has a row of its own beside"
        " this one)."
    )


def changed(trial: StoredTrial, result: Result, sheet: Entries) -> str:
    """A row without a number that says another thing than before."""
    told = ", ".join(str(each.measurement) for each in trial.measurements) or "a failure"
    blocked = {each.outcome for each in trial.measurements if each.measurement.block}
    right = [
        correction(sheet.study, trial.number, name, each)
        + _no_block(name in blocked and not each.block)
        for name, each in values_of(result).items()
    ]
    mended = f"if the sheet is right now: {' and '.join(right)}. " if right else ""
    return (
        f"this setting was read from {sheet.path.name} before as trial {trial.number} with {told};"
        f" {mended}If it is a further run, read the sheet with --again (again=True)."
    )


def run_elsewhere(trial: StoredTrial, run: StoredTrial) -> str:
    """A setting really used that is another than the one read before."""
    return (
        f"trial {trial.number} was read before as really run at {params_line(run.params)} (trial"
        f" {run.number}); if that was wrong, void the value of trial {run.number} and add the right"
        " one in a row without a trial number."
    )


def told_as_planned(trial: StoredTrial, study: str) -> str:
    """A setting really used of a trial that has a value at the planned one."""
    return (
        f"trial {trial.number} has a value at its planned setting,"
        f" {trial.measurements[0].measurement}; void it first if the run was at another setting:"
        f" {voiding(study, trial, 'run at another setting')}"
    )


def not_failed(trial: StoredTrial, study: str) -> str:
    """A failure of a trial that has a value."""
    return (
        f"trial {trial.number} has the value {trial.measurements[0].measurement}, and the sheet"
        " says that it failed; if the value does not count:"
        f" {voiding(study, trial, 'REASON')}"
    )
