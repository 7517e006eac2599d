"""The answers of a study, each with its uncertainty."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ceibo.checks import check_cost
from ceibo.decide.belief import Belief, recommend
from ceibo.decide.estimate import Estimate, Observed
from ceibo.decide.joint import JointBelief, raw_front, recommend_jointly
from ceibo.decide.stopping import Profit, Verdict, profit_of
from ceibo.errors import InputError, NoMeasurementError, NotFoundError, show_value
from ceibo.study.blocks import Blocks
from ceibo.study.ledger import Ledger
from ceibo.study.store import DONE, FAILED, StoredTrial

_REMEMBERED = 4  # states whose remaining improvement is kept for the next verdict


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
    def _any_belief(self) -> Belief | JointBelief:
        return self.belief if self.ledger.outcomes is None else self.joint_belief

    @property
    def best(self) -> Estimate:
        """The incumbent: the measured setting with the best posterior mean, with its std.

        It is one within the ranges and choices of the space as it is now, if there is such a one.
        Of those whose limits hold with the study's confidence, if it has limits; if there is none,
        the setting at which they are most likely to hold.
        """
        return _as_recorded(self.ledger, self._any_belief.best)

    @property
    def recommended(self) -> Estimate:
        """The setting with the best posterior mean over the space, which may be unmeasured.

        With limits, of the settings at which they hold with the study's confidence.
        """
        found = self._any_belief.recommended
        return replace(found, params=dict(found.params))

    def recommend(self, fixed: Mapping[str, Any] | None = None) -> Estimate:
        """The same while parameters are held: name -> value, such as what is on the shelf."""
        belief = self._any_belief
        if isinstance(belief, Belief):
            found = recommend(belief, fixed)
        else:
            found = recommend_jointly(belief, fixed)
        return replace(found, params=dict(found.params))

    @property
    def best_observed(self) -> Observed:
        """The best raw value: what a tool that ignores noise would report."""
        observed = self._any_belief.best_observed
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

    def predict(self, settings: Iterable[Mapping[str, Any]]) -> list[Estimate]:
        """What is believed at settings, measured or not."""
        if isinstance(settings, Mapping | str) or not isinstance(settings, Iterable):
            raise InputError(
                f"expected a list of settings, as in [{{…}}, {{…}}], got {show_value(settings)}."
            )
        belief = self._any_belief
        return [belief.at(params) for params in settings]

    @property
    def noise(self) -> float | dict[str, float | None] | None:
        """The inferred std of one value of unknown noise; None if all noise is known.

        In a study with outcomes, a dict of them by name.
        """
        return self._any_belief.noise

    @property
    def blocks(self) -> Blocks | dict[str, Blocks]:
        """What blocks such as days did to the values measured in them; `tell` says what they are.

        Each has its effect `mean` ± `std`, which is not part of the other answers, its `count` of
        measurements, and the `spread` of the effects of its kind. In a study with outcomes, a dict
        of them by name.
        """
        found = self._any_belief.blocks
        if isinstance(found, dict):
            return {name: Blocks(effects) for name, effects in found.items()}
        return Blocks(found)

    def should_stop(self, cost: float) -> Verdict:
        """Whether to stop because no measurement is worth `cost`, in the objective's units."""
        memory = self.ledger.improvements
        try:
            verdict = self.ledger.any_belief().verdict(cost, memory)
        except NoMeasurementError:  # a limit of which nothing is known
            reason = "not every goal and limit has been measured"
            verdict = Verdict(False, check_cost(cost), (), f"go on: {reason}.", reason)
        for key in list(memory)[:-_REMEMBERED]:
            del memory[key]
        return verdict

    def profit(self, cost: float) -> Profit:
        """What the study has brought at a price of `cost` per evaluation, less the initial ones."""
        belief = self._any_belief
        ended = self.ledger.snapshot.in_state(DONE, FAILED)
        return profit_of(belief, cost, sum(map(_evaluations, ended)))


def _as_recorded(ledger: Ledger, found: Estimate) -> Estimate:
    """An answer about a measured setting, with the parameters of its trial."""
    return replace(found, params=_params(ledger, found.number))


def _params(ledger: Ledger, number: int | None) -> dict[str, Any]:
    """The parameters of a trial as they were recorded, rather than decoded from the cube."""
    if number is None:  # pragma: no cover - an answer about measured settings has a number
        raise NotFoundError("there is no such trial.")
    return dict(ledger.snapshot.trials[number].params)


def _no_measurement(name: str) -> NoMeasurementError:
    return NoMeasurementError(f"study {name!r} has no measurement yet; tell one first.")


def _evaluations(trial: StoredTrial) -> int:
    """How often a trial that has ended was evaluated: once, or as often as an outcome was."""
    counts = Counter(each.outcome for each in trial.measurements)
    return max(counts.values(), default=1)
