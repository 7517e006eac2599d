"""Blocks: noise that rows share. The oracle is the dense matrix K + diag(υ²) + Σ_t σ_t² [same]."""

import numpy as np
import pytest
from scipy.stats import halfcauchy, multivariate_normal

from ceibo.errors import InputError
from ceibo.gp import Blocks, GaussianProcess, Hyperparameters, Matern52, fit_gp
from ceibo.gp.blocks import SharedNoise
from ceibo.gp.inputs import Indices
from ceibo.gp.likelihood import BLOCK_SCALE, NUGGET, Objective, Priors
from ceibo.gp.observations import standardize
from ceibo.gp.offsets import block_offsets
from tests.helpers import Array, assert_gradient, central_difference, kernel_oracle

VARIANCES = np.array([0.3, 0.08])
KERNEL = Matern52([0.4, 0.7], 1.3)


def same(of: Indices, other: Indices, variances: Array) -> Array:
    """Σ_t σ_t² [same block of kind t], by its definition."""
    out = np.zeros((len(of), len(other)))
    for i, row in enumerate(of):
        for j, column in enumerate(other):
            for t, variance in enumerate(variances):
                out[i, j] += variance * (row[t] == column[t] and row[t] >= 0)
    return out


def data(n: int = 18, seed: int = 0) -> tuple[Array, Array, Array, Indices]:
    """Points, values, noise variances and the blocks of two kinds, some rows in none."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    of = np.column_stack([rng.integers(-1, 4, n), rng.integers(0, 3, n)])
    offsets = rng.standard_normal((2, 4)) * 0.5
    y = np.cos(4 * X.sum(axis=1)) + offsets[0, of[:, 0]] * (of[:, 0] >= 0) + offsets[1, of[:, 1]]
    return X, y, np.exp(rng.uniform(-5, -2, n)), of


def process(seed: int = 0, scale: float = 1.0) -> GaussianProcess:
    X, y, noise, of = data(seed=seed)
    blocks = Blocks(of, VARIANCES * scale**2)
    kernel = Matern52(KERNEL.lengthscales, KERNEL.variance * scale**2)
    return GaussianProcess(X, y * scale, noise * scale**2, kernel, 0.2 * scale, None, blocks)


def noise_matrix(gp: GaussianProcess) -> Array:
    assert gp.blocks is not None
    of = gp.blocks.of
    return np.asarray(np.diag(gp.noise_variance) + same(of, of, gp.blocks.variances))


def dense(gp: GaussianProcess, X_new: Array) -> tuple[Array, Array]:
    """Posterior mean and covariance at new points, by solving with the whole matrix."""
    K = kernel_oracle(gp.kernel, gp.X, gp.X) + noise_matrix(gp)
    cross = kernel_oracle(gp.kernel, X_new, gp.X)
    mean = gp.mean + cross @ np.linalg.solve(K, gp.y - gp.mean)
    prior = kernel_oracle(gp.kernel, X_new, X_new)
    return mean, prior - cross @ np.linalg.solve(K, cross.T)


def test_the_posterior_is_that_of_the_dense_matrix() -> None:
    gp, X_new = process(), np.random.default_rng(1).random((7, 2))
    mean, covariance = dense(gp, X_new)
    np.testing.assert_allclose(gp.posterior(X_new)[0], mean, rtol=1e-10)
    np.testing.assert_allclose(gp.posterior(X_new)[1], np.diag(covariance), rtol=1e-9)
    np.testing.assert_allclose(gp.covariance(X_new, X_new), covariance, rtol=1e-8, atol=1e-12)
    K = kernel_oracle(gp.kernel, gp.X, gp.X) + noise_matrix(gp)
    expected = multivariate_normal(np.full(len(gp.y), gp.mean), K).logpdf(gp.y)
    assert gp.log_likelihood == pytest.approx(expected, rel=1e-12)


def test_covariances_with_observed_points_come_from_the_noise_matrix() -> None:
    """A Σ e_j gives σ(x, x_j) without the difference k(x, x_j) − k_x A k_j."""
    gp, X_new = process(), np.random.default_rng(2).random((5, 2))
    rows = np.array([0, 3, 11])
    weights = gp.state.covariance_weights(rows)
    found = gp.unit**2 * gp.unit_kernel(X_new, gp.X) @ weights
    np.testing.assert_allclose(found, gp.covariance(X_new, gp.X[rows]), rtol=1e-9, atol=1e-13)
    for row in rows:
        anchored = gp.predictor(anchor=int(row))
        np.testing.assert_allclose(
            anchored.anchor_weights, gp.state.covariance_weights(np.array([row]))[:, 0], rtol=1e-12
        )


def test_pending_points_share_one_new_block() -> None:
    gp = process()
    assert gp.blocks is not None
    rng = np.random.default_rng(3)
    pending, X_new = rng.random((3, 2)), rng.random((6, 2))
    P = np.concatenate([gp.X, pending])
    of = np.concatenate([gp.blocks.of, np.full((3, 2), 99)])
    noise = np.diag(np.concatenate([gp.noise_variance, np.full(3, 0.05)]))
    K = kernel_oracle(KERNEL, P, P) + noise + same(of, of, VARIANCES)
    cross = kernel_oracle(KERNEL, X_new, P)
    expected = KERNEL.variance - np.sum(cross * np.linalg.solve(K, cross.T).T, axis=1)
    mean, variance = gp.condition(pending, 0.05).posterior(X_new)
    np.testing.assert_allclose(variance, expected, rtol=1e-9)
    np.testing.assert_allclose(mean, gp.posterior(X_new)[0], rtol=1e-12)
    # one by one, they would be in blocks of their own, and say more together
    alone = gp
    for x in pending:
        alone = alone.condition(x[None, :], 0.05)
    assert np.all(alone.posterior(X_new)[1] < variance)


@pytest.mark.parametrize("block", [None, (2, 1), (7, -1)], ids=str)
def test_one_more_observation_is_that_of_all_together(block: tuple[int, int] | None) -> None:
    gp = process()
    assert gp.blocks is not None
    x, X_new = np.array([0.31, 0.77]), np.random.default_rng(4).random((5, 2))
    grown = gp.append(x, 0.4, 0.02, block)
    of = np.concatenate([gp.blocks.of, [(-1, -1) if block is None else block]])
    afresh = GaussianProcess(
        np.concatenate([gp.X, x[None, :]]),
        np.append(gp.y, 0.4),
        np.append(gp.noise_variance, 0.02),
        gp.kernel,
        gp.mean,
        None,
        Blocks(of, VARIANCES),
    )
    for a, b in zip(grown.posterior(X_new), afresh.posterior(X_new), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    assert grown.blocks is not None
    np.testing.assert_array_equal(grown.blocks.of, of)


def test_offsets_of_blocks_are_those_of_the_joint_normal() -> None:
    """Conditioning b_t[j] on y in the joint density of both."""
    gp = process()
    assert gp.blocks is not None
    K = kernel_oracle(gp.kernel, gp.X, gp.X) + noise_matrix(gp)
    for kind, variance in enumerate(VARIANCES):
        of = gp.blocks.of[:, kind]
        means, variances, among = block_offsets(gp, kind)
        assert len(means) == of.max() + 1
        for j in range(len(means)):
            cross = variance * (of == j)
            expected = cross @ np.linalg.solve(K, gp.y - gp.mean)
            left = variance - cross @ np.linalg.solve(K, cross)
            assert means[j] == pytest.approx(expected, rel=1e-9)
            assert variances[j] == pytest.approx(left, rel=1e-9)
        # draws of the offsets differ by as much
        Z = variance * (of[:, None] == np.arange(len(means)))
        covariance = variance * np.eye(len(means)) - Z.T @ np.linalg.solve(K, Z)
        draws = np.random.default_rng(0).multivariate_normal(means, covariance, 200_000)
        assert among == pytest.approx(float(np.mean(np.var(draws, axis=1))), rel=0.02)
    with pytest.raises(InputError, match="of which there are 2, got 2"):
        block_offsets(gp, 2)


def test_no_variance_is_no_blocks_and_blocks_of_one_row_are_noise() -> None:
    gp, X_new = process(), np.random.default_rng(5).random((6, 2))
    parts = gp.X, gp.y, gp.noise_variance, gp.kernel, gp.mean
    assert gp.blocks is not None
    without = GaussianProcess(*parts)
    nothing = GaussianProcess(*parts, None, Blocks(gp.blocks.of, np.zeros(2)))
    np.testing.assert_array_equal(nothing.posterior(X_new), without.posterior(X_new))
    own = GaussianProcess(*parts, None, Blocks(np.arange(len(gp.y)), [0.3]))
    noisier = GaussianProcess(gp.X, gp.y, gp.noise_variance + 0.3, gp.kernel, gp.mean)
    for a, b in zip(own.posterior(X_new), noisier.posterior(X_new), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


@pytest.mark.parametrize("exponent", [-400, -40, 3, 300])
def test_a_power_of_two_changes_no_bit(exponent: int) -> None:
    factor = 2.0**exponent
    one, other = process(), process(scale=factor)
    X_new = np.random.default_rng(6).random((4, 2))
    pending = np.array([[0.1, 0.2], [0.5, 0.5]])
    for a, b in ((one, other), (one.condition(pending), other.condition(pending))):
        assert (a.posterior(X_new)[0] * factor).tobytes() == b.posterior(X_new)[0].tobytes()
        means = a.state.covariance_weights(slice(0, 3)), b.state.covariance_weights(slice(0, 3))
        assert means[0].tobytes() == means[1].tobytes()


def test_the_sums_of_shared_noise_are_those_of_the_whole_matrix() -> None:
    *_, of = data()
    n = len(of)
    rng = np.random.default_rng(7)
    root = rng.standard_normal((n, n))
    A, alpha = np.asfortranarray(np.tril(root @ root.T)), rng.standard_normal(n)
    shared = SharedNoise(of)
    K = np.zeros((n, n))
    shared.add_to(K, VARIANCES)
    np.testing.assert_allclose(np.triu(K), np.triu(same(of, of, VARIANCES)), rtol=1e-14)
    whole = np.outer(alpha, alpha) - root @ root.T
    expected = [
        0.5 * np.sum(whole * same(of[:, [t]], of[:, [t]], VARIANCES[[t]])) for t in range(2)
    ]
    found = shared.gradient(alpha, A, np.diagonal(whole), VARIANCES)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("kind", ["known", "unknown"])
@pytest.mark.parametrize("with_priors", [False, True], ids=["ml", "map"])
def test_the_objective_is_the_density_of_the_raw_data_with_its_gradient(
    kind: str, with_priors: bool
) -> None:
    X, y, noise, of = data()
    # replicates within blocks, across blocks, and of a third kind of one block
    X, y, noise = np.concatenate([X, X[:6]]), np.concatenate([y, y[:6] + 0.1]), np.tile(noise, 2)
    noise = noise[: len(X)] if kind == "known" else np.full(len(X), np.nan)
    of = np.concatenate([of, of[:3], of[3:6] * 0])
    of = np.column_stack([of, np.zeros(len(of), dtype=int)])
    observations = standardize(X, y, noise, None, of)
    assert observations.varying == (0, 1)
    assert len(observations.X) < len(X)
    priors = Priors.default(2, kind == "unknown", None, 2) if with_priors else None
    objective = Objective(observations, Matern52, (), priors)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        theta = np.concatenate([rng.uniform(-1, 0.5, 3), rng.uniform(-4, 0, 3)])
        if kind == "known":
            theta = np.delete(theta, 3)
        value, gradient = objective(theta)
        assert_gradient(gradient, central_difference(lambda t: objective(t)[0], theta, h=1e-3))
        assert objective.value(theta) == pytest.approx(value, rel=1e-12)
        if priors is None:
            kernel = Matern52(np.exp(theta[:2]), np.exp(theta[2]))
            own = noise / observations.scale**2 if kind == "known" else np.exp(theta[[3] * len(X)])
            K = kernel_oracle(kernel, X, X) + np.diag(own) + same(of, of, np.exp(theta[-2:]))
            z = (y - observations.centre) / observations.scale
            expected = multivariate_normal(np.zeros(len(X)), K).logpdf(z)
            slack = NUGGET * kernel.variance * np.trace(np.linalg.inv(K)) * 20 + 1e-9
            assert value == pytest.approx(expected, abs=slack)


def test_the_prior_of_a_blocks_deviation_is_half_cauchy() -> None:
    theta = np.array([0.2, 0.1, -0.4, -3.0, 1.0])
    with_blocks = Priors.default(2, False, None, 2).log_density(theta)[0]
    without = Priors.default(2, False).log_density(theta[:3])[0]
    expected = halfcauchy(scale=BLOCK_SCALE).logpdf(np.exp(0.5 * theta[3:])).sum()
    assert with_blocks - without == pytest.approx(expected, rel=1e-12)


def plates(offset: float, seed: int, n: int = 96) -> tuple[Array, Array, Indices, Array]:
    """Eight plates of twelve, noise 0.1, with offsets of their own."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    of = np.arange(n) // 12
    offsets = offset * rng.standard_normal(8)
    y = np.cos(4 * X.sum(axis=1)) + 0.1 * rng.standard_normal(n)
    return X, y + offsets[of], of, offsets


def test_a_fit_finds_the_spread_of_the_offsets() -> None:
    for seed in range(4):
        X, y, of, offsets = plates(0.3, seed)
        fitted = fit_gp(X, y, blocks=of)
        assert fitted.gp.blocks is not None
        found = float(np.sqrt(fitted.gp.blocks.variances[0]))
        assert found == pytest.approx(float(np.std(offsets)), rel=0.3)
        assert np.sqrt(fitted.noise_variance or 0.0) == pytest.approx(0.1, rel=0.3)
        # without offsets nearly none are found, and the model is that of a study without blocks
        plain = y - offsets[of]
        calm, alone = fit_gp(X, plain, blocks=of), fit_gp(X, plain)
        assert calm.gp.blocks is not None
        assert np.sqrt(calm.gp.blocks.variances[0]) < 0.06
        X_new = np.random.default_rng(0).random((50, 2))
        close = np.abs(calm.gp.posterior(X_new)[0] - alone.gp.posterior(X_new)[0])
        assert np.mean(close) < 0.03


def test_a_shift_of_one_block_leaves_the_answer_nearly_alone() -> None:
    X, y, of, _ = plates(0.3, 1)
    X_new = np.random.default_rng(0).random((50, 2))
    shifted = y + 0.3 * (of == 5)
    one, other = (fit_gp(X, values, blocks=of).gp.posterior(X_new)[0] for values in (y, shifted))
    blind = fit_gp(X, shifted).gp.posterior(X_new)[0] - fit_gp(X, y).gp.posterior(X_new)[0]
    # what is left is the mean of all offsets, an eighth of the shift
    moved = other - one
    assert np.mean(np.abs(moved)) < 0.08
    assert np.std(moved) < 0.25 * np.std(blind)


def test_a_kind_with_one_block_is_left_out_of_the_fit() -> None:
    X, y, of, _ = plates(0.3, 2)
    for single in (np.zeros(len(y), dtype=int), np.full(len(y), -1)):
        fitted = fit_gp(X, y, blocks=np.column_stack([single, of]))
        alone = fit_gp(X, y, blocks=of)
        assert fitted.hyperparameters.blocks[0] == 0.0
        assert fitted.hyperparameters.blocks[1] == alone.hyperparameters.blocks[0] > 0
        assert fitted.log_likelihood == alone.log_likelihood
    plain = fit_gp(X, y, blocks=np.zeros(len(y)))
    assert plain.log_likelihood == fit_gp(X, y).log_likelihood


def test_a_warm_start_goes_on_from_the_variances_of_blocks() -> None:
    X, y, of, _ = plates(0.3, 3)
    cold = fit_gp(X, y, blocks=of)
    warm = fit_gp(X, y, blocks=of, start=cold.hyperparameters)
    assert warm.log_density >= cold.log_density - 1e-2
    # from a fit without blocks, and from one with other kinds
    for blocks in ((), (0.0,), (0.2, 0.3)):
        start = Hyperparameters(cold.hyperparameters.lengthscales, 1.0, 0.1, np.array(blocks))
        assert fit_gp(X, y, blocks=of, start=start).log_density >= cold.log_density - 1e-2


@pytest.mark.parametrize("exponent", [-300, 200])
def test_a_fit_with_blocks_is_free_of_scale(exponent: int) -> None:
    X, y, of, _ = plates(0.3, 4)
    one, other = fit_gp(X, y, blocks=of), fit_gp(X, np.ldexp(y, exponent), blocks=of)
    assert one.hyperparameters.blocks.tobytes() == other.hyperparameters.blocks.tobytes()
    assert one.gp.blocks is not None
    assert other.gp.blocks is not None
    scaled = np.ldexp(np.ldexp(one.gp.blocks.variances, exponent), exponent)
    np.testing.assert_array_equal(scaled, other.gp.blocks.variances)


def test_ml_searches_blocks_from_many_starts_too() -> None:
    X, y, of, offsets = plates(0.3, 5)
    fitted = fit_gp(X, y, method="ml", restarts=3, blocks=of)
    assert fitted.hyperparameters.blocks[0] * np.var(y) == pytest.approx(np.var(offsets), rel=0.6)


def test_what_is_refused() -> None:
    X, y, noise, of = data()
    with pytest.raises(InputError, match="a row per row of X"):
        fit_gp(X, y, noise, blocks=of[:-1])
    with pytest.raises(InputError, match="whole numbers"):
        fit_gp(X, y, noise, blocks=of + 0.5)
    with pytest.raises(InputError, match="whole numbers"):
        fit_gp(X, y, noise, blocks=of - 2)
    with pytest.raises(InputError, match="as many variances"):
        Blocks(of, [0.1])
    with pytest.raises(InputError, match="not negative"):
        Blocks(of, [0.1, -0.1])
    with pytest.raises(InputError, match="of 18 rows"):
        GaussianProcess(X, y, noise, KERNEL, 0.0, None, Blocks(of[:-1], VARIANCES))
    with pytest.raises(InputError, match="each kind of block"):
        Hyperparameters(np.ones(2), 1.0, 0.1, np.array([-1.0]))
