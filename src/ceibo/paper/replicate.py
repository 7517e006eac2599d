"""One cell of an experiment, carried out: from its data to its record.

A replication that fails is recorded as a failure, with its traceback; it is never started again with another seed.
Everything in a record but `run` (its times) is a function of the cell and the library versions.
"""

import hashlib
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np
from threadpoolctl import threadpool_limits

from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo.paper import methods
from ceibo.paper.cells import Cell
from ceibo.paper.problems import Problem, problem
from ceibo.paper.protocols import NoisyProblem
from ceibo.study.estimate import recommendation
from ceibo.study.record import versions
from ceibo.study.suggest import Evidence, Model, initial_point

FORMAT: Final = 1
DIGITS: Final = 5  # significant digits kept of what is measured; the digest covers all of them
RECOMMEND_EVERY: Final = 10  # steps between two searches for the minimiser of the posterior mean


class OutOfTimeError(Exception):
    """The time given to the sweep is over; the cell stays unfinished and is run again by the next sweep."""


@final
@dataclass(frozen=True)
class Watch:
    """Ends a replication between two steps, when the time given (seconds since the epoch) is over."""

    deadline: float = float("inf")

    def check(self) -> None:
        if time.time() >= self.deadline:
            raise OutOfTimeError


@final
@dataclass(eq=False)
class Run:
    """An optimisation under way: all evidence, the true values, and how long each suggestion took."""

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


Kind = Callable[[Cell, Watch], dict[str, Any]]


def initial_size(dimension: int) -> int:
    """Points of the initial design: three per dimension, as in the paper."""
    return 3 * dimension


def begin(cell: Cell) -> tuple[Run, NoisyProblem]:
    """The initial design, measured: the same points and the same noise for every method."""
    target = problem(cell.problem, cell.variant, cell.seed)
    noisy = NoisyProblem(target, cell.protocol, cell.level, cell.seed)
    run = Run(cell, target, methods.nothing_yet(target.dimension))
    for number in range(initial_size(target.dimension)):
        measure(run, noisy, initial_point(target.dimension, cell.seed, number))
    return run, noisy


def measure(run: Run, noisy: NoisyProblem, x: Array) -> None:
    """One more measurement, at x (d,) of the unit cube."""
    f, observed = noisy.measure(x)
    run.evidence = methods.with_row(run.evidence, x, observed.y, observed.told)
    run.f.append(f)
    run.noise.append(observed.std)


def optimise(cell: Cell, watch: Watch) -> dict[str, Any]:
    """A whole optimisation: `steps` points after the initial design."""
    run, _, trace = optimise_run(cell, watch)
    target = run.problem
    points = run.points
    trace["regret"] = _short(np.array(run.f) - target.minimum)
    trace["distance"] = _short(target.distance(points), 4)
    if target.active is not None:
        trace["distance_active"] = _short(target.distance(points, active_only=True), 4)
    return {"trace": trace, "digest": digest(run.evidence), "times": {"suggest": round(sum(run.seconds), 3)}}


def optimise_run(cell: Cell, watch: Watch) -> tuple[Run, methods.Method, dict[str, Any]]:
    """The run itself, with what was seen at each state t = 0 … steps: incumbent, acquisition value, recommendation."""
    run, noisy = begin(cell)
    method = methods.method(cell.method)
    propose = method.start(run.problem.dimension, cell.seed)
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
            model = judged = methods.judge(run.evidence, judged)
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
        "value": [None if value is None else _rounded(value) for value in values],
        "reach": [_rounded(value, 3) for value in reach],
        "recommended": recommended,
    }
    return run, method, trace


def _incumbent(model: Model, evidence: Evidence) -> tuple[int, Array]:
    """Row (the first of repeats) and place of the measured point with the best posterior mean."""
    from ceibo.acquisition import find_incumbent

    x = find_incumbent(model.gp).x
    return int(np.argmin(np.sum((evidence.X - x) ** 2, axis=1))), x


def _recommend(run: Run, model: Model, t: int, into: dict[str, list[Any]]) -> None:
    space = methods.unit_space(run.problem.dimension)
    found = recommendation(model, run.evidence, space, 1.0, run.cell.seed)
    x = run.problem.from_unit(space.to_unit(found.params))[None, :]
    into["t"].append(t)
    into["regret"].append(_rounded(float(run.problem(x)[0]) - run.problem.minimum))
    into["distance"].append(_rounded(float(run.problem.distance(x)[0])))


def replicate(cell: Cell, deadline: float = float("inf")) -> dict[str, Any] | None:
    """The record of a cell, or None if the time given was over before it was finished."""
    from ceibo.paper.kinds import KINDS  # every kind of replication, which build on this file

    if cell.kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(KINDS)}, got {cell.kind!r}.")
    record: dict[str, Any] = {
        "format": FORMAT,
        "key": cell.key,
        "cell": cell.to_json(),
        "versions": versions(),
        "settings": {
            **methods.method(cell.method).settings,
            "initial": "3 scrambled Sobol points per dimension",
            "recommended_every": RECOMMEND_EVERY,
        },
    }
    since = time.perf_counter()
    times: dict[str, Any] = {}
    try:
        with threadpool_limits(1):
            found = KINDS[cell.kind](cell, Watch(deadline))
        times = found.pop("times", {})
        record |= {"status": "done", **found}
    except OutOfTimeError:
        return None
    except Exception as error:
        last = "".join(traceback.format_exception(error)[-3:])
        record |= {"status": "failed", "error": f"{type(error).__name__}: {error}", "traceback": last}
    return record | {"run": {"seconds": round(time.perf_counter() - since, 3), **times}}


def digest(evidence: Evidence) -> str:
    """Of every bit of what was measured where."""
    parts = np.column_stack([evidence.X, evidence.y, evidence.noise])
    return hashlib.sha256(np.ascontiguousarray(parts, dtype="<f8").tobytes()).hexdigest()[:16]


def _rounded(value: float, digits: int = DIGITS) -> float | None:
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None


def _short(values: Array, digits: int = DIGITS) -> list[float | None]:
    return [_rounded(float(value), digits) for value in values]
