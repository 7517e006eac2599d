"""The answers of a study: what is best, each with its uncertainty."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ceibo.decide.belief import Belief, recommend
from ceibo.decide.estimate import Estimate, Observed
from ceibo.decide.joint import JointBelief, raw_front, recommend_jointly
from ceibo.errors import InputError, NoMeasurementError, NotFoundError, show_value
from ceibo.study.ledger import Ledger
from ceibo.study.table import Frame, rows_of


class Answers(ABC):
    """What follows from all that was told of a study: the part of `Study` that only reads."""

    ledger: Ledger

    @abstractmethod
    def __init__(self, ledger: Ledger) -> None:
        """Of the study that this is the record of."""

    @property
    def belief(self) -> Belief:
        """What all measurements together say, for questions beyond the ones below."""
        belief = self.ledger.belief()
        if not belief.evidence.told:
            raise _no_measurement(self.ledger.name)
        return belief

    @property
    def joint_belief(self) -> JointBelief:
        """The same for a study with outcomes."""
        belief = self.ledger.any_belief()
        if not isinstance(belief, JointBelief):
            name = self.ledger.name
            raise InputError(f"study {name!r} has no outcomes; ask for its belief, or its best.")
        if not any(len(each) for each in belief.evidence.each.values()):
            raise _no_measurement(self.ledger.name)
        return belief

    @property
    def any_belief(self) -> Belief | JointBelief:
        """The one of the two that the study has."""
        return self.belief if self.ledger.outcomes is None else self.joint_belief

    @property
    def best(self) -> Estimate:
        """The incumbent: the measured setting with the best posterior mean, with its std.

        It is one within the ranges and choices of the space as it is now, if there is such a one.
        Of those whose limits hold with the study's confidence, if it has limits; if there is none,
        the setting at which they are most likely to hold.
        """
        return _as_recorded(self.ledger, self.any_belief.best)

    @property
    def recommended(self) -> Estimate:
        """The setting with the best posterior mean over the space, which may be unmeasured.

        With limits, of the settings at which they hold with the study's confidence.
        """
        found = self.any_belief.recommended
        return replace(found, params=dict(found.params))

    def recommend(self, fixed: Mapping[str, Any] | None = None) -> Estimate:
        """The same while parameters are held: name -> value, such as what is on the shelf."""
        belief = self.any_belief
        if isinstance(belief, Belief):
            found = recommend(belief, fixed)
        else:
            found = recommend_jointly(belief, fixed)
        return replace(found, params=dict(found.params))

    @property
    def best_observed(self) -> Observed:
        """The best raw value: what a tool that ignores noise would report."""
        observed = self.any_belief.best_observed
        return replace(observed, params=_params(self.ledger, observed.number))

    @property
    def front(self) -> tuple[Estimate, ...]:
        """Of several goals, the measured settings of which none is better in every goal.

        Each has the chances that its limits hold (`p_feasible`) and that it is on the front of the
        true values (`p_efficient`).
        """
        return tuple(_as_recorded(self.ledger, each) for each in self.joint_belief.front)

    @property
    def raw_front(self) -> tuple[int, ...]:
        """The trials that are on the front by their raw values: what ignoring noise reports."""
        return raw_front(self.joint_belief.evidence)

    def predict(self, settings: Iterable[Mapping[str, Any]] | Frame) -> list[Estimate]:
        """What is believed at settings, measured or not; they may be the rows of a DataFrame."""
        if isinstance(settings, Frame):
            settings = rows_of(settings)
        if isinstance(settings, Mapping | str) or not isinstance(settings, Iterable):
            raise InputError(
                f"expected a list of settings, as in [{{…}}, {{…}}], got {show_value(settings)}."
            )
        belief = self.any_belief
        return [belief.at(params) for params in settings]


def _as_recorded(ledger: Ledger, found: Estimate) -> Estimate:
    """An answer about a measured setting, with the parameters of its trial."""
    return replace(found, params=_params(ledger, found.number))


def _params(ledger: Ledger, number: int | None) -> dict[str, Any]:
    """The parameters of a trial as they were recorded, rather than decoded from the cube.

    Parameters that came later have the values that they had then.
    """
    if number is None:  # pragma: no cover - an answer about measured settings has a number
        raise NotFoundError("there is no such trial.")
    return dict(ledger.frame.complete(ledger.snapshot.trials[number].params))


def _no_measurement(name: str) -> NoMeasurementError:
    return NoMeasurementError(f"study {name!r} has no measurement yet; tell one first.")
