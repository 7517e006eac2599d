"""What a run found and why it ended."""

from abc import ABC
from dataclasses import dataclass
from typing import Generic

from ceibo.decide.estimate import Estimate, Observed
from ceibo.decide.stopping import Profit, Stop
from ceibo.decide.suspects import Suspect
from ceibo.errors import NoMeasurementError
from ceibo.study.runner import S
from ceibo.text import plural


@dataclass(frozen=True, repr=False)
class Found(ABC, Generic[S]):
    """What a run found and why it ended; the answers are the study's."""

    study: S
    stop: Stop
    cost: float | None = None

    def __str__(self) -> str:
        """For people: the answers, how many trials there were, and why the run ended."""
        try:
            outcomes = self.study.outcomes
            if outcomes is not None and len(outcomes.goals) > 1:
                said = [f"{plural(len(self.front), 'setting')} on the front"]
            else:
                said = [f"best: {self.best}", f"recommended: {self.recommended}"]
        except NoMeasurementError:
            said = []
        return "\n".join([*said, self.stop.message])

    def __repr__(self) -> str:
        return f"<Result of study {self.study.name!r}: {'; '.join(str(self).splitlines())}>"

    @property
    def best(self) -> Estimate:
        """The measured setting with the best posterior mean, with its uncertainty."""
        return self.study.best

    @property
    def recommended(self) -> Estimate:
        """The setting with the best posterior mean over the whole space."""
        return self.study.recommended

    @property
    def front(self) -> tuple[Estimate, ...]:
        """Of several goals, the measured settings of which none is better in every goal."""
        return self.study.front

    @property
    def best_observed(self) -> Observed:
        """The best raw value, to show the difference."""
        return self.study.best_observed

    @property
    def suspects(self) -> tuple[Suspect, ...]:
        """The measured values that look wrong."""
        return self.study.suspects

    @property
    def profit(self) -> Profit | None:
        """What the run has brought, less the price of its evaluations; None without a price."""
        return None if self.cost is None else self.study.profit(self.cost)
