"""Trials that go into the answer instead of the search: a last look."""

from ceibo.decide.outcomes import Outcomes
from ceibo.errors import InputError, NoMeasurementError
from ceibo.study.ledger import Ledger
from ceibo.study.store import Snapshot


def check_one_goal(outcomes: Outcomes | None) -> None:
    """Refuses several goals: their answer is a front, and no measurement is best for it."""
    if outcomes is not None and len(outcomes.goals) > 1:
        raise InputError(
            f"confirm: this study has {len(outcomes.goals)} goals, whose answer is a front, and a"
            " last look is at the one best setting; ask for further trials instead."
        )


def check_confirmable(ledger: Ledger) -> None:
    """Refuses a last look where there is nothing yet to look at."""
    check_one_goal(ledger.outcomes)
    missing = set(ledger.needed) - _told(ledger.refresh())
    if missing:
        what = (
            "no measurement" if ledger.outcomes is None else f"no measurement of {min(missing)!r}"
        )
        raise NoMeasurementError(
            f"study {ledger.name!r} has {what} yet, and so no answer to confirm; ask and tell"
            " first."
        )


def _told(snapshot: Snapshot) -> set[str]:
    """The outcomes of which there is a measurement."""
    return {each.outcome for trial in snapshot.trials for each in trial.measurements}
