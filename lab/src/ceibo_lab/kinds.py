"""Every kind of replication, by name: plain optimisation, draws of a Gaussian process, scenario,
cost, theory.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ceibo import acquisition as acq
from ceibo import theory
from ceibo.decide.suggest import Settings, fit_model, initial_point, search
from ceibo.gp import GaussianProcess, SquaredExponential
from ceibo.gp.inputs import Array
from ceibo_lab.cells import Cell
from ceibo_lab.problems import stream
from ceibo_lab.problems.draws import LENGTHSCALE, draw
from ceibo_lab.proposers import KERNEL, CeiboProposer, unit_space
from ceibo_lab.runs import (
    Watch,
    begin,
    digest,
    initial_size,
    measure,
    nothing_yet,
    optimise_run,
    shortened,
)

Kind = Callable[[Cell, Watch], dict[str, Any]]

KAPPA_SHARE: Final = 0.01  # of the range: the stopping threshold of draws and of the theory
KAPPA_DRAWS: Final = 5  # separate draws whose range sets the threshold
SCENARIO_STEPS: Final = 4
SCENARIO_INITIAL: Final = 4
SCENARIO_GRID: Final = 201
COST_SIZES: Final = (25, 50, 100, 150, 200)
COST_REPEATS: Final = 3
THEORY_EVERY: Final = 10


def optimise(cell: Cell, watch: Watch) -> dict[str, Any]:
    """A whole optimisation: `steps` points after the initial design."""
    run, trace = optimise_run(cell, watch)
    target = run.problem
    points = run.points
    trace["regret"] = shortened(np.array(run.f) - target.minimum)
    trace["distance"] = shortened(target.distance(points), 4)
    if target.active is not None:
        trace["distance_active"] = shortened(target.distance(points, active_only=True), 4)
    return {
        "trace": trace,
        "digest": digest(run.evidence),
        "times": {"suggest": round(sum(run.seconds), 3)},
    }


def draws(cell: Cell, watch: Watch) -> dict[str, Any]:
    """EI or corrected EI on a draw from the model's own kernel, everything known but the function.

    Maximised (the draw's sign is flipped for the engine), no fitting, stopped when the
    acquisition's largest value falls below κ, or at the cap of `steps`.
    """
    width = float(cell.problem.rpartition("-")[2])
    target = draw(width, cell.seed)
    kappa = draws_kappa(width)
    kernel = SquaredExponential(np.array([LENGTHSCALE / width]))
    normal = stream(cell.seed, "noise")
    X = np.array([initial_point(1, cell.seed, k) for k in range(initial_size(1))])
    f = target(X[:, 0] * width)
    y = -(f + cell.level * normal.standard_normal(len(f)))
    values: list[float] = []
    while True:
        watch.check()
        gp = GaussianProcess(X, y, np.full(len(y), cell.level**2), kernel)
        found = acq.maximize(acq.build(cell.method, gp), seed=cell.seed + 1000 * len(y))
        values.append(float(found.value))
        at_stop = float(target(found.x * width)[0])
        if found.value < kappa or len(values) > cell.steps:
            break
        X = np.vstack([X, found.x])
        f = np.append(f, at_stop)
        y = np.append(y, -(at_stop + cell.level * normal.standard_normal()))
    incumbent = acq.find_incumbent(gp)
    best = float(target(incumbent.x * width)[0])
    return {
        "trace": {
            "kappa": kappa,
            "stopped": values[-1] < kappa,
            "t": len(values) - 1,
            "at_stop": at_stop,
            "best": best,
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
        "digest": digest(replace(nothing_yet(1), X=X, y=y, noise=np.full(len(y), cell.level))),
    }


def draws_kappa(width: float) -> float:
    """1 % of the difference between the largest and the smallest value over five separate draws."""
    values = np.concatenate(
        [draw(width, k, "gp-draw for kappa").values for k in range(KAPPA_DRAWS)]
    )
    return KAPPA_SHARE * float(np.ptp(values))


def scenario(cell: Cell, watch: Watch) -> dict[str, Any]:
    """The one-dimensional picture: after a few steps of EI, where do EI and corrected EI want to
    measure next?
    """
    run, noisy = begin(cell)
    settings = Settings(acquisition="ei", kernel=KERNEL, fit="ml", n_initial=1)
    for number in range(initial_size(1), SCENARIO_INITIAL):
        measure(run, noisy, initial_point(1, cell.seed, number))
    propose = CeiboProposer(1, cell.seed, settings)
    for _ in range(cell.steps):
        measure(run, noisy, propose(run.evidence, len(run.evidence)).x)
    model = fit_model(run.evidence, unit_space(1), settings)
    grid = np.linspace(0.0, 1.0, SCENARIO_GRID)[:, None]
    mean, variance = model.gp.posterior(grid)
    functions = {name: acq.build(name, model.gp) for name in ("ei", "corrected-ei")}
    incumbent = acq.find_incumbent(model.gp)
    return {
        "trace": {
            "x": _list(run.points[:, 0]),
            "y": _list(run.evidence.y),
            "noise": _list(run.evidence.noise),
            "grid": _list(run.problem.from_unit(grid)[:, 0]),
            "f": _list(run.problem.at_unit(grid)),
            "mean": _list(mean, model.exponent),
            "std": _list(np.sqrt(variance), model.exponent),
            "incumbent": _list(run.problem.from_unit(incumbent.x))[0],
            "acquisition": {
                name: _list(function.value(grid), model.exponent)
                for name, function in functions.items()
            },
            "next": {
                name: _list(run.problem.from_unit(acq.maximize(function, seed=cell.seed).x))[0]
                for name, function in functions.items()
            },
        },
        "digest": digest(run.evidence),
    }


def cost(cell: Cell, watch: Watch) -> dict[str, Any]:
    """Seconds to fit and to maximise, least of some repeats, on data as a search leaves them, by
    their number.
    """
    run, noisy = begin(cell)
    rng = stream(cell.seed, "cost")
    target = run.problem
    centre = (target.optimisers[0] - target.low) / target.width
    spot = {True: 0.08, False: 0.5}
    while len(run.evidence) < max(COST_SIZES):  # half of it near the optimum
        near = len(run.evidence) % 2 == 1
        measure(
            run,
            noisy,
            np.clip(centre + spot[near] * rng.uniform(-1, 1, target.dimension), 0.0, 1.0),
        )
    settings = Settings(acquisition=cell.method, kernel=KERNEL, fit="ml", n_initial=1)
    space = unit_space(target.dimension)
    fits, searches = [], []
    for n in COST_SIZES:
        watch.check()
        rows = replace(
            run.evidence, X=run.evidence.X[:n], y=run.evidence.y[:n], noise=run.evidence.noise[:n]
        )
        rows = replace(rows, group=np.arange(n))
        times = []
        for repeat in range(COST_REPEATS):
            started = time.perf_counter()
            model = fit_model(rows, space, settings)
            fitted = time.perf_counter()
            search(model, rows, space, settings, cell.seed + repeat)
            times.append((fitted - started, time.perf_counter() - fitted))
        fits.append(min(first for first, _ in times))
        searches.append(min(second for _, second in times))
    measured = {"fit": [round(s, 5) for s in fits], "maximise": [round(s, 5) for s in searches]}
    return {"trace": {"n": list(COST_SIZES)}, "digest": digest(run.evidence), "times": measured}


def theory_run(cell: Cell, watch: Watch) -> dict[str, Any]:
    """A run beside the paper's bound: cumulative regret, realised gain and bounds after every few
    steps.

    The kernel is the last one fitted; κ is 1 % of the range, or the largest the theory allows; the
    norm of f is the lower bound from the visited points.
    """
    run, _ = optimise_run(cell, watch)
    if run.model is None:
        raise RuntimeError("a run with at least one step has a model")
    kernel = run.model.gp.kernel
    natural = replace(kernel, variance=kernel.variance * 4.0**run.model.exponent)
    amplitude = float(np.sqrt(natural.variance))
    kappa = min(KAPPA_SHARE * run.problem.range, 0.999 * amplitude * float(np.sqrt(2 / np.pi)))
    f, X = np.array(run.f), run.evidence.X
    noise = np.maximum(np.array(run.noise) ** 2, 1e-12 * natural.variance)
    centred = f - run.model.natural(run.model.gp.mean)
    rows: dict[str, list[float]] = {
        "T": [],
        "regret": [],
        "bound": [],
        "realised_gain": [],
        "maximal_gain": [],
    }
    for T in range(THEORY_EVERY, len(f) + 1, THEORY_EVERY):
        watch.check()
        report = theory.regret_report(natural, X[:T], noise[:T], kappa=kappa, f_values=centred[:T])
        rows["T"].append(T)
        rows["regret"].append(float(np.sum(f[:T] - run.problem.minimum)))
        rows["bound"].append(report.regret_bound)
        rows["realised_gain"].append(report.realised_gain)
        rows["maximal_gain"].append(report.maximal_gain)
    rounded = {name: [float(f"{value:.6g}") for value in column] for name, column in rows.items()}
    return {
        "trace": rounded | {"kappa": kappa, "amplitude": amplitude},
        "digest": digest(run.evidence),
    }


def compression(cell: Cell, watch: Watch) -> dict[str, Any]:
    """Ranks of a network's layers under a noisy error: `ceibo_lab.compression`, which needs
    torch.
    """
    from ceibo_lab.compression.replicate import compression as run

    return run(cell, watch)


def suite(cell: Cell, watch: Watch) -> dict[str, Any]:
    """A method on a task of the suite that defaults are chosen on: `ceibo_lab.suite`."""
    from ceibo_lab.suite.run import suite as run

    return run(cell, watch)


def require(cells: Iterable[Cell]) -> None:
    """An error that says what is missing on this machine, if it is, before any of the cells
    is run.
    """
    if tasks := dict.fromkeys(cell.problem for cell in cells if cell.kind == "compression"):
        from ceibo_lab.compression.replicate import require as need

        need(tasks)


def _list(values: Array, exponent: int = 0) -> list[float]:
    return [float(f"{value:.6g}") for value in np.ldexp(np.atleast_1d(values), exponent).tolist()]


KINDS: Final[dict[str, Kind]] = {
    "optimise": optimise,
    "draws": draws,
    "scenario": scenario,
    "cost": cost,
    "theory": theory_run,
    "compression": compression,
    "suite": suite,
}
