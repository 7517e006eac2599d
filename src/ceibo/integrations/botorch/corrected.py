"""The four acquisition functions.

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

With limits on other outcomes, and A and B "the limits hold at x, at x⁺",

    α(x) = P(A, B) · s·τ(u/s) + P(A, not B) · σ·τ((μ(x) − M)/σ)

where x⁺ is the best of the observed points whose limits hold with the confidence asked for (the
most likely one if there is none), and M, the worst posterior mean at an observed point, is what an
answer that breaks a limit is booked at.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, final

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.acquisition.analytic import AnalyticAcquisitionFunction, _log_ei_helper
from botorch.acquisition.objective import PosteriorTransform, ScalarizedPosteriorTransform
from botorch.exceptions.errors import UnsupportedError
from botorch.models.model import Model
from botorch.posteriors.gpytorch import GPyTorchPosterior
from botorch.utils.probability.utils import log_ndtr, ndtr
from botorch.utils.transforms import is_ensemble, t_batch_mode_transform
from torch import Tensor

from ceibo.checks import check_confidence
from ceibo.integrations.botorch.limits import (
    Constraints,
    Limit,
    limits_of,
    log_none_or_all,
    objective_of,
)
from ceibo.integrations.botorch.observed import check_dimension, check_observed
from ceibo.integrations.botorch.pair import explained_by, pair_of

try:
    from botorch.utils.transforms import average_over_ensemble_models
except ImportError:  # older versions average in t_batch_mode_transform

    def average_over_ensemble_models(
        method: Callable[[AcquisitionFunction, Any], Any],
    ) -> Callable[[AcquisitionFunction, Any], Any]:
        return method


# of the posterior mean of an ensemble, as in fully Bayesian models: … x samples x n x 1
_ENSEMBLE_DIM: Final = -3
_CONFIDENCE: Final = 0.95


class _CorrectedAcquisitionFunction(AnalyticAcquisitionFunction, ABC):
    """Mean u and standard deviation s of f(x) − f(x⁺), which all four functions share."""

    X_incumbent: Tensor  # (batch_shape) x 1 x d
    # The base class says Tensor, and sets it to None.
    X_pending: Tensor | None  # type: ignore[assignment]
    # (batch_shape) x m, expected noise variance in the objective's units
    _pending_noise: Tensor
    _worst: Tensor  # (batch_shape), the worst posterior mean at an observed point
    _takes_limits = False

    def __init__(  # noqa: PLR0913 - BoTorch's names, and keyword-only options
        self,
        model: Model,
        X_observed: Tensor,
        posterior_transform: PosteriorTransform | None = None,
        X_pending: Tensor | None = None,
        *,
        maximize: bool = True,
        constraints: Constraints | Sequence[Limit] | None = None,
        confidence: float = _CONFIDENCE,
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
            constraints: Output index -> (lower, upper), None where there is no such bound. The
                objective is then what ``posterior_transform`` says, or the one output without a
                constraint. Outputs are taken as independent of one another.
            confidence: With which the constraints are to hold at the incumbent.
        """
        check_observed(X_observed)
        limits = limits_of(constraints, model.num_outputs) if constraints else []
        if limits and not self._takes_limits:
            raise UnsupportedError(
                f"{type(self).__name__} has no constraints; use LogCorrectedExpectedImprovement."
            )
        if limits:
            posterior_transform = objective_of(model, limits, posterior_transform, X_observed)
        super().__init__(model=model, posterior_transform=posterior_transform)
        self.limits = limits
        self.confidence = check_confidence(confidence)
        self.maximize = maximize
        for index, limit in enumerate(limits):
            transform = limit.transform(model.num_outputs, X_observed)
            self.add_module(f"_limit_{index}", transform)
        try:
            self._find_incumbent(X_observed)
        except (RuntimeError, ValueError) as error:
            check_dimension(model, X_observed, "X_observed", error)
            raise
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
        self.register_buffer("_pending_noise", self._noise_at(X_pending))
        for index, transform in enumerate(self._limit_transforms):
            noise = self._noise_at(X_pending, transform)
            self.register_buffer(f"_pending_noise_{index}", noise)

    def _noise_at(self, X: Tensor, transform: PosteriorTransform | None = None) -> Tensor:
        with torch.no_grad():
            noisy = self._posterior(X, observation_noise=True, transform=transform).variance
            noise = noisy - self._posterior(X, transform=transform).variance
            return noise.clamp_min(0.0).squeeze(-1)

    def _posterior(
        self,
        X: Tensor,
        observation_noise: bool = False,
        transform: PosteriorTransform | None = None,
    ) -> GPyTorchPosterior:
        transform = self.posterior_transform if transform is None else transform
        posterior = self.model.posterior(
            X, observation_noise=observation_noise, posterior_transform=transform
        )
        if not isinstance(posterior, GPyTorchPosterior):
            raise UnsupportedError(
                f"{type(self).__name__} needs the covariance of a Gaussian posterior, which"
                f" {type(posterior).__name__} does not have. Outcome transforms must be affine,"
                " such as Standardize."
            )
        return posterior

    @property
    def _limit_transforms(self) -> list[ScalarizedPosteriorTransform]:
        modules = (self.get_submodule(f"_limit_{index}") for index in range(len(self.limits)))
        return [each for each in modules if isinstance(each, ScalarizedPosteriorTransform)]

    def _find_incumbent(self, X_observed: Tensor) -> None:
        with torch.no_grad():
            mean = self._posterior(X_observed).mean
            if is_ensemble(self.model):
                mean = mean.mean(dim=_ENSEMBLE_DIM)
            mean = mean.squeeze(-1) if self.maximize else -mean.squeeze(-1)
            if self.limits:
                self.register_buffer("_worst", mean.amin(dim=-1))
            best = self._merits(X_observed, mean).argmax(dim=-1)[..., None, None]
            d = X_observed.shape[-1]
            points = X_observed.detach().expand(*mean.shape, d)
            found = points.gather(-2, best.expand(*best.shape[:-1], d)).clone()
        self.register_buffer("X_incumbent", found)

    def _merits(self, X_observed: Tensor, mean: Tensor) -> Tensor:
        """What the incumbent has most of: the mean, where the limits hold, or else the chance."""
        if not self.limits:
            return mean
        chance = torch.zeros_like(mean)
        for limit, transform in zip(self.limits, self._limit_transforms, strict=True):
            posterior = self._posterior(X_observed, transform=transform)
            chance = chance + limit.log_chance(posterior.mean, posterior.variance.sqrt()).squeeze(
                -1
            )
        if is_ensemble(self.model):
            samples = chance.shape[_ENSEMBLE_DIM + 1]
            chance = chance.logsumexp(dim=_ENSEMBLE_DIM + 1) - math.log(samples)
        held = chance >= math.log(self.confidence)
        likely = torch.where(chance == chance.amax(dim=-1, keepdim=True), mean, -torch.inf)
        feasible = torch.where(held, mean, -torch.inf)
        return torch.where(held.any(dim=-1, keepdim=True), feasible, likely)

    def _improvement(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Mean u and standard deviation s of the improvement of f(x) on f(x⁺).

        Both are ``(b1 x ... bk)``-dim, followed by the samples' dimension for ensembles.
        """
        posterior = self._posterior(self._joint(X))
        mean = posterior.mean.squeeze(-1)
        covariance = posterior.distribution.covariance_matrix
        u = mean[..., 0] - mean[..., 1]
        return u if self.maximize else -u, self._difference_std(covariance)

    def _joint(self, X: Tensor) -> Tensor:
        """The candidate, the incumbent and the pending points, in one tensor."""
        self.to(X)
        batch_shape = torch.broadcast_shapes(X.shape[:-2], self.X_incumbent.shape[:-2])
        parts = [X, self.X_incumbent]
        if self.X_pending is not None:
            parts.append(self.X_pending.to(X))
        return torch.cat([part.expand(*batch_shape, *part.shape[-2:]) for part in parts], dim=-2)

    def _difference_std(self, C: Tensor) -> Tensor:
        """Standard deviation of f(x) − f(x⁺) from the covariance of (x, x⁺, pending points)."""
        # Differences of neighbours first: near x⁺ they are exact, and at x⁺ the sum is zero.
        variance = (C[..., 0, 0] - C[..., 0, 1]) + (C[..., 1, 1] - C[..., 1, 0])
        if self.X_pending is not None:
            contrast = C[..., 2:, 0] - C[..., 2:, 1]
            explained = explained_by(C, self._pending_noise, contrast.unsqueeze(-1))
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
        if self.limits:
            return self._value_of_log(self._log_with_limits(X))
        return self._value(*self._improvement(X))

    def _log_with_limits(self, X: Tensor) -> Tensor:
        """log of corrected EI with limits, as the module's text has it."""
        joint = self._joint(X)
        pending = self.X_pending is not None
        outputs = self.model.posterior(joint)
        if isinstance(self.posterior_transform, ScalarizedPosteriorTransform):
            posterior = self.posterior_transform(outputs)
        else:
            posterior = self._posterior(joint)
        goal = pair_of(posterior, self._pending_noise if pending else None)
        u = goal.mean - goal.best_mean
        s = self._difference_std(posterior.distribution.covariance_matrix)
        worst = self._worst.unsqueeze(-1) if is_ensemble(self.model) else self._worst
        above = (goal.mean if self.maximize else -goal.mean) - worst
        chance, held, broken = torch.zeros_like(u), [], []
        for index, (limit, transform) in enumerate(
            zip(self.limits, self._limit_transforms, strict=True)
        ):
            noise = self.get_buffer(f"_pending_noise_{index}") if pending else None
            pair = pair_of(transform(outputs), noise)
            chance = chance + limit.log_chance(pair.mean, pair.std)
            c, not_c = limit.log_chances_given(pair[:2], pair[2:4], pair.rho)
            held.append(c)
            broken.append(not_c)
        all_held, some_broken = log_none_or_all(held, broken)
        return chance + torch.logaddexp(
            all_held + log_improvement(u if self.maximize else -u, s),
            some_broken + log_improvement(above, goal.std),
        )

    @abstractmethod
    def _value(self, u: Tensor, s: Tensor) -> Tensor:
        """The acquisition value of an improvement of mean u and standard deviation s."""

    def _value_of_log(self, log_value: Tensor) -> Tensor:
        """The acquisition value from its logarithm, which is what limits are computed in."""
        return log_value if getattr(self, "_log", False) else log_value.exp()


def log_improvement(u: Tensor, s: Tensor) -> Tensor:
    """log E[max(0, u + sZ)] of a standard normal Z."""
    return _log_ei_helper(u / s) + s.log()


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
    _takes_limits = True

    def _value(self, u: Tensor, s: Tensor) -> Tensor:
        return log_improvement(u, s)


@final
class CorrectedExpectedImprovement(_CorrectedAcquisitionFunction):
    r"""Single-outcome Corrected Expected Improvement (analytic).

    ``CorrectedEI(x) = E(max(f(x) - f(x_incumbent), 0))``

    Where there is no observation noise this is Expected Improvement.

    NOTE: To optimize it, use ``LogCorrectedExpectedImprovement``, whose gradients do not vanish.
    """

    _takes_limits = True

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
