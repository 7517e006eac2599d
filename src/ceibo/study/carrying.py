"""An exception that ends a run carries the study, so that nothing measured is lost with it."""

from contextlib import suppress
from typing import Final

from ceibo.study.record import Record
from ceibo.study.store import DONE
from ceibo.text import plural

_HAS: Final = (
    "The exception has the study: `except Exception as error: study = error.study` (at a prompt:"
    " sys.last_value.study), and study.optimize(objective, …) goes on."
)
FIRST: Final = (
    "An exception in the first trial of a study ends the run; with max_failures given, such as"
    f" max_failures=3, it counts like any other. {_HAS}"
)


def carry(error: BaseException, study: Record) -> None:
    """Gives an exception the study as its attribute `study`.

    If anything was measured, a note says so.
    """
    # as an object's: some exceptions are frozen, or have attributes of their own making
    with suppress(AttributeError, TypeError):
        object.__setattr__(error, "study", study)
        study.is_carried = True
        if number := len(study.ledger.snapshot.in_state(DONE)):
            error.add_note(_note(study, number))


def _note(study: Record, number: int) -> str:
    measured = plural(number, "measured trial")
    where = f"stored in {study.ledger.store.url}"
    if study.ledger.store.in_memory:
        where = "kept in memory"
    return f"Nothing is lost: {measured} of study {study.name!r} {where}. {_HAS}"
