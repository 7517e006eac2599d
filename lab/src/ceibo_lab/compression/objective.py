"""The noisy objective: γ·error + size ratio, the error counted on a few pictures drawn afresh each
time.

Notation: evaluation t draws n_t, uniform in 20..50, and n_t different pictures of the evaluation
set; k_t of them are classified wrongly; p̂ = k_t/n_t and p̃ = (k_t + 1)/(n_t + 2).

    y_t = γ p̂ + size ratio        E[p̂] is the error on the whole set

What the model is told of the noise of y_t, υ_t²/γ²:

    pooled      c/n_t, with c the mean of p̃(1 − p̃) over the initial evaluations, then fixed
    smoothed    p̃(1 − p̃)/n_t of the same sample
    reference   p̂(1 − p̂)/n_t of the same sample, zero whenever no picture (or every one) is wrong
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
import torch

from ceibo.compression.compressible import COUNTS
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo_lab.compression.tasks import Task
from ceibo_lab.problems import stream

FEWEST, MOST = 20, 50  # pictures per evaluation
NOISES: Final = ("pooled", "smoothed", "reference")


@final
@dataclass(frozen=True)
class Sample:
    """What one evaluation saw: pictures drawn, classified wrongly, and the size ratio, which is
    exact.
    """

    n: int
    wrong: int
    ratio: float

    def value(self, gamma: float) -> float:
        return gamma * self.wrong / self.n + self.ratio


@final
@dataclass(frozen=True, eq=False)
class Objective:
    """The noisy objective of a task: evaluation t meets the same pictures whatever is measured
    there.

    Args:
        task: what is compressed.
        seed: of the pictures drawn.
        gamma: weight of the error.
        count: how weights are counted, "stored" or "reference".
    """

    task: Task
    seed: int = 0
    gamma: float = 1.0
    count: str = "stored"

    def __post_init__(self) -> None:
        if not 0 < self.gamma < np.inf:
            raise InputError(f"gamma must be a finite number above zero, got {self.gamma!r}.")
        if self.count not in COUNTS:
            raise InputError(f"count must be one of {', '.join(COUNTS)}, got {self.count!r}.")
        if len(self.task.evaluator) < MOST:
            raise InputError(
                f"expected at least {MOST} pictures to draw from, got {len(self.task.evaluator)}."
            )

    def sample(self, u: Array, number: int) -> Sample:
        """Evaluation `number` at a point u (d,) of the unit cube."""
        ranks = self.task.ranks(u)
        rng = stream(self.seed, f"pictures {number}")
        n = int(rng.integers(FEWEST, MOST + 1))
        rows = torch.from_numpy(rng.choice(len(self.task.evaluator), size=n, replace=False))
        wrong = self.task.evaluator.wrong(ranks, rows)
        return Sample(n, wrong, self.task.compressible.size_ratio(ranks, self.count))

    def whole(self, u: Array) -> float:
        """The objective on the whole evaluation set, which a search does not see."""
        ranks = self.task.ranks(u)
        return self.gamma * self.task.evaluator.whole(ranks) + self.task.compressible.size_ratio(
            ranks, self.count
        )


def told_noise(samples: Sequence[Sample], noise: str, gamma: float, initial: int) -> Array:
    """(t,) standard deviations told to the model; `initial` is how many evaluations c is taken
    from.
    """
    if noise not in NOISES:
        raise InputError(f"noise must be one of {', '.join(NOISES)}, got {noise!r}.")
    n, k = (
        np.array(values, dtype=float)
        for values in zip(*((s.n, s.wrong) for s in samples), strict=True)
    )
    smoothed = (k + 1) / (n + 2)
    variance = {
        "pooled": np.full(len(n), float(np.mean((smoothed * (1 - smoothed))[:initial]))),
        "smoothed": smoothed * (1 - smoothed),
        "reference": k / n * (1 - k / n),
    }[noise]
    return np.asarray(gamma * np.sqrt(variance / n))
