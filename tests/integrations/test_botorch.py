"""The BoTorch classes against our own engine, against BoTorch's EI, and over batches, transforms
and extremes.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from botorch.acquisition import ExpectedImprovement, LogExpectedImprovement
from botorch.acquisition.input_constructors import get_acqf_input_constructor
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.exceptions import UnsupportedError
from botorch.exceptions.warnings import BotorchWarning
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms import Log, Normalize, Standardize
from botorch.optim import optimize_acqf
from botorch.utils.datasets import SupervisedDataset
from gpytorch.kernels import MaternKernel, ScaleKernel
from gpytorch.means import ConstantMean

from ceibo import acquisition
from ceibo.gp import GaussianProcess, Kernel, Matern32, Matern52, SquaredExponential
from ceibo.integrations.botorch import (
    CorrectedExpectedImprovement,
    CorrectedProbabilityOfImprovement,
    LogCorrectedExpectedImprovement,
    LogCorrectedProbabilityOfImprovement,
    register_with_ax,
)
from tests.helpers import Array, make_gp
from tests.torch_oracle import exact, model_like, tensor

CLASSES = (
    (CorrectedExpectedImprovement, "corrected-ei", False),
    (LogCorrectedExpectedImprovement, "corrected-ei", True),
    (CorrectedProbabilityOfImprovement, "corrected-pi", False),
    (LogCorrectedProbabilityOfImprovement, "corrected-pi", True),
)
Kind = Any  # one of the CLASSES, whose parameters are BoTorch's and our own
each_class = pytest.mark.parametrize(
    ("kind", "name", "log"), CLASSES, ids=[kind.__name__ for kind, *_ in CLASSES]
)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """BoTorch would like standardized data; that any data will do is a point of these tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BotorchWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


def engine(
    gp: GaussianProcess, name: str, log: bool, X: Array, pending: Array | None = None
) -> Array:
    function = acquisition.build(name, gp, pending=pending)
    return function.log_value(X) if log else function.value(X)


def points(seed: int, count: int, d: int = 3) -> Array:
    return np.random.default_rng(1000 + seed).random((count, d))  # others than the data's


@each_class
@pytest.mark.parametrize("kernel", [Matern32, Matern52, SquaredExponential])
@pytest.mark.parametrize("seed", [0, 1])
def test_values_are_those_of_the_engine(
    kind: Kind, name: str, log: bool, kernel: type[Kernel], seed: int
) -> None:
    gp, X = make_gp(seed, n=20, kernel=kernel), points(seed, 200)
    expected = engine(gp, name, log, X)
    with exact():
        function = kind(model_like(gp), tensor(gp.X), maximize=False)
        np.testing.assert_allclose(
            function(tensor(X)[:, None, :]).numpy(), expected, rtol=1e-9, atol=1e-9
        )
        # The same, maximising the negative.
        opposite = kind(model_like(gp, y=2 * gp.mean - gp.y), tensor(gp.X))
        np.testing.assert_allclose(
            opposite(tensor(X)[:, None, :]).numpy(), expected, rtol=1e-9, atol=1e-9
        )
        # Batches of batches.
        nested = function(tensor(X.reshape(4, 5, 10, 1, 3))).numpy()
        np.testing.assert_allclose(nested, expected.reshape(4, 5, 10), rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(
            function.X_incumbent[0].numpy(), acquisition.build("corrected-ei", gp).incumbent.x
        )


@each_class
def test_pending_points_are_those_of_the_engine(kind: Kind, name: str, log: bool) -> None:
    gp, X, pending = make_gp(3, n=15), points(3, 100), points(4, 3)
    with exact():
        function = kind(model_like(gp), tensor(gp.X), X_pending=tensor(pending), maximize=False)
        values = function(tensor(X)[:, None, :]).numpy()
        np.testing.assert_allclose(values, engine(gp, name, log, X, pending), rtol=1e-9, atol=1e-9)
        function.set_X_pending(None)
        values = function(tensor(X)[:, None, :]).numpy()
        np.testing.assert_allclose(values, engine(gp, name, log, X), rtol=1e-9, atol=1e-9)


def test_a_pending_point_never_becomes_the_incumbent() -> None:
    gp = make_gp(5)
    with exact():
        # better than all observed ones, by the posterior mean
        best = acquisition.recommend(gp).x[None, :]
        function = CorrectedExpectedImprovement(
            model_like(gp), tensor(gp.X), X_pending=tensor(best), maximize=False
        )
        np.testing.assert_array_equal(
            function.X_incumbent[0].numpy(), acquisition.find_incumbent(gp).x
        )


@each_class
@pytest.mark.parametrize("pending", [False, True])
def test_transforms_of_inputs_outcomes_and_posteriors(
    kind: Kind, name: str, log: bool, pending: bool
) -> None:
    """Inputs in other units, outcomes standardized inside the model, a scalarized posterior: the
    same values.
    """
    gp, X, waiting = (
        make_gp(6, n=15, noise=(1e-2, 0.3)),
        points(6, 50),
        points(7, 2) if pending else None,
    )
    expected = engine(gp, name, log, X, waiting)
    low, width = tensor([-3.0, 10.0, 0.0]), tensor([6.0, 100.0, 1e-3])

    def native(U: Array) -> torch.Tensor:
        return low + width * tensor(U)

    centre, scale = gp.y.mean(), gp.y.std(ddof=1)
    kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=3)).double()
    model = SingleTaskGP(
        native(gp.X),
        tensor(gp.y)[:, None],
        tensor(gp.noise_variance)[:, None],
        covar_module=kernel,
        mean_module=ConstantMean().double(),
        outcome_transform=Standardize(1),
        input_transform=Normalize(3, bounds=torch.stack([low, low + width])),
    )
    model.covar_module.base_kernel.lengthscale = tensor(gp.kernel.lengthscales)
    model.covar_module.outputscale = tensor(gp.kernel.variance / scale**2)
    model.mean_module.constant.data.fill_((gp.mean - centre) / scale)
    queue = None if waiting is None else native(waiting)
    with exact():
        function = kind(model.eval(), native(gp.X), X_pending=queue, maximize=False)
        np.testing.assert_allclose(
            function(native(X)[:, None, :]).numpy(), expected, rtol=1e-9, atol=1e-9
        )
        transform = ScalarizedPosteriorTransform(weights=tensor([-3.0]), offset=1.0)
        scaled = kind(model.eval(), native(gp.X), transform, queue)
        factor = 3.0 if name == "corrected-ei" else 1.0
        wanted = expected + np.log(factor) if log else factor * expected
        np.testing.assert_allclose(
            scaled(native(X)[:, None, :]).numpy(), wanted, rtol=1e-9, atol=1e-9
        )


def test_a_multi_output_model_needs_a_transform() -> None:
    gps = [make_gp(8), make_gp(8)]
    model = ModelListGP(
        *(model_like(gp, y=gp.y * k) for gp, k in zip(gps, (1.0, 0.0), strict=True))
    )
    X = points(8, 20)
    with pytest.raises(UnsupportedError, match="posterior transform"):
        CorrectedExpectedImprovement(model, tensor(gps[0].X))
    with exact():
        transform = ScalarizedPosteriorTransform(weights=tensor([-1.0, 0.0]))
        values = CorrectedExpectedImprovement(model, tensor(gps[0].X), transform)(
            tensor(X)[:, None, :]
        ).numpy()
    np.testing.assert_allclose(
        values, engine(gps[0], "corrected-ei", False, X), rtol=1e-9, atol=1e-9
    )


@each_class
def test_batched_models_have_an_incumbent_each(kind: Kind, name: str, log: bool) -> None:
    """One model over two data sets, as fantasies make them."""
    gp, other, X = make_gp(9, n=10), make_gp(10, n=10), points(9, 30)
    second, batch = (
        GaussianProcess(other.X, other.y, other.noise_variance, gp.kernel, gp.mean),
        torch.Size([2]),
    )
    model = SingleTaskGP(
        tensor(np.stack([gp.X, other.X])),
        tensor(np.stack([gp.y, other.y]))[..., None],
        tensor(np.stack([gp.noise_variance, other.noise_variance]))[..., None],
        covar_module=ScaleKernel(
            MaternKernel(nu=2.5, ard_num_dims=3, batch_shape=batch), batch_shape=batch
        ).double(),
        mean_module=ConstantMean(batch_shape=batch).double(),
        outcome_transform=None,
    )
    model.covar_module.base_kernel.lengthscale = tensor(gp.kernel.lengthscales).expand(2, 1, 3)
    model.covar_module.outputscale = tensor(gp.kernel.variance).expand(2)
    model.mean_module.constant.data.fill_(gp.mean)
    with exact():
        function = kind(model.eval(), tensor(np.stack([gp.X, other.X])), maximize=False)
        values = function(tensor(X)[:, None, None, :]).numpy()  # 30 x 1 x 1 x 3 -> 30 x 2
    expected = np.column_stack([engine(each, name, log, X) for each in (gp, second)])
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9)


class Ensemble(SingleTaskGP):
    """Models with the same data and sampled hyperparameters, with the shapes of BoTorch's fully
    Bayesian models.
    """

    _is_ensemble = True

    def posterior(self, X: torch.Tensor, **options: Any) -> Any:  # type: ignore[override]  # passed on
        return super().posterior(X.unsqueeze(-3), **options)  # … x samples x n x d

    @property
    def batch_shape(self) -> torch.Size:
        return torch.Size()


@each_class
def test_fully_bayesian_models_average_over_their_samples(kind: Kind, name: str, log: bool) -> None:
    """One incumbent by the mean over samples, and the mean of the acquisition over them (also in
    log form).
    """
    gp, X, pending = make_gp(11, n=12), points(11, 25), points(12, 2)
    rng, batch = np.random.default_rng(0), torch.Size([4])
    lengthscales, variances, means = (
        rng.uniform(0.3, 0.9, (4, 3)),
        rng.uniform(0.5, 3, 4),
        rng.uniform(-1, 1, 4),
    )
    model = Ensemble(
        tensor(gp.X).expand(4, -1, -1),
        tensor(gp.y)[:, None].expand(4, -1, -1),
        tensor(gp.noise_variance)[:, None].expand(4, -1, -1),
        covar_module=ScaleKernel(
            MaternKernel(nu=2.5, ard_num_dims=3, batch_shape=batch), batch_shape=batch
        ).double(),
        mean_module=ConstantMean(batch_shape=batch).double(),
        outcome_transform=None,
    )
    model.covar_module.base_kernel.lengthscale = tensor(lengthscales)[:, None, :]
    model.covar_module.outputscale = tensor(variances)
    model.mean_module.constant.data.copy_(tensor(means))
    with exact():
        function = kind(model.eval(), tensor(gp.X), X_pending=tensor(pending), maximize=False)
        values = function(tensor(X)[:, None, :]).numpy()
    noise = float(np.mean(gp.noise_variance))
    members = [
        GaussianProcess(gp.X, gp.y, gp.noise_variance, Matern52(each, variance), mean)
        for each, variance, mean in zip(lengthscales, variances, means, strict=True)
    ]
    best = int(np.argmin(np.mean([member.posterior(gp.X)[0] for member in members], axis=0)))
    average = np.mean(
        [_corrected(member.condition(pending, noise), best, X, name) for member in members], axis=0
    )
    np.testing.assert_allclose(values, np.log(average) if log else average, rtol=1e-9, atol=1e-9)


def _corrected(gp: GaussianProcess, best: int, X: Array, name: str) -> Array:
    """Corrected EI or PI by the textbook formula, with a given incumbent."""
    from scipy.stats import norm

    anchor = gp.X[best][None, :]
    (mean, variance), (best_mean, best_variance) = gp.posterior(X), gp.posterior(anchor)
    u, s = best_mean - mean, np.sqrt(variance + best_variance - 2 * gp.covariance(X, anchor)[:, 0])
    return s * norm.pdf(u / s) + u * norm.cdf(u / s) if name == "corrected-ei" else norm.cdf(u / s)


@pytest.mark.parametrize("maximize", [True, False])
def test_without_noise_it_is_expected_improvement(maximize: bool) -> None:
    gp, X = make_gp(12, n=10, noise=(0.0, 0.0)), tensor(points(12, 100))[:, None, :]
    with exact():
        model = model_like(gp, noise=np.full(10, 1e-12))
        best = float(gp.y.max() if maximize else gp.y.min())
        pairs = (
            (CorrectedExpectedImprovement, ExpectedImprovement(model, best, maximize=maximize)),
            (
                LogCorrectedExpectedImprovement,
                LogExpectedImprovement(model, best, maximize=maximize),
            ),
        )
        for kind, plain in pairs:
            corrected = kind(model, tensor(gp.X), maximize=maximize)
            np.testing.assert_allclose(corrected(X).numpy(), plain(X).numpy(), rtol=1e-4, atol=1e-6)


@each_class
@pytest.mark.parametrize("pending", [False, True])
def test_gradients(kind: Kind, name: str, log: bool, pending: bool) -> None:
    gp = make_gp(13, n=8)
    waiting = tensor(points(14, 2)) if pending else None
    function = kind(model_like(gp).double(), tensor(gp.X), X_pending=waiting, maximize=False)
    X = tensor(points(13, 5))[:, None, :].requires_grad_(True)
    assert torch.autograd.gradcheck(function, (X,), atol=1e-5, rtol=1e-4)


@each_class
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_at_and_near_the_incumbent_nothing_is_nan(
    kind: Kind, name: str, log: bool, dtype: torch.dtype, scale: float
) -> None:
    gp = make_gp(14, n=8)
    X, Y = torch.tensor(gp.X, dtype=dtype), torch.tensor(gp.y, dtype=dtype)[:, None]
    model = SingleTaskGP(X, scale * Y, outcome_transform=Standardize(1))
    function = kind(model, X, X_pending=X[:2] + 0.1)
    offsets = torch.tensor([0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 0.1], dtype=dtype)
    near = (function.X_incumbent + offsets[:, None, None]).requires_grad_(True)
    values = function(near)
    values.sum().backward()
    assert values.dtype == dtype
    assert torch.isfinite(values).all()
    assert torch.isfinite(near.grad).all()
    if name == "corrected-ei":  # nothing to gain by measuring x⁺ as if the next value were exact
        natural = values.exp() if log else values
        assert natural[0] <= 1e-3 * scale * Y.std()


@pytest.mark.parametrize("kernel", [Matern32, Matern52, SquaredExponential])
@pytest.mark.parametrize(
    "kind", [LogCorrectedExpectedImprovement, LogCorrectedProbabilityOfImprovement]
)
def test_close_to_the_incumbent_it_is_what_the_page_promises(
    kind: Kind, kernel: type[Kernel]
) -> None:
    """To 1e-4 down to 1e-5 length scales; the engine is exact there."""
    name = {each[0]: each[1] for each in CLASSES}[kind]
    for seed in range(3):
        gp = make_gp(seed, kernel=kernel)
        steps = np.logspace(-5, -1, 9)[:, None] * gp.kernel.lengthscales / np.sqrt(3.0)
        X = acquisition.find_incumbent(gp).x + steps
        with exact():
            function = kind(model_like(gp), tensor(gp.X), maximize=False)
            found = function(tensor(X)[:, None, :]).numpy()
        np.testing.assert_allclose(found, engine(gp, name, True, X), rtol=0, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@each_class
def test_log_forms_survive_extremes(kind: Kind, name: str, log: bool, dtype: torch.dtype) -> None:
    """z from −1e10 to 1e10, through means that far apart."""
    magnitudes = np.concatenate([-np.logspace(10, -10, 41), [0.0], np.logspace(-10, 10, 41)])
    z = torch.tensor(magnitudes, dtype=dtype)
    gp = make_gp(15, n=5)
    model = SingleTaskGP(torch.tensor(gp.X, dtype=dtype), torch.tensor(gp.y, dtype=dtype)[:, None])
    function = kind(model, torch.tensor(gp.X, dtype=dtype))
    s = torch.ones_like(z)
    u = z.clone().requires_grad_(True)
    function._improvement = lambda X: (u, s)
    values = function.forward(torch.zeros(len(z), 1, 3, dtype=dtype))
    values.sum().backward()
    assert torch.isfinite(values).all()
    assert u.grad is not None
    assert torch.isfinite(u.grad).all()
    if dtype == torch.float64 and log:
        from ceibo.acquisition import closed_form

        oracle = {
            "corrected-ei": closed_form.log_expected_improvement,
            "corrected-pi": closed_form.log_probability_of_improvement,
        }
        expected = oracle[name](magnitudes, np.ones_like(magnitudes))
        np.testing.assert_allclose(values.detach().numpy(), expected[0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(u.grad.numpy(), expected[1], rtol=1e-4, atol=1e-9)


@each_class
def test_optimize_acqf_finds_the_maximum_of_the_engine(kind: Kind, name: str, log: bool) -> None:
    gp = make_gp(16, n=15, d=2)
    function = kind(model_like(gp), tensor(gp.X), maximize=False)
    bounds = tensor([[0.0, 0.0], [1.0, 1.0]])
    torch.manual_seed(0)
    x, value = optimize_acqf(function, bounds, q=1, num_restarts=6, raw_samples=128)
    best = acquisition.maximize(acquisition.build(name, gp))
    reached = engine(gp, name, False, x.numpy())[0]
    assert reached >= (0.999 if log else 0.98) * engine(gp, name, False, best.x[None, :])[0]
    assert x.shape == (1, 2)
    assert value is not None
    assert value.ndim == 0


def test_batches_are_chosen_one_by_one() -> None:
    gp = make_gp(17, n=10, d=2)
    function = LogCorrectedExpectedImprovement(model_like(gp), tensor(gp.X), maximize=False)
    bounds = tensor([[0.0, 0.0], [1.0, 1.0]])
    torch.manual_seed(0)
    chosen, _ = optimize_acqf(
        function, bounds, q=3, num_restarts=4, raw_samples=64, sequential=True
    )
    assert function.X_pending is None
    assert chosen.shape == (3, 2)
    assert torch.pdist(chosen).min() > 1e-3
    with pytest.raises(AssertionError, match="q=1"):
        function(tensor(points(0, 4, 2)).reshape(2, 2, 2))


def test_errors_say_what_is_wrong() -> None:
    gp = make_gp(18)
    with pytest.raises(UnsupportedError, match="at least one point"):
        CorrectedExpectedImprovement(model_like(gp), tensor(gp.X[:0]))
    model = SingleTaskGP(tensor(gp.X), tensor(np.exp(gp.y))[:, None], outcome_transform=Log())
    with pytest.raises(UnsupportedError, match="must be affine"):
        CorrectedExpectedImprovement(model, tensor(gp.X))


@each_class
def test_the_input_constructor(kind: Kind, name: str, log: bool) -> None:
    gp = make_gp(19)
    model, X, Y = model_like(gp), tensor(gp.X), tensor(gp.y)[:, None]
    construct = get_acqf_input_constructor(kind)
    data = SupervisedDataset(X, Y, feature_names=["a", "b", "c"], outcome_names=["y"])
    test = tensor(points(0, 4))[:, None, :]
    with exact():
        whole = kind(**construct(model=model, training_data=data, maximize=False))(test)
        many = kind(**construct(model=model, training_data={"y": data, "z": data}, maximize=False))(
            test
        )
        few = kind(
            **construct(
                model=model, training_data=data, X_baseline=X[:3], bounds=None, X_pending=X[:1]
            )
        )
        assert torch.equal(whole, kind(model, X, maximize=False)(test))
        assert torch.equal(whole, many)
        assert any(torch.equal(few.X_incumbent[0], x) for x in X[:3])
        assert few.X_pending is not None


@pytest.mark.needs("ax")
def test_ax_knows_the_classes_by_name() -> None:
    from ax.storage.botorch_modular_registry import CLASS_TO_REVERSE_REGISTRY
    from botorch.acquisition.acquisition import AcquisitionFunction

    register_with_ax()
    for kind, *_ in CLASSES:
        assert CLASS_TO_REVERSE_REGISTRY[AcquisitionFunction][kind.__name__] is kind
