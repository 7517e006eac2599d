"""An exception that ends a run carries the study, so that nothing measured is lost with it."""

from contextlib import suppress
from functools import partial
from typing import Any, Final

from ceibo.study.record import Record
from ceibo.study.store import DONE
from ceibo.text import plural

_CARRIED: Final = ("study", "__reduce_ex__")


def carry(error: BaseException, study: Record) -> None:
    """Gives an exception the study as its attribute `study`, and a note that says so."""
    # as an object's: some exceptions are frozen, or have attributes of their own making
    with suppress(AttributeError, TypeError):
        object.__setattr__(error, "study", study)
        # no other process can use a study: what is pickled of the exception is without it
        object.__setattr__(error, "__reduce_ex__", partial(_reduced, error))
        error.add_note(_note(study))


def _note(study: Record) -> str:
    measured = plural(len(study.ledger.snapshot.in_state(DONE)), "measured trial")
    where = f"stored in {study.ledger.store.url}"
    if study.ledger.store.in_memory:
        where = "kept in memory"
    return (
        f"Nothing is lost: {measured} of study {study.name!r} {where}. The exception has the study:"
        " `except Exception as error: study = error.study` (at a prompt: sys.last_value.study), and"
        " study.optimize(objective, …) goes on."
    )


def _reduced(error: BaseException, protocol: Any) -> Any:
    """What pickle gets of an exception that carries a study: all but that."""
    parts = type(error).__reduce_ex__(error, protocol)
    if isinstance(parts, tuple) and len(parts) > 2 and isinstance(parts[2], dict):
        state = {name: value for name, value in parts[2].items() if name not in _CARRIED}
        return (*parts[:2], state, *parts[3:])
    return parts
