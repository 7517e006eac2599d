"""How far the answers of a study can be trusted, and whether to go on."""

from abc import ABC
from collections import Counter

from ceibo.checks import check_cost
from ceibo.decide.closeness import Closeness, closeness
from ceibo.decide.stopping import Profit, Verdict, profit_of
from ceibo.decide.suspects import Suspect
from ceibo.errors import InputError, NoMeasurementError
from ceibo.study.answers import Answers
from ceibo.study.blocks import Blocks
from ceibo.study.store import DONE, FAILED, StoredTrial
from ceibo.study.suspicion import suspects_in

_REMEMBERED = 4  # states whose remaining improvement is kept for the next verdict


class Assessment(Answers, ABC):
    """What is known of the noise, the doubts and the price: the part of `Study` that judges."""

    def closeness(
        self, within: float | None = None, *, probability: float | None = None, of: str = "best"
    ) -> Closeness:
        """How close an answer is to the best setting there is, by the model.

        Args:
            within: a distance in the objective's units, to learn the probability with which the
                answer is no further from the best.
            probability: to learn the distance within which the answer is with it; 0.9 by default.
            of: "best" or "recommended".

        Example:
            >>> import ceibo
            >>> study = ceibo.Study.create({"x": ceibo.Float(0, 1)})
            >>> result = study.optimize(lambda p: (p["x"] - 0.3) ** 2, n_trials=12)
            >>> study.closeness(0.1).probability > 0.9
            True
        """
        if self.ledger.outcomes is not None:
            several = len(self.ledger.outcomes.goals) > 1
            instead = "front says how likely each setting is on the true one"
            raise InputError(
                "closeness is asked of a study of one objective, and this one has outcomes; its"
                f" {instead if several else 'best says how likely its limits hold'}."
            )
        return closeness(self.belief, within, probability=probability, of=of)

    @property
    def suspects(self) -> tuple[Suspect, ...]:
        """The measured values that look wrong: all the others together speak against them.

        They count less in the model. Whether to measure again, to `void` or to let them stand is
        a person's decision.
        """
        return suspects_in(self.ledger)

    @property
    def noise(self) -> float | dict[str, float | None] | None:
        """The inferred std of one value of unknown noise; None if all noise is known.

        In a study with outcomes, a dict of them by name.
        """
        return self.any_belief.noise

    @property
    def blocks(self) -> Blocks | dict[str, Blocks]:
        """What blocks such as days did to the values measured in them; `tell` says what they are.

        Each has its effect `mean` ± `std`, which is not part of the other answers, its `count` of
        measurements, and the `spread` of the effects of its kind. In a study with outcomes, a dict
        of them by name.
        """
        found = self.any_belief.blocks
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
        belief = self.any_belief
        ended = self.ledger.snapshot.in_state(DONE, FAILED)
        return profit_of(belief, cost, sum(map(_evaluations, ended)))


def _evaluations(trial: StoredTrial) -> int:
    """How often a trial that has ended was evaluated: once, or as often as an outcome was."""
    counts = Counter(each.outcome for each in trial.measurements)
    return max(counts.values(), default=1)
