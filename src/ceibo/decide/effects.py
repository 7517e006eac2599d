"""What blocks did to the values measured in them, in the user's units and direction.

As with everything that is stated (decide/statement.py), the hyperparameters are not known: the mean
and ± of an effect are those of the mixture over how much the blocks of its kind vary
(gp/block_averaging.py), up to as many observations.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from ceibo.decide.evidence import Evidence
from ceibo.decide.model import Model
from ceibo.decide.statement import is_averaged
from ceibo.gp.block_averaging import average_over_blocks
from ceibo.gp.inputs import Array
from ceibo.gp.offsets import block_offsets
from ceibo.numbers import with_uncertainty


@final
@dataclass(frozen=True)
class BlockEffect:
    """The offset of the values of one block from those of an average block of its kind.

    Args:
        kind: of block, as in "day".
        label: its name.
        mean: posterior mean of the offset.
        std: posterior standard deviation of it.
        count: how many measurements are of this block.
        spread: the standard deviation of the offsets of the blocks of its kind, as inferred; 0 of
            a kind with one block, whose offset cannot be told from f.
    """

    kind: str
    label: str
    mean: float
    std: float
    count: int
    spread: float

    def __str__(self) -> str:
        return f"{self.kind} {self.label}: {with_uncertainty(self.mean, self.std)}"


def offsets_of(effects: Iterable[BlockEffect]) -> dict[tuple[str, str], float]:
    """What each block, a (kind, name), added to the values measured in it."""
    return {(each.kind, each.label): each.mean for each in effects}


def block_effects(model: Model, evidence: Evidence) -> tuple[BlockEffect, ...]:
    """The effect of every block, by kind, in the order in which they were first told."""
    found: list[BlockEffect] = []
    first = np.unique(evidence.group, return_index=True)[1]  # a row of each measurement
    by_kind = zip(evidence.block_kinds, evidence.block_labels, evidence.block[first].T, strict=True)
    for t, (kind, labels, of) in enumerate(by_kind):
        means, variances, among = _offsets(model, kind, t, len(labels))
        values = evidence.direction.flip(model.natural_values(means)) + 0.0
        stds = model.natural_values(np.sqrt(variances))
        spread = float(model.natural_values(np.array([among]))[0])
        counts = np.bincount(of + 1, minlength=len(labels) + 1)[1:]
        columns = zip(labels, values.tolist(), stds.tolist(), counts.tolist(), strict=True)
        found += [BlockEffect(kind, *each, spread) for each in columns]
    return tuple(found)


def _offsets(model: Model, kind: str, t: int, count: int) -> tuple[Array, Array, float]:
    """Mean and variance (J,) of the offset of each block of a kind, and their spread."""
    average = None
    if is_averaged(model) and model.gp is model.fit.gp:
        average = average_over_blocks(model.fit, t)
    if average is None:
        prior = model.block_variances([kind])
        # blocks without an observation in the model are as they were before any
        means, variances = np.zeros(count), np.full(count, prior)
        known = block_offsets(model.gp, t)
        means[: len(known.means)], variances[: len(known.means)] = known.means, known.variances
        return means, variances, float(np.sqrt(known.variance_among))
    parts = [block_offsets(each.gp, t) for each in average.fits]
    each_mean, each_variance = (np.array([part[k] for part in parts]) for k in (0, 1))
    means = average.weights @ each_mean
    variances = average.weights @ (each_variance + (each_mean - means) ** 2)
    among = float(average.weights @ [part.variance_among for part in parts])
    return means, variances, float(np.sqrt(among))
