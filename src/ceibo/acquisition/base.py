"""What every acquisition function offers.

An acquisition is a frozen value: it holds a predictor and a few numbers, and never fits, samples or
optimises. A final subclass says how its value follows from a prediction (`natural`, `logarithm`);
the chain rule through the Gaussian process, the units and the public methods are here, once.

`Acquisition` follows from one Gaussian process, `JointAcquisition` (joint.py) from one per outcome;
what they share is `Surface`, which is all that the maximiser knows.

Larger is always better. Inside, values are in units of `gp.unit` (see ceibo.gp.posterior).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike

from ceibo.acquisition.incumbent import Incumbent
from ceibo.gp import GaussianProcess, Kernel
from ceibo.gp.inputs import Array, as_points
from ceibo.gp.linalg import limited_blas
from ceibo.gp.predictor import Prediction, Predictor


@final
@dataclass(frozen=True, eq=False)
class Jet:
    """A value (N,) and its partial derivatives in what a prediction holds.

    None where the value does not depend on it.
    """

    value: Array
    linear: Array | None = None  # (N, c)
    variance: Array | None = None  # (N,)
    difference_variance: Array | None = None  # (N,)
    gap: Array | None = None  # (N,)

    def gradient(self, prediction: Prediction) -> Array:
        """Gradient in x, (N, d)."""
        return prediction.pullback(self.linear, self.variance, self.difference_variance, self.gap)

    def times(self, factor: Array) -> "Jet":
        """The derivatives times a factor (N,), the value as it is: a part of a JointJet."""
        linear = None if self.linear is None else factor[:, None] * self.linear
        parts = (self.variance, self.difference_variance, self.gap)
        rest = (None if part is None else factor * part for part in parts)
        return Jet(self.value, linear, *rest)


P = TypeVar("P", bound="Located")
P_contra = TypeVar("P_contra", contravariant=True)


class Located(Protocol):
    """A prediction at some points."""

    @property
    def X(self) -> Array:
        """The points, (N, d)."""


class Slope(Protocol[P_contra]):
    """A value at some points, and how it changes with them."""

    @property
    def value(self) -> Array:
        """The values, (N,)."""

    def gradient(self, prediction: P_contra, /) -> Array:
        """Gradient in x, (N, d)."""


class Surface(ABC, Generic[P]):
    """A function over the unit cube, larger is better, as the maximiser searches it. Abstract."""

    predictor: Callable[[Array], P]

    @abstractmethod
    def natural(self, prediction: P) -> Slope[P]:
        """The function itself, in inside units."""

    @abstractmethod
    def logarithm(self, prediction: P) -> Slope[P]:
        """Its logarithm, in inside units."""

    def climbable(self, prediction: P) -> Slope[P]:
        """What the maximiser climbs: the logarithm, whose gradient does not vanish far away."""
        return self.logarithm(prediction)

    @property
    @abstractmethod
    def kernel(self) -> Kernel:
        """Whose length scales and categorical columns say how far apart points are."""

    @property
    @abstractmethod
    def points(self) -> Array:
        """The conditioning points, (m, d)."""

    @property
    @abstractmethod
    def measured(self) -> tuple[Array, Array]:
        """Measured points (n, d), and numbers (n,) that are lower the better a point is."""

    @property
    def climb_unit(self) -> float:
        """What one unit of a guide's logarithm counts as in what is climbed."""
        return 1.0

    @property
    @abstractmethod
    def scale(self) -> float:
        """What a value in inside units is multiplied by to be in the units of y."""

    @property
    def offset(self) -> float:
        """What is then added."""
        return 0.0

    @property
    def dimension(self) -> int:
        return self.kernel.dimension

    def value(self, X: ArrayLike) -> Array:
        """Acquisition values at the points X (N, d), in the units of y, (N,)."""
        with limited_blas(len(self.points)):
            return self.scale * self.natural(self.predictor(self._points(X))).value + self.offset

    def value_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """Values (N,) and their gradients in x (N, d)."""
        with limited_blas(len(self.points)):
            prediction = self.predictor(self._points(X))
            jet = self.natural(prediction)
            return self.scale * jet.value + self.offset, self.scale * jet.gradient(prediction)

    def log_value(self, X: ArrayLike) -> Array:
        """Logarithms of the values, accurate also where the values underflow, (N,)."""
        with limited_blas(len(self.points)):
            logarithm = self.logarithm(self.predictor(self._points(X))).value
            return np.asarray(logarithm + np.log(self.scale))

    def log_value_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """Logarithms of the values (N,) and their gradients in x (N, d)."""
        with limited_blas(len(self.points)):
            prediction = self.predictor(self._points(X))
            jet = self.logarithm(prediction)
            return jet.value + np.log(self.scale), jet.gradient(prediction)

    def _points(self, X: ArrayLike) -> Array:
        return as_points(X, "X", self.dimension)


@dataclass(frozen=True, eq=False)
class Acquisition(Surface[Prediction]):
    """How much one more measurement at x promises. Built by `ceibo.acquisition.build`."""

    gp: GaussianProcess = field(repr=False)
    incumbent: Incumbent
    predictor: Predictor = field(repr=False)

    @abstractmethod
    def natural(self, prediction: Prediction) -> Jet:
        """The acquisition itself, in inside units."""

    @abstractmethod
    def logarithm(self, prediction: Prediction) -> Jet:
        """Its logarithm, in inside units."""

    @property
    def kernel(self) -> Kernel:
        return self.gp.kernel

    @property
    def points(self) -> Array:
        return self.gp.state.points

    @property
    def measured(self) -> tuple[Array, Array]:
        """The observed points, and their posterior means less the prior mean."""
        gp = self.gp
        return gp.X, gp.unit_kernel(gp.X, gp.state.points) @ gp.state.alpha

    @property
    def scale(self) -> float:
        return self.gp.unit


def chain_std(derivative: Array, std: Array) -> Array:
    """From a derivative in a standard deviation to one in the variance; 0 where that is 0."""
    positive = std > 0
    if positive.all():
        return 0.5 * derivative / std
    return np.divide(0.5 * derivative, std, out=np.zeros_like(std), where=positive)
