"""Leading the maximiser elsewhere, while the acquisition's values stay what they are."""

from abc import abstractmethod
from dataclasses import dataclass, replace

from ceibo.acquisition.base import Acquisition, Jet
from ceibo.gp.inputs import Array
from ceibo.gp.posterior import Prediction


@dataclass(frozen=True, eq=False)
class Guided(Acquisition):
    """Another acquisition, to which something is added where it is climbed. Abstract: a final
    subclass says what.
    """

    inner: Acquisition

    @abstractmethod
    def guidance(self, X: Array) -> tuple[Array, Array]:
        """What is added at the points X (N, d), as a logarithm (N,), and its gradient (N, d)."""

    def natural(self, prediction: Prediction) -> Jet:
        return self.inner.natural(prediction)

    def logarithm(self, prediction: Prediction) -> Jet:
        return self.inner.logarithm(prediction)

    def climbable(self, prediction: Prediction) -> Jet:
        jet = self.inner.climbable(prediction)
        value, slope = (self.climb_unit * each for each in self.guidance(prediction.cross.A))
        return replace(jet, value=jet.value + value, x=slope if jet.x is None else jet.x + slope)

    @property
    def climb_unit(self) -> float:
        return self.inner.climb_unit

    @property
    def scale(self) -> float:
        return self.inner.scale

    @property
    def offset(self) -> float:
        return self.inner.offset
