"""Stationary kernels with one length scale per dimension.

Notation
    A (N, d), B (M, d)   points
    ℓ (d,)               length scales; v the variance k(x, x)
    s (N, M)             scaled squared distance: Σ_k (a_k − b_k)² / ℓ_k², where a categorical
                         dimension contributes [a_k ≠ b_k] / ℓ_k² instead
    g(s)                 the kernel's profile, g(0) = 1, so that k = v·g(s); g'(s) is its slope

Every derivative follows from g'(s): in x, ∂k/∂a_k = 2 v g'(s) (a_k − b_k)/ℓ_k²; in the length
scales, ∂k/∂log ℓ_k = −2 v g'(s) (a_k − b_k)²/ℓ_k². A new kernel is its profile alone; one that also
gives the profile's `fall` has accurate differences between points that are close together.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar, final

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ceibo.checks import check_positive
from ceibo.errors import InputError
from ceibo.gp.inputs import Array, as_columns, as_values
from ceibo.registry import Registry

# Beyond this scaled squared distance every profile is exactly zero in float64 (exp(−√s) underflows
# at s = 745²), so capping s changes no value and keeps inf·0 out of the products.
_FAR: Final = 1e6
# Categorical columns that are compared one after the other; more are compared at once.
_FEW: Final = 100


@dataclass(frozen=True, eq=False)
class Kernel(ABC):
    """k(a, b) = variance · g(s). Abstract: a final subclass gives the profile g and its names.

    Args:
        lengthscales: (d,) positive numbers, in the units of X; one number serves a one-dimensional
            space.
        variance: k(x, x), in the squared units of the values.
        categorical: columns compared by 0/1 mismatch instead of by difference.
    """

    name: ClassVar[str]  # by which it is asked for
    label: ClassVar[str]  # by which it is shown

    lengthscales: Array
    variance: float = 1.0
    categorical: tuple[int, ...] = ()

    # what may be given; the fields are what __post_init__ makes of it
    if TYPE_CHECKING:

        def __init__(
            self, lengthscales: ArrayLike, variance: float = 1.0, categorical: Sequence[int] = ()
        ) -> None: ...

    def __post_init__(self) -> None:
        lengthscales = np.atleast_1d(np.asarray(self.lengthscales, dtype=np.float64))
        lengthscales = as_values(lengthscales, lengthscales.size, "lengthscales")
        if np.any(lengthscales <= 0):
            raise InputError(f"lengthscales must be above zero, got {lengthscales.tolist()}.")
        object.__setattr__(self, "lengthscales", lengthscales)
        object.__setattr__(self, "variance", check_positive(self.variance, "variance"))
        object.__setattr__(
            self, "categorical", as_columns(self.categorical, lengthscales.size, "categorical")
        )

    @staticmethod
    @abstractmethod
    def profile(s: Array) -> tuple[Array, Array]:
        """g(s) and g'(s), elementwise, for s ≥ 0."""

    @classmethod
    def fall(cls, near: Array, far: Array, step: Array) -> Array:
        """g(near) − g(far), elementwise, 0 ≤ near ≤ far; step = far − near may be known better.

        The kernels here compute it without cancellation: accurate relative to its own size. By
        default it is the difference of two profiles.
        """
        del step
        return cls.profile(near)[0] - cls.profile(far)[0]

    @property
    def dimension(self) -> int:
        return int(self.lengthscales.size)

    def squared_distance(self, A: Array, B: Array) -> Array:
        """Scaled squared distances s (N, M); exactly 0 between points that coincide."""
        if not self.categorical:
            s = _squared_distances(A / self.lengthscales, B / self.lengthscales)
        else:
            unordered = set(self.categorical)
            ordered = [k for k in range(self.dimension) if k not in unordered]
            s = np.zeros((len(A), len(B)))
            if ordered:
                scale = self.lengthscales[ordered]
                s = _squared_distances(A[:, ordered] / scale, B[:, ordered] / scale)
            if len(self.categorical) <= _FEW:
                for k in self.categorical:
                    s += (A[:, k, None] != B[None, :, k]) / self.lengthscales[k] ** 2
            else:
                columns = list(self.categorical)
                weights = self.lengthscales[columns] ** -2.0
                # the weighted share of columns that differ
                pair = A[:, columns], B[:, columns]
                share = scipy.spatial.distance.cdist(*pair, "hamming", w=weights)
                s += np.sum(weights) * share
        return np.minimum(s, _FAR, out=s)

    def __call__(self, A: Array, B: Array) -> Array:
        """Kernel matrix k(A, B) (N, M)."""
        return self.variance * self.profile(self.squared_distance(A, B))[0]

    def cross(self, A: Array, B: Array) -> "Cross":
        """k(A, B) together with what its derivative in A needs."""
        values, slopes = self.profile(self.squared_distance(A, B))
        values *= self.variance
        slopes *= 2.0 * self.variance
        return Cross(values, slopes, A, B, self._inverse_squares)

    def gradient(self, A: Array, B: Array) -> Array:
        """∂k(a_i, b_j)/∂a_i (N, M, d); zero along categorical dimensions."""
        slopes = 2.0 * self.variance * self.profile(self.squared_distance(A, B))[1]
        return slopes[:, :, None] * (A[:, None, :] - B[None, :, :]) * self._inverse_squares

    def contrast(self, A: Array, p: Array, B: Array) -> "Contrast":
        """k(A, B) − k(p, B) for points A close to p (d,), accurate relative to its own size.

        Every distance is computed from differences of coordinates, and so is the change of s from p
        to a: Σ_k (a_k − p_k)((a_k − b_k) + (p_k − b_k))/ℓ_k².
        """
        from_a = (A[:, None, :] - B) / self.lengthscales  # (N, M, d)
        from_p = (p - B) / self.lengthscales  # (M, d)
        moved = (A - p) / self.lengthscales  # (N, d)
        if self.categorical:
            columns = list(self.categorical)
            inverse = 1.0 / self.lengthscales[columns]
            from_a[:, :, columns] = (A[:, None, columns] != B[:, columns]) * inverse
            from_p[:, columns] = (p[columns] != B[:, columns]) * inverse
            moved[:, columns] = 0.0
        step = np.einsum("ik,ijk->ij", moved, from_a + from_p)
        for k in self.categorical:
            step += (from_a[:, :, k] - from_p[:, k]) * (from_a[:, :, k] + from_p[:, k])
        to_a = np.einsum("ijk,ijk->ij", from_a, from_a)  # s(a, b)
        to_p = np.einsum("jk,jk->j", from_p, from_p)
        # both are so far that k is zero
        step[(to_a >= _FAR) | (to_p >= _FAR)] = 0.0
        to_a, to_p = np.minimum(to_a, _FAR), np.minimum(to_p, _FAR)
        fall = self.fall(np.minimum(to_a, to_p), np.maximum(to_a, to_p), np.abs(step))
        values = -self.variance * np.sign(step) * fall
        slopes = 2.0 * self.variance * self.profile(to_a)[1]
        return Contrast(values, slopes, A, B, self._inverse_squares)

    @cached_property
    def _inverse_squares(self) -> Array:
        inverse = self.lengthscales**-2.0
        # no derivative along a categorical dimension
        inverse[list(self.categorical)] = 0.0
        return inverse


@final
@dataclass(frozen=True, eq=False)
class Cross:
    """k(A, B) and its derivative in A, contracted with weights to spare an (N, M, d) array."""

    values: Array  # (N, M)
    slopes: Array  # (N, M) 2 v g'(s)
    A: Array
    B: Array
    inverse_squares: Array  # (d,) 1/ℓ², zero along categorical dimensions

    def pullback(self, weights: Array) -> Array:
        """Σ_j weights_ij ∂k(a_i, b_j)/∂a_i, (N, d)."""
        G = weights * self.slopes
        return np.asarray((self.A * G.sum(axis=1)[:, None] - G @ self.B) * self.inverse_squares)


@final
@dataclass(frozen=True, eq=False)
class Contrast:
    """k(A, B) − k(p, B) and its derivative in A, without cancellation for points A close to p."""

    values: Array  # (N, M)
    slopes: Array  # (N, M) 2 v g'(s)
    A: Array
    B: Array
    inverse_squares: Array  # (d,) 1/ℓ², zero along categorical dimensions

    def pullback(self, weights: Array) -> Array:
        """Σ_j weights_ij ∂k(a_i, b_j)/∂a_i, (N, d), from differences of coordinates."""
        G = weights * self.slopes
        sums = np.einsum("ij,ijk->ik", G, self.A[:, None, :] - self.B)
        return np.asarray(sums * self.inverse_squares)


KERNELS: Final = Registry[type[Kernel]]("kernel", "ceibo.kernels")
_Class = TypeVar("_Class", bound=type[Kernel])


def register_kernel(kernel: _Class) -> _Class:
    """Makes a kernel class known by its `name` to fit_gp, studies and study files; a decorator."""
    for attribute in ("name", "label"):
        if not isinstance(getattr(kernel, attribute, None), str):
            raise InputError(f"{attribute} of the kernel {kernel!r} must be a string.")
    KERNELS.add(kernel.name, kernel)
    return kernel


def _squared_distances(A: Array, B: Array) -> Array:
    return np.asarray(scipy.spatial.distance.cdist(A, B, "sqeuclidean"))


def _root_step(near: Array, far: Array, step: Array) -> Array:
    """√far − √near, from step = far − near."""
    total = np.sqrt(far) + np.sqrt(near)
    return np.asarray(np.divide(step, total, out=np.zeros_like(total), where=total > 0))


# Coefficients of 1 − (1 + h + c h²) e^−h in powers of −h from the second on, for c = 0 and c = 1/3;
# below h = 1/2 those left out are less than 1e-17 of the sum.
_SERIES_BELOW: Final = 0.5
_ORDERS: Final = np.arange(2.0, 17.0)
_FACTORIALS: Final = np.cumprod(_ORDERS)  # exact
_SERIES_32: Final = (_ORDERS - 1.0) / _FACTORIALS
_SERIES_52: Final = -(_ORDERS - 1.0) * (_ORDERS - 3.0) / (3.0 * _FACTORIALS)


def _one_less_damped(h: Array, c: float, series: Array) -> Array:
    """1 − (1 + h + c h²) e^−h for h ≥ 0, by its series where h is small and the terms cancel."""
    small = h < _SERIES_BELOW
    x = -np.where(small, h, 0.0)
    total = np.zeros_like(x)
    for coefficient in series[::-1]:
        total = total * x + coefficient
    if small.all():
        return total * x * x
    return np.where(small, total * x * x, 1.0 - (1.0 + h + c * h * h) * np.exp(-h))


@register_kernel
@final
class Matern12(Kernel):
    """Matérn ν = 1/2: g = exp(−r), r = √s. Rough: not differentiable where points coincide.

    g' = −exp(−r) / (2 r).
    """

    name = "matern12"
    label = "Matérn 1/2"

    @staticmethod
    def profile(s: Array) -> tuple[Array, Array]:
        r = np.sqrt(s)
        g = np.exp(-r)
        slope = np.zeros_like(r)
        # the kink at r = 0 gets slope 0
        np.divide(g, -2.0 * r, out=slope, where=r > 0)
        return g, slope

    @classmethod
    def fall(cls, near: Array, far: Array, step: Array) -> Array:
        return -np.exp(-np.sqrt(near)) * np.expm1(-_root_step(near, far, step))


@register_kernel
@final
class Matern32(Kernel):
    """Matérn ν = 3/2: g = (1 + √3 r) exp(−√3 r).

    g' = −3/2 exp(−√3 r). Both are computed in the memory of √3 r and of its exponential.
    """

    name = "matern32"
    label = "Matérn 3/2"

    @staticmethod
    def profile(s: Array) -> tuple[Array, Array]:
        root = np.sqrt(3.0 * s)  # √3 r
        decay = np.exp(-root)
        g = root
        g += 1.0
        g *= decay
        slope = decay
        slope *= -1.5
        return g, slope

    @classmethod
    def fall(cls, near: Array, far: Array, step: Array) -> Array:
        """With t = √3 r and its step h: e^−t (t (1 − e^−h) + 1 − (1 + h) e^−h)."""
        t, h = np.sqrt(3.0 * near), np.sqrt(3.0) * _root_step(near, far, step)
        parts = _one_less_damped(h, 0.0, _SERIES_32) - t * np.expm1(-h)
        return np.asarray(np.exp(-t) * parts)


@register_kernel
@final
class Matern52(Kernel):
    """Matérn ν = 5/2: g = (1 + √5 r + 5/3 r²) exp(−√5 r). The default.

    g' = −5/6 (1 + √5 r) exp(−√5 r). The products of the exponential are computed in its memory.
    """

    name = "matern52"
    label = "Matérn 5/2"

    @staticmethod
    def profile(s: Array) -> tuple[Array, Array]:
        root = np.sqrt(5.0 * s)  # √5 r
        decay = np.exp(-root)
        slope = root + 1.0
        slope *= decay  # (1 + √5 r) exp(−√5 r), the part that g and g' share
        g = decay
        g *= s
        g *= 5.0 / 3.0  # 5/3 r² exp(−√5 r)
        g += slope
        slope *= -5.0 / 6.0
        return g, slope

    @classmethod
    def fall(cls, near: Array, far: Array, step: Array) -> Array:
        """With t = √5 r and its step h: e^−t times the sum of

        t²/3 (1 − e^−h),   t (1 − e^−h − 2/3 h e^−h)   and   1 − (1 + h + h²/3) e^−h.
        """
        t, h = np.sqrt(5.0 * near), np.sqrt(5.0) * _root_step(near, far, step)
        lost = -np.expm1(-h)
        by_t = t / 3.0 * lost + (lost - h * np.exp(-h) / 1.5)
        return np.asarray(np.exp(-t) * (t * by_t + _one_less_damped(h, 1.0 / 3.0, _SERIES_52)))


@register_kernel
@final
class SquaredExponential(Kernel):
    """Squared exponential: g = exp(−r²/2), g' = −g/2. Very smooth."""

    name = "squared-exponential"
    label = "squared exponential"

    @staticmethod
    def profile(s: Array) -> tuple[Array, Array]:
        g = np.exp(-0.5 * s)
        return g, -0.5 * g

    @classmethod
    def fall(cls, near: Array, far: Array, step: Array) -> Array:
        del far
        return -np.exp(-0.5 * near) * np.expm1(-0.5 * step)
