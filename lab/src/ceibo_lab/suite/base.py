"""What a method of the suite is, and what every one of them needs."""

from typing import Any, Final, Protocol

from ceibo.decide.space import Space
from ceibo.decide.suggest import Evidence, Model, initial_point
from ceibo.gp.inputs import Array

# points of the initial design of outside methods: Optuna's default, and about Ax's
REFERENCE_INITIAL: Final = 10


class SuiteMethod(Protocol):
    """A method at work in one replication."""

    settings: dict[str, Any]

    def propose(self, evidence: Evidence, number: int) -> tuple[Array, Model | None]:
        """The point (d,) for trial `number`, in the unit cube, and the model it was chosen with
        (None: none).
        """

    def model(self, evidence: Evidence) -> Model | None:
        """The method's model of all evidence, if it is one of ceibo's."""

    def recommend(self, evidence: Evidence) -> Array | None:
        """What an outside method itself would recommend, (d,); None for ceibo's own."""


def snapped(space: Space, u: Array) -> Array:
    """The nearest point of the cube that stands for a setting of the space."""
    return space.to_unit(space.from_unit(u))


def initial(space: Space, seed: int, number: int) -> Array:
    """Point `number` of the initial design, the same for every method."""
    return snapped(space, initial_point(len(space), seed, number))
