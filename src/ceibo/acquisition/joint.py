"""Acquisitions that follow from several processes, one per outcome, which are independent.

A joint prediction holds one prediction per process, a joint jet one jet per process: the chain rule
adds up over them.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import final

import numpy as np

from ceibo.acquisition.base import Jet, Surface
from ceibo.gp import GaussianProcess, Kernel
from ceibo.gp.inputs import Array
from ceibo.gp.predictor import Prediction, Predictor


@final
@dataclass(frozen=True, eq=False)
class JointPredictor:
    """A predictor of each process."""

    each: tuple[Predictor, ...]

    def __call__(self, X: Array) -> "JointPrediction":
        return JointPrediction(tuple(predictor(X) for predictor in self.each))


@final
@dataclass(frozen=True, eq=False)
class JointPrediction:
    """What each process predicts at the same points."""

    each: tuple[Prediction, ...]

    @property
    def X(self) -> Array:
        """The points, (N, d)."""
        return self.each[0].X


@final
@dataclass(frozen=True, eq=False)
class JointJet:
    """A value (N,), and its partial derivatives in the prediction of each process.

    The values of the jets in `each` are not used; None where nothing depends on that process.
    """

    value: Array
    each: tuple[Jet | None, ...]

    def gradient(self, prediction: JointPrediction) -> Array:
        """Gradient in x, (N, d)."""
        total = np.zeros_like(prediction.X)
        for jet, part in zip(self.each, prediction.each, strict=True):
            if jet is not None:
                total += jet.gradient(part)
        return total


@dataclass(frozen=True, eq=False)
class JointAcquisition(Surface[JointPrediction]):
    """How much one more measurement of several outcomes at x promises.

    Args:
        processes: one per outcome, goals first; conditioned on pending points.
        predictor: of these processes.
        merits: (n,) of the observed points of the first process, lower the better a point is.
    """

    processes: tuple[GaussianProcess, ...] = field(repr=False)
    predictor: JointPredictor = field(repr=False)
    merits: Array = field(repr=False)

    @abstractmethod
    def natural(self, prediction: JointPrediction) -> JointJet:
        """The acquisition itself, in inside units."""

    @abstractmethod
    def logarithm(self, prediction: JointPrediction) -> JointJet:
        """Its logarithm, in inside units."""

    @cached_property
    def kernel(self) -> Kernel:
        """The first process's kernel, with the shortest length scales of all."""
        return joint_kernel(self.processes)

    @cached_property
    def points(self) -> Array:
        """The conditioning points of all processes together."""
        if len(self.processes) == 1:
            return self.processes[0].state.points
        return np.concatenate([gp.state.points for gp in self.processes])

    @property
    def measured(self) -> tuple[Array, Array]:
        return self.processes[0].X, self.merits


def joint_kernel(processes: Sequence[GaussianProcess]) -> Kernel:
    """The first process's kernel, with the shortest length scales of all of them."""
    shortest = np.minimum.reduce([gp.kernel.lengthscales for gp in processes])
    return replace(processes[0].kernel, lengthscales=shortest)
