"""Leave-one-out predictions, against processes conditioned on the other values one by one."""

import numpy as np
import pytest

import ceibo
from ceibo.decide.leave_one_out import leave_one_out, leave_out
from ceibo.decide.view import view_of
from ceibo.errors import InputError, NoMeasurementError
from ceibo.gp import Blocks, GaussianProcess, Matern52
from ceibo.gp.inputs import Indices


def without(gp: GaussianProcess, rows: Indices) -> tuple[float, float]:
    """Mean and variance of the values in the rows, by conditioning on the others anew."""
    kept = np.setdiff1d(np.arange(len(gp.X)), rows)
    x = gp.X[rows[:1]]
    if not len(kept):
        return gp.mean, gp.kernel.variance
    others = GaussianProcess(
        gp.X[kept], gp.y[kept], gp.noise_variance[kept], gp.kernel, gp.mean, gp.expected_noise
    )
    mean, variance = others.posterior(x)
    return float(mean[0]), float(variance[0])


@pytest.mark.parametrize("size", [1e-120, 1.0, 1e90])
@pytest.mark.parametrize("repeated", [False, True])
def test_the_closed_form_is_conditioning_on_the_others(size: float, repeated: bool) -> None:
    rng = np.random.default_rng(3)
    X = rng.random((14, 3))
    if repeated:
        X[5], X[9], X[2] = X[1], X[1], X[0]
    y = size * (np.sin(5 * X).sum(axis=1) + rng.normal(0, 0.2, 14))
    noise = size**2 * rng.uniform(0.01, 0.2, 14)
    gp = GaussianProcess(X, y, noise, Matern52([0.4, 0.6, 1.0], size**2 * 1.3), size * 0.2)
    means, variances = leave_out(gp)
    for row in range(14):
        rows = np.flatnonzero(np.all(gp.X[row] == gp.X, axis=1))
        mean, variance = without(gp, rows)
        np.testing.assert_allclose(means[row], mean, rtol=1e-8, atol=1e-10 * size)
        np.testing.assert_allclose(variances[row], variance + noise[row], rtol=1e-8)


def test_one_value_alone_is_predicted_by_the_prior() -> None:
    gp = GaussianProcess([[0.3]], [2.0], 0.5, Matern52([0.3], 3.0), 1.0)
    means, variances = leave_out(gp)
    np.testing.assert_allclose(means, [1.0])
    np.testing.assert_allclose(variances, [3.5])


def test_a_study_is_predicted_in_its_own_units_and_direction() -> None:
    space = {"x": ceibo.Float(0, 10), "kind": ceibo.Categorical(["a", "b"])}
    study = ceibo.Study.create(space, direction="maximize", seed=1)
    rng = np.random.default_rng(0)
    for trial in study.ask(12):
        x = trial.params["x"]
        study.tell(trial, 80 - (x - 4) ** 2 + rng.normal(), key="a")
        study.tell(trial, 80 - (x - 4) ** 2 + rng.normal(), key="b")
    left = leave_one_out(study.belief)
    assert left.numbers == tuple(range(12))
    measured = [np.mean([each.value for each in trial.measurements]) for trial in study.trials]
    np.testing.assert_allclose(left.measured, measured)
    # an independent fit of the others, with hyperparameters of its own, is near
    errors = []
    for number in left.numbers:
        others = ceibo.Study.create(space, direction="maximize", seed=1)
        for trial in study.trials:
            if trial.number != number:
                values = [each.value for each in trial.measurements]
                others.add(trial.params, ceibo.Measurement.of(values))
        (seen,) = others.predict([study.trials[number].params])
        errors.append((left.predicted[number] - seen.mean) / left.std[number])
    assert np.median(np.abs(errors)) < 0.5
    noise = study.belief.noise
    assert noise is not None
    assert left.std.min() > 0.999 * noise / np.sqrt(2)  # of the mean of two


def test_outcomes_are_chosen_by_name_and_predictions_are_possible() -> None:
    outcomes = {
        "yield": ceibo.Maximize(unit="%", low=0, high=100),
        "impurity": ceibo.AtMost(2.0),
        "colour": ceibo.Watch(),
    }
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes=outcomes)
    for x in np.linspace(0, 1, 7):
        study.add({"x": x}, {"yield": 100 * float(x > 0.4), "impurity": 3 * x})
    belief = study.joint_belief
    by_default, impurity = leave_one_out(belief), leave_one_out(belief, "impurity")
    np.testing.assert_allclose(sorted(by_default.measured), [0] * 3 + [100] * 4, atol=1e-9)
    assert np.all((by_default.predicted >= 0) & (by_default.predicted <= 100))
    np.testing.assert_allclose(impurity.measured, 3 * np.linspace(0, 1, 7), atol=1e-9)
    assert view_of(belief).label == "yield (%)"
    assert view_of(belief, "impurity").limit == 2.0
    with pytest.raises(NoMeasurementError, match="colour"):
        view_of(belief, "colour")
    with pytest.raises(InputError, match="one of yield, impurity, colour, got 'weight'"):
        view_of(belief, "weight")


def test_a_study_of_one_objective_has_no_outcomes_to_name() -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)})
    study.add({"x": 0.5}, 1.0)
    with pytest.raises(InputError, match="no outcomes, got outcome='yield'"):
        leave_one_out(study.belief, "yield")


def test_the_others_know_the_blocks_of_a_row() -> None:
    rng = np.random.default_rng(6)
    X, y, noise = rng.random((8, 1)), rng.standard_normal(8), np.full(8, 0.1)
    day = np.array([0, 0, 0, 1, 1, 1, 2, -1])
    kernel = Matern52([0.4])
    gp = GaussianProcess(X, y, noise, kernel, blocks=Blocks(day[:, None], [0.5]))
    means, variances = leave_out(gp)
    shared = 0.5 * ((day[:, None] == day) & (day >= 0))
    C = kernel(X, X) + np.diag(noise) + shared
    for i in range(8):
        others = np.arange(8) != i
        weights = np.linalg.solve(C[np.ix_(others, others)], C[others, i])
        assert means[i] == pytest.approx(weights @ y[others])
        assert variances[i] == pytest.approx(C[i, i] - weights @ C[others, i])
