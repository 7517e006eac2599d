"""ceibo's own suggestions: `ceibo.decide.suggest`, the same code that every study uses."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, final

from ceibo.decide import Evidence, Settings, Space
from ceibo.decide.model import Model, fit_model
from ceibo.decide.suggest import suggest
from ceibo.gp import Hyperparameters
from ceibo.gp.inputs import Array
from ceibo_lab.method import Proposal

KERNEL: Final = "matern52"  # of the paper's experiments


@final
@dataclass(eq=False)
class Ceibo:
    """Suggestions under some settings, each fit also started from the one before, as in a study."""

    space: Space
    seed: int
    settings: Settings
    previous: Model | None = field(default=None, init=False)

    def propose(self, evidence: Evidence, number: int) -> Proposal:
        return self.propose_with(self.settings, evidence, number)

    def propose_with(
        self, settings: Settings, evidence: Evidence, number: int, confirm: bool = False
    ) -> Proposal:
        """The point for trial `number` under other settings than its own, or for the answer."""
        about = evidence, self.space, settings, self._start, self.seed, number
        found = suggest(*about, confirm=confirm)
        self.previous = found.model or self.previous
        return Proposal(found.x, found.model, found.value)

    def model(self, evidence: Evidence) -> Model:
        return fit_model(evidence, self.space, self.settings, self._start)

    def refit(self, evidence: Evidence) -> Model:
        """The model of all evidence, from which the next fit starts."""
        self.previous = self.model(evidence)
        return self.previous

    def recommend(self, _evidence: Evidence) -> Array | None:
        return None

    @property
    def _start(self) -> Hyperparameters | None:
        return None if self.previous is None else self.previous.fit.hyperparameters


def _as_it_is(_inner: Ceibo, evidence: Evidence) -> Evidence:
    return evidence


@final
@dataclass(frozen=True, eq=False)
class Altered:
    """ceibo's suggestions with a part of them replaced.

    Args:
        inner: the method as it is.
        read: what the model sees of the evidence.
        proposing: how the next point is chosen.
        recommending: what is recommended.
    """

    inner: Ceibo
    read: Callable[[Ceibo, Evidence], Evidence] = _as_it_is
    proposing: Callable[[Ceibo, Evidence, int], Proposal] = Ceibo.propose
    recommending: Callable[[Ceibo, Evidence], Array | None] = Ceibo.recommend

    def propose(self, evidence: Evidence, number: int) -> Proposal:
        return self.proposing(self.inner, self.read(self.inner, evidence), number)

    def model(self, evidence: Evidence) -> Model:
        return self.inner.model(self.read(self.inner, evidence))

    def recommend(self, evidence: Evidence) -> Array | None:
        return self.recommending(self.inner, evidence)
