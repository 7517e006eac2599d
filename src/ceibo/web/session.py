"""The study behind the page: read, written and believed in threads.

The store may be used by many threads, a study by one at a time. So there are three studies over one
store, each with its lock: one that is read and fitted, one that is told, and one that is asked,
which takes long. What is believed is computed once for each state of the record.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar, final

from ceibo.decide import Belief, JointBelief, Verdict
from ceibo.errors import NoMeasurementError
from ceibo.study import Study, Trial
from ceibo.study.ledger import Ledger

T = TypeVar("T")
AnyBelief = Belief | JointBelief
_KEPT: Final = 64  # answers to requests that are recognised when they come again
_REMEMBERED: Final = 4  # states whose remaining improvement is kept for the next verdict


@final
@dataclass(frozen=True, eq=False)
class State:
    """A study at one point of its history."""

    seq: int
    trials: tuple[Trial, ...]
    belief: AnyBelief | None  # None as long as there is no model
    waiting: str = ""  # why there is none


@final
class Desk:
    """A study that one thread uses at a time."""

    def __init__(self, study: Study) -> None:
        self._study, self._lock = study, threading.RLock()

    def use(self, work: Callable[[Study], T]) -> T:
        """What a function makes of the study."""
        with self._lock:
            return work(self._study)


@final
class Session:
    """A study on which pages are open; `cost` is the price that they begin with."""

    def __init__(self, study: Study, cost: float | None = None) -> None:
        self.name, self.outcomes, self.cost = study.name, study.outcomes, cost
        self.direction, self.settings = study.direction, study.settings
        store = study.ledger.store

        def another() -> Desk:
            return Desk(Study(Ledger(store, store.study(study.name))))

        self.reading, self.telling, self.asking = another(), another(), another()
        self.watching = another()
        self.searching = threading.Lock()
        """Held by searches for answers, which wait for one another; slices and maps do not."""
        self._states: tuple[int, State] | None = None
        self._done: dict[str, object] = {}
        self._memory: dict[tuple[bytes, ...], float] = {}

    @property
    def outcome_names(self) -> tuple[str, ...]:
        """The outcomes, or "" for a single objective."""
        return ("",) if self.outcomes is None else self.outcomes.names

    @property
    def units(self) -> dict[str, str]:
        """Outcome -> its unit."""
        return {name: each.unit for name, each in (self.outcomes or {}).items()}

    def seq(self) -> int:
        """The number of the last event, which costs next to nothing to ask for."""
        return self.watching.use(lambda study: study.ledger.refresh().seq)

    def state(self) -> State:
        """The study as it is now, with a model that is ready to be asked."""
        return self.reading.use(self._state)

    def _state(self, study: Study) -> State:
        seq = study.ledger.refresh().seq
        if self._states is None or self._states[0] != seq:
            self._states = seq, _believed(study)
        return self._states[1]

    def once(self, key: str, work: Callable[[Study], T]) -> T:
        """What was made of the asked study when it was first done under a key, such as a batch."""

        def unless_done(study: Study) -> T:
            if key in self._done:
                return self._done[key]  # type: ignore[return-value]  # of the same work
            found = work(study)
            if key:
                self._done[key] = found
                for old in list(self._done)[:-_KEPT]:
                    del self._done[old]
            return found

        return self.asking.use(unless_done)

    def verdict(self, belief: AnyBelief, cost: float) -> Verdict:
        """Whether another measurement is worth a price."""
        with self.searching:
            found = belief.verdict(cost, self._memory)
            for key in list(self._memory)[:-_REMEMBERED]:
                del self._memory[key]
        return found


def _believed(study: Study) -> State:
    """The state of a study, with its model fitted."""
    trials = study.trials
    seq = study.ledger.snapshot.seq
    try:
        belief = study.belief if study.outcomes is None else study.joint_belief
        _ = belief.model if isinstance(belief, Belief) else belief.predictions
    except NoMeasurementError as error:
        said = str(error)
        return State(seq, trials, None, said[:1].upper() + said[1:])
    return State(seq, trials, belief)
