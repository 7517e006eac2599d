"""The places of a study's trials in the unit cube, each computed once."""

from collections.abc import Iterable
from typing import final

from ceibo.decide.evidence import Unmeasured
from ceibo.decide.frame import Frame
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo.study.attributes import PLANNED
from ceibo.study.store import DONE, FAILED, WITHDRAWN, Snapshot, StoredTrial
from ceibo.study.store.records import damaged


@final
class Places:
    """Where the trials of one study are; threads may share it."""

    def __init__(self, name: str, frame: Frame) -> None:
        self._name, self._frame, self.space = name, frame, frame.space
        self._places: dict[int, Array] = {}

    def __getitem__(self, number: int) -> Array:
        return self._places[number]

    def find(self, trials: Iterable[StoredTrial]) -> None:
        """Computes the places of the trials that are new."""
        new = [each for each in trials if each.number not in self._places]
        try:
            places = self._frame.places(trial.params for trial in new)
        except InputError as error:
            trial, why = self._first_wrong(new, error)
            raise damaged(f"trial {trial.number} of study {self._name!r}", why) from why
        self._places.update(zip((trial.number for trial in new), places, strict=True))

    def of(self, trial: StoredTrial) -> Array:
        """The place (d,) of a trial."""
        if trial.number not in self._places:
            self.find([trial])
        return self._places[trial.number]

    def unmeasured(self, snapshot: Snapshot) -> Unmeasured:
        """The places of the trials that failed, were withdrawn or are under way.

        A trial that was run at another setting than planned says nothing about the planned one.
        """
        given = (trial.attributes.get(PLANNED) for trial in snapshot.trials if trial.attributes)
        elsewhere = {number for number in given if isinstance(number, int)}
        failed: list[Array] = []
        withdrawn: list[Array] = []
        pending: list[Array] = []
        in_a_row = 0
        for trial in snapshot.trials:
            state = trial.state
            if state == DONE:
                in_a_row = 0
            elif state == FAILED:
                in_a_row += 1
                failed.append(self._places[trial.number])
            elif state == WITHDRAWN:
                if trial.number not in elsewhere:
                    withdrawn.append(self._places[trial.number])
            else:
                # the mean of m values is as good as m measurements
                pending += [self._places[trial.number]] * trial.repeats
        return Unmeasured(pending, failed, withdrawn, in_a_row)

    def _first_wrong(
        self, trials: list[StoredTrial], error: InputError
    ) -> tuple[StoredTrial, InputError]:
        """The first of several trials whose parameters are not of the space, and why."""
        for trial in trials:
            try:
                self._frame.place(trial.params)
            except InputError as own:
                return trial, own
        return trials[0], error  # pragma: no cover - one of them was wrong
