"""Factors, jitter and BLAS threads."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from ceibo.errors import NotPositiveDefiniteError
from ceibo.gp import GaussianProcess, Matern52, SquaredExponential, fit_gp
from ceibo.gp.linalg import JITTERS, blas_threads, factorize, limited_blas, triangular_inverse
from tests.helpers import Array


def positive_definite(seed: int, n: int) -> Array:
    X = np.random.default_rng(seed).random((n, 3))
    return Matern52([0.5, 0.5, 0.5])(X, X) + 0.1 * np.eye(n)


def thread_counts() -> list[int]:
    return [
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    ]


# -- factors ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 129, 200, 601])
def test_a_triangular_inverse_is_one(n: int) -> None:
    """Sizes on both sides of where the algorithm changes."""
    L = np.linalg.cholesky(positive_definite(n, n))
    inverse = triangular_inverse(np.asfortranarray(L))
    np.testing.assert_allclose(inverse @ L, np.eye(n), atol=1e-12)
    assert np.all(np.triu(inverse, 1) == 0)


def test_a_factor_solves_and_knows_its_determinant() -> None:
    K = positive_definite(1, 40)
    factor = factorize(K)
    assert np.all(factor.jitter == 0)
    np.testing.assert_allclose(factor.solve(K), np.eye(40), atol=1e-11)
    assert factor.log_determinant == pytest.approx(np.linalg.slogdet(K)[1], rel=1e-12)


def test_only_the_lower_triangle_is_read_and_nothing_is_written() -> None:
    K = positive_definite(2, 10)
    spoilt = K + np.triu(np.full((10, 10), 7.0), 1)
    before = spoilt.copy()
    np.testing.assert_array_equal(factorize(spoilt).inverse, factorize(K).inverse)
    np.testing.assert_array_equal(spoilt, before)


@pytest.mark.parametrize("p", [1, 3])
def test_appended_rows_give_the_factor_of_the_whole(p: int) -> None:
    K = positive_definite(3, 30)
    n = 30 - p
    grown = factorize(K[:n, :n]).append(K[:n, n:], K[n:, n:])
    np.testing.assert_allclose(grown.inverse, factorize(K).inverse, rtol=0, atol=1e-11)


def test_a_singular_matrix_gets_the_smallest_jitter_that_serves() -> None:
    K = np.ones((5, 5))
    factor = factorize(K)
    assert 0 < factor.jitter[0] <= 1e-11
    assert factor.jitter[0] in JITTERS
    jittered = K + np.diag(factor.jitter)
    # condition 5e12
    np.testing.assert_allclose(factor.solve(jittered @ np.arange(5.0)), np.arange(5.0), atol=1e-3)


@pytest.mark.parametrize("power", [-500, 500])
def test_jitter_is_relative_to_the_diagonal(power: int) -> None:
    """Scaling a matrix by a power of four scales the factor by a power of two, jitter and all."""
    K = np.ones((4, 4))
    plain, scaled = factorize(K), factorize(K * 2.0 ** (2 * power))
    np.testing.assert_array_equal(scaled.jitter, plain.jitter * 2.0 ** (2 * power))
    np.testing.assert_array_equal(scaled.inverse, plain.inverse * 2.0**-power)


def test_rows_of_very_different_size_are_each_jittered_on_their_own_scale() -> None:
    size = np.array([1e-6, 1e-6, 1e6, 1e6])
    factor = factorize(np.outer(size, size))
    np.testing.assert_allclose(factor.jitter / size**2, factor.jitter[0] / size[0] ** 2, rtol=1e-12)


@pytest.mark.parametrize(
    "K",
    [np.diag([1.0, -1.0]), np.array([[1.0, 2.0], [2.0, 1.0]]), np.full((2, 2), np.nan)],
    ids=str,
)
def test_what_is_no_covariance_is_refused(K: Array) -> None:
    with pytest.raises(
        NotPositiveDefiniteError, match=r"size 2 is not positive definite .*check the data"
    ):
        factorize(K)


def test_points_on_top_of_each_other_without_noise_can_be_conditioned_on() -> None:
    X = np.array([[0.5]] * 4 + [[0.5 + 1e-9]] * 4)
    gp = GaussianProcess(X, np.full(8, 2.0), 0.0, SquaredExponential([0.5]))
    mean, variance = gp.posterior([[0.5], [0.9]])
    assert mean[0] == pytest.approx(2.0, abs=1e-8)
    assert np.all(variance >= 0)


# -- threads ---------------------------------------------------------------------------


def test_threads_depend_on_the_size_alone() -> None:
    assert [blas_threads(n) for n in (1, 300, 699)] == [1, 1, 1]
    assert blas_threads(3000) == blas_threads(3000)


def test_threads_are_limited_inside_and_restored_outside() -> None:
    with threadpool_limits(2, "blas"):
        with limited_blas(10):
            assert set(thread_counts()) == {1}
        assert set(thread_counts()) == {2}


def test_threads_come_back_after_an_error() -> None:
    def fails() -> None:
        with limited_blas(10):
            raise RuntimeError("inside")

    with threadpool_limits(2, "blas"):
        with pytest.raises(RuntimeError, match="inside"):
            fails()
        assert set(thread_counts()) == {2}


def test_nested_blocks_keep_the_smallest_count_and_restore_once() -> None:
    with threadpool_limits(2, "blas"):
        with limited_blas(5000):
            outer = set(thread_counts())
            with limited_blas(10):
                assert set(thread_counts()) == {1}
                with limited_blas(5000):
                    assert set(thread_counts()) == {1}
            assert set(thread_counts()) == outer == {blas_threads(5000)}
        assert set(thread_counts()) == {2}


def test_overlapping_threads_restore_when_the_last_one_leaves() -> None:
    """A enters, B enters, A leaves (B still limited), B leaves: only now the count is restored."""
    first_in, second_in, first_out = threading.Event(), threading.Event(), threading.Event()
    seen: dict[str, set[int]] = {}

    def a() -> None:
        with limited_blas(10):
            first_in.set()
            assert second_in.wait(10)
        first_out.set()

    def b() -> None:
        assert first_in.wait(10)
        with limited_blas(10):
            second_in.set()
            assert first_out.wait(10)
            seen["b alone"] = set(thread_counts())

    with threadpool_limits(2, "blas"):
        threads = [threading.Thread(target=a), threading.Thread(target=b)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert seen["b alone"] == {1}
        assert set(thread_counts()) == {2}


def test_a_thread_is_limited_even_if_another_has_been_before() -> None:
    """The BLAS limit belongs to the process, whichever thread asked first."""
    with limited_blas(10):
        pass  # this thread has set it once
    seen: list[int] = []

    def other() -> None:
        with limited_blas(10):
            seen.extend(thread_counts())

    with threadpool_limits(2, "blas"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(10)
        assert set(seen) == {1}
        assert set(thread_counts()) == {2}


def test_many_threads_fitting_at_once_agree_and_restore() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((15, 2)), rng.standard_normal(15)
    expected = fit_gp(X, y, 0.1).log_likelihood
    found: list[float] = []
    with threadpool_limits(2, "blas"):
        threads = [
            threading.Thread(
                target=lambda: found.extend(fit_gp(X, y, 0.1).log_likelihood for _ in range(5))
            )
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert set(thread_counts()) == {2}
    assert found == [expected] * 30
