"""How close an answer is: against the closed form, against known functions, and its sentence."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

from ceibo import acquisition as acq
from ceibo.decide import (
    Belief,
    Categorical,
    Closeness,
    Float,
    Int,
    Measurement,
    Settings,
    Space,
    Told,
    closeness,
)
from ceibo.decide.closeness import distances
from ceibo.decide.evidence import Unmeasured, evidence_of
from ceibo.decide.model import Model, fit_model
from ceibo.decide.statement import Statement
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess, Matern52
from ceibo.gp.inputs import Array, Indices

GRID = Space({"x": Int(0, 24)})
PLACES = np.array([GRID.to_unit({"x": level}) for level in range(25)])
KERNEL = Matern52([0.2])


@cache
def fitted() -> Model:
    """Some model, whose process is then replaced."""
    told = [Told(k, PLACES[k], Measurement(float(k), 0.1)) for k in range(3)]
    return fit_model(evidence_of(told, 1), GRID, Settings())


def belief_of(rows: Indices, y: Array, noise: float) -> Belief:
    """The belief of an observer who knows the process that the function was drawn from."""
    told = [
        Told(k, PLACES[row], Measurement(value, noise))
        for k, (row, value) in enumerate(zip(rows, y.tolist(), strict=True))
    ]
    gp = GaussianProcess(PLACES[rows], y, noise**2, KERNEL)
    model = replace(fitted(), gp=gp, exponent=0)
    stated = Statement(gp)  # with hyperparameters that are known
    return Belief(evidence_of(told, 1), GRID, Settings(), 0, model, stated)


@pytest.mark.parametrize("of", ["best", "recommended"])
def test_the_stated_probability_is_right_on_average(of: str) -> None:
    rng = np.random.default_rng(1)
    root = np.linalg.cholesky(KERNEL(PLACES, PLACES) + 1e-10 * np.eye(25))
    within = np.array([0.0, 0.1, 0.3, 0.6, 1.0])
    stated, seen = [], []
    for _ in range(120):
        f = root @ rng.standard_normal(25)
        rows = rng.integers(0, 25, 6)
        belief = belief_of(rows, f[rows] + 0.3 * rng.standard_normal(6), 0.3)
        answer = belief.best if of == "best" else belief.recommended
        gap = f[answer.params["x"]] - f.min()
        stated.append(np.mean(distances(belief, of)[:, None] <= within, axis=0))
        seen.append(gap <= within)
    p = np.array(stated)
    error = np.sum(np.array(seen) - p, axis=0) / np.sqrt(np.sum(p * (1 - p), axis=0))
    assert np.all(np.abs(error) < 3.5), error
    assert 0.1 < p[:, 1].mean() < 0.9  # there was something to be wrong about


def test_two_settings_are_the_closed_form() -> None:
    space = Space({"x": Categorical(["a", "b"])})
    told = [
        Told(0, space.to_unit({"x": "a"}), Measurement(0.0, 0.5)),
        Told(1, space.to_unit({"x": "b"}), Measurement(0.4, 0.5)),
    ]
    belief = Belief(evidence_of(told, 1), space, Settings(), 0)
    gp, X = belief.model.gp, np.array([told[0].x, told[1].x])
    joint = gp.covariance(X, X)
    means = gp.posterior(X)[0]
    std = np.sqrt(joint[0, 0] + joint[1, 1] - 2 * joint[0, 1])
    for within in (0.0, 0.2, 0.7):
        inside = np.ldexp(within, -belief.model.exponent)
        expected = norm.cdf((inside + means[1] - means[0]) / std)
        assert closeness(belief, within).probability == pytest.approx(expected, abs=0.01)
    assert belief.best.probability == pytest.approx(closeness(belief, 0.0).probability, abs=0.02)


def test_the_distance_and_the_probability_are_inverse_to_each_other() -> None:
    belief = belief_of(np.array([2, 9, 20]), np.array([0.3, -0.5, 0.1]), 0.2)
    for probability in (0.5, 0.9, 0.95):
        found = closeness(belief, probability=probability)
        again = closeness(belief, found.within)
        assert probability <= again.probability <= probability + 0.01
    assert closeness(belief) == closeness(belief, probability=0.9)


def test_it_does_not_depend_on_the_units_or_on_the_direction() -> None:
    told = [Told(k, PLACES[5 * k], Measurement(v, 0.1)) for k, v in enumerate((0.4, -0.2, 0.1))]
    belief = Belief(evidence_of(told, 1), GRID, Settings(), 0)
    larger = [
        each._replace(measurement=Measurement(1024 * each.measurement.value, 102.4))
        for each in told
    ]
    scaled = Belief(evidence_of(larger, 1), GRID, Settings(), 0)
    assert np.array_equal(1024 * distances(belief, "best"), distances(scaled, "best"))


def test_the_minimum_between_the_measured_points_is_looked_for() -> None:
    """In three dimensions the candidates reach nearly as low as ten times as many spread points."""
    rng = np.random.default_rng(0)
    space = Space({name: Float(0, 1) for name in "abc"})
    X = rng.random((15, 3))
    y = np.sum((X - 0.4) ** 2, axis=1)
    told = [Told(k, x, Measurement(v, 0.05)) for k, (x, v) in enumerate(zip(X, y, strict=True))]
    belief = Belief(evidence_of(told, 3), space, Settings(), 0)
    found = distances(belief, "best")
    x = acq.find_incumbent(belief.model.gp).x
    spread = acq.draw_regrets(belief.model.gp, x, rng.random((8000, 3)), 1024, 0)
    simple = belief.model.natural_values(spread.values)
    assert np.mean(found) > 0.98 * np.mean(simple)
    assert np.array_equal(found, distances(belief, "best"))  # the same again


def test_settings_that_fail_are_no_rivals() -> None:
    told = [Told(k, PLACES[k], Measurement(0.1 * k, 0.01)) for k in range(8, 14)]
    failed = [PLACES[k] for k in range(8)]  # where values would be lower still
    free = Belief(evidence_of(told, 1), GRID, Settings(), 0)
    bound = Belief(evidence_of(told, 1, unmeasured=Unmeasured(failed=failed)), GRID, Settings(), 0)
    assert closeness(bound).within < 0.5 * closeness(free).within


def test_the_sentence() -> None:
    assert str(Closeness(0.2, 0.93)) == "within 0.2 of the best with 93 % probability"
    assert str(Closeness(0.0, 0.999)) == "the best with > 99 % probability"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"within": -1.0}, "within must be a finite number, zero or above, got -1.0"),
        ({"within": True}, "within must be"),
        ({"probability": 1.0}, "a probability above 0 and below 1, got 1.0"),
        ({"within": 0.1, "probability": 0.9}, "and not both"),
        ({"of": "raw"}, "of must be one of best, recommended"),
    ],
)
def test_wrong_questions(options: dict[str, object], said: str) -> None:
    belief = belief_of(np.array([2, 9]), np.array([0.3, -0.5]), 0.2)
    with pytest.raises(InputError, match=said):
        closeness(belief, **options)  # type: ignore[arg-type]  # that is the mistake
