"""What a run found and why it ended."""

from abc import ABC
from dataclasses import dataclass
from typing import Generic

from ceibo.decide.estimate import Estimate, Observed
from ceibo.decide.stopping import Profit, Stop
from ceibo.decide.suspects import Suspect
from ceibo.study.runner import S


@dataclass(frozen=True)
class Found(ABC, Generic[S]):
    """What a run found and why it ended; the answers are the study's."""

    study: S
    stop: Stop
    cost: float | None = None

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
