"""Replications beside plain optimisation: draws of a Gaussian process, scenario, cost, theory."""

import time
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np

from ceibo import acquisition as acq
from ceibo import theory
from ceibo.decide.evidence import Evidence
from ceibo.decide.model import Model, fit_model
from ceibo.decide.suggest import initial_point, search
from ceibo.gp import GaussianProcess, SquaredExponential
from ceibo.gp.inputs import Array
from ceibo_lab.kinds.benchmark import begin, initial_size, optimise_run
from ceibo_lab.method import Proposal
from ceibo_lab.methods import paper_settings
from ceibo_lab.methods.ceibo import Ceibo
from ceibo_lab.problem import stream, unit_space
from ceibo_lab.problems.draws import LENGTHSCALE, Draw, draw
from ceibo_lab.record import Cell
from ceibo_lab.run import Run, Watch, digest, evidence_of, incumbent

KAPPA_SHARE: Final = 0.01  # of the range: the stopping threshold of draws and of the theory
KAPPA_DRAWS: Final = 5  # separate draws whose range sets the threshold
SCENARIO_INITIAL: Final = 4
SCENARIO_GRID: Final = 201
COST_SIZES: Final = (25, 50, 100, 150, 200)
COST_REPEATS: Final = 3
THEORY_EVERY: Final = 10


# -- draws of a Gaussian process -------------------------------------------------------


@final
class NoisyDraw:
    """A draw measured with noise of one standard deviation, with its sign flipped: minimised."""

    def __init__(self, target: Draw, std: float, seed: int) -> None:
        self.target, self.std = target, std
        self._normal = stream(seed, "noise")
        self._values: list[float] = []

    def measure(self, u: Array) -> None:
        f = float(self.target(u * self.target.width)[0])
        self._values.append(-(f + self.std * float(self._normal.standard_normal())))

    @property
    def values(self) -> Array:
        return np.array(self._values)

    @property
    def told(self) -> Array:
        return np.full(len(self._values), self.std)


@final
@dataclass(frozen=True, eq=False)
class KnownModel:
    """An acquisition on the process that the function was drawn from; nothing is fitted."""

    acquisition: str
    kernel: SquaredExponential
    seed: int

    def process(self, evidence: Evidence) -> GaussianProcess:
        return GaussianProcess(evidence.X, evidence.y, evidence.noise**2, self.kernel)

    def propose(self, evidence: Evidence, number: int) -> Proposal:
        function = acq.build(self.acquisition, self.process(evidence))
        found = acq.maximize(function, seed=self.seed + 1000 * number)
        return Proposal(found.x, value=float(found.value))

    def model(self, _evidence: Evidence) -> Model | None:
        return None

    def recommend(self, _evidence: Evidence) -> Array | None:
        return None


def draws(cell: Cell, watch: Watch) -> dict[str, Any]:
    """EI or corrected EI on a draw from the model's own kernel, everything known but the function.

    Stopped when the acquisition's largest value falls below κ, or after `steps` measurements.
    """
    width = float(cell.problem.rpartition("-")[2])
    target = draw(width, cell.seed)
    kappa = draws_kappa(width)
    method = KnownModel(cell.method, SquaredExponential(np.array([LENGTHSCALE / width])), cell.seed)
    run = Run(unit_space(1), NoisyDraw(target, cell.level, cell.seed))
    for number in range(initial_size(1)):
        run.measure(initial_point(1, cell.seed, number))
    values: list[float] = []
    for state in run.states(method, cell.steps, watch, ask_last=True):
        if state.proposal is None or state.proposal.value is None:
            raise RuntimeError("a method with a known model values every proposal")
        evidence, last = state.evidence, state.proposal.x
        values.append(state.proposal.value)
        if values[-1] < kappa:
            break
    best = acq.find_incumbent(method.process(evidence)).x
    return {
        "trace": {
            "kappa": kappa,
            "stopped": values[-1] < kappa,
            "t": len(values) - 1,
            "at_stop": float(target(last * width)[0]),
            "best": float(target(best * width)[0]),
            "maximum": float(target.values.max()),
            "value": [float(f"{value:.6g}") for value in values],
        },
        "settings": {
            "acquisition": cell.method,
            "kernel": (
                f"squared exponential, length scale {LENGTHSCALE:g}, amplitude 1, fixed at the"
                " truth"
            ),
            "domain": [0.0, width],
            "initial": "3 scrambled Sobol points",
        },
        "digest": digest(evidence),
    }


def draws_kappa(width: float) -> float:
    """1 % of the difference between the largest and the smallest value over five separate draws."""
    found = [draw(width, k, "gp-draw for kappa").values for k in range(KAPPA_DRAWS)]
    return KAPPA_SHARE * float(np.ptp(np.concatenate(found)))


# -- scenario, cost, theory ------------------------------------------------------------


def scenario(cell: Cell, watch: Watch) -> dict[str, Any]:
    """Where EI and corrected EI want to measure next in one dimension, after a few steps of EI."""
    run, noisy = begin(cell)
    target, settings = noisy.problem, paper_settings("ei")
    for number in range(initial_size(1), SCENARIO_INITIAL):
        run.measure(initial_point(1, cell.seed, number))
    for state in run.states(Ceibo(run.space, cell.seed, settings), cell.steps, watch):
        evidence = state.evidence
    model = fit_model(evidence, run.space, settings)
    grid = np.linspace(0.0, 1.0, SCENARIO_GRID)[:, None]
    mean, variance = model.gp.posterior(grid)
    functions = {name: acq.build(name, model.gp) for name in ("ei", "corrected-ei")}
    nexts = {name: acq.maximize(each, seed=cell.seed).x for name, each in functions.items()}
    return {
        "trace": {
            "x": _list(target.from_unit(evidence.X)[:, 0]),
            "y": _list(evidence.y),
            "noise": _list(evidence.noise),
            "grid": _list(target.from_unit(grid)[:, 0]),
            "f": _list(target.at_unit(grid)),
            "mean": _list(mean, model.exponent),
            "std": _list(np.sqrt(variance), model.exponent),
            "incumbent": _list(target.from_unit(incumbent(model).u))[0],
            "acquisition": {
                name: _list(each.value(grid), model.exponent) for name, each in functions.items()
            },
            "next": {name: _list(target.from_unit(x))[0] for name, x in nexts.items()},
        },
        "digest": digest(evidence),
    }


def cost(cell: Cell, watch: Watch) -> dict[str, Any]:
    """Seconds to fit and to maximise by the number of data, on data as a search leaves them."""
    run, noisy = begin(cell)
    rng = stream(cell.seed, "cost")
    target = noisy.problem
    centre = (target.optimisers[0] - target.low) / target.width
    while len(run.points) < max(COST_SIZES):
        spread = 0.08 if len(run.points) % 2 == 1 else 0.5  # half of it near the optimum
        run.measure(np.clip(centre + spread * rng.uniform(-1, 1, target.dimension), 0.0, 1.0))
    # imported here, as branches are also run with a ceibo that had nothing to hold
    from ceibo.decide.holding import hold

    settings, evidence = paper_settings(cell.method), run.evidence
    fits, searches = [], []
    for n in COST_SIZES:
        watch.check()
        rows = evidence_of(evidence.X[:n], evidence.y[:n], evidence.noise[:n])
        times = []
        for repeat in range(COST_REPEATS):
            started = time.perf_counter()
            model = fit_model(rows, run.space, settings)
            fitted = time.perf_counter()
            search(model, rows, hold(run.space), settings, cell.seed + repeat)
            times.append((fitted - started, time.perf_counter() - fitted))
        fits.append(min(first for first, _ in times))
        searches.append(min(second for _, second in times))
    measured = {"fit": [round(s, 5) for s in fits], "maximise": [round(s, 5) for s in searches]}
    return {"trace": {"n": list(COST_SIZES)}, "digest": digest(evidence), "times": measured}


def theory_run(cell: Cell, watch: Watch) -> dict[str, Any]:
    """A run beside the paper's bound: regret, realised gain and bounds after every few steps.

    The kernel is the last one fitted; κ is 1 % of the range, or the largest the theory allows; the
    norm of f is the lower bound from the visited points.
    """
    run, noisy, model, _ = optimise_run(cell, watch)
    target, evidence = noisy.problem, run.evidence
    kernel = model.gp.kernel
    natural = replace(kernel, variance=kernel.variance * 4.0**model.exponent)
    amplitude = float(np.sqrt(natural.variance))
    kappa = min(KAPPA_SHARE * target.range, 0.999 * amplitude * float(np.sqrt(2 / np.pi)))
    f, X = np.array(noisy.f), evidence.X
    noise = np.maximum(np.array([each.std for each in noisy.seen]) ** 2, 1e-12 * natural.variance)
    centred = f - model.natural(model.gp.mean)
    names = ("T", "regret", "bound", "realised_gain", "maximal_gain")
    rows: dict[str, list[float]] = {name: [] for name in names}
    for T in range(THEORY_EVERY, len(f) + 1, THEORY_EVERY):
        watch.check()
        report = theory.regret_report(natural, X[:T], noise[:T], kappa=kappa, f_values=centred[:T])
        rows["T"].append(T)
        rows["regret"].append(float(np.sum(f[:T] - target.minimum)))
        rows["bound"].append(report.regret_bound)
        rows["realised_gain"].append(report.realised_gain)
        rows["maximal_gain"].append(report.maximal_gain)
    columns = {name: [float(f"{value:.6g}") for value in row] for name, row in rows.items()}
    return {"trace": columns | {"kappa": kappa, "amplitude": amplitude}, "digest": digest(evidence)}


def _list(values: Array, exponent: int = 0) -> list[float]:
    return [float(f"{value:.6g}") for value in np.ldexp(np.atleast_1d(values), exponent).tolist()]
