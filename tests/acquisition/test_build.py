"""Acquisitions by name, and what build refuses."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ceibo import acquisition
from ceibo.acquisition import ACQUISITIONS, build, posterior_mean
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess
from tests.helpers import ACQUISITION_NAMES, make_gp


def test_the_nine_names() -> None:
    assert tuple(ACQUISITIONS) == (
        "corrected-ei",
        "ei",
        "corrected-pi",
        "pi",
        "ucb",
        "noisy-ei",
        "q-noisy-ei",
        "corrected-kg",
        "knowledge-gradient",
    )


@pytest.mark.parametrize("name", ACQUISITION_NAMES)
def test_values_double_with_y_where_they_are_said_to_be_in_its_units(name: str) -> None:
    gp = make_gp(5)
    doubled = GaussianProcess(
        gp.X,
        2.0 * gp.y,
        4.0 * gp.noise_variance,
        replace(gp.kernel, variance=4.0 * gp.kernel.variance),
        2.0 * gp.mean,
    )
    A = np.random.default_rng(5).random((6, 3))
    factor = 2.0 if ACQUISITIONS[name].in_objective_units else 1.0
    np.testing.assert_array_equal(build(name, doubled).value(A), factor * build(name, gp).value(A))


@pytest.mark.parametrize("name", ACQUISITION_NAMES)
def test_the_number_of_draws_matters_where_draws_are_said_to_be_used(name: str) -> None:
    gp, A = make_gp(0), np.random.default_rng(1).random((5, 3))
    usual = build(name, gp).value(A)
    number = ACQUISITIONS[name].draws
    np.testing.assert_array_equal(build(name, gp, draws=number).value(A), usual)
    assert np.array_equal(build(name, gp, draws=7).value(A), usual) == (number is None)


@pytest.mark.parametrize("name", ACQUISITION_NAMES)
def test_every_name_builds_with_an_incumbent(name: str) -> None:
    gp = make_gp(0)
    acq = build(name, gp, seed=0)
    assert acq.incumbent.index == acquisition.find_incumbent(gp).index
    assert acq.value(gp.X).shape == (len(gp.X),)


@pytest.mark.parametrize("name", ["noisy-ei", "q-noisy-ei"])
def test_the_seed_is_that_of_the_draws(name: str) -> None:
    gp, A = make_gp(0), np.random.default_rng(1).random((5, 3))
    np.testing.assert_array_equal(
        build(name, gp, seed=1).value(A), build(name, gp, seed=1).value(A)
    )
    assert not np.array_equal(build(name, gp, seed=1).value(A), build(name, gp, seed=2).value(A))


def test_posterior_mean_is_larger_where_the_mean_is_lower() -> None:
    gp = make_gp(2)
    np.testing.assert_allclose(posterior_mean(gp).value(gp.X), -gp.posterior(gp.X)[0], rtol=1e-12)


def test_no_pending_points_is_the_same_as_none() -> None:
    gp = make_gp(3)
    assert len(build("ei", gp, pending=np.zeros((0, 3))).gp.pending) == 0
    assert len(build("ei", gp, pending=[]).gp.pending) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"name": "cei"},
            ["acquisition must be one of", "corrected-ei", "knowledge-gradient", "'cei'"],
        ),
        ({"beta": -1.0}, ["beta", "zero or above", "-1.0"]),
        ({"beta": np.nan}, ["beta", "finite", "nan"]),
        ({"draws": 0}, ["draws must be a whole number above zero", "got 0"]),
        ({"next_noise_variance": -0.1}, ["next_noise_variance", "zero or above", "-0.1"]),
        ({"next_noise_variance": np.inf}, ["next_noise_variance", "finite", "inf"]),
        ({"pending": [[0.1, 0.2]]}, ["X_pending must have 3 columns", "has 2"]),
        ({"pending": [0.1, 0.2, 0.3]}, ["X_pending must have shape (n, d)"]),
        ({"pending": [[0.1, np.nan, 0.3]]}, ["X_pending must be finite"]),
    ],
    ids=str,
)
def test_bad_arguments_say_what_was_expected_and_what_came(
    arguments: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        build(**{"name": "ei", "gp": make_gp(1), **arguments})
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [
        {"seed": -1},
        {"seed": 1.5},
        {"draws": 2.5},
        {"next_noise_variance": "much"},
        {"next_noise_variance": [0.1, 0.2]},
    ],
    ids=str,
)
def test_arguments_of_the_wrong_kind_are_our_error_too(arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        build(**{"name": "q-noisy-ei", "gp": make_gp(1), **arguments})
