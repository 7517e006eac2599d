"""The noisy objective of a network: γ·error + size ratio, the error counted on a few pictures.

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
from ceibo_lab.problem import Problem, box, stream
from ceibo_lab.problems.networks.tasks import Task

FEWEST, MOST = 20, 50  # pictures per evaluation
UNKNOWN: Final = float("nan")


@final
@dataclass(frozen=True)
class Sample:
    """What one evaluation saw: pictures drawn, those classified wrongly, the exact size ratio."""

    n: int
    wrong: int
    ratio: float

    def value(self, gamma: float) -> float:
        return gamma * self.wrong / self.n + self.ratio


@final
@dataclass(frozen=True, eq=False)
class Objective:
    """The noisy objective of a task: evaluation t meets the same pictures wherever it is made.

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
        error = self.task.evaluator.whole(ranks)
        return self.gamma * error + self.task.compressible.size_ratio(ranks, self.count)

    def as_problem(self) -> Problem:
        """The objective on the whole set; each setting of ranks is measured once.

        Nobody knows the minimum, where it is, or the range.
        """
        known: dict[str, float] = {}

        def value(u: Array) -> float:
            key = repr(sorted(self.task.ranks(u).items()))
            if key not in known:
                known[key] = self.whole(u)
            return known[key]

        def values(U: Array) -> Array:
            return np.array([value(u) for u in U])

        d = self.task.dimension
        nowhere = np.empty((0, d))
        return Problem(self.task.name, *box(0, 1, d), values, nowhere, UNKNOWN, UNKNOWN)


@final
class NoisyNetwork:
    """An objective measured on few pictures in one replication, and what is told of its noise.

    The noise is told once the `initial` evaluations are complete.
    """

    def __init__(self, objective: Objective, protocol: str, initial: int) -> None:
        self.objective, self.protocol, self.initial = objective, protocol, initial
        self.samples: list[Sample] = []

    def measure(self, u: Array) -> None:
        self.samples.append(self.objective.sample(u, len(self.samples)))

    @property
    def values(self) -> Array:
        return np.array([sample.value(self.objective.gamma) for sample in self.samples])

    @property
    def told(self) -> Array:
        return told_noise(self.samples, self.protocol, self.objective.gamma, self.initial)


def _pooled(n: Array, k: Array, initial: int) -> Array:
    return np.full(len(n), float(np.mean(_smoothed(n, k, initial)[:initial])))


def _smoothed(n: Array, k: Array, _initial: int) -> Array:
    p = (k + 1) / (n + 2)
    return np.asarray(p * (1 - p))


def _reference(n: Array, k: Array, _initial: int) -> Array:
    return np.asarray(k / n * (1 - k / n))


NOISES: Final = {"pooled": _pooled, "smoothed": _smoothed, "reference": _reference}


def told_noise(samples: Sequence[Sample], noise: str, gamma: float, initial: int) -> Array:
    """(t,) standard deviations told to the model; c is taken from the `initial` evaluations."""
    if noise not in NOISES:
        raise InputError(f"noise must be one of {', '.join(NOISES)}, got {noise!r}.")
    n = np.array([sample.n for sample in samples], dtype=float)
    k = np.array([sample.wrong for sample in samples], dtype=float)
    return np.asarray(gamma * np.sqrt(NOISES[noise](n, k, initial) / n))
