"""Handing trials out to people: the next ones of the search, or a last look at the answer."""

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Any, overload

from ceibo.study.batch import ask_batch
from ceibo.study.confirming import check_confirmable
from ceibo.study.record import Record
from ceibo.study.trial import Trial, trial_of


class Handing(Record, ABC):
    """The part of `Study` that hands trials out."""

    @overload
    def ask(self, count: None = None, *, fixed: Mapping[str, Any] | None = None) -> Trial: ...
    @overload
    def ask(
        self,
        count: int,
        *,
        fixed: Mapping[str, Any] | None = None,
        shared: Sequence[str] | None = None,
    ) -> list[Trial]: ...
    def ask(
        self,
        count: int | None = None,
        *,
        fixed: Mapping[str, Any] | None = None,
        shared: Sequence[str] | None = None,
    ) -> Trial | list[Trial]:
        """The next trial to measure, or a list of `count` of them.

        Queued trials (enqueued or released) come first. The trial stays pending until told, failed,
        released or withdrawn.

        Args:
            count: of the trials; one, not in a list, by default.
            fixed: name -> value of parameters that are held for this call, such as what is on the
                shelf today. Queued trials with other values stay in the queue.
            shared: parameters that are equal within the batch, such as the temperature of an oven.
        """
        trials = [trial_of(each) for each in ask_batch(self.asking, count, fixed, shared)]
        return trials[0] if count is None else trials

    def confirm(
        self,
        count: int,
        *,
        fixed: Mapping[str, Any] | None = None,
        shared: Sequence[str] | None = None,
    ) -> list[Trial]:
        """A last look: trials that go into the answer instead of the search, to be told as others.

        Each is where one more measurement does most for the best posterior mean (the knowledge
        gradient), anywhere in the space; that may be a setting that was measured or is being
        measured. The queue is left alone. `closeness` says what it bought.

        Args:
            count: of the trials.
            fixed, shared: as in `ask`.
        """
        check_confirmable(self.ledger)
        stored = ask_batch(self.asking, count, fixed, shared, confirm=True)
        return [trial_of(each) for each in stored]
