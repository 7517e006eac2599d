"""The Gaussian process close to a point in arithmetic of as many digits as mpmath is told."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mpmath
import numpy as np

from ceibo.gp import GaussianProcess, Kernel, Matern12, Matern32, Matern52, SquaredExponential
from ceibo.gp.inputs import Array

Number = Any  # mpmath has no types


def _profile(kernel: type[Kernel], s: Number) -> Number:
    r = mpmath.sqrt(s)
    a, b = mpmath.sqrt(3) * r, mpmath.sqrt(5) * r
    if kernel is Matern12:
        return mpmath.exp(-r)
    if kernel is Matern32:
        return (1 + a) * mpmath.exp(-a)
    if kernel is Matern52:
        return (1 + b + b**2 / 3) * mpmath.exp(-b)
    assert kernel is SquaredExponential
    return mpmath.exp(-s / 2)


def exact_fall(kernel: type[Kernel], near: Number, far: Number) -> Number:
    """g(near) − g(far)."""
    return _profile(kernel, near) - _profile(kernel, far)


def exact_kernel(kernel: Kernel, a: Any, b: Any) -> Number:
    """k(a, b)."""
    s = mpmath.mpf(0)
    for k, scale in enumerate(kernel.lengthscales.tolist()):
        x, y = mpmath.mpf(a[k]), mpmath.mpf(b[k])
        difference = mpmath.mpf(x != y) if k in kernel.categorical else x - y
        s += (difference / mpmath.mpf(scale)) ** 2
    return mpmath.mpf(kernel.variance) * _profile(type(kernel), s)


@dataclass(frozen=True, eq=False)
class Exact:
    """Posterior moments of f(x) and f(p) of a process, p the row `anchor` of its data."""

    gp: GaussianProcess
    anchor: int

    @cached_property
    def _solved(self) -> tuple[Number, Number]:
        """(K + Σ)⁻¹ and (K + Σ)⁻¹ (y − mean), with the jitter that the process needed."""
        points, noise = self.gp.state.points, self.gp.state.noise * self.gp.unit**2
        m = len(points)
        K = mpmath.matrix(m, m)
        for i, j in np.ndindex(m, m):
            K[i, j] = exact_kernel(self.gp.kernel, points[i], points[j])
        for i in range(m):
            K[i, i] += mpmath.mpf(float(noise[i]))
        if self.gp.blocks is not None:
            new = np.full((m - len(self.gp.y), len(self.gp.blocks.variances)), 10**6)
            of = np.concatenate([self.gp.blocks.of, new])
            for i, j in np.ndindex(m, m):
                for t, variance in enumerate(self.gp.blocks.variances.tolist()):
                    K[i, j] += mpmath.mpf(variance) * int(of[i, t] == of[j, t] >= 0)
        inverse = K**-1
        known = len(self.gp.y)
        residuals = mpmath.matrix(m, 1)
        for i in range(known):
            residuals[i] = mpmath.mpf(float(self.gp.y[i])) - mpmath.mpf(self.gp.mean)
        observed = K[:known, :known] ** -1 * residuals[:known]
        alpha = mpmath.matrix(m, 1)
        for i in range(known):
            alpha[i] = observed[i]
        return inverse, alpha

    def _cross(self, x: Any) -> Number:
        return mpmath.matrix([exact_kernel(self.gp.kernel, x, b) for b in self.gp.state.points])

    def moments(self, x: Any) -> tuple[Number, Number, Number, Number]:
        """μ(p) − μ(x), Var[f(x) − f(p)], σ²(x) − σ(x, p) and σ²(x)."""
        inverse, alpha = self._solved
        p = self.gp.state.points[self.anchor]
        at_x, at_p = self._cross(x), self._cross(p)
        k = self.gp.kernel
        variance = exact_kernel(k, x, x) - (at_x.T * inverse * at_x)[0]
        covariance = exact_kernel(k, x, p) - (at_x.T * inverse * at_p)[0]
        at_anchor = exact_kernel(k, p, p) - (at_p.T * inverse * at_p)[0]
        u = ((at_p - at_x).T * alpha)[0]
        return u, variance + at_anchor - 2 * covariance, variance - covariance, variance

    def corrected_ei(self, x: Any) -> Number:
        u, difference, _, _ = self.moments(x)
        return improvement(u, mpmath.sqrt(difference))

    def corrected_pi(self, x: Any) -> Number:
        u, difference, _, _ = self.moments(x)
        return mpmath.erfc(-u / mpmath.sqrt(2 * difference)) / 2

    def corrected_kg(self, x: Any, next_noise: float) -> Number:
        u, _, gap, variance = self.moments(x)
        return improvement(u, abs(gap) / mpmath.sqrt(variance + mpmath.mpf(next_noise)))


def gradient(f: Callable[[Any], Number], x: Array) -> list[Number]:
    """Of f at x, by central differences far smaller than any distance."""
    found, step = [], mpmath.mpf("1e-24")
    for k in range(len(x)):
        ends = []
        for sign in (1, -1):
            moved = [mpmath.mpf(float(each)) for each in x]
            moved[k] += sign * step
            ends.append(f(moved))
        found.append((ends[0] - ends[1]) / (2 * step))
    return found


def improvement(u: Number, s: Number) -> Number:
    """E[max(0, u + s Z)]."""
    z = u / s
    return s * mpmath.npdf(z) + u * mpmath.erfc(-z / mpmath.sqrt(2)) / 2
