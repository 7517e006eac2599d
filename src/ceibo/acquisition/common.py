"""What several processes have in common: points, and joint draws at them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, final

import numpy as np

from ceibo.acquisition.cube import conditioning
from ceibo.acquisition.joint import JointPredictor
from ceibo.acquisition.monte_carlo import draw_jointly
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array, Indices, Mask

# Farther bounds, and more standard deviations, count as this many: what the search makes of their
# slopes then still are numbers.
FARTHEST: Final = 1e30


class Bounded(Protocol):
    """A limit: f ≤ bound."""

    @property
    def gp(self) -> GaussianProcess:
        """The model of f."""

    @property
    def bound(self) -> float:
        """In the units of gp.y."""


def common_rows(points: Sequence[Array]) -> Indices:
    """Rows (c, p) of the points that all of p arrays hold, compared exactly, in the first's order.

    A point that an array holds several times stands for itself once, by its first row.
    """
    tables: list[dict[bytes, int]] = []
    for array in points:
        table: dict[bytes, int] = {}
        for i, row in enumerate(np.ascontiguousarray(array + 0.0)):  # −0.0 is 0.0
            table.setdefault(row.tobytes(), i)
        tables.append(table)
    first, *others = tables
    shared = [key for key in first if all(key in table for table in others)]
    rows = [[table[key] for table in tables] for key in shared]
    return np.array(rows, dtype=np.intp).reshape(len(shared), len(tables))


def inside_units(gp: GaussianProcess, value: float) -> float:
    """A value of y in inside units less the prior mean; at most FARTHEST, whose square exists."""
    with np.errstate(over="ignore"):
        inside = np.subtract(value / gp.unit, gp.mean / gp.unit)
    return float(np.clip(inside, -FARTHEST, FARTHEST))


@final
@dataclass(frozen=True, eq=False)
class CommonDraws:
    """Joint draws of goals and limits at the points they have in common, in inside units."""

    predictor: JointPredictor  # of all processes, given each draw
    rows: Indices  # (c,) of the common points among the first process's
    goals: Array  # (S, c, k)
    holds: Mask  # (S, c) whether every limit holds; never outside the unit cube
    bounds: Array  # (limits,)
    base: Array  # (S,) of the first process: the normal draws left for f(x)


def draw_in_common(
    goals: Sequence[GaussianProcess], limits: Sequence[Bounded], count: int, seed: int
) -> CommonDraws:
    """`count` draws of each process at its conditioning points, independent between processes."""
    processes = [*goals, *(limit.gp for limit in limits)]
    rows = common_rows([gp.state.points for gp in processes])
    drawn = [draw_jointly(gp, count, seed_of(seed, j)) for j, gp in enumerate(processes)]
    values = [draws.values[:, rows[:, j]] for j, draws in enumerate(drawn)]
    bounds = np.array([inside_units(limit.gp, limit.bound) for limit in limits])
    found = conditioning(goals[0])[rows[:, 0]]
    holds = np.repeat(found[None, :], count, axis=0)
    for of_limit, bound in zip(values[len(goals) :], bounds, strict=True):
        holds &= of_limit <= bound
    predictor = JointPredictor(tuple(draws.predictor for draws in drawn))
    of_goals = np.stack(values[: len(goals)], axis=-1)
    return CommonDraws(predictor, rows[:, 0], of_goals, holds, bounds, drawn[0].base)


def seed_of(seed: int, process: int) -> int:
    """The seed of one process's draws: the first one's is `seed` itself."""
    if process == 0:
        return seed
    return int(np.random.SeedSequence([seed, process]).generate_state(1, np.uint64)[0])
