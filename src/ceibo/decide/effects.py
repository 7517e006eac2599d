"""What blocks did to the values measured in them, in the user's units and direction."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from ceibo.decide.evidence import Evidence
from ceibo.decide.model import Model
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
        spread: the inferred standard deviation of the offsets of its kind; 0 of a kind with one
            block, whose offset cannot be told from f.
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
        prior = model.block_variances([kind])
        # blocks without an observation in the model are as they were before any
        means, variances = np.zeros(len(labels)), np.full(len(labels), prior)
        known = block_offsets(model.gp, t)
        means[: len(known[0])], variances[: len(known[1])] = known
        values = evidence.direction.flip(model.natural_values(means)) + 0.0
        stds = model.natural_values(np.sqrt(variances))
        spread = float(model.natural_values(np.sqrt(prior))[0])
        counts = np.bincount(of + 1, minlength=len(labels) + 1)[1:]
        columns = zip(labels, values.tolist(), stds.tolist(), counts.tolist(), strict=True)
        found += [BlockEffect(kind, *each, spread) for each in columns]
    return tuple(found)
