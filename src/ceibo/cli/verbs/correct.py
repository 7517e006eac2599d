"""`ceibo correct`: replaces a measurement that was told wrongly, or the block that it is in."""

from collections.abc import Sequence
from dataclasses import replace
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
)
from ceibo.cli.opening import open_study
from ceibo.cli.results import Told, read_told
from ceibo.cli.source import load
from ceibo.decide.block_names import Block
from ceibo.errors import ConflictError, InputError, NotFoundError
from ceibo.study import Study, Trial
from ceibo.study.blocks import doubt_of_block, typed_block
from ceibo.study.moving import put_into_block
from ceibo.study.store import StoredTrial
from ceibo.study.store.records import StoredMeasurement

_UNKNOWN = (
    "if the right value is not known, give your best guess with a noise as large as your doubt."
)


def correct(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    trial: Annotated[int, typer.Argument(help="Number of the trial.")],
    result: Annotated[
        list[str] | None,
        typer.Argument(
            help="As for `ceibo tell`: VALUE; VALUE NOISE; three or more replicates; or JSON."
            " Without one, --block puts the values on record into another block.",
            show_default=False,
        ),
    ] = None,
    replicates: Replicates = False,
    count: Count = None,
    block: InBlock = None,
    key: Annotated[
        str | None,
        typer.Option(help="Which measurement of the trial, if it has several.", show_default=False),
    ] = None,
    outcome: Annotated[
        str | None, typer.Option(help="Of which outcome the result is, if not said by NAME=VALUE.")
    ] = None,
    study_name: StudyName = None,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Replace a measurement that was told wrongly; the record keeps the wrong one too."""
    loaded = load(file, study_name)
    if outcome is not None and loaded.outcomes is None:
        raise InputError(f"--outcome: {file} has no [outcomes]; leave it out.")
    new_block = None if block is None else read_block([each for each in block if each])
    if not result:
        if new_block is None or count is not None or replicates:
            raise InputError(
                "expected the right result, as in 71.5 or yield=71.5; or --block alone, which"
                " keeps the values and changes their block."
            )
        study = open_study(loaded, storage)
        stored = _on_record(study, trial, outcome, key)
        new_block = _typed(study.trials, trial, new_block, is_bare(block))
        _move(study, stored, new_block, json)
        return
    given = read_told(_named(result, outcome), loaded.outcomes, replicates, _UNKNOWN)
    right = with_count(given, count)
    study = open_study(loaded, storage)
    before = study.trials
    if new_block is not None:
        new_block = _typed(before, trial, new_block, is_bare(block))
    wrong = _replaced(study, trial, right, key, new_block)
    for why in right.doubts(before, loaded.outcomes):
        warn(f"trial {trial}: {why}")
    right = _in_blocks(right, wrong, new_block)
    for name, was in wrong.values.items():
        now = right.values[name]
        if was.noise is not None and now.noise is None and not now.replicates:
            of = f" of {name!r}" if name else ""
            lost = f"the noise {was.noise:.6g}{of} went with the wrong value"
            warn(f"trial {trial}: {lost}; give it again if it holds.")
    if json:
        print_json(trial_json(study.trials[trial]))
        return
    typer.echo(_became(trial, right, wrong))


def _became(number: int, right: Told, wrong: Told) -> str:
    was_so = wrong.values == right.values
    text = "as recorded already" if was_so else f"in place of {wrong}"
    return f"trial {number}: {right}, {text}"


def _typed(trials: Sequence[Trial], number: int, block: Block, bare: bool) -> Block:
    """The block as the other trials have theirs, or this one has; warns if it is unlike them."""
    others = [each for each in trials if each.number != number]
    has_blocks = any(told.block for each in others for told in each.measurements)
    found = typed_block(others if has_blocks else trials, block, bare)
    if found and (why := doubt_of_block(others, [found])):
        warn(f"trial {number}: {why}")
    return found


def _on_record(study: Study, number: int, outcome: str | None, key: str | None) -> StoredTrial:
    """A trial with those of its measurements that are meant: all of it, or those named."""
    if outcome is not None and study.outcomes is not None:
        study.outcomes.check_name(outcome)
    trials = study.ledger.refresh().trials
    if not 0 <= number < len(trials):
        raise NotFoundError(
            f"there is no trial {number}; study {study.name!r} has {len(trials)}, counted from 0."
        )
    told = trials[number].measurements
    if outcome is not None:
        told = tuple(each for each in told if each.outcome == outcome)
    if key is not None:
        told = tuple(each for each in told if each.key == key)
    if not told:
        raise NotFoundError(
            f"trial {number} has no such value on record, so there is no block to change;"
            " `ceibo show` with its number lists what it has."
        )
    if key is None:
        _check_block(number, told)
    return replace(trials[number], measurements=told)


def _check_block(number: int, told: Sequence[StoredMeasurement]) -> None:
    """Refuses repeats that share no block: only one of them may be in the wrong one."""
    blocks: dict[str, set[Block]] = {}
    for each in told:
        blocks.setdefault(each.key, set()).add(each.measurement.block)
    if not set.intersection(*blocks.values()):
        raise ConflictError(
            f"trial {number} has measurements in different blocks; say by --key which of them is"
            f" meant: {', '.join(map(repr, blocks))}."
        )


def _move(study: Study, trial: StoredTrial, block: Block, json: bool) -> None:
    """Puts measurements, which stay as they are, into another block."""
    lines = []
    for wrong in put_into_block(study, trial.number, trial.measurements, block):
        right = {name: replace(each, block=block) for name, each in wrong.items()}
        lines.append(_became(trial.number, Told(right, ()), Told(wrong, ())))
    if json:
        print_json(trial_json(study.trials[trial.number]))
    else:
        typer.echo("\n".join(lines))


def _named(result: list[str], outcome: str | None) -> list[str]:
    """The words of the result, after the name of its outcome if that is an option."""
    if outcome is None:
        return result
    if any("=" in word for word in result) or result[0][:1] == "{":
        raise InputError("expected --outcome NAME with a result alone, or NAME=VALUE without it.")
    return [f"{outcome}={result[0]}", *result[1:]]


def _replaced(study: Study, number: int, right: Told, key: str | None, block: Block | None) -> Told:
    """Replaces measurements; returns the wrong ones."""
    if "" in right.values:
        value = right.values[""]
        return Told({"": study.correct(number, value, key=key, block=block)}, ())
    return Told(study.correct(number, right.values, key=key, block=block), ())


def _in_blocks(right: Told, wrong: Told, block: Block | None) -> Told:
    """What was told in place of the wrong values, in the blocks in which it was recorded."""
    kept = {
        name: each if each.block else replace(each, block=wrong.values[name].block)
        for name, each in right.values.items()
    }
    return replace(right, values=kept) if block is None else right.within(block)
