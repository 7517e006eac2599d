"""What follows from the record of a study: suggestions and beliefs, of one outcome or several."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, final

from ceibo.decide.belief import Belief
from ceibo.decide.direction import Direction
from ceibo.decide.frame import Frame
from ceibo.decide.joint import (
    JointBelief,
    JointSuggestion,
    starts_of,
    suggest_jointly,
    to_joint_record,
)
from ceibo.decide.outcomes import Outcomes
from ceibo.decide.record import hyperparameters_of, is_to_confirm, to_record
from ceibo.decide.settings import Settings
from ceibo.decide.space import Params, Space
from ceibo.decide.suggest import Suggestion, suggest
from ceibo.gp.inputs import Array
from ceibo.study.gathering import Gatherer, JointGatherer
from ceibo.study.store import Snapshot, StoredTrial

Record = Mapping[str, Any]


@final
@dataclass(frozen=True, eq=False)
class Suggested:
    """A suggestion: its place (d,) in the unit cube, its parameters, and its record."""

    x: Array
    params: Params
    record: dict[str, Any]


@final
@dataclass(frozen=True)
class Wish:
    """What is wanted of a suggestion: parameters held at values, and whether it is to confirm."""

    fixed: Params = field(default_factory=dict)
    confirm: bool = False

    @staticmethod
    def of(record: Record) -> "Wish":
        """What was wanted of a recorded suggestion."""
        return Wish(record.get("fixed") or {}, is_to_confirm(record))


ANY: Final = Wish()
"""A trial of the search, with nothing held."""


@final
@dataclass(frozen=True)
class Plan:
    """What a study is about, and how it decides."""

    name: str
    frame: Frame
    settings: Settings
    seed: int

    @property
    def space(self) -> Space:
        """The space that is searched."""
        return self.frame.space


@dataclass(frozen=True, eq=False)
class Decider(ABC):
    """Makes suggestions and beliefs from what was recorded."""

    plan: Plan
    gatherer: Gatherer | JointGatherer

    def place(self, trial: StoredTrial) -> Array:
        """The place (d,) of a trial in the unit cube."""
        return self.gatherer.place(trial)

    def suggest(
        self,
        snapshot: Snapshot,
        number: int,
        earlier: Record | None,
        key: str = "hyperparameters",
        wish: Wish = ANY,
    ) -> Suggested:
        """The suggestion for trial `number` from what a snapshot shows.

        `earlier` is a recorded suggestion, and under `key` in it is what the fit starts from.
        """
        found, record = self._found(snapshot, number, earlier, key, wish)
        held = {"fixed": dict(wish.fixed)} if wish.fixed else {}
        return Suggested(found.x, found.params, record | held)

    @abstractmethod
    def has_start(self, record: Record) -> bool:
        """Whether a recorded suggestion has hyperparameters for a later fit to start from."""

    @abstractmethod
    def belief(self, snapshot: Snapshot) -> Belief | JointBelief:
        """What a snapshot leads to believe."""

    @abstractmethod
    def _found(
        self, snapshot: Snapshot, number: int, earlier: Record | None, key: str, wish: Wish
    ) -> tuple[Suggestion | JointSuggestion, dict[str, Any]]:
        """What `suggest` finds, and the record of it."""


@final
@dataclass(frozen=True, eq=False)
class OneOutcome(Decider):
    """Decides about one objective."""

    gatherer: Gatherer

    def has_start(self, record: Record) -> bool:
        return hyperparameters_of(record) is not None

    def belief(self, snapshot: Snapshot) -> Belief:
        plan, evidence = self.plan, self.gatherer.gather(snapshot)
        return Belief(evidence, plan.space, plan.settings, plan.seed)

    def _found(
        self, snapshot: Snapshot, number: int, earlier: Record | None, key: str, wish: Wish
    ) -> tuple[Suggestion, dict[str, Any]]:
        plan, start = self.plan, hyperparameters_of(earlier, key)
        evidence = self.gatherer.gather(snapshot)
        about = plan.space, plan.settings, start, plan.seed, number
        found = suggest(evidence, *about, fixed=wish.fixed, confirm=wish.confirm)
        return found, to_record(found, snapshot.seq, plan.seed)


@final
@dataclass(frozen=True, eq=False)
class SeveralOutcomes(Decider):
    """Decides about goals and limits together."""

    gatherer: JointGatherer

    def has_start(self, record: Record) -> bool:
        return bool(starts_of(record))

    def belief(self, snapshot: Snapshot) -> JointBelief:
        plan, evidence = self.plan, self.gatherer.gather(snapshot)
        return JointBelief(evidence, plan.space, plan.settings, plan.seed)

    def _found(
        self, snapshot: Snapshot, number: int, earlier: Record | None, key: str, wish: Wish
    ) -> tuple[JointSuggestion, dict[str, Any]]:
        plan, starts = self.plan, starts_of(earlier, key)
        evidence = self.gatherer.gather(snapshot)
        about = plan.space, plan.settings, starts, plan.seed, number
        found = suggest_jointly(evidence, *about, fixed=wish.fixed, confirm=wish.confirm)
        return found, to_joint_record(found, snapshot.seq, plan.seed)


def decider_of(plan: Plan, direction: Direction, outcomes: Outcomes | None) -> Decider:
    """What decides in a study: about one objective, or about several outcomes."""
    about = plan.name, plan.frame
    if outcomes is None:
        return OneOutcome(plan, Gatherer(*about, direction))
    return SeveralOutcomes(plan, JointGatherer(*about, outcomes))
