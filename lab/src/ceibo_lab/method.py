"""What a method is: asked with all it may know, it answers with a point of the unit cube."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final, Generic, Protocol, TypeVar, final, runtime_checkable

from ceibo.decide import Evidence, Space
from ceibo.decide.model import Model
from ceibo.decide.suggest import initial_point
from ceibo.gp.inputs import Array

# points of the initial design of outside methods: Optuna's default, and about Ax's
REFERENCE_INITIAL: Final = 10
RESTARTS: Final = 4  # of BoTorch's search
RAW_SAMPLES: Final = 256

About = TypeVar("About")  # what a method is started for: a space, or a problem
Kind = TypeVar("Kind")  # of method


@final
@dataclass(frozen=True, eq=False)
class Proposal:
    """A point (d,) of the unit cube, with the model and the acquisition's value, if there are."""

    x: Array
    model: Model | None = None
    value: float | None = None


class Method(Protocol):
    """A method at work in one replication; asked once per step, in order."""

    def propose(self, evidence: Evidence, number: int, /) -> Proposal:
        """The point for trial `number`."""

    def model(self, evidence: Evidence, /) -> Model | None:
        """The method's model of all evidence, if it is one of ceibo's."""

    def recommend(self, evidence: Evidence, /) -> Array | None:
        """What the method itself recommends, (d,); None: the minimiser of its model's mean."""


@runtime_checkable
class Expecting(Protocol):
    """A method that wants to know before the first trial how many there will be."""

    def expect(self, trials: int, /) -> None: ...


@final
@dataclass(frozen=True)
class Entry(Generic[About, Kind]):
    """A method by name: how it is shown, started for (what is searched, seed), described.

    `packages` are those whose versions a record names beside ceibo's; `install` says how they are
    installed, if not by pip under these names. With `only_numbers` it has no categories.
    """

    label: str
    start: Callable[[About, int], Kind]
    settings: Mapping[str, Any]
    packages: tuple[str, ...] = ()
    install: str = ""
    only_numbers: bool = False

    def describe(self) -> dict[str, Any]:
        """Its settings, and the versions of its packages."""
        return {**self.settings, **{name: version(name) for name in self.packages}}


PointEntry = Entry[Space, Method]


def snap(space: Space, u: Array) -> Array:
    """The nearest point of the cube that stands for a setting of the space."""
    return space.to_unit(space.from_unit(u))


def design_point(space: Space, seed: int, number: int) -> Array:
    """Point `number` of the initial design, the same for every method."""
    return snap(space, initial_point(len(space), seed, number))
