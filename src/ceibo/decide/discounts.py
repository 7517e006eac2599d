"""Values that a model does not believe, by the trials that they are of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ceibo.decide.evidence import Evidence
from ceibo.decide.outliers import Outlier
from ceibo.decide.rows import Rows


@final
@dataclass(frozen=True)
class Discount:
    """A value that is not believed: of which trial, and the noise with which it is taken.

    `value` is minimised and in the units of the evidence, the others are in those of the model.
    """

    number: int
    value: float
    expected: float  # what all the others predict
    std: float  # of that prediction, the value's own noise included
    noise: float  # standard deviation


def discounts_of(evidence: Evidence, outliers: Sequence[Outlier]) -> tuple[Discount, ...]:
    """Outliers among the rows of the evidence, with their trials."""
    found = []
    for each in outliers:
        number = evidence.told[evidence.group[each.row]].number
        value, noise = float(evidence.y[each.row]), float(np.sqrt(each.variance))
        found.append(Discount(number, value, each.expected, each.std, noise))
    return tuple(found)


def discounted(rows: Rows, evidence: Evidence, discounts: Sequence[Discount]) -> Rows:
    """The rows of the evidence, with the discounts of the values that are among them."""
    if not discounts:
        return rows
    given = {(each.number, each.value): each.noise**2 for each in discounts}
    keys = [
        (evidence.told[told].number, value)
        for told, value in zip(evidence.group, evidence.y.tolist(), strict=True)
    ]
    mask = np.array([key in given for key in keys])
    return rows.with_noise(np.array([given.get(key, 0.0) for key in keys]), mask)
