"""What is known of several outcomes: the evidence of each, and what they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ceibo.decide.direction import Direction
from ceibo.decide.evidence import Evidence, Told, Unmeasured, evidence_of
from ceibo.decide.outcomes import Outcomes
from ceibo.gp.inputs import Array


@final
@dataclass(frozen=True, eq=False)
class JointEvidence:
    """What is known of several outcomes; built by `joint_evidence_of` alone.

    `each` has the evidence of one outcome under its name, in the order of the outcomes, as if it
    were studied alone: its measurements, and as pending the trials under way that lack it. Trials
    that failed or were withdrawn are the same in all of them. `under_way` are the trials of which
    a goal or a limit is still missing.
    """

    outcomes: Outcomes
    each: Mapping[str, Evidence]
    under_way: Array  # (p, d)
    trials: int
    failures_in_a_row: int

    @property
    def needed(self) -> tuple[Evidence, ...]:
        """The evidence of goals and limits."""
        return tuple(self.each[name] for name in self.outcomes.needed)

    @property
    def goal(self) -> Evidence:
        """The evidence of the first goal."""
        return self.each[self.outcomes.goals[0]]

    @property
    def direction(self) -> Direction:
        """That of the first goal."""
        return self.goal.direction

    @property
    def is_sufficient(self) -> bool:
        """Whether every goal and limit has been measured, so that there can be a model."""
        return all(len(evidence) > 0 for evidence in self.needed)

    @property
    def told(self) -> tuple[Told, ...]:
        """The measurements of the first goal."""
        return self.goal.told

    @property
    def measurements(self) -> int:
        """How many measurements of the first goal there are."""
        return self.goal.measurements

    def raw_values(self, name: str) -> dict[int, float]:
        """Trial -> the mean of its measured values of an outcome."""
        several: dict[int, list[float]] = {}
        for told in self.each[name].told:
            several.setdefault(told.number, []).append(told.measurement.value)
        return {number: float(np.mean(values)) for number, values in several.items()}

    @property
    def holding(self) -> list[int]:
        """The trials with every goal and limit measured whose raw values hold every limit."""
        raw = {name: self.raw_values(name) for name in self.outcomes.needed}
        whole = set.intersection(*(set(values) for values in raw.values()))
        return sorted(
            number
            for number in whole
            if all(self.outcomes[name].holds(raw[name][number]) for name in self.outcomes.limits)
        )

    def key(self) -> tuple[bytes, ...]:
        """Tells apart states of the evidence that would give different models."""
        keys = [evidence.key() for evidence in self.each.values()]
        return (*(part for key in keys for part in key), self.under_way.tobytes())

    def first(self, measurements: int) -> "JointEvidence":
        """The evidence of the trials with the first so many measurements of the first goal.

        Of the other outcomes, those measurements are kept that are of these trials.
        """
        kept = {told.number for told in self.goal.told[:measurements]}
        each = {}
        for name, evidence in self.each.items():
            if evidence is self.goal:
                each[name] = evidence.first(measurements)
                continue
            told = [one for one in evidence.told if one.number in kept]
            unmeasured = Unmeasured(
                [*evidence.pending],
                [*evidence.failed],
                [*evidence.withdrawn],
                evidence.failures_in_a_row,
            )
            dimension = evidence.X.shape[1]
            parts = dimension, evidence.direction, unmeasured, evidence.trials
            each[name] = evidence_of(told, *parts)
        return replace(self, each=each)


def joint_evidence_of(
    outcomes: Outcomes,
    dimension: int,
    told: Mapping[str, Sequence[Told]],
    unmeasured: Unmeasured | None = None,
    pending: Mapping[str, Sequence[Array]] | None = None,
    trials: int | None = None,
) -> JointEvidence:
    """Builds the evidence from measurements in the users' units and directions.

    Args:
        outcomes: that are measured.
        dimension: d, of the space.
        told: name -> its measurements, in the order in which they became known.
        unmeasured: `pending` are the trials under way.
        pending: name -> those of them that lack it; by default all of them.
        trials: how many there are in all; as many as measurements of the first goal by default.
    """
    unmeasured = unmeasured or Unmeasured()
    count = len(told.get(outcomes.goals[0], ())) if trials is None else trials
    each = {}
    for name, outcome in outcomes.items():
        lacking = unmeasured.pending if pending is None else pending.get(name, ())
        parts = told.get(name, ()), dimension, outcome.direction
        each[name] = evidence_of(*parts, replace(unmeasured, pending=lacking), count)
    under_way = np.array(unmeasured.pending, dtype=float)
    points = under_way.reshape(len(unmeasured.pending), dimension)
    return JointEvidence(outcomes, each, points, count, unmeasured.failures_in_a_row)
