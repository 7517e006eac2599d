"""The BoTorch acquisition functions on a GPU, beside the CPU.

Compared are values, gradients and optimize_acqf, in float64.

python -m soak.botorch_gpu     needs CUDA, torch and BoTorch; of ceibo only its source file

Prints the figures as JSON and ends with status 1 if GPU and CPU disagree.
"""

import importlib.util
import json
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim.optimize import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

_SOURCE: Final = Path(__file__).parents[1] / "src" / "ceibo" / "integrations" / "botorch.py"
_D, _N, _NOISE = 6, 150, 0.3
NAMES: Final = (
    "CorrectedExpectedImprovement",
    "LogCorrectedExpectedImprovement",
    "CorrectedProbabilityOfImprovement",
    "LogCorrectedProbabilityOfImprovement",
)


def classes() -> Any:
    """The module, loaded from its file, so that ceibo need not be installed."""
    spec = importlib.util.spec_from_file_location("ceibo_botorch", _SOURCE)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(_SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def data(device: str, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Noisy values of a smooth function in six dimensions, the same on every device."""
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(_N, _D, generator=generator, dtype=torch.float64)
    noise = _NOISE * torch.randn(_N, 1, generator=generator, dtype=X.dtype)
    Y = torch.sin(4 * X).sum(dim=-1, keepdim=True) + noise
    return X.to(device, dtype), Y.to(device, dtype)


def fit(device: str, dtype: torch.dtype, state: dict[str, torch.Tensor] | None) -> SingleTaskGP:
    model = SingleTaskGP(*data(device, dtype))
    if state is None:
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    else:
        model.load_state_dict(state)
    return model.to(device, dtype).eval()


def evaluate(
    module: Any, name: str, model: SingleTaskGP, X: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Values and gradients at X (b x 1 x d), with three pending points, on the CPU in float64."""
    observed = data(X.device.type, X.dtype)[0]
    function = getattr(module, name)(model, observed, X_pending=X[:3, 0])
    points = X.clone().requires_grad_(True)
    values = function(points)
    (gradient,) = torch.autograd.grad(values.sum(), points)
    return values.detach().cpu().double(), gradient.cpu().double()


def optimize(module: Any, name: str, model: SingleTaskGP, observed: torch.Tensor) -> dict[str, Any]:
    """optimize_acqf from the same starts on every device."""
    function = getattr(module, name)(model, observed)
    generator = torch.Generator().manual_seed(1)
    starts = torch.rand(16, 1, _D, generator=generator, dtype=torch.float64).to(observed)
    bounds = torch.stack([torch.zeros(_D), torch.ones(_D)]).to(observed)
    began = time.perf_counter()
    x, value = optimize_acqf(
        function, bounds, q=1, num_restarts=16, batch_initial_conditions=starts
    )
    return {
        "x": x.cpu().double(),
        "value": torch.as_tensor(value).item(),
        "seconds": time.perf_counter() - began,
    }


def compare(
    module: Any, name: str, cpu: SingleTaskGP, state: dict[str, torch.Tensor]
) -> dict[str, Any]:
    gpu = fit("cuda", torch.float64, state)
    X = torch.rand(500, 1, _D, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    here, there = evaluate(module, name, cpu, X), evaluate(module, name, gpu, X.cuda())
    single = fit("cuda", torch.float32, state)
    rough = evaluate(module, name, single, X.cuda().float())
    first = optimize(module, name, cpu, data("cpu", torch.float64)[0])
    second = optimize(module, name, gpu, data("cuda", torch.float64)[0])
    return {
        "largest difference of values": float((here[0] - there[0]).abs().max()),
        "largest relative difference of gradients": float(
            (here[1] - there[1]).norm() / here[1].norm()
        ),
        "float32 on the GPU: finite": bool(rough[0].isfinite().all() and rough[1].isfinite().all()),
        "float32 on the GPU: largest difference of values": float((here[0] - rough[0]).abs().max()),
        "optimize_acqf: distance of the maximisers": float((first["x"] - second["x"]).abs().max()),
        "optimize_acqf: values": [first["value"], second["value"]],
        "optimize_acqf: seconds, CPU and GPU": [first["seconds"], second["seconds"]],
    }


def main() -> int:
    warnings.simplefilter("ignore")
    if not torch.cuda.is_available():
        print("no CUDA device here")
        return 2
    module = classes()
    cpu = fit("cpu", torch.float64, None)
    state = cpu.state_dict()
    figures: dict[str, Any] = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "botorch": version("botorch"),
    }
    ok = True
    for name in NAMES:
        found = figures[name] = compare(module, name, cpu, state)
        on_cpu, on_gpu = found["optimize_acqf: values"]
        same_values = abs(on_cpu - on_gpu) < 1e-6
        equal = (
            found["largest difference of values"] < 1e-9
            and found["largest relative difference of gradients"] < 1e-6
        )
        ok &= equal and same_values and found["float32 on the GPU: finite"]
    figures["equal"] = ok
    print(json.dumps(figures, indent=1))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
