"""The paper's lemmas, and the quantities of its regret bound, against brute force."""

from dataclasses import replace
from itertools import combinations_with_replacement, permutations
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceibo import acquisition, theory
from ceibo.acquisition import normal
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess, Kernel, Matern32, Matern52, SquaredExponential
from tests.helpers import KERNELS, Array

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=60, deadline=None, derandomize=True)


def random_run(
    seed: int, largest: int = 25
) -> tuple[Kernel, np.ndarray, np.ndarray, np.random.Generator]:
    """Unit-amplitude kernel, visited points (some of them twice) and a noise variance for each."""
    rng = np.random.default_rng(seed)
    d, steps = int(rng.integers(1, 4)), int(rng.integers(2, largest))
    kernel = KERNELS[rng.integers(len(KERNELS))](np.exp(rng.uniform(-2.5, 1.0, d)))
    X = rng.random((steps, d))
    X[rng.integers(steps)] = X[rng.integers(steps)]
    noise = np.exp(rng.uniform(np.log(1e-3), np.log(30.0), steps))
    return kernel, X, noise, rng


def stepwise_variances(kernel: Kernel, X: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """σ²_{t−1}(x_t), each from a model of the first t − 1 observations."""
    first = [kernel.variance]
    for t in range(1, len(X)):
        gp = GaussianProcess(X[:t], np.zeros(t), noise[:t], kernel)
        first.append(float(gp.posterior(X[[t]])[1][0]))
    return np.array(first)


# -- information gain ------------------------------------------------------------------


@quick
@given(seeds)
def test_realised_gain_is_the_chain_rule_sum(seed: int) -> None:
    kernel, X, noise, _ = random_run(seed)
    chain = np.sum(0.5 * np.log1p(stepwise_variances(kernel, X, noise) / noise))
    assert theory.information_gain(kernel, X, noise) == pytest.approx(chain, rel=1e-8)


@quick
@given(seeds)
def test_sum_of_variances_along_the_visited_points_is_bounded_by_the_realised_gain(
    seed: int,
) -> None:
    kernel, X, noise, _ = random_run(seed)
    variances = stepwise_variances(kernel, X, noise)
    gain = theory.information_gain(kernel, X, noise)
    # With each observation's own noise the inequality holds term by term, hence with υ_max for all.
    assert np.all(variances <= np.log1p(variances / noise) / np.log1p(1 / noise) * (1 + 1e-12))
    assert np.sum(variances) <= theory.variance_sum_bound(gain, float(np.sqrt(noise.max()))) * (
        1 + 1e-9
    )


def test_sum_of_variances_at_a_fixed_point_is_not_bounded_by_the_realised_gain() -> None:
    """The visited points matter: one place measured repeatedly says nothing of another far away."""
    kernel, steps = Matern52([0.01]), 50
    X, noise = np.zeros((steps, 1)), np.full(steps, 0.01)
    elsewhere = steps * 1.0  # σ² stays 1 at x = 1
    assert elsewhere > 5 * theory.variance_sum_bound(theory.information_gain(kernel, X, noise), 0.1)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seeds)
def test_greedy_bound_is_at_least_the_brute_force_maximum(seed: int) -> None:
    kernel, X, noise, rng = random_run(seed, largest=4)
    candidates = rng.random((4, X.shape[1]))
    pool = np.concatenate([candidates, X])
    best = max(
        theory.information_gain(kernel, pool[list(rows)], list(order))
        for rows in combinations_with_replacement(range(len(pool)), len(X))
        for order in set(permutations(noise.tolist()))
    )
    bound = theory.maximal_gain_bound(kernel, X, noise, candidates)
    assert bound >= best * (1 - 1e-12)
    assert bound >= theory.information_gain(kernel, X, noise) * (1 - 1e-12)
    # Greedy is within its guaranteed share, and never above the maximum.
    same = np.full(len(X), noise.min())
    largest = max(
        theory.information_gain(kernel, pool[list(rows)], same)
        for rows in combinations_with_replacement(range(len(pool)), len(X))
    )
    assert (
        (1 - np.exp(-1)) * largest
        <= theory.greedy_gain(kernel, pool, same) * (1 + 1e-12)
        <= largest * (1 + 1e-9)
    )


def test_gain_of_independent_points_and_of_one_point() -> None:
    kernel = SquaredExponential([1e-3])
    X = np.linspace(0, 1, 6)[:, None]
    assert theory.information_gain(kernel, X, 0.5) == pytest.approx(3 * np.log(3.0))
    assert theory.greedy_gain(kernel, X, np.full(6, 0.5)) == pytest.approx(3 * np.log(3.0))
    assert theory.maximal_gain_bound(kernel, X, 0.5, X) == pytest.approx(3 * np.log(3.0))
    assert theory.information_gain(kernel, X[[0, 0]], [1.0, 1.0]) == pytest.approx(
        0.5 * np.log(3.0)
    )


def test_a_tiny_noise_does_not_ruin_the_bound() -> None:
    """One lucky precise measurement must not be charged to every step."""
    rng = np.random.default_rng(3)
    X, noise = rng.random((30, 2)), np.full(30, 0.5)
    noise[7] = 1e-12
    kernel = Matern52([0.6, 0.6])
    naive = theory.greedy_gain(kernel, X, np.full(30, 1e-12)) / (1 - np.exp(-1))
    assert theory.maximal_gain_bound(kernel, X, noise) < 0.25 * naive


# -- the paper's inequalities ----------------------------------------------------------


def test_tau_inequalities() -> None:
    z = np.concatenate([np.linspace(-40, 40, 4001), np.linspace(-1e-3, 1e-3, 101), [-1e6, 1e6]])
    tau = normal.tau(z)
    left, right = z <= 0, z >= 0
    assert np.all(tau[left] <= normal.pdf(z[left]) * (1 + 1e-15))
    assert np.all(tau[right] <= 1 + z[right])
    np.testing.assert_allclose(tau - normal.tau(-z), z, rtol=1e-14, atol=1e-15)


@quick
@given(seeds, st.floats(1e-4, 0.79))
def test_a_point_worth_measuring_is_not_much_worse_than_the_incumbent(
    seed: int, kappa: float
) -> None:
    """While corrected EI is at least κ, μ(x) − μ(x⁺) ≤ √C σ̃(x); and σ̃ ≤ σ(x) + σ(x⁺) always."""
    kernel, X, noise, rng = random_run(seed)
    gp = GaussianProcess(X, 2.0 * rng.standard_normal(len(X)), noise, kernel)
    corrected = acquisition.build("corrected-ei", gp)
    best = corrected.incumbent
    new = rng.random((200, X.shape[1]))
    mean, variance = gp.posterior(new)
    squared = variance + best.std**2 - 2 * gp.covariance(new, best.x[None, :])[:, 0]
    spread = np.sqrt(np.maximum(squared, 0.0))
    assert np.all(spread <= np.sqrt(variance) + best.std + 1e-7)
    worth = corrected.value(new) >= kappa
    excess = mean[worth] - best.mean
    assert np.all(excess <= np.sqrt(theory.improvement_constant(kappa)) * spread[worth] + 1e-7)


class Believed(NamedTuple):
    """A function, what is believed of it on a grid, and the least √β for which Lemma 1 holds."""

    f: Array  # (N,)
    best: float  # f(x⁺)
    mean_gap: Array  # (N,) μ(x) − μ(x⁺)
    std: Array
    best_std: float
    difference_std: Array  # σ̃
    value: Array  # corrected EI
    width: float  # √β


def believed(seed: int) -> Believed:
    """A run on a draw of the process, or on a much rougher function than the model expects."""
    kernel, X, noise, rng = random_run(seed)
    grid = np.concatenate([X, rng.random((150, X.shape[1]))])
    truth = replace(kernel, lengthscales=kernel.lengthscales * rng.choice([0.2, 1.0]))
    root = np.linalg.cholesky(truth(grid, grid) + 1e-8 * np.eye(len(grid)))
    f = root @ rng.standard_normal(len(grid))
    y = f[: len(X)] + np.sqrt(noise) * rng.standard_normal(len(X))
    gp = GaussianProcess(X, y, noise, kernel)
    corrected = acquisition.build("corrected-ei", gp)
    best = corrected.incumbent
    mean, variance = gp.posterior(grid)
    std = np.sqrt(np.maximum(variance, 1e-14))
    spread = gp.unit * np.sqrt(corrected.predictor(grid).difference_variance)
    width = float(np.max(np.abs(mean - f) / std))
    gap = mean - best.mean
    return Believed(f, f[best.index], gap, std, best.std, spread, corrected.value(grid), width)


@quick
@given(seeds)
def test_lemma_5_corrected_ei_is_above_the_improvement_less_what_is_not_known(seed: int) -> None:
    """α(x) ≥ max(0, I(x) − √β (σ(x) + σ(x⁺))), I(x) = max(0, f(x⁺) − f(x))."""
    run = believed(seed)
    improvement = np.maximum(run.best - run.f, 0.0)
    bound = improvement - run.width * (run.std + run.best_std)
    assert np.all(run.value >= np.maximum(bound, 0.0) - 1e-9)


@quick
@given(seeds)
def test_lemma_6_the_incumbents_regret_is_bounded_by_the_next_value(seed: int) -> None:
    """f(x⁺) − f(x*) ≤ √β (σ(x*) + σ(x⁺)) + α(x_t), x_t where corrected EI is largest."""
    run = believed(seed)
    optimum = int(np.argmin(run.f))
    bound = run.width * (run.std[optimum] + run.best_std) + np.max(run.value)
    assert run.best - run.f[optimum] <= bound + 1e-9


def test_the_regret_needs_a_term_more_than_the_paper_has() -> None:
    """f(x_t) − f(x⁺) is not μ(x_t) − μ(x⁺): only with √β (σ(x_t) + σ(x⁺)) added is it bounded."""
    beyond = 0
    for seed in range(60):
        run = believed(seed)
        at = int(np.argmax(run.value))
        gap = run.f[at] - run.best
        beyond += gap > run.mean_gap[at] + 1e-9
        assert gap <= run.mean_gap[at] + run.width * (run.std[at] + run.best_std) + 1e-9
    assert beyond > 10


# -- norm, β_T, the bound --------------------------------------------------------------


def test_norm_of_a_known_function_and_its_lower_bound() -> None:
    """f = Σ c_i k(·, z_i) has ‖f‖² = cᵀKc: its values never give more, all centres just that."""
    rng = np.random.default_rng(0)
    kernel = Matern32([0.4, 0.7], 5.0)
    centres, weights = rng.random((6, 2)), rng.standard_normal(6)
    norm = float(np.sqrt(weights @ kernel(centres, centres) @ weights))
    assert theory.norm_lower_bound(
        kernel, centres, kernel(centres, centres) @ weights
    ) == pytest.approx(norm)
    previous = 0.0
    X = rng.random((40, 2))
    for n in (1, 5, 20, 40):
        bound = theory.norm_lower_bound(kernel, X[:n], kernel(X[:n], centres) @ weights)
        assert previous <= bound <= norm * (1 + 1e-9)
        previous = bound
    doubled = np.concatenate([X, X])  # K is singular: the jitter may only lower the bound
    again = theory.norm_lower_bound(kernel, doubled, kernel(doubled, centres) @ weights)
    assert again <= norm * (1 + 1e-9)


def test_report_is_put_together_as_in_the_paper() -> None:
    kernel, X, noise, rng = random_run(11)
    report = theory.regret_report(kernel, X, noise, kappa=0.05, delta=0.2, norm=3.0)
    T, gamma = len(X), theory.maximal_gain_bound(kernel, X, noise)
    beta = 2 * 9.0 + 300 * gamma * np.log(T / 0.2) ** 3
    C = np.log(2 / (np.pi * 0.05**2))
    expected = np.sqrt(2 * T * gamma / np.log(1 + 1 / noise.max()))
    expected *= np.sqrt(beta) + np.sqrt(2 * (1 + C)) + np.sqrt(3 * (1 + C + beta))
    assert (report.steps, report.maximal_gain, report.norm_is_lower_bound) == (T, gamma, False)
    assert report.beta == pytest.approx(beta)
    assert report.constant == pytest.approx(C)
    assert report.regret_bound == pytest.approx(expected)
    assert report.average_regret_bound == pytest.approx(expected / T)
    assert report.realised_gain == pytest.approx(theory.information_gain(kernel, X, noise))
    from_values = theory.regret_report(
        kernel, X, noise, kappa=0.05, f_values=rng.standard_normal(T)
    )
    assert from_values.norm_is_lower_bound


@quick
@given(seeds, st.sampled_from([1e-60, 1e-3, 7.0, 1e60]))
def test_units_change_nothing_but_the_bound_s_unit(seed: int, unit: float) -> None:
    kernel, X, noise, rng = random_run(seed, largest=10)
    f, candidates = rng.standard_normal(len(X)), rng.random((20, X.shape[1]))
    scaled = type(kernel)(kernel.lengthscales, kernel.variance * unit**2)
    one = theory.regret_report(kernel, X, noise, kappa=0.1, f_values=f, candidates=candidates)
    other = theory.regret_report(
        scaled, X, noise * unit**2, kappa=0.1 * unit, f_values=f * unit, candidates=candidates
    )
    for name in ("noise_max", "realised_gain", "maximal_gain", "norm", "beta", "constant"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-9), name
    assert other.regret_bound == pytest.approx(one.regret_bound * unit, rel=1e-9)


def test_regret_is_within_the_bound_on_a_function_of_known_norm() -> None:
    rng = np.random.default_rng(5)
    kernel, noise = Matern52([0.3]), 0.01
    centres, weights = rng.random((5, 1)), rng.standard_normal(5)
    norm = float(np.sqrt(weights @ kernel(centres, centres) @ weights))
    X = rng.random((3, 1))
    y = kernel(X, centres) @ weights + 0.1 * rng.standard_normal(3)
    for step in range(15):
        x = acquisition.maximize(
            acquisition.build("corrected-ei", GaussianProcess(X, y, noise, kernel)), seed=step
        ).x
        X = np.vstack([X, x])
        y = np.append(y, kernel(x[None, :], centres) @ weights + 0.1 * rng.standard_normal())
    grid = np.linspace(0, 1, 2001)[:, None]
    regret = np.sum(kernel(X, centres) @ weights - np.min(kernel(grid, centres) @ weights))
    report = theory.regret_report(kernel, X, noise, kappa=0.01, norm=norm)
    assert report.realised_gain <= report.maximal_gain
    assert 0 <= regret <= report.regret_bound


# -- errors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kappa": 0.0}, "kappa must be a finite number above zero"),
        ({"kappa": -1.0}, "kappa must be a finite number above zero"),
        ({"kappa": float("nan")}, "kappa must be a finite number above zero"),
        ({"kappa": 2 * 0.798}, r"at most √\(2/π\)"),
        ({"noise_variance": 0.0}, "above zero at every point"),
        ({"noise_variance": [0.1, 0.0, 0.1]}, "row 1"),
        ({"noise_variance": float("nan")}, "unknown noise"),
        ({"delta": 0.0}, "delta must be between"),
        ({"delta": 1.0}, "delta must be between"),
        ({"norm": None}, "give either norm"),
        ({"f_values": [1.0, 2.0, 3.0]}, "give either norm"),
        ({"norm": -1.0}, "norm must be a finite number"),
        ({"norm": None, "f_values": [1.0]}, "f_values must have shape"),
        ({"candidates": [[0.1]]}, "candidates must have 2 columns"),
        ({"X": [[0.1, 0.2, 0.3]]}, "X must have 2 columns"),
    ],
)
def test_bad_input(change: dict[str, object], words: str) -> None:
    # Amplitude 2, so the largest κ is twice √(2/π).
    given_: dict[str, object] = {
        "X": np.eye(3, 2),
        "noise_variance": 0.1,
        "kappa": 1.5,
        "norm": 1.0,
    } | change
    with pytest.raises(InputError, match=words):
        theory.regret_report(Matern52([0.5, 0.5], 4.0), **given_)  # type: ignore[arg-type]


def test_largest_kappa_is_accepted() -> None:
    assert theory.improvement_constant(float(np.sqrt(2 / np.pi))) == 0.0
    assert theory.improvement_constant(2 * float(np.sqrt(2 / np.pi)), variance=4.0) == 0.0
