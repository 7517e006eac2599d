"""One thing that is measured, as a belief sees it: the objective, or one of several outcomes.

It lets drawings and checks of the model treat a study of one objective and one of several outcomes
alike.
"""

from dataclasses import dataclass
from typing import final

from ceibo.decide.belief import Belief
from ceibo.decide.evidence import Evidence
from ceibo.decide.joint import JointBelief
from ceibo.decide.model import Model
from ceibo.decide.outcomes import Outcome
from ceibo.errors import InputError, NoMeasurementError, show_value
from ceibo.gp.inputs import Array


@final
@dataclass(frozen=True, eq=False)
class View:
    """What is known and believed of one outcome, in the user's units and direction."""

    belief: Belief | JointBelief
    name: str
    outcome: Outcome | None  # None of the objective of a study without outcomes

    @property
    def label(self) -> str:
        """Its name, with its unit if it has one."""
        unit = self.outcome.unit if self.outcome is not None else ""
        return f"{self.name} ({unit})" if unit else self.name

    @property
    def evidence(self) -> Evidence:
        """What was measured of it."""
        if isinstance(self.belief, JointBelief):
            return self.belief.evidence.each[self.name]
        return self.belief.evidence

    @property
    def model(self) -> Model:
        """Its model, minimised and in units of its own."""
        if isinstance(self.belief, JointBelief):
            return self.belief.predictions.model_of(self.name)
        return self.belief.model

    @property
    def limit(self) -> float | None:
        """The value that it must not pass, if it has one."""
        return None if self.outcome is None else self.outcome.bound

    @property
    def is_goal(self) -> bool:
        """Whether it is to be minimised or maximised."""
        return self.outcome is None or self.outcome.is_goal

    def at_points(self, X: Array) -> tuple[Array, Array]:
        """Its posterior means and standard deviations (N,) at points (N, d) of the unit cube."""
        if isinstance(self.belief, JointBelief):
            return self.belief.predictions.at_points(X, self.name)
        return self.belief.at_points(X)


def view_of(belief: Belief | JointBelief, outcome: str | None = None) -> View:
    """The view of an outcome; of the objective, or of the first goal, if none is named."""
    if isinstance(belief, Belief):
        if outcome is not None:
            raise InputError(
                f"the study has one objective and no outcomes, got outcome={show_value(outcome)};"
                " leave it out."
            )
        return View(belief, "objective", None)
    outcomes = belief.evidence.outcomes
    name = outcomes.goals[0] if outcome is None else outcome
    if name not in outcomes:
        known = ", ".join(outcomes)
        raise InputError(f"outcome must be one of {known}, got {show_value(name)}.")
    if not len(belief.evidence.each[name]):
        raise NoMeasurementError(f"there is no measurement of {name!r} yet; tell one first.")
    return View(belief, name, outcomes[name])
