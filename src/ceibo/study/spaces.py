"""The spaces that a study has had, as they are recorded and read back."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, final

from ceibo.decide.direction import Direction
from ceibo.decide.frame import Frame
from ceibo.decide.outcomes import Outcomes
from ceibo.decide.space import Space
from ceibo.errors import InputError
from ceibo.study.deciding import Decider, Plan, decider_of
from ceibo.study.store import Change
from ceibo.study.store.readers import newer
from ceibo.study.store.records import damaged

_KEYS: Final = {"space", "constraints", "before"}
"""What this version keeps in the data of a change."""


@final
class Spaces:
    """What one study searches, and how it decides, after each change; threads may share it."""

    def __init__(self, plan: Plan, direction: Direction, outcomes: Outcomes | None) -> None:
        self._plan, self._direction, self._outcomes = plan, direction, outcomes
        self._frames = {0: plan.frame}
        self._deciders: dict[int, Decider] = {}

    @property
    def first(self) -> Space:
        """The space with which the study began."""
        return self._frames[0].space

    def frame(self, changes: Sequence[Change]) -> Frame:
        """The frame after these changes, which are all since the study began."""
        for count, change in enumerate(changes, 1):
            if count not in self._frames:
                self._frames[count] = self._read(self._frames[count - 1], change)
        return self._frames[len(changes)]

    def decider(self, changes: Sequence[Change]) -> Decider:
        """What decides over the space after these changes."""
        if len(changes) not in self._deciders:
            plan = replace(self._plan, frame=self.frame(changes))
            self._deciders[len(changes)] = decider_of(plan, self._direction, self._outcomes)
        return self._deciders[len(changes)]

    def _read(self, frame: Frame, change: Change) -> Frame:
        what = f"the change of the space (event {change.seq}) of study {self._plan.name!r}"
        data = change.data
        if isinstance(data, dict) and (unknown := sorted(data.keys() - _KEYS)):
            raise newer(what, f"the part {unknown[0]!r}")
        try:
            space = Space.from_json(data["space"], data.get("constraints", ()))
            return frame.after(space, data["before"])
        except (InputError, AttributeError, LookupError, TypeError) as error:
            raise damaged(what, error) from error


def change_data(space: Space, before: Mapping[str, object] | None) -> dict[str, Any]:
    """A change as it is recorded."""
    values = before or {}
    checked = {name: space.dimensions[name].check(values[name], name) for name in values}
    rules = {"constraints": list(space.constraints)} if space.constraints else {}
    return {"space": space.to_json(), **rules, "before": checked}
