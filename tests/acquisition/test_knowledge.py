"""The knowledge gradient and its two-point form: lines, simulations, limits, inequalities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import norm

from ceibo.acquisition import build
from ceibo.acquisition.knowledge import lower_envelope
from ceibo.gp import GaussianProcess, Kernel, Matern52
from tests.helpers import KERNELS, Array, Dense, assert_within_error, kernel_oracle, make_gp

by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
by_seed = pytest.mark.parametrize("seed", range(4))
by_noise = pytest.mark.parametrize("noise", [(1e-3, 0.1), (0.1, 3.0)], ids=str)


def new_points(seed: int, n: int) -> Array:
    return np.random.default_rng(1000 + seed).random((n, 3))


def expected_minimum(a: Array, b: Array) -> float:
    """E[min_j (a_j + b_j Z)] of one set of lines, by sorting slopes and a stack of lines."""
    order = np.lexsort((a, -b))  # from the steepest, which is the lowest on the far left
    stack: list[int] = []
    starts: list[float] = []  # where each surviving line takes over
    for j in order:
        if stack and b[j] == b[stack[-1]]:
            continue  # parallel and not below
        start = -np.inf
        while stack:
            start = (a[j] - a[stack[-1]]) / (b[stack[-1]] - b[j])
            if start > starts[-1]:
                break
            stack.pop()
            starts.pop()
            start = -np.inf
        stack.append(int(j))
        starts.append(start)
    ends = [*starts[1:], np.inf]
    total = 0.0
    for j, left, right in zip(stack, starts, ends, strict=True):
        total += a[j] * (norm.cdf(right) - norm.cdf(left)) + b[j] * (
            norm.pdf(left) - norm.pdf(right)
        )
    return float(total)


def lines(gp: GaussianProcess, x: Array, next_noise: float) -> tuple[Array, Array]:
    """Means and slopes at the observed points and x, from the dense formulas."""
    points = np.concatenate([gp.X, x[None]])
    dense = Dense(gp)
    return dense.mean(points), dense.covariance(points, x[None])[:, 0] / np.sqrt(
        dense.variance(x[None])[0] + next_noise
    )


# -- the exact value -------------------------------------------------------------------


@by_kernel
@by_seed
@by_noise
def test_knowledge_gradient_equals_the_sorted_lines(
    kernel: type[Kernel], seed: int, noise: tuple[float, float]
) -> None:
    gp = make_gp(seed, kernel=kernel, noise=noise)
    acq = build("knowledge-gradient", gp, next_noise_variance=0.2)
    for x in [*new_points(seed, 6), gp.X[0]]:
        a, b = lines(gp, x, 0.2)
        expected = a[:-1].min() - expected_minimum(a, b)
        # The sorted-lines sum subtracts numbers of the size of the means: 1e-14 of those is what it
        # is good for.
        np.testing.assert_allclose(acq.value(x[None])[0], expected, rtol=1e-9, atol=1e-13)


@by_seed
def test_knowledge_gradient_equals_simulated_measurements(seed: int) -> None:
    """Simulates y at x, conditions on it and finds the best mean again: the average gain."""
    gp, rng, next_noise = make_gp(seed, noise=(0.05, 0.5)), np.random.default_rng(50 + seed), 0.3
    acq = build("knowledge-gradient", gp, next_noise_variance=next_noise)
    count = 200_000
    for x in [*new_points(seed, 3), acq.incumbent.x]:
        points, noise = np.concatenate([gp.X, x[None]]), np.append(gp.noise_variance, next_noise)
        dense = Dense(gp)
        y_next = dense.mean(x[None]) + np.sqrt(
            dense.variance(x[None]) + next_noise
        ) * rng.standard_normal(count)
        data = np.concatenate([np.repeat(gp.y[:, None], count, axis=1), y_next[None, :]]) - gp.mean
        K = kernel_oracle(gp.kernel, points, points)
        # (n + 1, count) posterior means afterwards
        means = gp.mean + K @ np.linalg.solve(K + np.diag(noise), data)
        assert_within_error(acq.value(x[None])[0], dense.mean(gp.X).min() - means.min(axis=0))


def test_a_simulated_measurement_really_is_a_refit() -> None:
    """One draw of the simulation above against the engine's own conditioning."""
    gp, x = make_gp(1), new_points(1, 1)
    grown = gp.append(x[0], 0.7, 0.3)
    K = kernel_oracle(gp.kernel, grown.X, grown.X)
    by_hand = gp.mean + K @ np.linalg.solve(K + np.diag(grown.noise_variance), grown.y - gp.mean)
    np.testing.assert_allclose(grown.posterior(grown.X)[0], by_hand, rtol=1e-11)


@by_kernel
@by_seed
@by_noise
def test_corrected_kg_is_its_closed_form(
    kernel: type[Kernel], seed: int, noise: tuple[float, float]
) -> None:
    """E[max(0, ·)] of the two lines of x⁺ and x."""
    gp = make_gp(seed, kernel=kernel, noise=noise)
    acq = build("corrected-kg", gp, next_noise_variance=0.2)
    best = acq.incumbent.index
    for x in new_points(seed, 6):
        a, b = lines(gp, x, 0.2)
        expected = a[best] - expected_minimum(a[[best, -1]], b[[best, -1]])
        np.testing.assert_allclose(acq.value(x[None])[0], expected, rtol=1e-8, atol=1e-13)


# -- how they stand to each other ------------------------------------------------------


@by_kernel
@by_seed
@by_noise
def test_knowledge_gradient_is_never_below_its_two_point_form_nor_that_above_corrected_ei(
    kernel: type[Kernel], seed: int, noise: tuple[float, float]
) -> None:
    gp = make_gp(seed, kernel=kernel, noise=noise)
    A = np.concatenate([new_points(seed, 60), gp.X])
    for next_noise in (0.0, 1e-4, 1.0, 100.0):
        full = build("knowledge-gradient", gp, next_noise_variance=next_noise).value(A)
        two = build("corrected-kg", gp, next_noise_variance=next_noise).value(A)
        corrected = build("corrected-ei", gp).value(A)
        rounding = 1e-12 * np.max(corrected)
        assert np.all(full >= two * (1 - 1e-9) - rounding)
        assert np.all(two <= corrected * (1 + 1e-9) + rounding)


@by_kernel
@by_seed
def test_without_noise_all_four_are_ei(kernel: type[Kernel], seed: int) -> None:
    gp = make_gp(seed, kernel=kernel, noise=(0.0, 0.0))
    A = new_points(seed, 60)
    A = A[gp.posterior(A)[1] > 1e-4 * gp.kernel.variance]  # well above the jitter
    assert len(A) > 10
    ei = build("ei", gp)
    for name in ("corrected-ei", "corrected-kg", "knowledge-gradient"):
        acq = build(name, gp)
        kept = ei.value(A) > 1e-30  # far below, rounding of z enters as its square
        np.testing.assert_allclose(acq.value(A)[kept], ei.value(A)[kept], rtol=1e-6, err_msg=name)
        np.testing.assert_allclose(
            acq.log_value(A), ei.log_value(A), rtol=1e-6, atol=1e-6, err_msg=name
        )


@by_seed
def test_at_the_incumbent_only_the_full_form_sees_value(seed: int) -> None:
    gp = make_gp(seed, noise=(0.3, 1.0))
    best = build("knowledge-gradient", gp).incumbent.x[None]
    assert build("corrected-kg", gp).value(best)[0] == 0.0
    assert build("corrected-ei", gp).value(best)[0] == 0.0
    assert build("knowledge-gradient", gp).value(best)[0] > 0.0


@by_seed
def test_a_noisier_measurement_is_worth_less(seed: int) -> None:
    gp, A = make_gp(seed), new_points(seed, 30)
    for name in ("knowledge-gradient", "corrected-kg"):
        values = [build(name, gp, next_noise_variance=v).value(A) for v in (0.0, 0.01, 1.0, 1e4)]
        # The candidate's mean may already be the best: that part of the value no noise takes away.
        sure = np.maximum(build(name, gp).incumbent.mean - gp.posterior(A)[0], 0)
        for less, more in zip(values[1:], values[:-1], strict=True):
            assert np.all(less <= more * (1 + 1e-9) + 1e-15)
            assert np.all(less >= sure - 1e-12)


def test_the_noise_of_the_next_measurement_is_by_default_the_mean_of_the_known() -> None:
    gp, A = make_gp(2), new_points(2, 5)
    for name in ("knowledge-gradient", "corrected-kg"):
        explicit = build(name, gp, next_noise_variance=float(np.mean(gp.noise_variance)))
        np.testing.assert_array_equal(build(name, gp).value(A), explicit.value(A))


@by_seed
def test_with_pending_points_the_lines_are_those_of_the_shrunk_variance(seed: int) -> None:
    gp = make_gp(seed)
    pending = new_points(seed + 9, 2)
    acq = build("knowledge-gradient", gp, next_noise_variance=0.2, pending=pending)
    dense = Dense(gp, extra=pending, extra_noise=0.2)
    for x in new_points(seed, 4):
        points = np.concatenate([gp.X, x[None]])
        b = dense.covariance(points, x[None])[:, 0] / np.sqrt(dense.variance(x[None])[0] + 0.2)
        a = dense.mean(points)
        expected = a[:-1].min() - expected_minimum(a, b)
        np.testing.assert_allclose(acq.value(x[None])[0], expected, rtol=1e-8, atol=1e-13)


# -- the envelope ----------------------------------------------------------------------


@given(st.integers(0, 10**9), st.integers(1, 12), st.booleans())
@settings(max_examples=150)
def test_the_envelope_is_the_minimum_of_its_lines(seed: int, m: int, coarse: bool) -> None:
    """At any z the lowest line is a piece; coarse numbers make parallels, ties and repeats."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((3, m)), rng.standard_normal((3, m))
    if coarse:
        a, b = np.round(a), np.round(b)
    pieces = lower_envelope(a, b)
    z = np.concatenate([[-1e6, 1e6], 3 * rng.standard_normal(50)])
    for row in range(3):
        everything = (a[row][:, None] + b[row][:, None] * z).min(axis=0)
        chosen = pieces.lines[row]
        kept = (a[row][chosen][:, None] + b[row][chosen][:, None] * z).min(axis=0)
        np.testing.assert_allclose(kept, everything, rtol=1e-12, atol=1e-12)
        assert np.all(np.diff(b[row][chosen]) <= 0)
        np.testing.assert_allclose(pieces.drops[row], -np.diff(b[row][chosen]), atol=1e-15)
        np.testing.assert_allclose(pieces.rises[row], np.diff(a[row][chosen]), atol=1e-15)


@given(st.integers(0, 10**9), st.integers(1, 10))
@settings(max_examples=60)
def test_the_sorted_lines_oracle_equals_numerical_integration(seed: int, m: int) -> None:
    """Guards the oracle of this file, on which the comparisons above rest."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal(m), rng.standard_normal(m)
    z = np.linspace(-9, 9, 40_001)
    integrand = (a[:, None] + b[:, None] * z).min(axis=0) * norm.pdf(z)
    assert expected_minimum(a, b) == pytest.approx(trapezoid(integrand, z), abs=1e-6)


def test_one_observation_is_enough() -> None:
    gp = GaussianProcess([[0.4]], [1.0], 0.1, Matern52([0.3]))
    assert build("knowledge-gradient", gp).value([[0.9]])[0] > 0
