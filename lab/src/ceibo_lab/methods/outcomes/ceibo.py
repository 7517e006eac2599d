"""ceibo's own suggestions and answers: `ceibo.decide.joint`, the same code that studies use."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

import numpy as np

from ceibo.decide import Measurement, Settings, Told
from ceibo.decide.estimate import Estimate
from ceibo.decide.joint import JointBelief, JointEvidence, joint_evidence_of, suggest_jointly
from ceibo.gp import Hyperparameters
from ceibo.gp.inputs import Array
from ceibo_lab.outcomes import Answer, Measured
from ceibo_lab.problems.outcomes.problem import OutcomeProblem


@final
@dataclass(eq=False)
class CeiboOutcomes:
    """Suggestions under some settings, each fit also started from the one before, as in a study.

    Answers: `recommended`, over the space, and `best`, among the measured points.
    """

    problem: OutcomeProblem
    seed: int
    settings: Settings
    starts: Mapping[str, Hyperparameters] = field(default_factory=dict, init=False)

    def propose(self, measured: Measured, number: int) -> Array:
        found = suggest_jointly(
            self._evidence(measured),
            self.problem.space,
            self.settings,
            self.starts,
            self.seed,
            number,
        )
        self.starts = found.hyperparameters or self.starts
        return found.x

    def answers(self, measured: Measured) -> Mapping[str, Answer]:
        belief = self._belief(measured)
        return {"recommended": self._answer(belief.recommended), "best": self._answer(belief.best)}

    def front(self, measured: Measured) -> list[Answer]:
        return [self._answer(each) for each in self._belief(measured).front]

    def _belief(self, measured: Measured) -> JointBelief:
        return JointBelief(self._evidence(measured), self.problem.space, self.settings, self.seed)

    def _evidence(self, measured: Measured) -> JointEvidence:
        told = {
            name: [
                Told(number, x, Measurement(value, None if np.isnan(noise) else noise))
                for number, (x, value, noise) in enumerate(
                    zip(
                        measured.X,
                        measured.Y[:, k].tolist(),
                        measured.noise[:, k].tolist(),
                        strict=True,
                    )
                )
            ]
            for k, name in enumerate(self.problem.outcomes.names)
        }
        return joint_evidence_of(self.problem.outcomes, self.problem.dimension, told)

    def _answer(self, estimate: Estimate) -> Answer:
        each = [estimate.outcomes[name] for name in self.problem.outcomes.names]
        return Answer(
            self.problem.space.to_unit(estimate.params),
            np.array([one.mean for one in each]),
            np.array([one.std for one in each]),
            estimate.p_feasible,
        )
