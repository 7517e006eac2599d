"""What a study promises of noise, prices and mixed spaces, in small; the full figures are those of
`make quality`.
"""

import numpy as np
import pytest

from ceibo import Float, Study
from soak import cost, mixed, noise


def test_unknown_noise_is_inferred() -> None:
    """Twelve of the soak's data sets. Estimated from 40 points, a standard deviation errs by about
    13 % already where the function is known; so a median within 15 % and most within 30 % is what
    can be asked of a few.
    """
    found = noise.ratios(12, 40, 1)
    assert np.median(found) == pytest.approx(1.0, abs=0.15)
    assert np.mean(np.abs(found - 1) <= 0.3) >= 0.75


def test_replicates_pin_the_noise_down() -> None:
    """Three replicates of 40 points leave 80 degrees of freedom: a standard error of 8 %."""
    found = noise.ratios(9, 40, 3)
    assert np.median(found) == pytest.approx(1.0, abs=0.08)
    assert np.all(np.abs(found - 1) <= 0.3)


def test_mixed_noise_gives_the_posterior_of_known_noise() -> None:
    """Half of the noise told and half inferred, against all told: within sampling error, which the
    posterior's own standard deviation bounds: both see the same values.
    """
    rng = np.random.default_rng(3)
    known, half = (Study.create({"x": Float(0, 1)}) for _ in range(2))
    for index, x in enumerate(rng.random(60)):
        value = float(np.sin(6 * x) + 0.2 * rng.standard_normal())
        known.add({"x": float(x)}, value, noise=0.2)
        half.add({"x": float(x)}, value, noise=0.2 if index % 2 else None)
    assert known.noise is None
    assert half.noise == pytest.approx(0.2, rel=0.4)  # from 30 values
    at = np.linspace(0, 1, 21)[:, None]
    (mean, variance), (mean_half, variance_half) = (
        study.belief.model.gp.posterior(at) for study in (known, half)
    )
    assert np.all(np.abs(mean - mean_half) <= np.sqrt(variance))
    np.testing.assert_allclose(np.sqrt(variance_half), np.sqrt(variance), rtol=0.4)


def test_a_cheaper_measurement_stops_later() -> None:
    """One seed of the soak, capped: the cheap one is still at work when the dear ones have
    stopped.
    """
    small, middle, large = (cost.run(price, seed=0, most=40) for price in cost.PRICES.values())
    assert small.trials >= middle.trials >= large.trials
    assert small.trials > large.trials
    assert large.stopped
    assert large.believed.evaluations == large.trials - 6


def test_a_mixed_space_beats_random_search() -> None:
    """Three seeds of the soak with fewer trials, against random search with as many."""
    outcomes = [mixed.run(seed, trials=30) for seed in range(3)]
    assert np.mean([each.best for each in outcomes]) < np.mean([each.random for each in outcomes])
    assert mixed.truth(mixed.SPACE.check(_OPTIMUM)) == pytest.approx(0, abs=1e-3)


_OPTIMUM = {
    "temperature": 62.0,
    "flow": 1.8,
    "rate": 1e-3,
    "layers": 5,
    "width": 64,
    "solvent": "water",
    "catalyst": "nickel",
}
