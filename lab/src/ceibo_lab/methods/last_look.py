"""The default with a last look: the end of the trials goes into the answer (`Study.confirm`)."""

from dataclasses import dataclass, field
from typing import Final, final

from ceibo.decide import Evidence
from ceibo.decide.model import Model
from ceibo.gp.inputs import Array
from ceibo_lab.method import Proposal
from ceibo_lab.methods.ceibo import Ceibo

LAST_LOOK: Final = "last-look"
SHARE: Final = 0.2  # of the trials


@final
@dataclass(eq=False)
class LastLook:
    """Searches, and measures what tells most about the answer when the last trials have come."""

    inner: Ceibo
    begins: int = field(default=0, init=False)

    def expect(self, trials: int) -> None:
        self.begins = trials - round(SHARE * trials)

    def propose(self, evidence: Evidence, number: int) -> Proposal:
        return self.inner.propose_with(
            self.inner.settings, evidence, number, confirm=number >= self.begins
        )

    def model(self, evidence: Evidence) -> Model:
        return self.inner.model(evidence)

    def recommend(self, evidence: Evidence) -> Array | None:
        return self.inner.recommend(evidence)
