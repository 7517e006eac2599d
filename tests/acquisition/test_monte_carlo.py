"""Noisy EI and qNEI: an independent Monte Carlo, limits."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from ceibo.acquisition import build
from ceibo.acquisition.monte_carlo import draw_jointly, log_mean
from ceibo.gp import GaussianProcess, Kernel, Matern12, Matern52
from tests.helpers import KERNELS, Array, Dense, assert_within_error, kernel_oracle, make_gp

by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
by_seed = pytest.mark.parametrize("seed", range(2))


def small_gp(seed: int, kernel: type[Kernel] = Matern52) -> GaussianProcess:
    return make_gp(seed, n=7, d=2, kernel=kernel, noise=(0.05, 0.5))


def new_points(seed: int, n: int = 6) -> Array:
    return np.random.default_rng(1000 + seed).random((n, 2))


# -- an independent Monte Carlo --------------------------------------------------------


@by_seed
@pytest.mark.parametrize("name", ["noisy-ei", "q-noisy-ei"])
def test_both_estimate_the_expected_improvement_over_the_best_observed(
    name: str, seed: int
) -> None:
    """E[max(0, min_j f(x_j) − f(x))] over the joint posterior, which both are estimates of."""
    gp, rng = small_gp(seed), np.random.default_rng(10 + seed)
    acq = build(name, gp, draws=4096)
    for a in new_points(seed, 4):
        points = np.concatenate([gp.X, a[None]])
        dense = Dense(gp)
        f = rng.multivariate_normal(
            dense.mean(points), dense.covariance(points, points), 400_000, method="eigh"
        )
        plain = np.maximum(f[:, :-1].min(axis=1) - f[:, -1], 0)
        value, own = acq.value(a[None])[0], np.std(plain) / np.sqrt(4096)
        # Quasi-random draws are no worse than random ones, whose error is added to that of the
        # plain estimate.
        assert abs(value - plain.mean()) < 5 * np.hypot(own, np.std(plain) / np.sqrt(400_000))


def test_pending_points_count_among_the_best() -> None:
    """With a pending point the value is what x adds beyond it."""
    gp, rng = small_gp(1), np.random.default_rng(11)
    pending, a = new_points(7, 2), new_points(8, 1)
    noise = float(np.mean(gp.noise_variance))
    points = np.concatenate([gp.X, pending, a])
    dense = Dense(gp, extra=pending, extra_noise=noise)
    f = rng.multivariate_normal(
        dense.mean(points), dense.covariance(points, points), 400_000, method="eigh"
    )
    plain = np.maximum(f[:, :-1].min(axis=1) - f[:, -1], 0)
    for name in ("noisy-ei", "q-noisy-ei"):
        value = build(name, gp, draws=4096, pending=pending).value(a)[0]
        assert abs(value - plain.mean()) < 5 * np.std(plain) / np.sqrt(4096)


def test_draws_have_the_posteriors_moments() -> None:
    gp = small_gp(0)
    drawn = draw_jointly(gp, 4096, seed=1)
    # (n, S): the noiseless model passes through its draw
    f = gp.mean + gp.unit * drawn.predictor(gp.X).linear
    dense = Dense(gp)
    for i in range(7):
        assert_within_error(dense.mean(gp.X[[i]])[0], f[i])
    # 1/√4096 = 0.016, thrice
    np.testing.assert_allclose(np.cov(f), dense.covariance(gp.X, gp.X), atol=0.05)
    np.testing.assert_allclose(drawn.best, ((f - gp.mean) / gp.unit).min(axis=0), atol=1e-5)


# -- limits ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["noisy-ei", "q-noisy-ei"])
def test_without_noise_they_are_ei(name: str) -> None:
    gp = make_gp(3, n=7, d=2, kernel=Matern12, noise=(0.0, 0.0))
    A = new_points(3)
    expected = build("ei", gp).value(A)
    got = build(name, gp, draws=4096).value(A)
    # Noisy EI has nothing left to draw but its nugget; qNEI still draws f(x), 4,096 times.
    np.testing.assert_allclose(got, expected, rtol=1e-3 if name == "noisy-ei" else 0.05, atol=1e-4)


@pytest.mark.parametrize("name", ["noisy-ei", "q-noisy-ei"])
def test_values_are_positive_and_logarithms_agree(name: str) -> None:
    gp = small_gp(4)
    A = new_points(4, 200)
    acq = build(name, gp)
    values, logs = acq.value(A), acq.log_value(A)
    assert np.all(values >= 0)
    positive = values > 1e-300
    np.testing.assert_allclose(logs[positive], np.log(values[positive]), rtol=1e-10, atol=1e-10)
    assert np.all(logs[~positive] < -690)  # log 1e-300


def test_what_the_maximiser_climbs_has_a_slope_where_qnei_is_flat() -> None:
    """Where no draw improves, qNEI is zero; the rounded form still rises to the good points."""
    X = np.array([[0.1], [0.5], [0.9]])
    gp = GaussianProcess(X, [-3.0, 0.0, 3.0], 1e-4, Matern52([0.3]))
    acq = build("q-noisy-ei", gp, draws=16)
    x = np.array([[0.88]])
    assert acq.value(x)[0] == 0.0
    prediction = acq.predictor(x)
    jet = acq.climbable(prediction)
    assert np.isfinite(jet.value[0])
    assert np.linalg.norm(jet.gradient(prediction)) > 0


def test_more_draws_by_default_for_qnei() -> None:
    gp = small_gp(5)
    assert build("noisy-ei", gp).predictor.weights.shape[1] == 20
    assert build("q-noisy-ei", gp).predictor.weights.shape[1] == 256


def test_coincident_noiseless_points_can_be_drawn_at() -> None:
    X = np.array([[0.5, 0.5]] * 5 + [[0.5 + 1e-9, 0.5]])
    gp = GaussianProcess(X, np.zeros(6), 0.0, Matern52([0.5, 0.5]))
    assert np.all(np.isfinite(build("noisy-ei", gp).value(new_points(0))))


def test_kernel_oracle_is_what_the_model_uses() -> None:
    """Guards the oracle of this file, on which the comparisons above rest."""
    gp = small_gp(6)
    np.testing.assert_allclose(
        gp.kernel(gp.X, gp.X), kernel_oracle(gp.kernel, gp.X, gp.X), rtol=1e-13
    )


@by_kernel
def test_without_noise_noisy_ei_is_ei(kernel: type[Kernel]) -> None:
    """To the nugget: the largest difference seen is 1e-4 of the largest value."""
    gp, A = make_gp(0, d=2, kernel=kernel, noise=(0.0, 0.0)), new_points(0, 200)
    ei = build("ei", gp).value(A)
    np.testing.assert_allclose(build("noisy-ei", gp).value(A), ei, rtol=0, atol=2e-4 * ei.max())


def test_the_mean_of_logarithms_is_scipys_and_no_share_is_lost() -> None:
    logs = np.array(
        [[0.0, -3.0, 2.0], [-1e5, -1e5 - 1.0, -np.inf], [800.0, 790.0, -900.0], [-np.inf] * 3]
    )
    value, shares = log_mean(logs)
    np.testing.assert_allclose(value, logsumexp(logs, axis=1) - np.log(3), rtol=1e-15)
    np.testing.assert_allclose(shares[:3], softmax(logs[:3], axis=1), rtol=1e-14)
    np.testing.assert_array_equal(shares[3], 0.0)  # none of them improves: no draw says where to go
