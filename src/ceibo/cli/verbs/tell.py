"""`ceibo tell`: records the result of a trial."""

import itertools
import shlex
from typing import Annotated

import typer

from ceibo.cli.block_options import Count, InBlock, is_bare, read_block, with_count
from ceibo.cli.common import (
    AsJson,
    File,
    Replicates,
    Storage,
    StudyName,
    print_json,
    trial_json,
    warn,
    where_of,
)
from ceibo.cli.opening import open_study
from ceibo.cli.results import Told, measurements_of, read_told, recorded, repeats
from ceibo.cli.source import load
from ceibo.errors import ConflictError, InputError
from ceibo.study import Study, Trial
from ceibo.study.blocks import doubt_of_block, typed_block


def tell(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    trial: Annotated[int, typer.Argument(help="Number of the trial, from `ceibo ask`.")],
    result: Annotated[
        list[str] | None,
        typer.Argument(
            help="VALUE; VALUE NOISE; three or more replicates; or JSON. Of outcomes: NAME=VALUE"
            " …, as in yield=81.2 impurity=1.7 0.1; those not given may come later.",
            show_default=False,
        ),
    ] = None,
    replicates: Replicates = False,
    count: Count = None,
    block: InBlock = None,
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
    study_name: StudyName = None,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Record the measurement of a trial, or that it failed, or give it back, or withdraw it."""
    if sum([bool(result), failed is not None, release, withdraw]) != 1:
        raise InputError("expected one of: a result, --failed REASON, --release, --withdraw.")
    loaded = load(file, study_name)
    told, given = None, read_block(None)
    if result:
        advice = "if measuring failed, say --failed REASON."
        told = with_count(read_told(result, loaded.outcomes, replicates, advice), count)
        given = read_block(block)
    elif count is not None or block:
        raise InputError("--count and --block are about a result; leave them out.")
    study = open_study(loaded, storage)
    before = study.trials
    if told is not None:
        told = told.within(typed_block(before, given, is_bare(block)))
        options: dict[str, list[str]] = {
            "--count": [] if count is None else [str(count)],
            "--block": block or [],
        }
        words = ["--replicates"] if replicates else []
        words += [
            part for name, given in options.items() for each in given for part in (name, each)
        ]
        words += where_of(study_name, storage)
        command = shlex.join(["ceibo", "tell", str(file), str(trial), *(result or []), *words])
        _record(study, trial, told, key, command)
        for why in told.doubts(before, loaded.outcomes):
            warn(f"trial {trial}: {why}")
        if why := doubt_of_block(before, (each.block for each in told.values.values())):
            which = [] if key is None else ["--key", key]
            mending = shlex.join(["ceibo", "correct", *which, "--block"])
            warn(f"trial {trial}: {why} `{mending}` mends it.")
        text = f"trial {trial}: {told}{_missing(study, trial)}"
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


def _record(study: Study, number: int, told: Told, key: str | None, command: str) -> None:
    """Records what was told; `command` told it, but for its key."""
    try:
        study.tell(number, told.value, key=key)
    except ConflictError:
        trial = study.trials[number]
        has = recorded(trial)
        under = "" if key is None else f" under the key {key!r}"
        taken = {each.key for each in study.ledger.snapshot.trials[number].measurements}
        runs = (f"run-{count}" for count in itertools.count(repeats(trial) + 1))
        fresh = next(each for each in runs if each not in taken)
        raise ConflictError(
            f"trial {number} was measured before: {has}. Now came {told}{under}; what is recorded"
            " stays. A wrong value is replaced by `ceibo correct`; a further measurement has a key"
            f" of its own: {command} --key {fresh}"
        ) from None
    trial = study.trials[number]
    if any(each not in measurements_of([trial], name) for name, each in told.values.items()):
        since = "that was told before and has been corrected since"
        warn(f"trial {number}: {since}; the trial has {recorded(trial)}.")


def _missing(study: Study, number: int) -> str:
    """What a trial still lacks, of a study with outcomes."""
    if study.outcomes is None:
        return ""
    told = study.trials[number].outcomes
    missing = [name for name in study.outcomes.needed if name not in told]
    return f"; still to be told: {', '.join(missing)}" if missing else ""


def _check_open(trials: tuple[Trial, ...], number: int, *closed: str) -> None:
    """Refuses a trial in one of the states `closed`; the study refuses an unknown number."""
    if 0 <= number < len(trials) and trials[number].state in closed:
        words = {"done": "measured", "failed": "recorded as failed", "withdrawn": "withdrawn"}
        state = words[trials[number].state]
        raise InputError(
            f"trial {number} is {state} already, and that stays; `ceibo show` lists the trials."
        )
