"""Dense linear algebra of the model: Cholesky factors with jitter, and the BLAS thread limit.

The factor is kept as L⁻¹ because every later use is a product with it, and on small matrices
products run several times faster than triangular solves.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final, final

import numpy as np
import scipy
from threadpoolctl import ThreadpoolController

from ceibo.errors import NotPositiveDefiniteError
from ceibo.gp.inputs import Array

# Tried in turn, relative to each diagonal entry, so that the jitter scales with the row.
JITTERS: Final = (0.0, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
# A factor with a pivot below this share of its diagonal entry is made of rounding errors.
_SMALLEST_PIVOT: Final = 1e-13
# Between these sizes LAPACK's triangular inverse takes up to twice as long as halving.
_SPLIT_ABOVE, _SPLIT_BELOW = 64, 600


@final
@dataclass(frozen=True, eq=False)
class Factor:
    """Cholesky factor of K = L Lᵀ, as L⁻¹."""

    inverse: Array  # (n, n) L⁻¹, lower triangular
    jitter: Array  # (n,) what had to be added to the diagonal of K

    @property
    def log_determinant(self) -> float:
        """log det K."""
        return -2.0 * float(np.sum(np.log(np.diagonal(self.inverse))))

    def solve(self, b: Array) -> Array:
        """K⁻¹ b."""
        return np.asarray(self.inverse.T @ (self.inverse @ b))

    def append(self, border: Array, corner: Array) -> "Factor":
        """Factor of [[K, border], [borderᵀ, corner]], border (n, p), in O(n²) per new row."""
        n, p = border.shape
        V = self.inverse @ border
        new = factorize(corner - V.T @ V, scale=np.diagonal(corner))
        inverse = np.zeros((n + p, n + p))
        inverse[:n, :n] = self.inverse
        inverse[n:, n:] = new.inverse
        inverse[n:, :n] = -new.inverse @ (V.T @ self.inverse)
        return Factor(inverse, np.concatenate([self.jitter, new.jitter]))


def factorize(K: Array, scale: Array | None = None) -> Factor:
    """Factor of a symmetric positive (semi)definite K, with the smallest jitter that suffices.

    Args:
        K: (n, n); only its lower triangle is read. The jitters tried are those in JITTERS.
        scale: (n,) what jitter and pivots are relative to; K's own diagonal by default.
    """
    diagonal = np.diagonal(K).copy() if scale is None else np.asarray(scale, dtype=np.float64)
    for level in JITTERS:
        jitter = level * diagonal
        work = np.array(K, order="F")
        work[np.diag_indices_from(work)] += jitter
        L, failed = scipy.linalg.lapack.dpotrf(work, lower=1, clean=1, overwrite_a=1)
        if failed == 0 and np.all(np.diagonal(L) ** 2 > max(_SMALLEST_PIVOT, level / 2) * diagonal):
            return Factor(triangular_inverse(L), jitter)
    raise NotPositiveDefiniteError(
        f"a covariance matrix of size {len(K)} is not positive definite even with jitter"
        f" {JITTERS[-1]:g} of its diagonal. Expected a finite symmetric matrix from a kernel; check"
        " the data for extreme values."
    )


def triangular_inverse(L: Array) -> Array:
    """L⁻¹ of a lower triangular L (n, n) whose upper triangle is zero."""
    n = len(L)
    if n <= _SPLIT_ABOVE or n >= _SPLIT_BELOW:
        return np.asarray(scipy.linalg.lapack.dtrtri(L, lower=1)[0])
    out = np.zeros((n, n), order="F")
    _invert_block(L, out, 0, n)
    return out


def _invert_block(L: Array, out: Array, start: int, stop: int) -> None:
    """[[A, 0], [B, C]]⁻¹ = [[A⁻¹, 0], [−C⁻¹ B A⁻¹, C⁻¹]], on out[start:stop, start:stop]."""
    if stop - start <= _SPLIT_ABOVE:
        block = L[start:stop, start:stop]
        out[start:stop, start:stop] = scipy.linalg.lapack.dtrtri(block, lower=1)[0]
        return
    middle = (start + stop) // 2
    _invert_block(L, out, start, middle)
    _invert_block(L, out, middle, stop)
    B_A = L[middle:stop, start:middle] @ out[start:middle, start:middle]
    np.matmul(-out[middle:stop, middle:stop], B_A, out=out[middle:stop, start:middle])


def constant_mean(ones: Array, values: Array, precision: float) -> float:
    """The best constant under the prior N(0, 1/precision), from L⁻¹1 and L⁻¹y."""
    return float(ones @ values) / (float(ones @ ones) + precision)


# BLAS threads

# `python -m bench.threads` shows factorizations alone 1.4 to 1.8 times as fast with a second thread
# from some 700 rows on, on two idle cores. But whole fits were slower with it, at 1,000 rows (0.9 s
# against 0.5 s) and at 2,000 (3.7 s against 3.4 s), and many times slower on a busy machine.
_TWO_THREADS_FROM: Final = 3000
_lock = threading.Lock()
# thread counts asked for by the blocks now open, in any thread
_wanted: list[int] = []
_original: list[tuple[Any, int]] = []


def load_blas() -> None:
    """Loads SciPy's BLAS, if nothing has used it so far: what is not loaded is not found."""
    import_module("scipy.linalg")


@cache
def _libraries() -> tuple[Any, ...]:
    """The BLAS libraries of NumPy and SciPy; looked up once, since looking costs a millisecond."""
    load_blas()
    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


def blas_threads(n: int) -> int:
    """How many BLAS threads to use on n×n matrices, by n alone, so that results are repeatable."""
    return 1 if n < _TWO_THREADS_FROM else 2


@contextmanager
def limited_blas(n: int) -> Iterator[None]:
    """Limits BLAS threads to `blas_threads(n)` while the block runs, and then restores the limits.

    The limit is the process's: blocks open in several threads share the smallest count asked for.
    """
    threads = blas_threads(n)
    with _lock:
        before = min(_wanted, default=None)
        if before is None:
            _original[:] = [(each, each.get_num_threads()) for each in _libraries()]
        _wanted.append(threads)
        if before is None or threads < before:  # else the limit stands, and setting it costs
            _set_threads(threads)
    try:
        yield
    finally:
        with _lock:
            _wanted.remove(threads)
            left = min(_wanted, default=None)
            if left is None:
                for library, count in _original:
                    _set_library_threads(library, count)
            elif left > threads:
                _set_threads(left)


def _set_threads(count: int) -> None:
    for library in _libraries():
        _set_library_threads(library, count)


def _set_library_threads(library: Any, count: int) -> None:
    # Recent threadpoolctl lets one thread alone set OpenBLAS's count and silently ignores the
    # others; here the lock above is what keeps threads apart, so control is taken for the moment
    # and given back.
    release = getattr(library, "clear_controlling_thread", lambda **_: None)
    release(force=True)
    library.set_num_threads(count)
    release()
