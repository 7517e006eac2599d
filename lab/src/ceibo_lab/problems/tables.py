"""Real problems as measured tables: test errors of a learner over a grid, many times over.

    svm       a support vector machine on handwritten digits: its penalty and its kernel's width
    mlp       a small neural network on handwritten digits: rate, weight decay, hidden units
    boosting  gradient boosting on the progress of diabetes: rate, rows per tree, rows per leaf

Each repetition drew its own training rows, test rows and initialisation, and measured every cell of
the grid with them, so it is one whole surface. Between grid points a surface is multilinear; beyond
the cube it goes on as it is at the edge. The truth is the mean of the surfaces, and a measurement's
noise is how far one of them is from it:

    f(u) = (1/R) Σ_r y_r(u),   y_r(u) multilinear in the outcomes of repetition r,   u in the cube.

A multilinear function is nowhere below the least of its cell's corners, so minimum and range are
those of the grid. `pages.problem_tables` is how the tables were made.
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
    """One setting of the learner: `points` equally spaced values, in the logarithm if `log`.

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
        value = self.low + (self.high - self.low) * u
        if self.log:
            value = self.low * (self.high / self.low) ** u
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
        """(k, d) the grid points where the mean surface takes its minimum."""
        places = np.argwhere(self.means <= self.means.min() + _TIE)
        return np.asarray(places / (np.array(self.means.shape) - 1.0))

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


def interpolated(values: Array, U: Array) -> Array:
    """Values (points of d axes …, rest …) at points (n, d) of the unit cube, multilinear.

    Returns (n, rest …). One axis after the other, each result kept between its two ends: rounding
    takes nothing below the minimum.
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
        names, ends, logs, wholes = (stored[key] for key in ("names", "ends", "log", "whole"))
        axes = tuple(
            Axis(str(label), float(low), float(high), points, bool(log), bool(whole))
            for label, (low, high), points, log, whole in zip(
                names, ends, counted.shape[:-1], logs, wholes, strict=True
            )
        )
        counted.setflags(write=False)
        return Table(name, axes, counted, str(stored["versions"]))


def table_problem(name: str) -> Problem:
    """The mean surface of a table, to be minimised over the unit cube."""
    found = table(name)
    cube, optimisers = box(0, 1, found.dimension), found.optimisers.copy()
    return Problem(name, *cube, found.truth, optimisers, found.minimum, found.range)
