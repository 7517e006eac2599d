"""Corrected expected improvement and corrected probability of improvement for BoTorch and Ax.

With f observed under noise, the value of the best point is itself uncertain. Corrected EI (Zhou, Ma
and Blaschko 2023) is the expected improvement over f(x⁺) as a random variable, where x⁺ is the
observed point with the best posterior mean:

    α(x) = E[max(0, f(x) − f(x⁺))] = s·τ(u/s),   u = μ(x) − μ(x⁺),   s² = Var[f(x) − f(x⁺)]

in closed form, from the joint posterior at (x, x⁺). It needs no samples, works with known and with
inferred noise, and is BoTorch's own ExpectedImprovement where there is no noise. Corrected PI is
Φ(u/s).

Only q = 1 is in closed form; batches are chosen one by one (`optimize_acqf(…, q=4,
sequential=True)`), the points already chosen as `X_pending`: they shrink the variance where they
are and leave the mean alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, final

try:
    import torch
    from botorch.acquisition.acquisition import AcquisitionFunction
    from botorch.acquisition.analytic import AnalyticAcquisitionFunction, _log_ei_helper
    from botorch.acquisition.input_constructors import acqf_input_constructor
    from botorch.acquisition.objective import PosteriorTransform
    from botorch.exceptions.errors import UnsupportedError
    from botorch.models.model import Model
    from botorch.posteriors.gpytorch import GPyTorchPosterior
    from botorch.utils.datasets import SupervisedDataset
    from botorch.utils.probability.utils import log_ndtr, ndtr
    from botorch.utils.transforms import is_ensemble, t_batch_mode_transform
    from linear_operator.utils.cholesky import psd_safe_cholesky
    from torch import Tensor
except ImportError as error:
    raise ImportError(
        "ceibo.integrations.botorch needs BoTorch 0.12 or newer: pip install 'ceibo[botorch]'"
    ) from error

try:
    from botorch.utils.transforms import average_over_ensemble_models
except ImportError:  # older versions average in t_batch_mode_transform

    def average_over_ensemble_models(
        method: Callable[[AcquisitionFunction, Any], Any],
    ) -> Callable[[AcquisitionFunction, Any], Any]:
        return method


__all__ = [
    "CorrectedExpectedImprovement",
    "CorrectedProbabilityOfImprovement",
    "LogCorrectedExpectedImprovement",
    "LogCorrectedProbabilityOfImprovement",
    "register_with_ax",
]

# of the posterior mean of an ensemble, as in fully Bayesian models: … x samples x n x 1
_ENSEMBLE_DIM: Final = -3


class _CorrectedAcquisitionFunction(AnalyticAcquisitionFunction, ABC):
    """Mean u and standard deviation s of f(x) − f(x⁺), which all four functions share."""

    X_incumbent: Tensor  # (batch_shape) x 1 x d
    # The base class says Tensor, and sets it to None.
    X_pending: Tensor | None  # type: ignore[assignment]
    # (batch_shape) x m, expected noise variance in the objective's units
    _pending_noise: Tensor

    def __init__(
        self,
        model: Model,
        X_observed: Tensor,
        posterior_transform: PosteriorTransform | None = None,
        X_pending: Tensor | None = None,
        *,
        maximize: bool = True,
    ) -> None:
        r"""Shared constructor.

        Args:
            model: A fitted model with a Gaussian posterior: single-output, or multi-output with a
                ``posterior_transform`` that makes it so. Fully Bayesian models and batched models
                are supported.
            X_observed: A ``(batch_shape) x n x d``-dim tensor of the observed points; the incumbent
                is the one with the best posterior mean (averaged over the samples of a fully
                Bayesian model).
            posterior_transform: A PosteriorTransform.
            X_pending: A ``m x d``-dim tensor of points being evaluated; they never become the
                incumbent.
            maximize: If True, consider the problem a maximization problem.
        """
        super().__init__(model=model, posterior_transform=posterior_transform)
        if not isinstance(X_observed, Tensor):
            raise UnsupportedError(
                "X_observed must be a tensor of the observed points, of which the incumbent is"
                f" found; got {X_observed!r}. There is no best_f: under noise it is not known."
            )
        if X_observed.ndim < 2 or X_observed.shape[-2] == 0:
            raise UnsupportedError(
                "X_observed must hold at least one point, as a (batch_shape) x n x d tensor; got"
                f" {X_observed.shape}."
            )
        self.maximize = maximize
        self.register_buffer("X_incumbent", self._find_incumbent(X_observed))
        self.set_X_pending(X_pending)

    def set_X_pending(self, X_pending: Tensor | None = None) -> None:
        r"""Informs the acquisition function about pending points.

        The posterior is conditioned on noisy observations there, which shrinks its variance; the
        mean stays.

        Args:
            X_pending: A ``m x d``-dim tensor of points that are being evaluated, or None.
        """
        if X_pending is None or X_pending.shape[-2] == 0:
            self.X_pending = None
            return
        AcquisitionFunction.set_X_pending(self, X_pending)
        with torch.no_grad():
            noisy = self._posterior(X_pending, observation_noise=True).variance
            noise = (noisy - self._posterior(X_pending).variance).clamp_min(0.0).squeeze(-1)
        self.register_buffer("_pending_noise", noise)

    def _posterior(self, X: Tensor, observation_noise: bool = False) -> GPyTorchPosterior:
        posterior = self.model.posterior(
            X, observation_noise=observation_noise, posterior_transform=self.posterior_transform
        )
        if not isinstance(posterior, GPyTorchPosterior):
            raise UnsupportedError(
                f"{type(self).__name__} needs the covariance of a Gaussian posterior, which"
                f" {type(posterior).__name__} does not have. Outcome transforms must be affine,"
                " such as Standardize."
            )
        return posterior

    def _find_incumbent(self, X_observed: Tensor) -> Tensor:
        with torch.no_grad():
            mean = self._posterior(X_observed).mean
            if is_ensemble(self.model):
                mean = mean.mean(dim=_ENSEMBLE_DIM)
            mean = mean.squeeze(-1) if self.maximize else -mean.squeeze(-1)
            best = mean.argmax(dim=-1)[..., None, None]  # (batch_shape) x 1 x 1
            d = X_observed.shape[-1]
            points = X_observed.detach().expand(*mean.shape, d)
            return points.gather(-2, best.expand(*best.shape[:-1], d)).clone()

    def _improvement(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Mean u and standard deviation s of the improvement of f(x) on f(x⁺).

        Both are ``(b1 x ... bk)``-dim, followed by the samples' dimension for ensembles.
        """
        self.to(X)
        batch_shape = torch.broadcast_shapes(X.shape[:-2], self.X_incumbent.shape[:-2])
        parts = [X, self.X_incumbent]
        if self.X_pending is not None:
            parts.append(self.X_pending.to(X))
        joint = torch.cat([part.expand(*batch_shape, *part.shape[-2:]) for part in parts], dim=-2)
        posterior = self._posterior(joint)
        mean = posterior.mean.squeeze(-1)
        covariance = posterior.distribution.covariance_matrix
        u = mean[..., 0] - mean[..., 1]
        return u if self.maximize else -u, self._difference_std(covariance)

    def _difference_std(self, C: Tensor) -> Tensor:
        """Standard deviation of f(x) − f(x⁺) from the covariance of (x, x⁺, pending points)."""
        # Differences of neighbours first: near x⁺ they are exact, and at x⁺ the sum is zero.
        variance = (C[..., 0, 0] - C[..., 0, 1]) + (C[..., 1, 1] - C[..., 1, 0])
        if self.X_pending is not None:
            noisy = C[..., 2:, 2:] + torch.diag_embed(self._pending_noise)
            contrast = C[..., 2:, 0] - C[..., 2:, 1]
            root = psd_safe_cholesky(noisy)
            explained = torch.linalg.solve_triangular(root, contrast.unsqueeze(-1), upper=False)
            variance = variance - explained.squeeze(-1).square().sum(dim=-1)
        # Below the floor the variance is rounding error. The floor is proportional to the two
        # variances, so outcomes need not be standardized; it keeps the logarithm finite and the
        # gradient free of NaNs at x⁺, where f(x) − f(x⁺) is exactly zero.
        info = torch.finfo(C.dtype)
        floor = info.eps * (C[..., 0, 0] + C[..., 1, 1]).detach().abs() + info.tiny
        return torch.maximum(variance, floor).sqrt()

    # The decorator is declared for any acquisition function, and used on this one.
    @t_batch_mode_transform(expected_q=1)
    @average_over_ensemble_models  # type: ignore[arg-type]
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate the acquisition function on the candidate set X.

        Args:
            X: A ``(b1 x ... bk) x 1 x d``-dim batched tensor of ``d``-dim design points.

        Returns:
            A ``(b1 x ... bk)``-dim tensor of acquisition values.
        """
        return self._value(*self._improvement(X))

    @abstractmethod
    def _value(self, u: Tensor, s: Tensor) -> Tensor:
        """The acquisition value of an improvement of mean u and standard deviation s."""


@final
class LogCorrectedExpectedImprovement(_CorrectedAcquisitionFunction):
    r"""Single-outcome Log Corrected Expected Improvement (analytic).

    The logarithm of Corrected Expected Improvement, accurate also where improvement is all but
    impossible.

    ``LogCorrectedEI(x) = log(E(max(f(x) - f(x_incumbent), 0)))``

    where both values of ``f`` are uncertain and correlated, and the incumbent is the observed point
    with the best posterior mean. See [Zhou2023corrected]_.

    Example:
        >>> model = SingleTaskGP(train_X, train_Y)
        >>> LogCEI = LogCorrectedExpectedImprovement(model, X_observed=train_X)
        >>> log_cei = LogCEI(test_X)

    .. [Zhou2023corrected]
        H. Zhou, X. Ma and M. B. Blaschko. A Corrected Expected Improvement Acquisition Function
        Under Noisy Observations. ACML 2023.
    """

    _log: bool = True

    def _value(self, u: Tensor, s: Tensor) -> Tensor:
        return _log_ei_helper(u / s) + s.log()


@final
class CorrectedExpectedImprovement(_CorrectedAcquisitionFunction):
    r"""Single-outcome Corrected Expected Improvement (analytic).

    ``CorrectedEI(x) = E(max(f(x) - f(x_incumbent), 0))``

    Where there is no observation noise this is Expected Improvement.

    NOTE: To optimize it, use ``LogCorrectedExpectedImprovement``, whose gradients do not vanish.
    """

    def _value(self, u: Tensor, s: Tensor) -> Tensor:
        return s * _log_ei_helper(u / s).exp()


@final
class LogCorrectedProbabilityOfImprovement(_CorrectedAcquisitionFunction):
    r"""Single-outcome Log Corrected Probability of Improvement (analytic).

    ``LogCorrectedPI(x) = log(P(f(x) >= f(x_incumbent)))``

    where both values of ``f`` are uncertain and correlated.
    """

    _log: bool = True

    def _value(self, u: Tensor, s: Tensor) -> Tensor:
        return log_ndtr(u / s)


@final
class CorrectedProbabilityOfImprovement(_CorrectedAcquisitionFunction):
    r"""Single-outcome Corrected Probability of Improvement (analytic).

    ``CorrectedPI(x) = P(f(x) >= f(x_incumbent))``

    where both values of ``f`` are uncertain and correlated.
    """

    def _value(self, u: Tensor, s: Tensor) -> Tensor:
        return ndtr(u / s)


_CLASSES: Final = (
    CorrectedExpectedImprovement,
    LogCorrectedExpectedImprovement,
    CorrectedProbabilityOfImprovement,
    LogCorrectedProbabilityOfImprovement,
)


@acqf_input_constructor(*_CLASSES)
def construct_inputs_corrected(  # noqa: PLR0913 - the names that BoTorch and Ax pass
    model: Model,
    training_data: "SupervisedDataset | dict[Any, SupervisedDataset]",
    posterior_transform: PosteriorTransform | None = None,
    X_baseline: Tensor | None = None,
    X_pending: Tensor | None = None,
    maximize: bool = True,
    constraints: Sequence[Any] | None = None,
) -> dict[str, Any]:
    r"""Construct kwargs for the corrected acquisition functions.

    Args:
        model: The model to be used in the acquisition function.
        training_data: Dataset(s) used to train the model; their points are the observed ones if
            there is no ``X_baseline``.
        posterior_transform: The posterior transform to be used in the acquisition function.
        X_baseline: A ``n x d``-dim tensor of observed points to choose the incumbent from.
        X_pending: A ``m x d``-dim tensor of points being evaluated.
        maximize: If True, consider the problem a maximization problem.
        constraints: Refused if there are any: these functions would ignore them.

    Returns:
        A dict mapping kwarg names of the constructor to values.
    """
    if constraints:
        raise UnsupportedError(
            "the corrected acquisition functions do not handle outcome constraints; use one that"
            " does, such as qLogNoisyExpectedImprovement."
        )
    if X_baseline is None:
        if not isinstance(training_data, dict):
            training_data = {None: training_data}
        X_baseline = torch.cat([dataset.X for dataset in training_data.values()], dim=-2)
    return {
        "model": model,
        "X_observed": X_baseline,
        "posterior_transform": posterior_transform,
        "X_pending": X_pending,
        "maximize": maximize,
    }


def register_with_ax() -> None:
    """Lets Ax save and load what uses these classes, by name. Needs Ax."""
    try:
        from ax.storage.botorch_modular_registry import register_acquisition_function
    except ImportError as error:
        raise ImportError("register_with_ax needs Ax: pip install ax-platform") from error
    for acquisition_class in _CLASSES:
        register_acquisition_function(acquisition_class)
