"""Noise protocols: what is added, what is told, and that every method meets the same noise."""

import numpy as np
import pytest

from ceibo.errors import InputError
from ceibo_lab.noise import PROTOCOLS, NoisyProblem, Observed
from ceibo_lab.problems import problem

N = 4000


def measured(protocol: str, level: float = 0.1, seed: int = 0) -> tuple[np.ndarray, list[Observed]]:
    noisy = NoisyProblem(problem("sphere"), protocol, level, seed)
    points = np.random.default_rng(1).random((N, 3))
    for x in points:
        noisy.measure(x)
    np.testing.assert_array_equal(noisy.values, [each.y for each in noisy.seen])
    np.testing.assert_array_equal(noisy.told, [each.told for each in noisy.seen])
    return np.array(noisy.f), noisy.seen


def test_heteroscedastic_draws_the_level_first_and_tells_it() -> None:
    f, seen = measured("heteroscedastic")
    told = np.array([each.told for each in seen])
    errors = np.array([each.y for each in seen]) - f
    assert told.min() >= 0.0
    assert told.max() <= 30.0
    assert told.mean() == pytest.approx(15.0, abs=0.7)
    assert np.std(errors / told) == pytest.approx(1.0, abs=0.05)
    assert abs(np.corrcoef(told, f)[0, 1]) < 0.06


@pytest.mark.parametrize(
    ("protocol", "knows"), [("homoscedastic", True), ("homoscedastic-untold", False)]
)
def test_homoscedastic_is_one_level_told_or_not(protocol: str, knows: bool) -> None:
    f, seen = measured(protocol)
    errors = np.array([each.y for each in seen]) - f
    assert np.std(errors) == pytest.approx(30.0, rel=0.05)
    assert all(each.told == 30.0 if knows else np.isnan(each.told) for each in seen)


def test_reference_code_tells_the_error_itself() -> None:
    f, seen = measured("reference-code")
    for value, each in zip(f, seen, strict=True):
        assert each.told == pytest.approx(abs(each.y - value), rel=1e-9, abs=1e-9)
        assert each.std == 30.0


def test_noiseless_adds_nothing() -> None:
    f, seen = measured("noiseless")
    assert [each.y for each in seen] == f.tolist()


def test_measurement_t_meets_the_same_noise_wherever_it_is_made() -> None:
    for protocol in PROTOCOLS:
        if protocol.startswith(("varying", "measured")):  # there the noise depends on the place
            continue
        here, there = (NoisyProblem(problem("sphere"), protocol, 0.1, 7) for _ in range(2))
        rng = np.random.default_rng(0)
        for _ in range(5):
            here.measure(rng.random(3))
            there.measure(rng.random(3))
            (f, one), (g, two) = ((each.f[-1], each.seen[-1]) for each in (here, there))
            assert one.y - f == pytest.approx(two.y - g, abs=1e-9)
            assert one.std == two.std
    seven, eight = (NoisyProblem(problem("sphere"), "homoscedastic", 0.1, seed) for seed in (7, 8))
    for each in (seven, eight):
        each.measure(np.zeros(3))
    assert seven.values != eight.values


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(
        InputError, match="heteroscedastic, homoscedastic, homoscedastic-untold, reference-code"
    ):
        NoisyProblem(problem("sphere"), "loud", 0.1, 0)
    with pytest.raises(InputError, match="share of the range"):
        NoisyProblem(problem("sphere"), "homoscedastic", -0.1, 0)
