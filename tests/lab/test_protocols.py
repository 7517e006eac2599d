"""Noise protocols: what is added, what is told, and that every method meets the same noise."""

import numpy as np
import pytest

from ceibo.errors import InputError
from ceibo_lab.problems import problem
from ceibo_lab.protocols import PROTOCOLS, NoisyProblem, Observed

N = 4000


def measured(protocol: str, level: float = 0.1, seed: int = 0) -> tuple[np.ndarray, list[Observed]]:
    noisy = NoisyProblem(problem("sphere"), protocol, level, seed)
    points = np.random.default_rng(1).random((N, 3))
    found = [noisy.measure(x) for x in points]
    return np.array([f for f, _ in found]), [observed for _, observed in found]


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
        here, there = (NoisyProblem(problem("sphere"), protocol, 0.1, 7) for _ in range(2))
        rng = np.random.default_rng(0)
        for _ in range(5):
            f, one = here.measure(rng.random(3))
            g, two = there.measure(rng.random(3))
            assert one.y - f == pytest.approx(two.y - g, abs=1e-9)
            assert one.std == two.std
    seven, eight = (NoisyProblem(problem("sphere"), "homoscedastic", 0.1, seed) for seed in (7, 8))
    assert seven.measure(np.zeros(3))[1].y != eight.measure(np.zeros(3))[1].y


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(
        InputError, match="heteroscedastic, homoscedastic, homoscedastic-untold, reference-code"
    ):
        NoisyProblem(problem("sphere"), "loud", 0.1, 0)
    with pytest.raises(InputError, match="share of the range"):
        NoisyProblem(problem("sphere"), "homoscedastic", -0.1, 0)
