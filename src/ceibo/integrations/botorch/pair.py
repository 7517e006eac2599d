"""What the posterior says of a candidate and the incumbent together."""

from typing import NamedTuple, final

import torch
from botorch.posteriors.gpytorch import GPyTorchPosterior
from linear_operator.utils.cholesky import psd_safe_cholesky
from torch import Tensor


@final
class Pair(NamedTuple):
    """Mean and standard deviation of one quantity at x and at x⁺, and their correlation."""

    mean: Tensor
    std: Tensor
    best_mean: Tensor
    best_std: Tensor
    rho: Tensor


def explained_by(C: Tensor, noise: Tensor, columns: Tensor) -> Tensor:
    """What noisy observations at the pending points explain of quantities with these covariances.

    Args:
        C: (… x (2 + m) x (2 + m)) covariance of (x, x⁺, m pending points).
        noise: (… x m) variances of the observations.
        columns: (… x m x k) covariances of the pending points with k quantities.

    Returns:
        (… x m x k), the product of whose transpose with itself is the covariance explained.
    """
    root = psd_safe_cholesky(C[..., 2:, 2:] + torch.diag_embed(noise))
    explained: Tensor = torch.linalg.solve_triangular(root, columns, upper=False)
    return explained


def pair_of(posterior: GPyTorchPosterior, noise: Tensor | None) -> Pair:
    """The pair in a joint posterior at (x, x⁺, pending points), given those points' noise."""
    mean = posterior.mean.squeeze(-1)
    C = posterior.distribution.covariance_matrix
    own = C[..., :2, :2]
    if noise is not None:
        explained = explained_by(C, noise, C[..., 2:, :2])
        own = own - explained.transpose(-1, -2) @ explained
    # Below the floor a variance is rounding error.
    info = torch.finfo(C.dtype)
    prior = torch.diagonal(C[..., :2, :2], dim1=-2, dim2=-1).detach().abs()
    floor = info.eps * prior + info.tiny
    std = torch.maximum(torch.diagonal(own, dim1=-2, dim2=-1), floor).sqrt()
    rho = own[..., 0, 1] / (std[..., 0] * std[..., 1])
    return Pair(mean[..., 0], std[..., 0], mean[..., 1], std[..., 1], rho)
