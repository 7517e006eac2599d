"""Corrected EI with limits in BoTorch: Monte Carlo, quadrature, limiting cases, refusals."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from botorch.acquisition.input_constructors import get_acqf_input_constructor
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.exceptions import UnsupportedError
from botorch.exceptions.warnings import BotorchWarning
from botorch.models import ModelListGP, SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.utils.datasets import SupervisedDataset
from gpytorch.kernels import MaternKernel, ScaleKernel
from gpytorch.means import ConstantMean
from scipy.integrate import quad
from scipy.special import log_ndtr
from scipy.stats import norm

from ceibo import acquisition
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess, Matern52
from ceibo.integrations.botorch import (
    CorrectedExpectedImprovement,
    CorrectedProbabilityOfImprovement,
    LogCorrectedExpectedImprovement,
)
from ceibo.integrations.botorch.bivariate import FAR, log_rectangle
from tests.helpers import make_gp
from tests.integrations.test_botorch import Ensemble
from tests.torch_oracle import exact, model_like, tensor

KINDS = (CorrectedExpectedImprovement, LogCorrectedExpectedImprovement)
SAMPLES = 400_000


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """BoTorch would like standardized data; that any data will do is a point of these tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BotorchWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


def processes(seed: int, count: int = 3, n: int = 8, d: int = 2) -> list[GaussianProcess]:
    """Several noisy processes observed at the same points; the first is the objective."""
    first = make_gp(seed, n=n, d=d)
    others = (make_gp(100 * seed + number, n=n, d=d) for number in range(1, count))
    same = []
    for other in others:
        y = (other.y - other.y.mean()) / other.y.std()
        same.append(GaussianProcess(first.X, y, np.full(n, 0.1), first.kernel, 0.0))
    return [first, *same]


def models(gps: list[GaussianProcess]) -> ModelListGP:
    return ModelListGP(*(model_like(gp) for gp in gps))


def sampled(function: Any, gps: list[GaussianProcess], limits: dict[int, Any], x: Any) -> Any:
    """α and its standard error by drawing (f, g₁, …) at x and x⁺, minimised."""
    best = function.X_incumbent.numpy().reshape(1, -1)
    points = np.concatenate([x[None, :], best])
    rng = np.random.default_rng(0)
    draws = []
    for gp in gps:
        mean, _ = gp.posterior(points)
        root = np.linalg.cholesky(gp.covariance(points, points) + 1e-13 * np.eye(2))
        draws.append(mean + rng.standard_normal((SAMPLES, 2)) @ root.T)
    held = np.ones((SAMPLES, 2), dtype=bool)
    for output, (lower, upper) in limits.items():
        held &= draws[output] >= (-np.inf if lower is None else lower)
        held &= draws[output] <= (np.inf if upper is None else upper)
    worst = gps[0].posterior(gps[0].X)[0].max()
    fallback = np.where(held[:, 1], draws[0][:, 1], worst)
    gain = np.where(held[:, 0], np.maximum(fallback - draws[0][:, 0], 0.0), 0.0)
    return gain.mean(), gain.std() / np.sqrt(SAMPLES)


CASES: tuple[dict[int, tuple[float | None, float | None]], ...] = (
    {1: (None, 0.2)},
    {1: (-0.3, None)},
    {1: (-0.5, 0.6)},
    {1: (None, 0.4), 2: (-0.8, None)},
    {1: (-1.0, 1.0), 2: (None, 0.5)},
)


@pytest.mark.parametrize("limits", CASES)
def test_values_are_those_of_monte_carlo(limits: dict[int, Any]) -> None:
    """Within 4 standard errors of drawing both values of every outcome."""
    for seed in (1, 2):
        gps = processes(seed)
        used = [gps[0]] + [gps[output] for output in limits]
        numbered = {place + 1: limits[output] for place, output in enumerate(limits)}
        X = np.random.default_rng(1000 + seed).random((40, 2))
        with exact():
            function = CorrectedExpectedImprovement(
                models(used), tensor(used[0].X), maximize=False, constraints=numbered
            )
            values = function(tensor(X)[:, None, :]).numpy()
            log = LogCorrectedExpectedImprovement(
                models(used), tensor(used[0].X), maximize=False, constraints=numbered
            )(tensor(X)[:, None, :])
        np.testing.assert_allclose(np.exp(log.numpy()), values, rtol=1e-9)
        for row in np.argsort(-values)[:6]:  # of the others too few draws gain anything
            mean, error = sampled(function, used, numbered, X[row])
            assert abs(values[row] - mean) <= 4.0 * error


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("bounds", [(0.2,), (0.4, 0.8), (-6.0,)])
def test_values_are_those_of_the_engine(bounds: tuple[float, ...], pending: bool) -> None:
    """Upper limits, also where none is held, and points under way."""
    for seed in (1, 2, 3):
        gps = processes(seed, count=1 + len(bounds))
        X = np.random.default_rng(1000 + seed).random((50, 2))
        waiting = np.random.default_rng(2000 + seed).random((2, 2))
        known = gps
        if pending:
            known = [gp.condition(waiting, float(np.mean(gp.noise_variance))) for gp in gps]
        limits = [acquisition.Limit(gp, bound) for gp, bound in zip(known[1:], bounds, strict=True)]
        engine = acquisition.build_joint("corrected-ei", known[:1], limits)
        with exact():
            function = LogCorrectedExpectedImprovement(
                models(gps),
                tensor(gps[0].X),
                X_pending=tensor(waiting) if pending else None,
                maximize=False,
                constraints={place + 1: (None, bound) for place, bound in enumerate(bounds)},
            )
            values = function(tensor(X)[:, None, :]).numpy()
        np.testing.assert_allclose(values, engine.log_value(X), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_rectangles_of_two_normals_are_those_of_quadrature(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rho = float(np.tanh(2.0 * rng.standard_normal()))
    low, width, under, across = rng.normal(size=4)
    ends = [low, low + abs(width), under, under + abs(across)]
    if seed % 2:
        ends[0], ends[2] = -FAR, -FAR
    s = np.sqrt(1.0 - rho**2)

    def integrand(z: float) -> float:
        inner = norm.cdf((ends[3] - rho * z) / s) - norm.cdf((ends[2] - rho * z) / s)
        return float(norm.pdf(z) * inner)

    step = ends[3] / rho
    places = [p for p in (step - s, step, step + s) if max(ends[0], -9) < p < ends[1]]
    expected = quad(integrand, max(ends[0], -9), ends[1], points=places or None, epsabs=1e-13)[0]
    a, b, c, e, r = (tensor(value) for value in (*ends, rho))
    assert log_rectangle((a, b), (c, e), r).exp().item() == pytest.approx(expected, abs=1e-10)


def test_rectangles_hold_in_the_tails_and_at_correlations_near_one() -> None:
    far = tensor(FAR)
    h = tensor([-30.0, -12.0, -3.0, 0.5, 20.0])
    for rho in (0.0, 0.3, -0.3):
        whole = log_rectangle((-far, h), (-far, far), tensor(rho))
        np.testing.assert_allclose(whole.numpy(), log_ndtr(h.numpy()), rtol=1e-12, atol=1e-12)
    apart = log_rectangle((-far, h), (-far, tensor(0.7)), tensor(0.0))
    np.testing.assert_allclose(apart.numpy(), log_ndtr(h.numpy()) + log_ndtr(0.7), rtol=1e-11)
    # Z₂ = Z₁: the smaller end decides.
    same = log_rectangle((-far, h), (-far, tensor(0.7)), tensor(1.0))
    expected = log_ndtr(np.minimum(h.numpy(), 0.7))
    np.testing.assert_allclose(same.numpy(), expected, rtol=0, atol=1e-5)


def test_gradients_of_rectangles() -> None:
    torch.manual_seed(0)
    given = [torch.randn(8, dtype=torch.double, requires_grad=True) for _ in range(3)]

    def both(h: torch.Tensor, k: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
        return log_rectangle((h - 1.3, h), (k - 0.7, k + 1.0), r.tanh())

    assert torch.autograd.gradcheck(both, given, atol=1e-7, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pending", [False, True])
def test_gradients(kind: Any, pending: bool) -> None:
    gps = processes(3)
    waiting = tensor(np.random.default_rng(1000 + 9).random((2, 2))) if pending else None
    limits = {1: (None, 0.3), 2: (-1.0, 0.8)}
    model = models(gps).double()
    options: dict[str, Any] = {"X_pending": waiting, "maximize": False, "constraints": limits}
    function = kind(model, tensor(gps[0].X), **options)
    X = tensor(np.random.default_rng(1000 + 3).random((4, 1, 2))).requires_grad_(True)
    assert torch.autograd.gradcheck(function, (X,), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("end", [1e2, 1e6, 1e12])
def test_a_limit_that_certainly_holds_changes_nothing(kind: Any, end: float) -> None:
    gps, X = processes(4, count=2), tensor(np.random.default_rng(1000 + 4).random((30, 1, 2)))
    transform = ScalarizedPosteriorTransform(tensor([1.0, 0.0]))
    with exact():
        plain = kind(models(gps), tensor(gps[0].X), transform, maximize=False)
        for limits in ({1: (None, end)}, {1: (-end, None)}, {1: (-end, end)}):
            limited = kind(models(gps), tensor(gps[0].X), maximize=False, constraints=limits)
            assert torch.equal(plain.X_incumbent, limited.X_incumbent)
            np.testing.assert_allclose(limited(X).numpy(), plain(X).numpy(), rtol=1e-9, atol=1e-9)


def test_no_constraints_are_none() -> None:
    gp = make_gp(5)
    X = tensor(np.random.default_rng(1000 + 5).random((5, 1, 3)))
    with exact():
        plain = LogCorrectedExpectedImprovement(model_like(gp), tensor(gp.X))(X)
        none: Any
        for none in (None, {}, []):
            same = LogCorrectedExpectedImprovement(model_like(gp), tensor(gp.X), constraints=none)(
                X
            )
            assert torch.equal(plain, same)


def test_without_a_feasible_point_it_is_the_chance_times_the_gain_on_the_worst() -> None:
    """And neither flat nor NaN where a limit is far out of reach."""
    gps = processes(6, count=2)
    X = tensor(np.random.default_rng(1000 + 6).random((20, 1, 2))).requires_grad_(True)
    function = LogCorrectedExpectedImprovement(
        models(gps), tensor(gps[0].X), maximize=False, constraints={1: (None, -60.0)}
    )
    values = function(X)
    values.sum().backward()
    assert torch.isfinite(values).all()
    assert X.grad is not None
    assert torch.isfinite(X.grad).all()
    assert (X.grad.abs().sum(dim=-1) > 1e-3).all()
    points = X.detach().numpy()[:, 0, :]
    (mean, variance), (level, spread) = gps[0].posterior(points), gps[1].posterior(points)
    s = np.sqrt(variance)
    z = (gps[0].posterior(gps[0].X)[0].max() - mean) / s
    gain = np.log(s * (norm.pdf(z) + z * norm.cdf(z)))
    chance = log_ndtr((-60.0 - level) / np.sqrt(spread))
    np.testing.assert_allclose(values.detach().numpy(), chance + gain, rtol=1e-6, atol=1e-5)


def test_the_incumbent_holds_its_limits_with_the_confidence_asked_for() -> None:
    gps = processes(7, count=2, n=15)
    means = gps[0].posterior(gps[0].X)[0]
    level, variance = gps[1].posterior(gps[1].X)
    chances = norm.cdf((0.3 - level) / np.sqrt(variance))
    with exact():
        for confidence in (0.5, 0.9, 0.99):
            function = LogCorrectedExpectedImprovement(
                models(gps),
                tensor(gps[0].X),
                maximize=False,
                constraints={1: (None, 0.3)},
                confidence=confidence,
            )
            held = chances >= confidence
            assert held.any()
            best = np.flatnonzero(held)[np.argmin(means[held])]
            np.testing.assert_array_equal(function.X_incumbent[0].numpy(), gps[0].X[best])
        unlikely = LogCorrectedExpectedImprovement(
            models(gps), tensor(gps[0].X), maximize=False, constraints={1: (None, -20.0)}
        )
        likeliest = np.argmin((level + 20.0) / np.sqrt(variance))
        np.testing.assert_array_equal(unlikely.X_incumbent[0].numpy(), gps[0].X[likeliest])


def test_maximising_the_negative_is_the_same() -> None:
    gps, X = processes(8, count=2), tensor(np.random.default_rng(1000 + 8).random((10, 1, 2)))
    with exact():
        down = LogCorrectedExpectedImprovement(
            models(gps), tensor(gps[0].X), maximize=False, constraints={1: (-0.2, None)}
        )
        up = LogCorrectedExpectedImprovement(
            models(gps),
            tensor(gps[0].X),
            ScalarizedPosteriorTransform(tensor([-1.0, 0.0])),
            constraints={1: (-0.2, None)},
        )
        np.testing.assert_allclose(up(X).numpy(), down(X).numpy(), rtol=1e-9, atol=1e-9)


def test_a_combination_of_outputs_is_limited_as_one_quantity() -> None:
    """A f ≤ b with two weights, against the same sum as an output of its own."""
    first, second, third = processes(9)
    X = tensor(np.random.default_rng(1000 + 10).random((10, 1, 2)))
    construct = get_acqf_input_constructor(LogCorrectedExpectedImprovement)
    data = {
        name: SupervisedDataset(
            tensor(first.X), tensor(gp.y)[:, None], feature_names=["a", "b"], outcome_names=[name]
        )
        for name, gp in zip("xyz", (first, second, third), strict=True)
    }
    A, b = tensor([[0.0, 2.0, -1.0], [0.0, -4.0, 2.0]]), tensor([[0.5], [3.0]])
    goal = ScalarizedPosteriorTransform(tensor([1.0, 0.0, 0.0]))
    with exact():
        inputs = construct(
            model=models([first, second, third]),
            training_data=data,
            posterior_transform=goal,
            constraints_tuple=(A, b),
            maximize=False,
        )
        function = LogCorrectedExpectedImprovement(**inputs)
        values = function(X).numpy()
        (limit,) = inputs["constraints"]
        assert (limit.lower, limit.upper) == (-0.75, 0.25)
        for x, value in zip(X.numpy()[:, 0, :], values, strict=True):
            points = np.concatenate([x[None, :], function.X_incumbent.numpy()])
            rng = np.random.default_rng(0)
            draws = [
                gp.posterior(points)[0]
                + rng.standard_normal((SAMPLES, 2))
                @ np.linalg.cholesky(gp.covariance(points, points) + 1e-13 * np.eye(2)).T
                for gp in (first, second, third)
            ]
            total = 2.0 * draws[1] - draws[2]
            held = (total <= 0.5) & (total >= -1.5)
            worst = first.posterior(first.X)[0].max()
            fallback = np.where(held[:, 1], draws[0][:, 1], worst)
            gain = np.where(held[:, 0], np.maximum(fallback - draws[0][:, 0], 0.0), 0.0)
            error = gain.std() / np.sqrt(SAMPLES)
            assert abs(np.exp(value) - gain.mean()) <= 4.0 * error + 1e-9


def test_fully_bayesian_models_average_over_their_samples() -> None:
    """One incumbent by the means over samples, and the mean of the acquisition over them."""
    first, second = processes(14, count=2)
    rng, samples = np.random.default_rng(0), 3
    scales = rng.uniform(0.3, 0.9, (2, samples, 2))
    members = [
        [GaussianProcess(gp.X, gp.y, gp.noise_variance, Matern52(scale, 1.0), 0.0) for scale in own]
        for gp, own in zip((first, second), scales, strict=True)
    ]
    X, bound = rng.random((10, 2)), 0.4
    points = tensor(X)[:, None, :]
    with exact():
        model = ModelListGP(*(ensemble(own) for own in members))
        function = CorrectedExpectedImprovement(
            model, tensor(first.X), maximize=False, constraints={1: (None, bound)}
        )
        values = function(points).numpy()
        means = np.mean([gp.posterior(first.X)[0] for gp in members[0]], axis=0)
        chances = np.mean(
            [
                norm.cdf((bound - mean) / np.sqrt(variance))
                for mean, variance in (gp.posterior(first.X) for gp in members[1])
            ],
            axis=0,
        )
        held = np.flatnonzero(chances >= 0.95)
        best = held[np.argmin(means[held])] if len(held) else np.argmax(chances)
        np.testing.assert_array_equal(function.X_incumbent[0].numpy(), first.X[best])
        each = []
        for pair in zip(*members, strict=True):
            alone = CorrectedExpectedImprovement(
                models(list(pair)), tensor(first.X), maximize=False, constraints={1: (None, bound)}
            )
            alone.X_incumbent.copy_(function.X_incumbent)
            alone._worst.copy_(function._worst)
            each.append(alone(points).numpy())
    np.testing.assert_allclose(values, np.mean(each, axis=0), rtol=1e-7)


def ensemble(members: list[GaussianProcess]) -> SingleTaskGP:
    """The members as the samples of one fully Bayesian model."""
    count, gp = len(members), members[0]
    batch = torch.Size([count])
    model = Ensemble(
        tensor(gp.X).expand(count, -1, -1),
        tensor(gp.y)[:, None].expand(count, -1, -1),
        tensor(gp.noise_variance)[:, None].expand(count, -1, -1),
        covar_module=ScaleKernel(
            MaternKernel(nu=2.5, ard_num_dims=2, batch_shape=batch), batch_shape=batch
        ).double(),
        mean_module=ConstantMean(batch_shape=batch).double(),
        outcome_transform=None,
    )
    scales = np.stack([member.kernel.lengthscales for member in members])
    model.covar_module.base_kernel.lengthscale = tensor(scales)[:, None, :]
    model.covar_module.outputscale = tensor([member.kernel.variance for member in members])
    model.mean_module.constant.data.copy_(tensor([member.mean for member in members]))
    return model.eval()


def test_float32_and_points_near_the_incumbent() -> None:
    gp = make_gp(11, n=8, d=2)
    for dtype in (torch.float32, torch.float64):
        X = torch.tensor(gp.X, dtype=dtype)
        Y = torch.stack([torch.tensor(gp.y, dtype=dtype), X[:, 0]], dim=-1)
        function = LogCorrectedExpectedImprovement(
            SingleTaskGP(X, Y), X, X_pending=X[:2] + 0.1, constraints={1: (0.3, None)}
        )
        offsets = torch.tensor([0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 0.1], dtype=dtype)
        near = (function.X_incumbent + offsets[:, None, None]).requires_grad_(True)
        values = function(near)
        values.sum().backward()
        assert values.dtype == dtype
        assert torch.isfinite(values).all()
        assert near.grad is not None
        assert torch.isfinite(near.grad).all()


def test_batches_are_chosen_one_by_one_inside_the_limits() -> None:
    torch.manual_seed(0)
    X = torch.rand(10, 2, dtype=torch.double)
    Y = torch.stack([-(X - 0.2).square().sum(dim=-1), X[:, 0]], dim=-1)
    model = SingleTaskGP(X, Y + 0.03 * torch.randn_like(Y), torch.full_like(Y, 1e-3))
    function = LogCorrectedExpectedImprovement(model, X, constraints={1: (0.6, None)})
    bounds = tensor([[0.0, 0.0], [1.0, 1.0]])
    chosen, _ = optimize_acqf(
        function, bounds, q=3, num_restarts=4, raw_samples=64, sequential=True
    )
    assert (chosen[:, 0] > 0.5).all()
    assert torch.pdist(chosen).min() > 1e-3


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ({2: (None, 1.0)}, "the outputs 0 to 1"),
        ({1: (2.0, 1.0)}, "lower bound below its upper"),
        ({1: (None, float("nan"))}, "lower bound below its upper"),
        ({1: (None, None)}, "or one of them"),
        ({1: 0.5}, r"must be \(lower, upper\)"),
        ({0: (None, 1.0), 1: (None, 1.0)}, "the one output of the model without a constraint"),
        ([lambda Y: Y[..., 0]], "dict of output index"),
    ],
)
def test_constraints_that_say_nothing_are_refused(constraints: Any, words: str) -> None:
    gps = processes(12, count=2)
    with pytest.raises(UnsupportedError, match=words):
        LogCorrectedExpectedImprovement(models(gps), tensor(gps[0].X), constraints=constraints)


def test_what_has_no_closed_form_is_refused() -> None:
    gps = processes(13)
    model, X = models(gps), tensor(gps[0].X)
    construct = get_acqf_input_constructor(LogCorrectedExpectedImprovement)
    data = SupervisedDataset(
        X, tensor(gps[0].y)[:, None], feature_names=["a", "b"], outcome_names=["y"]
    )
    first = ScalarizedPosteriorTransform(tensor([1.0, 0.0, 0.0]))
    given = {"model": model, "training_data": data, "posterior_transform": first}

    def build(rows: list[list[float]], **options: Any) -> None:
        A, b = tensor(rows), tensor([[1.0]] * len(rows))
        inputs = construct(**given, constraints_tuple=(A, b), **options)
        LogCorrectedExpectedImprovement(**inputs)

    with pytest.raises(UnsupportedError, match="share the model output 1"):
        build([[0.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    with pytest.raises(UnsupportedError, match="part of the objective"):
        build([[1.0, 0.0, 0.0]])
    with pytest.raises(UnsupportedError, match="limits nothing"):
        build([[0.0, 0.0, 0.0]])
    with pytest.raises(UnsupportedError, match="came twice"):
        build([[0.0, 1.0, 0.0]], constraints={1: (None, 1.0)})
    with pytest.raises(UnsupportedError, match="one objective"):
        build([[0.0, 1.0, 0.0]], ref_point=tensor([0.0, 0.0]))
    with pytest.raises(UnsupportedError, match="use LogCorrectedExpectedImprovement"):
        CorrectedProbabilityOfImprovement(model, X, first, constraints={1: (None, 1.0)})
    with pytest.raises(InputError, match="confidence"):
        LogCorrectedExpectedImprovement(
            model, X, first, constraints={1: (None, 1.0)}, confidence=95
        )


@pytest.mark.needs("ax")
def test_outcome_constraints_of_an_ax_experiment_hold() -> None:
    """(x − 0.3)² is least at 0.3, where lat = x is 0.3; the constraint moves the answer to 0.7."""
    from ax.adapter.registry import Generators
    from ax.api.client import Client
    from ax.api.configs import RangeParameterConfig
    from ax.generation_strategy.generation_node import GenerationNode
    from ax.generation_strategy.generation_strategy import GenerationStrategy
    from ax.generation_strategy.generator_spec import GeneratorSpec
    from ax.generation_strategy.transition_criterion import MinTrials

    torch.manual_seed(0)
    start = GenerationNode(
        name="Sobol",
        generator_specs=[GeneratorSpec(Generators.SOBOL, generator_kwargs={"seed": 0})],
        transition_criteria=[MinTrials(threshold=5, transition_to="CorrectedEI")],
    )
    ours = {"botorch_acqf_class": LogCorrectedExpectedImprovement}
    go_on = GenerationNode(
        name="CorrectedEI",
        generator_specs=[GeneratorSpec(Generators.BOTORCH_MODULAR, generator_kwargs=ours)],
    )
    client = Client(random_seed=0)
    client.configure_experiment(
        [RangeParameterConfig(name="x", bounds=(0, 1), parameter_type="float")]
    )
    client.configure_optimization(objective="-loss", outcome_constraints=["lat >= 0.7"])
    client.set_generation_strategy(GenerationStrategy(name="both", nodes=[start, go_on]))
    suggested = []
    for _ in range(8):
        for index, point in client.get_next_trials(max_trials=1).items():
            x = float(point["x"])
            raw = {"loss": ((x - 0.3) ** 2, 0.01), "lat": (x, 0.01)}
            client.complete_trial(index, raw_data=raw)
            suggested.append(x)
    assert all(0.62 < x < 0.85 for x in suggested[-2:]), suggested
