"""What a form asks for: from the data of a request to a change of the study and a sentence.

Each action takes the session and the data, and returns what was done in words. A form names the
trial and what its page had seen of it, so that nothing is changed that somebody else has changed
meanwhile, and the same request again changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from ceibo.decide import Measurement
from ceibo.decide.block_names import Block, block_line
from ceibo.decide.outcome_words import why_impossible
from ceibo.decide.space import Params
from ceibo.errors import ConflictError, InputError, NotFoundError
from ceibo.study import Study, Trial
from ceibo.study.blocks import doubt_of_block, typed_block
from ceibo.study.moving import put_into_block
from ceibo.study.store import StoredTrial
from ceibo.study.store.records import StoredMeasurement
from ceibo.study.trial import trial_of
from ceibo.text import one_line, plural
from ceibo.web.block_field import UsualBlock
from ceibo.web.entries import (
    both,
    is_bare,
    read_block,
    read_settings,
    read_values,
    rows_in,
    text_in,
    whole_in,
    written_block,
    written_noise,
)
from ceibo.web.profiler import check_place, setting_at
from ceibo.web.session import Session

MOST_ASKED: Final = 100
_LARGEST: Final = 2**31 - 1
_MOST_ROWS: Final = 5_000

Data = Mapping[str, Any]


class Done(NamedTuple):
    """What was done, in words, the trials that it was done to, and whether the block is odd."""

    said: str
    trials: Sequence[int]
    doubted: bool = False


Action = Callable[[Session, Data], Done]


def told_line(values: Mapping[str, Measurement] | Measurement) -> str:
    """Measurements on one line."""
    if isinstance(values, Measurement):
        return str(values)
    return ", ".join(f"{one_line(name, 60)} {each}" for name, each in values.items())


def _number(data: Data) -> int:
    return whole_in(data, "trial", 0, _LARGEST)


def _stored(study: Study, data: Data) -> StoredTrial:
    """The trial that a request is about, as it is now."""
    number = _number(data)
    trials = study.ledger.refresh().trials
    if number >= len(trials):
        raise NotFoundError(f"there is no trial {number}.")
    return trials[number]


def tell(session: Session, data: Data) -> Done:
    """Tells the value of a trial, or under a `key` a further one."""
    rows, names = rows_in(data, "values", 1000), session.outcome_names
    values, typed = both(lambda: read_values(rows, names, session.units), lambda: read_block(data))
    key, notes = text_in(data, "key"), text_in(data, "notes")
    attempt = whole_in(data, "attempt", 0, _LARGEST)

    def work(study: Study) -> Done:
        stored, before = _stored(study, data), study.trials
        trial = replace(trial_of(stored), attempt=attempt)
        attributes = {"notes": _beside(trial, notes)} if notes else None
        block = typed_block(before, typed, is_bare(data))
        try:
            study.tell(trial, values, key=key or None, attributes=attributes, block=block)
        except ConflictError:
            if key:
                raise
            raise ConflictError(_told_meanwhile(trial, told_line(values))) from None
        odd = [_doubt(trial.number, before, block)]
        if study.outcomes is not None and isinstance(values, dict):
            odd += why_impossible(study.outcomes, values)
        said = [f"Trial {trial.number}: {told_line(values)} is recorded.", *odd]
        return Done(" ".join(filter(None, said)), [trial.number], doubted=bool(odd[0]))

    return session.telling.use(work)


def _beside(trial: Trial, notes: str) -> str:
    """A note of a further value, behind those that the trial has; the same again adds nothing."""
    earlier = trial.attributes.get("notes")
    if not isinstance(earlier, str) or not earlier:
        return notes
    return "; ".join(dict.fromkeys([*earlier.split("; "), *notes.split("; ")]))


def _doubt(number: int, before: tuple[Trial, ...], block: Block) -> str:
    """What is to be said of the block of a value, and how the page mends it."""
    doubt = doubt_of_block(before, [block])
    mend = f"If that is wrong, open trial {number} in the table of all trials and choose Correct…."
    return f"About its block: {doubt} {mend}" if doubt else ""


def _told_meanwhile(trial: Trial, typed: str) -> str:
    """Says that somebody else told a value of the trial, and what to do with one's own."""
    known = ", ".join(map(str, trial.measurements))
    if trial.outcomes:
        known = told_line({name: several[0] for name, several in trial.outcomes.items()})
    return (
        f"trial {trial.number} has {known} already, told by another page or worker; {typed} was not"
        " recorded. Record it as a further measurement, or correct the other one if it is wrong."
    )


def _meant(session: Session, data: Data, stored: StoredTrial) -> StoredMeasurement:
    """The measurement that a form is about, unchanged since its page was drawn."""
    version = whole_in(data, "version", 0, _LARGEST)
    seq = whole_in(data, "told", 0, _LARGEST)
    outcome = session.outcome_names[whole_in(data, "outcome", 0, len(session.outcome_names) - 1)]
    for each in stored.measurements:
        if each.seq == seq and each.outcome == outcome:
            if each.version == version:
                return each
            raise ConflictError(
                f"trial {stored.number} was corrected to {each.measurement} meanwhile, by another"
                " page or worker; look at it again."
            )
    raise ConflictError(
        f"that value of trial {stored.number} was voided meanwhile, by another page or worker;"
        " look at it again."
    )


def _about_value(
    session: Session, data: Data, change: Callable[[Study, int, StoredMeasurement], str]
) -> Done:
    """Changes the measurement that a form is about; `change` returns what has become of it."""

    def work(study: Study) -> Done:
        stored = _stored(study, data)
        meant = _meant(session, data, stored)
        became = change(study, stored.number, meant)
        of = f"{one_line(meant.outcome, 60)} " if meant.outcome else ""
        said = f"Trial {stored.number}: {of}{meant.measurement} {became}."
        return Done(said, [stored.number])

    return session.telling.use(work)


def correct(session: Session, data: Data) -> Done:
    """Replaces a wrong value, or the block that it is of, or both; the record keeps all of it.

    Where no value was typed, the one on record stays with its noise, count and replicates.
    """
    typed = _right_value(session, data) if text_in(data, "value") else None

    def change(study: Study, number: int, wrong: StoredMeasurement) -> str:
        before, outcome = study.trials, wrong.outcome or None
        block = _another_block(before, data, wrong.measurement.block)
        if typed is None:
            _check_noise_stays(data, wrong.measurement)
            if block is None:
                raise InputError("type the right value, or another block.")
            put_into_block(study, number, [wrong], block)
            became = "keeps its value"
        else:
            given = None if block is None else dict(block)
            right = _with_count(typed, wrong.measurement)
            study.correct(number, right, key=wrong.key, outcome=outcome, block=given)
            became = f"is corrected to {right}"
        if block is None:
            return became
        moved = f"{became}, block: {block_line(block) or 'none'}"
        doubt = _doubt(number, before, block)
        return f"{moved}. {doubt}".removesuffix(".") if doubt else moved

    return _about_value(session, data, change)


def _with_count(right: Measurement, known: Measurement) -> Measurement:
    """A right value whose ± stays is a mean of as many values as the wrong one."""
    if known.count is None or right.replicates or right.noise != known.noise:
        return right
    return replace(right, count=known.count)


def _right_value(session: Session, data: Data) -> Measurement:
    values = read_values([data], session.outcome_names, session.units)
    return values if isinstance(values, Measurement) else next(iter(values.values()))


def _another_block(before: tuple[Trial, ...], data: Data, known: Block) -> Block | None:
    """The block that was typed; None if it is the known one, or there was no field of it."""
    if "block" not in data:
        return None
    usual = UsualBlock.of(before).kind
    if text_in(data, "block") in (written_block(known), written_block(known, usual)):
        return None
    return typed_block(before, read_block(data), is_bare(data))


def _check_noise_stays(data: Data, known: Measurement) -> None:
    """Refuses another noise that comes without a value."""
    if text_in(data, "noise") != written_noise(known):
        raise InputError("type the value too; its ± is corrected together with it.")


def void(session: Session, data: Data) -> Done:
    """Takes back a value that must not count; the record keeps it."""
    reason = text_in(data, "reason")

    def change(study: Study, number: int, bad: StoredMeasurement) -> str:
        study.void(number, reason, key=bad.key, outcome=bad.outcome or None)
        return "does not count any more"

    return _about_value(session, data, change)


def fail(session: Session, data: Data) -> Done:
    """Records that measuring failed."""
    reason = text_in(data, "reason")
    if not reason:
        raise InputError("say in a few words why it failed.")

    def work(study: Study) -> Done:
        stored = _stored(study, data)
        if stored.state not in ("running", "queued"):
            raise ConflictError(
                f"trial {stored.number} is {stored.state} by now, by another page or worker; it is"
                " not recorded as failed."
            )
        study.fail(stored.number, reason)
        return Done(f"Trial {stored.number} is recorded as failed.", [stored.number])

    return session.telling.use(work)


def withdraw(session: Session, data: Data) -> Done:
    """Takes back a trial that will not be measured."""
    number = _number(data)
    session.telling.use(lambda study: study.withdraw(number))
    return Done(f"Trial {number} is withdrawn.", [number])


def release(session: Session, data: Data) -> Done:
    """Gives a trial back unmeasured, to be handed out again."""
    number = _number(data)
    session.telling.use(lambda study: study.release(number))
    return Done(f"Trial {number} waits in the queue again.", [number])


def note(session: Session, data: Data) -> Done:
    """Keeps a note with a trial that is told already."""
    notes = text_in(data, "notes")

    def work(study: Study) -> Done:
        stored = _stored(study, data)
        trial = trial_of(stored)
        if not stored.measurements:
            raise InputError(f"trial {stored.number} has no value yet; notes are told with it.")
        first = stored.measurements[0]
        value = {first.outcome: first.measurement} if first.outcome else first.measurement
        study.tell(trial, value, key=first.key, attributes={"notes": notes})
        return Done(f"Trial {stored.number}: the note is kept.", [stored.number])

    return session.telling.use(work)


def enqueue(session: Session, data: Data) -> Done:
    """Queues a setting of one's own, given by its place; it is handed out at once if asked."""

    def work(study: Study) -> Done:
        place = check_place(study.space, data.get("at"))
        queued = study.enqueue(setting_at(study.space, place))
        if not data.get("now"):
            said = f"Trial {queued.number} waits in the queue; it is handed out when asked for."
            return Done(said, [queued.number])
        taken = study.ask(fixed=queued.params)  # others may wait before it
        said = f"Trial {taken.number} is to be measured next."
        return Done(said, [queued.number, taken.number])

    return session.once(text_in(data, "key"), work)


def ask(session: Session, data: Data) -> Done:
    """Asks for more trials, with parameters held or equal within the batch."""
    count = whole_in(data, "count", 1, MOST_ASKED)
    rows = rows_in(data, "fixed", _MOST_ROWS)
    shared = rows_in(data, "shared", _MOST_ROWS)

    def work(study: Study) -> Done:
        space = study.space
        fixed: Params | None = read_settings(rows, space) or None
        names = [space.names[whole_in(row, "column", 0, len(space) - 1)] for row in shared]
        trials = study.ask(count, fixed=fixed, shared=names or None)
        numbers = [trial.number for trial in trials]
        listed = ", ".join(map(str, numbers))
        return Done(f"{plural(len(trials), 'trial')} to measure: {listed}.", numbers)

    return session.once(text_in(data, "key"), work)


ACTIONS: Final[Mapping[str, Action]] = {
    "ask": ask,
    "correct": correct,
    "enqueue": enqueue,
    "fail": fail,
    "note": note,
    "release": release,
    "tell": tell,
    "void": void,
    "withdraw": withdraw,
}
