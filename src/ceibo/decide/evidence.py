"""What is known about an objective, as arrays in the unit cube.

Notation: n rows of observations (a measurement with k replicates is k rows), p pending points,
q failed points, w withdrawn points, d dimensions, b kinds of block.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from ceibo.acquisition.cube import within
from ceibo.decide.block_codes import block_codes
from ceibo.decide.direction import Direction
from ceibo.decide.measurement import Measurement
from ceibo.decide.region import obeying
from ceibo.decide.space import Space
from ceibo.gp.inputs import Array, Indices


@final
class Told(NamedTuple):
    """One measurement: the number of its trial, its place in the unit cube, what was told."""

    number: int
    x: Array  # (d,)
    measurement: Measurement


@final
@dataclass(frozen=True)
class Unmeasured:
    """Points without a value, and how many trials have failed since one was last measured."""

    pending: Sequence[Array] = ()  # being measured
    failed: Sequence[Array] = ()
    # not to be measured, for reasons outside the model
    withdrawn: Sequence[Array] = ()
    failures_in_a_row: int = 0


@final
@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known, in the unit cube and minimised; built by `evidence_of` alone.

    Observations are in the order they were told; `noise` are standard deviations of single values,
    NaN where unknown. The replicates of one measurement are rows of one `group`, an index into
    `told`. `trials` counts all trials so far, whatever became of them.

    Where a noise is a standard error that was computed from a few values, `counts` has how many.
    `block` has the index of a row's block of each kind among the labels of that kind, −1 where it
    is in none; kinds and labels are in the order in which they were first told.
    """

    X: Array  # (n, d)
    y: Array  # (n,)
    noise: Array  # (n,)
    group: Indices  # (n,)
    pending: Array  # (p, d)
    failed: Array  # (q, d)
    withdrawn: Array  # (w, d)
    trials: int
    failures_in_a_row: int
    told: tuple[Told, ...]
    direction: Direction
    counts: Array  # (n,), 1 where the noise is no standard error of several values
    block: Indices  # (n, b)
    block_kinds: tuple[str, ...]
    block_labels: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.y)

    def is_within(self, one: Told, space: Space) -> bool:
        """Whether a setting is one of the space as it is now, or no measured one is."""
        found = obeying(space, self.X)
        rows = within(self.X) if found is None else found
        return bool(np.any(np.all(self.X[rows] == one.x, axis=1)))

    def first_trial(self, x: Array) -> int:
        """The first trial that was measured at a point (d,)."""
        rows = np.flatnonzero(np.all(x == self.X, axis=1))
        return min(int(self.told[group].number) for group in self.group[rows])

    @property
    def measurements(self) -> int:
        """How many measurements there are, each with one replicate or more."""
        return len(self.told)

    def key(self) -> tuple[bytes, ...]:
        """Tells apart states of the evidence that would give different models."""
        known = (self.X, self.y, self.noise, self.pending, self.failed, self.withdrawn)
        blocks = repr((self.block_kinds, self.block_labels)).encode()
        rows = (*known, self.counts, self.block)
        return (*(each.tobytes() for each in rows), blocks)

    def first(self, measurements: int) -> "Evidence":
        """The evidence with the first so many measurements only."""
        rows = slice(0, int(np.searchsorted(self.group, measurements)))
        told = self.told[:measurements]
        codes = block_codes([each.measurement.block for each in told])
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            noise=self.noise[rows],
            group=self.group[rows],
            told=told,
            counts=self.counts[rows],
            block=codes.codes[self.group[rows]],
            block_kinds=codes.kinds,
            block_labels=codes.labels,
        )

    def extended(self, told: Sequence[Told], unmeasured: Unmeasured, trials: int) -> "Evidence":
        """This evidence with further measurements, and with what is now without a value."""
        further = evidence_of(told, self.X.shape[1], self.direction, unmeasured, trials)
        codes = block_codes(
            [each.measurement.block for each in told], self.block_kinds, self.block_labels
        )
        return replace(
            further,
            X=np.concatenate([self.X, further.X]),
            y=np.concatenate([self.y, further.y]),
            noise=np.concatenate([self.noise, further.noise]),
            group=np.concatenate([self.group, further.group + self.measurements]),
            told=(*self.told, *further.told),
            counts=np.concatenate([self.counts, further.counts]),
            block=codes.after(self.block, further.group),
            block_kinds=codes.kinds,
            block_labels=codes.labels,
        )


def evidence_of(
    told: Sequence[Told],
    dimension: int,
    direction: Direction = Direction.MINIMIZE,
    unmeasured: Unmeasured | None = None,
    trials: int | None = None,
) -> Evidence:
    """Builds the evidence from measurements in the user's units and direction.

    Args:
        told: in the order in which they became known.
        dimension: d, of the space.
        direction: of the objective.
        unmeasured: points without a value.
        trials: how many there are in all; as many as measurements by default.
    """
    unmeasured = unmeasured or Unmeasured()
    X: list[Array] = []
    y: list[float] = []
    noise: list[float] = []
    group: list[int] = []
    counts: list[float] = []
    for index, (_, x, measurement) in enumerate(told):
        values = measurement.replicates or (measurement.value,)
        count = len(values)
        # The noise told is that of the value, which is the mean of its replicates.
        each = np.nan if measurement.noise is None else measurement.noise
        if count > 1:
            each = each * np.sqrt(count)
        X += [x] * count
        y += [direction.flip(value) for value in values]
        noise += [each] * count
        group += [index] * count
        counts += [float(measurement.count or 1)] * count
    codes = block_codes([each.measurement.block for each in told])
    return Evidence(
        X=_points(X, dimension),
        y=np.array(y, dtype=float),
        noise=np.array(noise, dtype=float),
        group=np.array(group, dtype=np.intp),
        pending=_points(unmeasured.pending, dimension),
        failed=_points(unmeasured.failed, dimension),
        withdrawn=_points(unmeasured.withdrawn, dimension),
        trials=len(told) if trials is None else trials,
        failures_in_a_row=unmeasured.failures_in_a_row,
        told=tuple(told),
        direction=direction,
        counts=np.array(counts, dtype=float),
        block=codes.codes[np.array(group, dtype=np.intp)],
        block_kinds=codes.kinds,
        block_labels=codes.labels,
    )


def _points(points: Sequence[Array], dimension: int) -> Array:
    return np.array(points, dtype=float).reshape(len(points), dimension)
