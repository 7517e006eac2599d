"""A report of a study whose trials do not all have the same parameters."""

import re

import numpy as np
import pytest

import ceibo
from ceibo import Categorical, Float
from ceibo.decide.surface.existence import fill, pair_of, shown_places
from ceibo.report import render_report
from ceibo.report.facts import gather

SPACE = {
    "kind": Categorical(["a", "b"]),
    "x": Float(0, 1, when={"kind": "a"}),
    "y": Float(0, 1),
    "z": Float(0, 1, when={"kind": "b"}),
}


@pytest.fixture(scope="module")
def study() -> ceibo.Study:
    study = ceibo.Study.create(SPACE, seed=0)
    for trial in study.ask(10):
        p = trial.params
        value = p["y"] + ((p["x"] - 0.3) ** 2 if "x" in p else 1 + p["z"])
        study.tell(trial, value, noise=0.01)
    return study


def test_pictures_are_of_the_parameters_that_the_best_setting_has(study: ceibo.Study) -> None:
    facts = gather(study, None)
    assert facts.findings is not None
    assert study.best.params.keys() == {"kind", "x", "y"}
    assert {each.name for each in facts.findings.slices} == {"kind", "x", "y"}
    assert facts.findings.map is not None
    assert set(facts.findings.map.names) in ({"x", "y"}, {"kind", "y"})
    # the slice over kind is what the model says of both branches, each at a setting it can have
    (along,) = (each for each in facts.findings.slices if each.name == "kind")
    best = study.best.params
    others = [trial.params for trial in study.trials if trial.params["kind"] == "b"]
    z = min(others, key=lambda params: study.predict([params])[0].mean)["z"]
    expected = study.predict([best, {"kind": "b", "y": best["y"], "z": z}])
    np.testing.assert_allclose(along.mean, [each.mean for each in expected], rtol=1e-9)
    missing = np.isnan(facts.findings.places)
    np.testing.assert_array_equal(
        missing, [[name not in trial.params for name in SPACE] for trial in facts.measured]
    )


def test_the_page_has_dots_for_trials_with_the_parameter_alone(study: ceibo.Study) -> None:
    page = render_report(study, cost=0.01)
    (drawing,) = re.findall(r'aria-label="Slice along x".*?</svg>', page, re.DOTALL)
    dots = len(re.findall(r'class="(?:near|middle|far)"', drawing))
    having = [trial for trial in study.trials if "x" in trial.params]
    assert 0 < dots <= len(having) < len(study.trials)
    # the middle is where the others would be
    middle = 0.5 * sum(map(float, re.findall(r'points="([\d.]+),.*? ([\d.]+),[\d.]+"', drawing)[0]))
    assert f'cx="{middle:g}"' not in drawing
    assert "nan" not in drawing.lower()


def test_a_parameter_that_exists_half_the_time_matters_at_most_then(study: ceibo.Study) -> None:
    """Sobol shares are of the surface over all settings; oracle: brute force over both branches."""
    facts = gather(study, None)
    assert facts.findings is not None
    belief = study.belief
    rng = np.random.default_rng(0)
    settings = [study.space.from_unit(rng.random(4)) for _ in range(4000)]
    X = study.space.to_unit_rows(settings)
    mean = belief.at_points(X)[0]
    again = X.copy()
    there = ~np.isnan(shown_places(study.space, X)[:, 1])
    again[there, 1] = rng.random(int(there.sum()))
    total = np.mean((mean - belief.at_points(again)[0]) ** 2) / 2 / np.var(mean)
    assert facts.findings.importance.total[1] == pytest.approx(total, abs=0.03)


def test_helpers_leave_plain_spaces_alone() -> None:
    plain = ceibo.Study.create({"x": Float(0, 1), "y": Float(0, 1)}).space
    place, X = np.array([0.1, 0.2]), np.array([[0.3, 0.4]])
    assert fill(plain, place, X, np.zeros(1)) is place
    assert shown_places(plain, X) is X
    assert pair_of(plain, [1, 0]) == (1, 0)
    assert pair_of(plain, [1]) is None
