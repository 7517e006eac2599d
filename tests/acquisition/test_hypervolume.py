"""Noisy expected hypervolume improvement: 600 digits, Monte Carlo, gradients, limits."""

import numpy as np
import pytest
from scipy.stats import norm

from ceibo.acquisition import Limit, maximize
from ceibo.acquisition.common import draw_in_common
from ceibo.acquisition.fronts import reference_point
from ceibo.acquisition.hypervolume_improvement import NoisyHypervolumeImprovement, build_hypervolume
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess, Kernel, Matern52
from tests.acquisition.goals import (
    bounds_of,
    improvements,
    log_expected_improvement,
    make_processes,
)
from tests.helpers import KERNELS, Array, Dense, assert_gradient, central_difference

by_goals = pytest.mark.parametrize("goals", [2, 3])
by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)


def new_points(seed: int, n: int = 6, d: int = 2) -> Array:
    return np.random.default_rng(1000 + seed).random((n, d))


def draw_dense(gp: GaussianProcess, points: Array, count: int, rng: np.random.Generator) -> Array:
    """Joint draws of f at `points`, (count, m), by the textbook formulas."""
    dense = Dense(gp)
    covariance = dense.covariance(points, points)
    return rng.multivariate_normal(dense.mean(points), covariance, count, method="eigh")


# -- exact in each draw ----------------------------------------------------------------


@by_goals
@pytest.mark.parametrize("limits", [0, 2])
def test_the_logarithm_of_one_draw_is_that_of_600_digits(goals: int, limits: int) -> None:
    """Also where the value is below 1e-100."""
    compared = []
    for seed in range(4):
        processes = make_processes(seed, goals + limits, n=6)
        of_goals, given = processes[:goals], bounds_of(processes[goals:])
        acq = build_hypervolume(of_goals, given, draws=1, seed=seed)
        if seed > 1:  # a reference that is hard to get below
            hard = acq.reference - 0.8 * (acq.reference - [gp.y.min() for gp in of_goals])
            acq = build_hypervolume(of_goals, given, draws=1, seed=seed, reference=hard)
        drawn = draw_in_common(of_goals, given, 1, seed)
        centres = np.array([gp.mean for gp in of_goals])
        units = np.array([gp.unit for gp in of_goals])
        reference = (acq.reference - centres) / units
        points = np.concatenate([new_points(seed, 3), processes[0].X[:3] + 0.03])
        got = acq.log_value(points) - np.log(np.prod(units))
        for x, value in zip(points, got, strict=True):
            if value < -1200.0:
                continue  # more digits than there are
            each = acq.predictor(x[None]).each
            means = np.array([one.linear[0, 0] for one in each])
            stds = np.array([np.sqrt(one.variance[0]) for one in each])
            front = drawn.goals[0][drawn.holds[0]]
            expected = log_expected_improvement(front, reference, means[:goals], stds[:goals])
            expected += float(norm.logcdf((drawn.bounds - means[goals:]) / stds[goals:]).sum())
            assert value == pytest.approx(expected, rel=1e-11, abs=1e-11)
            compared.append(expected)
    assert len(compared) >= 12
    assert min(compared) < -200.0 < max(compared)


@by_goals
@pytest.mark.parametrize("limits", [0, 1])
def test_it_is_the_expected_growth_of_the_hypervolume(goals: int, limits: int) -> None:
    """Over the joint posterior of everything, of which it draws a part and integrates the rest."""
    n, count, rng = 5, 40_000, np.random.default_rng(goals)
    processes = make_processes(7 + goals, goals + limits, n=n, noise=0.3)
    given = bounds_of(processes[goals:])
    acq = build_hypervolume(processes[:goals], given, draws=1024)
    for x in new_points(goals, 2):
        points = np.concatenate([processes[0].X, x[None]])
        f = np.stack([draw_dense(gp, points, count, rng) for gp in processes], axis=-1)
        holds = np.ones((count, n + 1), dtype=bool)
        for j, limit in enumerate(given):
            holds &= f[:, :, goals + j] <= limit.bound
        # a row that breaks a limit is moved to where it covers nothing
        values = np.where(holds[:, :, None], f[:, :, :goals], acq.reference)
        gains = improvements(values[:, :-1], acq.reference, values[:, -1])
        error = np.std(gains) * np.hypot(1 / np.sqrt(count), 1 / np.sqrt(1024))
        assert abs(acq.value(x[None])[0] - gains.mean()) < 5 * error


# -- gradients -------------------------------------------------------------------------


@by_goals
@by_kernel
@pytest.mark.parametrize("limits", [0, 2])
def test_gradients(goals: int, kernel: type[Kernel], limits: int) -> None:
    processes = make_processes(11, goals + limits, n=12, kernel=kernel)
    acq = build_hypervolume(processes[:goals], bounds_of(processes[goals:]), draws=8)
    A = new_points(5, 4)
    logs, slopes = acq.log_value_and_gradient(A)
    values, natural = acq.value_and_gradient(A)
    np.testing.assert_allclose(values, np.exp(logs), rtol=1e-12)
    for a, slope in zip(A, slopes, strict=True):
        assert_gradient(slope, central_difference(lambda x: acq.log_value(x[None])[0], a, 3e-5))
    np.testing.assert_allclose(natural, values[:, None] * slopes, rtol=1e-10, atol=1e-300)


@by_goals
def test_gradients_with_front_points_that_nearly_coincide(goals: int) -> None:
    """Boxes of a width from 1e-3 down to 1e-12: their integrals do not cancel."""
    X = np.array([[0.2, 0.2], [0.2 + 1e-3, 0.2], [0.2, 0.2 + 1e-6], [0.8, 0.3], [0.8, 0.3 + 1e-9]])
    rng = np.random.default_rng(0)
    processes = [
        GaussianProcess(X, rng.standard_normal(5), 0.1, Matern52(rng.uniform(0.5, 1, 2)))
        for _ in range(goals)
    ]
    acq = build_hypervolume(processes, draws=16)
    widths = np.concatenate([e.values[e.high] - e.values[e.low] for e in acq.edges])
    assert widths.min() < 1e-3
    for a in new_points(2, 4):
        slope = acq.log_value_and_gradient(a[None])[1][0]
        assert_gradient(slope, central_difference(lambda x: acq.log_value(x[None])[0], a, 3e-5))


def test_it_has_a_slope_where_it_is_below_the_smallest_number() -> None:
    X = np.linspace(0, 1, 9)[:, None]
    processes = [
        GaussianProcess(X, 5 * (X[:, 0] - c) ** 2, 1e-8, Matern52([0.5])) for c in (0.1, 0.3)
    ]
    acq = build_hypervolume(processes)
    x = np.array([[0.97]])
    logs, slope = acq.log_value_and_gradient(x)
    assert acq.value(x)[0] == 0.0
    assert -np.inf < logs[0] < -745
    assert slope[0, 0] < 0  # better points are on the left


# -- limits ----------------------------------------------------------------------------


@by_goals
def test_a_limit_that_certainly_holds_changes_nothing(goals: int) -> None:
    processes = make_processes(3, goals + 1)
    A = new_points(3, 20)
    free = build_hypervolume(processes[:goals])
    for bound in (1e6, 1e300):
        held = build_hypervolume(processes[:goals], [Limit(processes[-1], bound)])
        np.testing.assert_array_equal(held.log_value(A), free.log_value(A))
        np.testing.assert_array_equal(held.reference, free.reference)


@by_goals
def test_without_a_feasible_point_all_below_the_reference_counts(goals: int) -> None:
    processes = make_processes(4, goals + 1, noise=0.0)
    limit = Limit(processes[-1], float(processes[-1].y.min() - 0.1))
    acq = build_hypervolume(processes[:goals], [limit], draws=8)
    assert len(acq.draw) == 8  # one box for each draw
    A = new_points(4, 5)
    expected = np.ones(5)
    for gp, r in zip(processes[:goals], acq.reference, strict=True):
        dense = Dense(gp)
        s = np.sqrt(dense.variance(A))
        z = (r - dense.mean(A)) / s
        expected *= s * (norm.pdf(z) + z * norm.cdf(z))
    dense = Dense(processes[-1])
    expected *= norm.cdf((limit.bound - dense.mean(A)) / np.sqrt(dense.variance(A)))
    np.testing.assert_allclose(acq.value(A), expected, rtol=1e-3, atol=1e-6 * expected.max())
    assert np.all(np.linalg.norm(acq.log_value_and_gradient(A)[1], axis=1) > 0)


@pytest.mark.parametrize("bound", [-1e300, 1e300, -np.inf, np.inf])
def test_bounds_may_be_as_far_as_they_like(bound: float) -> None:
    processes = make_processes(5, 3)
    acq = build_hypervolume(processes[:2], [Limit(processes[2], bound)])
    logs, slopes = acq.log_value_and_gradient(new_points(5))
    assert np.all(np.isfinite(logs))
    assert np.all(np.isfinite(slopes))


# -- degenerate fronts -----------------------------------------------------------------


@by_goals
def test_a_single_observation(goals: int) -> None:
    processes = [
        GaussianProcess([[0.5, 0.5]], [1.0], 0.01, Matern52([0.5, 0.5])) for _ in range(goals)
    ]
    acq = build_hypervolume(processes)
    assert np.all(acq.value(new_points(0)) > 0)
    assert np.all(acq.reference > 1.0)


def test_goals_that_agree_have_a_front_of_one_point() -> None:
    """One point is best in both goals, in every draw."""
    (gp,) = make_processes(6, 1, n=10, noise=0.0)
    acq = build_hypervolume([gp, gp], draws=4)
    assert len(acq.draw) == 8
    found = maximize(acq)
    assert found.value >= acq.value(new_points(6, 200)).max()


def test_a_constant_goal_leaves_the_other() -> None:
    (gp,) = make_processes(6, 1, n=10)
    flat = GaussianProcess(gp.X, np.zeros(10), 0.01, Matern52([0.5, 0.5]))
    logs, slopes = build_hypervolume([gp, flat]).log_value_and_gradient(gp.X)
    assert np.all(np.isfinite(logs))
    assert np.all(np.isfinite(slopes))


@by_goals
def test_repeated_points_count_once(goals: int) -> None:
    X = np.array([[0.3, 0.3]] * 4 + [[0.7, 0.6]] * 4)
    rng = np.random.default_rng(1)
    processes = [
        GaussianProcess(X, rng.standard_normal(8), 0.2, Matern52([0.5, 0.5])) for _ in range(goals)
    ]
    acq = build_hypervolume(processes, draws=32)
    assert len(acq.draw) <= 32 * ((goals - 1) * 2 + 1)
    assert np.all(np.isfinite(acq.log_value(X)))


def test_only_points_that_every_process_has_are_on_a_front() -> None:
    """A goal that was told for some points only; where none is common, the front is empty."""
    one, two = make_processes(8, 2, n=8)
    later = GaussianProcess(two.X[:3], two.y[:3], 0.01, two.kernel, two.mean)
    assert build_hypervolume([one, later], draws=16).draw.size <= 16 * 4
    moved = GaussianProcess(two.X[:3] / 2, two.y[:3], 0.01, two.kernel, two.mean)
    apart = build_hypervolume([one, moved], draws=16)
    assert apart.draw.size == 16
    assert np.all(np.isfinite(apart.log_value(new_points(8))))


# -- pending points, units, seeds ------------------------------------------------------


@by_goals
def test_a_pending_point_leaves_little_to_gain_next_to_it(goals: int) -> None:
    processes = make_processes(9, goals, n=10)
    free = build_hypervolume(processes)
    x = maximize(free).x
    conditioned = [gp.condition(x[None], 1e-8) for gp in processes]
    there = build_hypervolume(conditioned, reference=free.reference)
    assert there.value(x[None])[0] < 0.05 * free.value(x[None])[0]


@by_goals
@pytest.mark.parametrize("power", [-498, 498])
def test_units_of_one_goal_scale_the_value_and_nothing_else(goals: int, power: int) -> None:
    """By powers of two no bit changes, from 1e-150 to 1e150, in each goal by itself."""
    processes = make_processes(10, goals, n=9)
    factor = 2.0**power
    gp = processes[1]
    kernel = Matern52(gp.kernel.lengthscales, gp.kernel.variance * factor**2)
    scaled = GaussianProcess(
        gp.X, gp.y * factor, gp.noise_variance * factor**2, kernel, gp.mean * factor
    )
    one = build_hypervolume(processes)
    other = build_hypervolume([processes[0], scaled, *processes[2:]])
    A = new_points(10, 20)
    np.testing.assert_array_equal(other.value(A), one.value(A) * factor)
    np.testing.assert_array_equal(maximize(other).x, maximize(one).x)


def test_units_whose_product_is_no_number_leave_the_search_alone() -> None:
    processes = make_processes(10, 3, n=9)
    expected = maximize(build_hypervolume(processes)).x
    for factor in (2.0**498, 2.0**-498):
        scaled = [
            GaussianProcess(
                gp.X,
                gp.y * factor,
                gp.noise_variance * factor**2,
                Matern52(gp.kernel.lengthscales, gp.kernel.variance * factor**2),
                gp.mean * factor,
            )
            for gp in processes
        ]
        found = maximize(build_hypervolume(scaled))
        np.testing.assert_array_equal(found.x, expected)
        assert found.value > 0


def test_a_seed_gives_the_same_values_again() -> None:
    processes, A = make_processes(12, 2), new_points(12)
    one, two, other = (build_hypervolume(processes, seed=seed).value(A) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, two)
    assert np.all(one != other)


def test_draws_of_processes_are_independent() -> None:
    """The same process twice: its two sets of draws have nothing to do with each other."""
    (gp,) = make_processes(13, 1, n=4, noise=0.5)
    drawn = draw_in_common([gp, gp], [Limit(gp, 0.0)], 4096, 5)
    for i in range(4):
        correlation = np.corrcoef(drawn.goals[:, i, 0], drawn.goals[:, i, 1])[0, 1]
        assert abs(correlation) < 5 / np.sqrt(4096)


# -- the reference point, the search ---------------------------------------------------


def test_the_default_reference_is_beyond_the_means_and_those_where_limits_are_likely() -> None:
    processes = make_processes(14, 3, n=12)
    limit = bounds_of(processes[2:])[0]
    acq = build_hypervolume(processes[:2], [limit])
    X = processes[0].X
    means = np.column_stack([gp.posterior(X)[0] for gp in processes[:2]])
    likely = processes[2].posterior(X)[0] <= limit.bound
    parts = np.array([reference_point(means[likely]), reference_point(means)])
    assert np.any(parts[0] != parts[1])
    np.testing.assert_allclose(acq.reference, parts.max(axis=0), rtol=1e-9)


def test_a_reference_that_is_given_is_used() -> None:
    processes = make_processes(14, 2, n=12)
    acq = build_hypervolume(processes, reference=[3.0, 4.0])
    np.testing.assert_allclose(acq.reference, [3.0, 4.0])
    # far away, it is a matter of the ends of the front alone, and still a number
    far = build_hypervolume(processes, reference=[1e300, np.inf])
    assert np.all(np.isfinite(far.log_value(new_points(14))))


@by_goals
def test_the_search_finds_a_value_that_no_sample_beats(goals: int) -> None:
    processes = make_processes(15, goals + 1, n=20, d=3)
    acq: NoisyHypervolumeImprovement = build_hypervolume(
        processes[:goals], bounds_of(processes[goals:])
    )
    assert maximize(acq).value >= acq.value(new_points(15, 2000, 3)).max()


def test_good_points_come_first_in_the_order_of_merit() -> None:
    X = np.array([[0.1], [0.4], [0.6], [0.9]])
    one = GaussianProcess(X, [0.0, 1.0, 2.0, 3.0], 1e-4, Matern52([0.3]))
    two = GaussianProcess(X, [1.0, 0.0, 2.0, 3.0], 1e-4, Matern52([0.3]))
    merits = build_hypervolume([one, two]).measured[1]
    assert max(merits[:2]) < min(merits[2:])


# -- bad input -------------------------------------------------------------------------


def test_one_goal_or_four_are_refused() -> None:
    processes = make_processes(0, 4)
    for count in (0, 1, 4):
        with pytest.raises(InputError, match=f"2 or 3 goals, got {count}"):
            build_hypervolume(processes[:count])


@pytest.mark.parametrize("reference", [[1.0], [1.0, np.nan], [1.0, 1.0, 1.0]])
def test_a_reference_that_does_not_fit_is_refused(reference: list[float]) -> None:
    with pytest.raises(InputError, match="one number for each of 2 goals"):
        build_hypervolume(make_processes(0, 2), reference=reference)
