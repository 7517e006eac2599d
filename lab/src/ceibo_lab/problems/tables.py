"""Real problems as measured tables: the test error of a learner over a grid of its settings, many
times over.

Each repetition drew its own training rows, test rows and initialisation, and measured every cell of
the grid with them, so it is one whole surface. Between grid points a surface is multilinear; beyond
the cube it goes on as it is at the edge. The truth is the mean of the surfaces, and a measurement's
noise is how far one of them is from it:

    f(u) = (1/R) Σ_r y_r(u),   y_r(u) multilinear in the outcomes of repetition r,   u in the unit
                               cube.

A multilinear function is nowhere below the least of its cell's corners, so minimum and range are
those of the grid. `measure_tables` is how the tables were made.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Final, final

import numpy as np

from ceibo.errors import InputError
from ceibo.gp.inputs import Array, as_point, as_points
from ceibo_lab.problem import Problem, box

TABLES: Final = ("svm", "mlp", "boosting")
# means this close are equal: they are sums of the same outcomes, rounded differently
_TIE: Final = 1e-12


@final
@dataclass(frozen=True)
class Axis:
    """One setting of the learner: `points` values from low to high, equally spaced, in the
    logarithm if `log`.

    Values are rounded to whole numbers if `whole`; the unit coordinate is that of the value before
    rounding.
    """

    name: str
    low: float
    high: float
    points: int
    log: bool = False
    whole: bool = False

    def value(self, u: float) -> float:
        """The setting at a unit coordinate."""
        value = (
            self.low * (self.high / self.low) ** u
            if self.log
            else self.low + (self.high - self.low) * u
        )
        return float(round(value)) if self.whole else float(value)

    @property
    def grid(self) -> Array:
        """(points,) the grid in unit coordinates."""
        return np.linspace(0.0, 1.0, self.points)


@final
@dataclass(frozen=True, eq=False)
class Table:
    """Measured surfaces over the unit cube.

    Args:
        name: as used on the command line.
        axes: one per dimension.
        outcomes: (points of each axis …, repetitions) test errors, less is better.
        versions: the libraries that measured them.
    """

    name: str
    axes: tuple[Axis, ...]
    outcomes: Array
    versions: str

    @property
    def dimension(self) -> int:
        return len(self.axes)

    @property
    def repetitions(self) -> int:
        return int(self.outcomes.shape[-1])

    @cached_property
    def means(self) -> Array:
        """(points of each axis …) the mean surface at the grid points."""
        return np.asarray(self.outcomes.mean(axis=-1))

    @property
    def minimum(self) -> float:
        return float(self.means.min())

    @property
    def range(self) -> float:
        """Maximum minus minimum of the mean surface."""
        return float(np.ptp(self.means))

    @cached_property
    def optimisers(self) -> Array:
        """(k, d) the grid points where the mean surface takes its minimum; it does between tied
        neighbours too.
        """
        places = np.argwhere(self.means <= self.means.min() + _TIE)
        return np.asarray(places / (np.array(self.means.shape) - 1.0))

    @property
    def optimiser(self) -> Array:
        """(d,) the first of the optimisers."""
        return np.asarray(self.optimisers[0])

    def truth(self, U: Array) -> Array:
        """(n,) the mean surface at points (n, d) of the unit cube."""
        return interpolated(self.means, as_points(U, "U", self.dimension))

    def outcome(self, u: Array, repetition: int) -> float:
        """What repetition number `repetition` measures at a point (d,)."""
        if not 0 <= repetition < self.repetitions:
            raise InputError(
                f"repetition must be from 0 to {self.repetitions - 1}, got {repetition!r}."
            )
        return float(
            interpolated(self.outcomes[..., repetition], as_point(u, "u", self.dimension))[0]
        )

    def std(self, u: Array) -> float:
        """Standard deviation over repetitions of what they measure at a point (d,)."""
        return float(
            np.std(interpolated(self.outcomes, as_point(u, "u", self.dimension))[0], ddof=1)
        )

    def settings(self, u: Array) -> dict[str, float]:
        """The learner's settings at a point (d,) of the unit cube, by name."""
        point = as_point(u, "u", self.dimension)[0]
        return {axis.name: axis.value(float(v)) for axis, v in zip(self.axes, point, strict=True)}

    def as_problem(self) -> Problem:
        """The mean surface, to be minimised over the unit cube."""
        return Problem(
            self.name,
            *box(0, 1, self.dimension),
            self.truth,
            self.optimisers.copy(),
            self.minimum,
            self.range,
        )


def interpolated(values: Array, U: Array) -> Array:
    """Values (points of d axes …, rest …) at points (n, d) of the unit cube, multilinear: (n, rest
    …).

    One axis after the other, each result kept between its two ends: rounding takes nothing below
    the minimum.
    """
    n, d = U.shape
    last = np.array(values.shape[:d]) - 1
    places = np.clip(U, 0.0, 1.0) * last
    lower = np.minimum(places.astype(np.intp), last - 1)
    shares = places - lower  # (n, d)
    corner = [
        lower[:, j].reshape(n, *[1] * d)
        + np.arange(2).reshape([-1 if k == j else 1 for k in range(d)])
        for j in range(d)
    ]
    cells = values[tuple(corner)]  # (n, 2 …, rest …)
    for j in range(d):
        a, b = cells[:, 0], cells[:, 1]
        between = a + shares[:, j].reshape(n, *[1] * (a.ndim - 1)) * (b - a)
        cells = np.clip(between, np.minimum(a, b), np.maximum(a, b))
    return np.asarray(cells)


@lru_cache(maxsize=len(TABLES))
def table(name: str) -> Table:
    """The table called `name`; read once."""
    if name not in TABLES:
        raise InputError(f"table must be one of {', '.join(TABLES)}, got {name!r}.")
    place = files("ceibo_lab.problems") / "data" / f"{name}.npz"
    with place.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        counted = stored["outcomes"].astype(np.float64) / float(stored["divisor"])
        columns = zip(
            stored["names"],
            stored["ends"],
            counted.shape,
            stored["log"],
            stored["whole"],
            strict=False,
        )
        axes = tuple(
            Axis(str(label), float(low), float(high), points, bool(log), bool(whole))
            for label, (low, high), points, log, whole in columns
        )
        counted.setflags(write=False)
        return Table(name, axes, counted, str(stored["versions"]))


def svm() -> Problem:
    """Test error of a support vector machine on handwritten digits: its penalty and its kernel's
    width.
    """
    return table("svm").as_problem()


def mlp() -> Problem:
    """Test error of a small neural network on handwritten digits: learning rate, weight decay,
    hidden units.
    """
    return table("mlp").as_problem()


def boosting() -> Problem:
    """Test error of gradient boosting on the progress of diabetes: learning rate, rows per tree,
    rows per leaf.
    """
    return table("boosting").as_problem()
