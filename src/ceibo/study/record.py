"""The record of a study, read: its trials, how they came about, and what they are as a table."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ceibo.decide.outcomes import Outcomes
from ceibo.decide.space import Space
from ceibo.errors import InputError
from ceibo.study.asking import Asking
from ceibo.study.assessment import Assessment
from ceibo.study.elsewhere import Elsewhere
from ceibo.study.ledger import Ledger
from ceibo.study.store import DONE
from ceibo.study.table import to_dataframe, to_joint_dataframe
from ceibo.study.trial import Trial, trial_of
from ceibo.study.trial_line import aims_line
from ceibo.study.verify import Verification, verify
from ceibo.text import plural

if TYPE_CHECKING:
    import pandas


class Record(Assessment, ABC):
    """What was recorded of a study, and what follows from it: all of `Study` but its writes."""

    asking: Asking
    name: str
    outcomes: Outcomes | None
    direction: str
    is_carried: bool = False
    """Whether an exception carries the study."""

    @abstractmethod
    def __init__(self, ledger: Ledger) -> None:
        """Of the study that this is the record of."""

    @property
    def space(self) -> Space:
        """The space as it is now; `change` gives the study another one."""
        return self.ledger.space

    def close(self) -> None:
        """Closes the storage; a study in memory is lost."""
        self.ledger.store.close()

    def backup(self, path: str | Path, *, force: bool = False) -> None:
        """Copies the whole storage, with all its studies, to a new SQLite file.

        The copy is consistent also while others write, and needs no other file beside it. It works
        from PostgreSQL and from memory too, and rescues a study whose file was deleted.

        Args:
            path: of the new file.
            force: replace a file that exists there.
        """
        self.ledger.store.backup(Path(path), force)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials, in order of number."""
        return tuple(trial_of(stored) for stored in self.ledger.refresh().trials)

    @property
    def suggestions(self) -> dict[int, dict[str, Any]]:
        """Number -> how each trial came about: source, what was seen, value, fit, versions."""
        return self.ledger.store.suggestions(self.ledger.id)

    def verify(self) -> Verification:
        """Computes every past suggestion again from its record, and reports differences."""
        return verify(self.ledger)

    def to_dataframe(self) -> "pandas.DataFrame":
        """One row per measurement (or per trial without one), as a pandas DataFrame.

        Needs pandas. A parameter named like a column of the outcome ("value", "noise", …) is called
        "params_value", …; unknown noise is NaN. In a study with outcomes a row has a value and a
        noise of each, and a trial has more than one row if an outcome was measured repeatedly.
        Counts and blocks have columns ("count", "block", "block day") where some were told.
        """
        if self.outcomes is not None:
            return to_joint_dataframe(self.trials, self.space.names, self.outcomes.names)
        return to_dataframe(self.trials, self.space.names)

    def __reduce__(self) -> tuple[type[Elsewhere], tuple[str]]:
        where = "instead,"
        if self.ledger.store.in_memory:
            where = "a study in memory cannot go there, so give it a storage and"
        sentence = (
            f"a study is a connection to a database, which no other process or copy can use;"
            f" {where} call Study.open(storage, {self.name!r}) over there."
        )
        if self.is_carried:  # the exception must not be lost for it
            return Elsewhere, (sentence,)
        raise InputError(sentence)

    def __repr__(self) -> str:
        done = len(self.ledger.refresh().in_state(DONE))
        parameters = plural(len(self.space), "parameter")
        aim = self.direction if self.outcomes is None else aims_line(self.outcomes)
        return f"<Study {self.name!r}: {aim} over {parameters}, {plural(done, 'trial')} measured>"
