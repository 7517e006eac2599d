"""Probabilities of two correlated standard normal variables, with exact gradients.

    P(α ≤ Z₁ ≤ β, γ ≤ Z₂ ≤ δ) = ∫_α^β φ(z) P(γ ≤ ρz + √(1−ρ²) E ≤ δ) dz

The range of z is cut where φ and the inner probability bend, so that Gauss-Legendre nodes see a
smooth function in every piece, also for ρ near ±1. Nothing is subtracted: the result is right
beside P(α ≤ Z₁ ≤ β), however small that is. Gradients do not pass through the quadrature: they have
a closed form.
"""

import math
from typing import Any, Final

import numpy as np
import torch
from botorch.utils.probability.utils import log_ndtr
from torch import Tensor
from torch.autograd import Function

# Standard deviations: an end beyond this is no end.
FAR: Final = 40.0
# Of 1: how far a correlation stays from ±1.
_APART: Final = 1e-12
# In natural logarithms: how far φ falls from its mode to where it is small, and to where it ends.
_SMALL: Final = 6.0
_NEGLIGIBLE: Final = 42.0
# Standard deviations from its middle, where a step of Φ has ended.
_STEP: Final = 8.0
_LOG_ROOT_TWO_PI: Final = 0.5 * math.log(2.0 * math.pi)
_NODES, _WEIGHTS = (torch.from_numpy(each) for each in np.polynomial.legendre.leggauss(20))


def log_between(low: Tensor, high: Tensor) -> Tensor:
    """log P(low ≤ Z ≤ high) of a standard normal variable, right in both tails."""
    # on the side of 0 where both are small numbers
    swap = low + high > 0
    a, b = torch.where(swap, -high, low), torch.where(swap, -low, high)
    log_b = log_ndtr(b)
    gap = (log_ndtr(a) - log_b).clamp(max=-torch.finfo(b.dtype).tiny)
    return log_b + torch.log(-torch.expm1(gap))


def log_rectangle(
    first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor], rho: Tensor
) -> Tensor:
    """log P(α ≤ Z₁ ≤ β, γ ≤ Z₂ ≤ δ) for ends (α, β) and (γ, δ), and the correlation ρ.

    An end that is missing is ±FAR; those beyond are moved there.
    """
    ends = [each.double().clamp(-FAR, FAR) for each in (*first, *second)]
    bounded = rho.double().clamp(-1.0 + _APART, 1.0 - _APART)
    parts = torch.broadcast_tensors(*ends, bounded)
    found: Tensor = _LogRectangle.apply(*parts)  # type: ignore[no-untyped-call]  # torch
    return found.to(rho)


class _LogRectangle(Function):
    """The integral by quadrature, its derivatives in closed form."""

    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> Tensor:
        low, high, under, over, rho = given
        found = _integrate(low, high, under, over, rho)
        ctx.save_for_backward(low, high, under, over, rho, found)
        return found

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, ...]:
        low, high, under, over, rho, found = ctx.saved_tensors
        spread = ((1.0 - rho) * (1.0 + rho)).sqrt()

        def at_end(end: Tensor, least: Tensor, most: Tensor) -> Tensor:
            """Density of one variable at its end, times the chance of the other given that."""
            inside = log_between((least - rho * end) / spread, (most - rho * end) / spread)
            height: Tensor = inside - 0.5 * end.square() - _LOG_ROOT_TWO_PI - found
            return height.exp()

        def density(a: Tensor, b: Tensor) -> Tensor:
            """Joint density at a corner, which is the derivative by the correlation."""
            square = 0.5 * (a.square() + ((b - rho * a) / spread).square())
            height: Tensor = -square - spread.log() - 2.0 * _LOG_ROOT_TWO_PI - found
            return height.exp()

        by_rho = density(high, over) - density(high, under)
        by_rho = by_rho - density(low, over) + density(low, under)
        parts = (
            -at_end(low, under, over),
            at_end(high, under, over),
            -at_end(under, low, high),
            at_end(over, low, high),
            by_rho,
        )
        return tuple(upstream * part for part in parts)


def _integrate(low: Tensor, high: Tensor, under: Tensor, over: Tensor, rho: Tensor) -> Tensor:
    spread = ((1.0 - rho) * (1.0 + rho)).sqrt()
    mode = low.clamp(min=0.0) + high.clamp(max=0.0)  # of φ between both ends
    reach = [(mode.square() + 2.0 * drop).sqrt() for drop in (_NEGLIGIBLE, _SMALL)]
    start, end = torch.maximum(low, -reach[0]), torch.minimum(high, reach[0])
    cuts = [start, -reach[1], mode, reach[1], end]
    steep = torch.where(rho < 0, -1.0, 1.0) * rho.abs().clamp(min=_APART)
    width = spread / steep.abs()
    for step in (under, over):
        if bool((step.abs() < FAR).any()):
            middle = step / steep
            cuts += [middle - _STEP * width, middle, middle + _STEP * width]
    places = torch.stack([torch.minimum(torch.maximum(cut, start), end) for cut in cuts])
    places = places.sort(dim=0).values
    half = 0.5 * (places[1:] - places[:-1])
    middles = 0.5 * (places[1:] + places[:-1])
    shape = (-1, *(1 for _ in half.shape))
    nodes, weights = _NODES.to(half).view(shape), _WEIGHTS.to(half).view(shape)
    z = middles + half * nodes
    heights = (0.5 * (mode.square() - z.square())).exp()
    heights = heights * _between((under - rho * z) / spread, (over - rho * z) / spread)
    area = (weights * half * heights).sum(dim=(0, 1)).clamp(min=torch.finfo(half.dtype).tiny)
    return area.log() - 0.5 * mode.square() - _LOG_ROOT_TWO_PI


def _between(low: Tensor, high: Tensor) -> Tensor:
    """P(low ≤ Z ≤ high) of a standard normal variable, by the tail that is small."""
    swap = low + high > 0
    a, b = torch.where(swap, -high, low), torch.where(swap, -low, high)
    root = math.sqrt(0.5)
    twice: Tensor = torch.special.erfc(-root * b) - torch.special.erfc(-root * a)
    return 0.5 * twice
