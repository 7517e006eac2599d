"""The acquisition value that each maximiser finds on the same surface.

ceibo fits a model to random data; BoTorch gets the identical model (same kernel, hyperparameters,
noise and mean) and maximises LogEI over it, ceibo maximises its own EI, and ceibo's EI is evaluated
at both points. It shows that speed is not bought with worse points.
"""

import time
from typing import Any, Final

import numpy as np

from bench.data import random_surface
from bench.process import answer, progress, run_child
from ceibo import acquisition
from ceibo.gp import GaussianProcess, fit_gp

DIMENSIONS: Final = (2, 6, 12)
SURFACES, QUICK_SURFACES = 200, 30
TOLERANCE: Final = 1e-3  # a value is as good as another from 1 − TOLERANCE of it on
QUANTILES: Final = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def collect(quick: bool) -> dict[str, Any]:
    """Shares and quantiles over all surfaces and by dimension."""
    rows = run_child("bench.quality", {"surfaces": QUICK_SURFACES if quick else SURFACES})
    groups = {"all": rows}
    for d in DIMENSIONS:
        groups[f"d = {d}"] = [row for row in rows if row["d"] == d]
    return {"groups": {name: summary(group) for name, group in groups.items()}, "rows": rows}


def summary(rows: list[dict[str, float]]) -> dict[str, Any]:
    """How often each side is as good as the other, and quantiles of log(ceibo / BoTorch)."""
    difference = np.array([row["ceibo"] - row["botorch"] for row in rows])
    limit = np.log1p(-TOLERANCE)
    quantiles = np.quantile(difference, QUANTILES).tolist()
    return {
        "surfaces": len(rows),
        "ceibo_at_least": float(np.mean(difference >= limit)),
        "botorch_at_least": float(np.mean(-difference >= limit)),
        "quantiles": dict(zip(map(str, QUANTILES), quantiles, strict=True)),
        "ceibo_seconds": float(np.median([row["ceibo_seconds"] for row in rows])),
        "botorch_seconds": float(np.median([row["botorch_seconds"] for row in rows])),
        "model_difference": float(np.max([row["model_difference"] for row in rows])),
    }


def measure(request: dict[str, Any]) -> list[dict[str, float]]:
    """The child's work: log EI at each side's point, for every surface."""
    from bench import peers

    peers.quiet()
    rows = []
    for index in range(request["surfaces"]):
        if index % 20 == 0:
            progress(f"quality: surface {index} of {request['surfaces']}")
        rows.append(compare(DIMENSIONS[index % len(DIMENSIONS)], index))
    return rows


def compare(dimension: int, seed: int) -> dict[str, float]:
    """Log EI found by each side on one surface, seconds taken, and how far the models differ."""
    import torch

    from bench import peers

    data = random_surface(dimension, seed)
    gp = fit_gp(data.X, data.y, data.noise).gp
    ei = acquisition.build("ei", gp)
    started = time.perf_counter()
    own = acquisition.maximize(ei, seed=seed).x
    ceibo_seconds = time.perf_counter() - started

    same, unit = log_ei_in_botorch(gp, ei.incumbent.mean)
    torch.manual_seed(seed)
    started = time.perf_counter()
    found, value = peers.maximize_with_botorch(same, dimension)
    botorch_seconds = time.perf_counter() - started
    other = found.detach().numpy()
    by_ceibo = float(ei.log_value(own[None, :])[0])
    by_botorch = float(ei.log_value(other)[0])
    return {
        "d": dimension,
        "n": len(data.X),
        "ceibo": by_ceibo,
        "botorch": by_botorch,
        "ceibo_seconds": ceibo_seconds,
        "botorch_seconds": botorch_seconds,
        "model_difference": abs(float(value) + float(np.log(unit)) - by_botorch),
    }


def log_ei_in_botorch(gp: GaussianProcess, best_mean: float) -> tuple[Any, float]:
    """LogEI over the same Gaussian process in BoTorch, and the unit of its values."""
    import torch
    from botorch.acquisition.analytic import LogExpectedImprovement
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.means import ZeroMean

    unit = float(np.sqrt(gp.kernel.variance))
    Y = torch.tensor(-(gp.y - gp.mean) / unit)[:, None]
    kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=gp.kernel.dimension)).double()
    model = SingleTaskGP(
        torch.tensor(gp.X),
        Y,
        torch.tensor(gp.noise_variance / unit**2)[:, None],
        covar_module=kernel,
        mean_module=ZeroMean(),
        outcome_transform=None,
    )
    kernel.base_kernel.lengthscale = torch.tensor(gp.kernel.lengthscales)
    kernel.outputscale = torch.tensor(1.0)
    model.eval()
    return LogExpectedImprovement(model, best_f=-(best_mean - gp.mean) / unit), unit


if __name__ == "__main__":
    answer(measure)
