"""`ceibo tell`: records the result of a trial."""

import statistics
from typing import Annotated

import typer

from ceibo.cli.common import AsJson, File, Replicates, Storage, print_json, trial_json, warn
from ceibo.cli.opening import open_study
from ceibo.cli.studyfile import load
from ceibo.command.outcome import is_pair, parse_line
from ceibo.decide import Measurement
from ceibo.errors import ConflictError, InputError
from ceibo.study import Study, Trial

_NOISES = 3  # told before: enough to know the usual noise
_VALUES = 5  # told before: enough to know their range


def tell(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    trial: Annotated[int, typer.Argument(help="Number of the trial, from `ceibo ask`.")],
    result: Annotated[
        list[str] | None,
        typer.Argument(
            help="VALUE; VALUE NOISE; three or more replicates; or JSON.", show_default=False
        ),
    ] = None,
    replicates: Replicates = False,
    key: Annotated[
        str | None, typer.Option(help="Tells several measurements of one trial apart.")
    ] = None,
    failed: Annotated[
        str | None, typer.Option(metavar="REASON", help="Measuring failed, and why.")
    ] = None,
    release: Annotated[
        bool, typer.Option("--release", help="Give the trial back unmeasured.")
    ] = False,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="It will not be measured at all.")
    ] = False,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Record the measurement of a trial, or that it failed, or give it back, or withdraw it."""
    if sum([bool(result), failed is not None, release, withdraw]) != 1:
        raise InputError("expected one of: a result, --failed REASON, --release, --withdraw.")
    line = " ".join(result or []).strip()
    measurement = None
    if result:
        measurement = read_result(line, replicates, "if measuring failed, say --failed REASON.")
    study = open_study(load(file), storage)
    before = study.trials
    if measurement is not None:
        _record(study, trial, measurement, key)
        if is_pair(line) and not replicates and (why := why_doubtful(measurement, before)):
            warn(f"trial {trial}: {why}")
        text = f"trial {trial}: {measurement}"
    elif failed is not None:
        _check_open(before, trial, "done", "withdrawn")
        study.fail(trial, failed)
        text = f"trial {trial}: failed"
    elif release:
        _check_open(before, trial, "done", "failed", "withdrawn")
        study.release(trial)
        text = f"trial {trial}: given back"
    else:
        _check_open(before, trial, "done", "failed")
        study.withdraw(trial)
        text = f"trial {trial}: withdrawn"
    if json:
        print_json(trial_json(study.trials[trial]))
    else:
        typer.echo(text)


def read_result(line: str, replicates: bool, advice: str) -> Measurement:
    """The measurement in the words of a command; `advice` ends the error about a value of NaN."""
    try:
        measurement = parse_line(line, replicates)
    except InputError as error:
        raise InputError(f"the result: {error}") from None
    if not measurement.is_finite:
        raise InputError(f"the value is {measurement.value!r}; {advice}")
    return measurement


def _record(study: Study, number: int, measurement: Measurement, key: str | None) -> None:
    try:
        study.tell(number, measurement, key=key)
    except ConflictError:
        told = study.trials[number].measurements
        has = ", ".join(map(str, told))
        under = "" if key is None else f" under the key {key!r}"
        raise ConflictError(
            f"trial {number} was measured before: {has}. Now came {measurement}{under}; what is"
            " recorded stays. A repeated measurement needs a key of its own, as in --key"
            f" run-{len(told) + 1}; a wrong one is replaced by `ceibo correct`."
        ) from None
    told = study.trials[number].measurements
    if measurement not in told:
        has = ", ".join(map(str, told))
        since = "that was told before and has been corrected since"
        warn(f"trial {number}: {since}; the trial has {has}.")


def _check_open(trials: tuple[Trial, ...], number: int, *closed: str) -> None:
    """Refuses a trial in one of the states `closed`; the study refuses an unknown number."""
    if 0 <= number < len(trials) and trials[number].state in closed:
        words = {"done": "measured", "failed": "recorded as failed", "withdrawn": "withdrawn"}
        state = words[trials[number].state]
        raise InputError(
            f"trial {number} is {state} already, and that stays; `ceibo show` lists the trials."
        )


def why_doubtful(measurement: Measurement, trials: tuple[Trial, ...]) -> str | None:
    """Why the second of two bare numbers may be no noise; None if it is like those told before."""
    value, noise = measurement.value, measurement.noise
    assert noise is not None
    told = [each for trial in trials for each in trial.measurements]
    noises = [each.noise for each in told if each.noise is not None]
    usual = statistics.median(noises) if len(noises) >= _NOISES else None
    if noise == 0 and usual == 0:
        return None
    if noise == 0:
        return "a noise of 0 says that the value is exact; leave it out if it is not known."
    values = [each.value for each in told]
    large = noise >= abs(value) / 2
    if len(values) >= _VALUES and noise >= max(values) - min(values):
        large = True
    if not large or (usual is not None and noise <= 3 * usual):
        return None
    return (
        f"{noise:.6g} was recorded as the noise (a standard deviation) of {value:.6g}; two"
        " replicates are told with --replicates, and a number has no gap."
    )
