"""An optimisation under way: the initial design, step after step, and what is seen at each
state.
"""

import hashlib
import time
from dataclasses import dataclass, field, replace
from typing import Any, Final, final

import numpy as np

from ceibo.acquisition import find_incumbent
from ceibo.decide.estimate import recommendation
from ceibo.decide.suggest import Evidence, Model, initial_point
from ceibo.gp.inputs import Array
from ceibo_lab.cells import Cell
from ceibo_lab.methods import method
from ceibo_lab.problems import Problem, problem
from ceibo_lab.proposers import judge, unit_space
from ceibo_lab.protocols import NoisyProblem

DIGITS: Final = 5  # significant digits kept of what is measured; the digest covers all of them
RECOMMEND_EVERY: Final = 10  # steps between two searches for the minimiser of the posterior mean


class OutOfTimeError(Exception):
    """The time given to the sweep is over; the cell stays unfinished and is run again by the next
    sweep.
    """


@final
@dataclass(frozen=True)
class Watch:
    """Ends a replication between two steps, when the time given (seconds since the epoch)
    is over.
    """

    deadline: float = float("inf")

    def check(self) -> None:
        if time.time() >= self.deadline:
            raise OutOfTimeError


@final
@dataclass(eq=False)
class Run:
    """An optimisation under way: all evidence, the true values, and how long each
    suggestion took.
    """

    cell: Cell
    problem: Problem
    evidence: Evidence
    f: list[float] = field(default_factory=list)
    noise: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    model: Model | None = None

    @property
    def points(self) -> Array:
        """(n, d) points measured, in the problem's units."""
        return self.problem.from_unit(self.evidence.X)


def initial_size(dimension: int) -> int:
    """Points of the initial design: three per dimension, as in the paper."""
    return 3 * dimension


def begin(cell: Cell) -> tuple[Run, NoisyProblem]:
    """The initial design, measured: the same points and the same noise for every method."""
    target = problem(cell.problem, cell.variant, cell.seed)
    noisy = NoisyProblem(target, cell.protocol, cell.level, cell.seed)
    run = Run(cell, target, nothing_yet(target.dimension))
    for number in range(initial_size(target.dimension)):
        measure(run, noisy, initial_point(target.dimension, cell.seed, number))
    return run, noisy


def measure(run: Run, noisy: NoisyProblem, x: Array) -> None:
    """One more measurement, at x (d,) of the unit cube."""
    f, observed = noisy.measure(x)
    run.evidence = with_row(run.evidence, x, observed.y, observed.told)
    run.f.append(f)
    run.noise.append(observed.std)


def optimise_run(cell: Cell, watch: Watch) -> tuple[Run, dict[str, Any]]:
    """The run itself, with what was seen at each state t = 0 … steps: incumbent, acquisition value,
    recommendation.
    """
    run, noisy = begin(cell)
    propose = method(cell.method).start(run.problem.dimension, cell.seed)
    best: list[int] = []
    values: list[float | None] = []
    reach: list[float] = []
    recommended: dict[str, list[Any]] = {"t": [], "regret": [], "distance": []}
    judged: Model | None = None
    for t in range(cell.steps + 1):
        watch.check()
        since = time.perf_counter()
        number = len(run.evidence)
        # A method without a model is not asked for a point that will not be measured.
        proposal = propose(run.evidence, number) if t < cell.steps or judged is None else None
        run.seconds.append(time.perf_counter() - since)
        model = proposal.model if proposal is not None else None
        if model is None:
            model = judged = judge(run.evidence, judged)
        run.model = model
        row, at = _incumbent(model, run.evidence)
        best.append(row)
        values.append(None if proposal is None or proposal.value is None else float(proposal.value))
        if t % RECOMMEND_EVERY == 0 or t == cell.steps:
            _recommend(run, model, t, recommended)
        if t < cell.steps and proposal is not None:
            reach.append(float(np.linalg.norm(proposal.x - at) / np.sqrt(len(at))))
            measure(run, noisy, proposal.x)
    trace = {
        "best": best,
        "value": [None if value is None else rounded(value) for value in values],
        "reach": [rounded(value, 3) for value in reach],
        "recommended": recommended,
    }
    return run, trace


def _incumbent(model: Model, evidence: Evidence) -> tuple[int, Array]:
    """Row (the first of repeats) and place of the measured point with the best posterior mean."""
    x = find_incumbent(model.gp).x
    return int(np.argmin(np.sum((evidence.X - x) ** 2, axis=1))), x


def _recommend(run: Run, model: Model, t: int, into: dict[str, list[Any]]) -> None:
    space = unit_space(run.problem.dimension)
    found = recommendation(model, run.evidence, space, 1.0, run.cell.seed)
    x = run.problem.from_unit(space.to_unit(found.params))[None, :]
    into["t"].append(t)
    into["regret"].append(rounded(float(run.problem(x)[0]) - run.problem.minimum))
    into["distance"].append(rounded(float(run.problem.distance(x)[0])))


def digest(evidence: Evidence) -> str:
    """Of every bit of what was measured where."""
    parts = np.column_stack([evidence.X, evidence.y, evidence.noise])
    return hashlib.sha256(np.ascontiguousarray(parts, dtype="<f8").tobytes()).hexdigest()[:16]


def rounded(value: float, digits: int = DIGITS) -> float | None:
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None


def shortened(values: Array, digits: int = DIGITS) -> list[float | None]:
    return [rounded(float(value), digits) for value in values]


def with_row(evidence: Evidence, x: Array, y: float, told: float) -> Evidence:
    """The evidence with one more measurement."""
    return replace(
        evidence,
        X=np.vstack([evidence.X, x]),
        y=np.append(evidence.y, y),
        noise=np.append(evidence.noise, told),
        group=np.arange(len(evidence) + 1),
        trials=evidence.trials + 1,
    )


def nothing_yet(dimension: int) -> Evidence:
    """No evidence at all."""
    none = np.empty((0, dimension))
    return Evidence(none, np.empty(0), np.empty(0), np.empty(0, dtype=np.intp), none, none, 0)
