"""Candidates of the suite that are more than settings: each does what it says."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from ceibo.acquisition import find_incumbent
from ceibo.decide.evidence import Evidence
from ceibo.decide.settings import Settings
from ceibo.decide.space import Float, Space
from ceibo.decide.suggest import suggest
from ceibo.gp.inputs import Array
from ceibo_lab.methods.ceibo import Ceibo
from ceibo_lab.methods.variants import VARIANTS, draw_processes, winsorised, with_smooth_noise
from ceibo_lab.run import evidence_of

PLANE = Space({"a": Float(0, 1), "b": Float(0, 1)})


def default(seed: int = 0) -> Ceibo:
    return Ceibo(PLANE, seed, Settings())


def evidence(
    n: int, noise: Array | float | Callable[[Array], Array], told: bool, seed: int = 0
) -> Evidence:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    std = np.broadcast_to(np.asarray(noise(X) if callable(noise) else noise, dtype=float), n)
    y = np.sin(4 * X[:, 0]) + X[:, 1] ** 2 + std * rng.standard_normal(n)
    known = std.copy() if told else np.full(n, np.nan)
    return evidence_of(X, y, known)


def test_a_portfolio_takes_turns() -> None:
    known = evidence(12, 0.1, told=True)
    for number, name in ((20, "noisy-ei"), (21, "knowledge-gradient")):
        found = VARIANTS["portfolio"].around(default(3)).propose(known, number)
        np.testing.assert_array_equal(
            found.x, suggest(known, PLANE, Settings(acquisition=name), None, 3, number).x
        )


def test_every_fifth_measurement_repeats_the_incumbent() -> None:
    known = evidence(12, 0.1, told=True)
    for number in range(12, 22):
        found = VARIANTS["repeating"].around(default()).propose(known, number)
        assert found.model is not None
        assert np.array_equal(found.x, find_incumbent(found.model.gp).x) == (number % 5 == 0)


def test_a_cautious_recommendation_has_the_lowest_upper_bound() -> None:
    known = evidence(15, np.linspace(0.01, 0.8, 15), told=True)
    method = VARIANTS["cautious"].around(default())
    found = method.recommend(known)
    gp = default().model(known).gp
    bounds = [
        mean + np.sqrt(variance) for mean, variance in (gp.posterior(x[None]) for x in known.X)
    ]
    assert found is not None
    np.testing.assert_array_equal(found, known.X[int(np.argmin(bounds))])


def test_smooth_noise_finds_where_there_is_more_of_it() -> None:
    def grows(X: Array) -> Array:
        return np.asarray(0.05 + 0.6 * X[:, 0])

    known = evidence(150, grows, told=False)
    told = with_smooth_noise(default(), known).noise
    truth = grows(known.X)
    assert np.corrcoef(np.log(told), np.log(truth))[0, 1] > 0.7
    assert np.mean(np.abs(np.log(told / truth))) < np.mean(np.abs(np.log(np.mean(truth) / truth)))


def test_smooth_noise_leaves_told_noise_alone() -> None:
    known = evidence(20, 0.2, told=True)
    assert with_smooth_noise(default(), known) is known


@pytest.mark.parametrize("told", [True, False])
def test_hyperparameters_are_drawn_as_wide_as_the_likelihood_is(told: bool) -> None:
    """A process is drawn far less often where its log density is much below the maximum."""
    known = evidence(40, 0.1, told=told)
    model = default().model(known)
    drawn = [gp for k in range(20) for gp in draw_processes(default(), known, model, f"test {k}")]
    falls = np.array([model.gp.log_likelihood - gp.log_likelihood for gp in drawn])
    parameters = 3 + (not told)
    # Under a normal posterior twice the fall is chi-square; the prior's share of the density blurs
    # it.
    assert 0.3 * parameters < 2 * np.median(falls) < 3 * parameters
    lengthscales = np.array([gp.kernel.lengthscales for gp in drawn])
    assert np.all(np.std(np.log(lengthscales), axis=0) > 0.02)
    np.testing.assert_allclose(
        np.exp(np.mean(np.log(lengthscales), axis=0)), model.gp.kernel.lengthscales, rtol=0.5
    )


def test_marginalised_choices_lie_in_the_space() -> None:
    known = evidence(12, 0.1, told=True)
    method = VARIANTS["marginalised"].around(default())
    x = method.propose(known, 12).x
    best = method.recommend(known)
    assert best is not None
    for point in (x, best):
        assert np.all((point >= 0) & (point <= 1))
    map_best = default().model(known).gp.posterior(best[None])[0]
    # good by the single model too
    assert map_best <= find_incumbent(default().model(known).gp).mean + 0.3


def test_winsorising_clips_what_is_far_worse_than_the_rest_and_nothing_else() -> None:
    known = replace(
        evidence(8, 0.0, told=True), y=np.array([-50.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 100.0])
    )
    low, high = np.quantile(known.y, [0.25, 0.75])
    clipped = winsorised(default(), known)
    np.testing.assert_array_equal(clipped.y, [*known.y[:-1], high + 1.5 * (high - low)])


@pytest.mark.parametrize("name", ["smooth-noise", "winsorised"])
def test_changed_evidence_is_what_the_model_sees(name: str) -> None:
    known = replace(evidence(12, 0.1, told=False), y=np.append(np.arange(11.0), 500.0))
    change = {"smooth-noise": with_smooth_noise, "winsorised": winsorised}[name]
    seen = change(default(), known)
    method = VARIANTS[name].around(default())
    np.testing.assert_array_equal(method.propose(known, 12).x, default().propose(seen, 12).x)
    model = method.model(known)
    assert model is not None
    np.testing.assert_array_equal(model.gp.y, default().model(seen).gp.y)
