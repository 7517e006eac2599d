"""What is stated: alike at every door, in the order of the means, true as often as it says."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from ceibo import acquisition as acq
from ceibo.decide import (
    AtMost,
    Belief,
    Float,
    JointBelief,
    Maximize,
    Measurement,
    Minimize,
    Outcomes,
    Settings,
    Space,
    Told,
    evidence_of,
    joint_evidence_of,
)
from ceibo.decide.statement import Choice, Statement, statement_of
from ceibo.gp import Matern52
from ceibo.gp.inputs import Array

NOISE = 0.4
ANYWHERE = 5  # points that nothing was measured at


class Draw(NamedTuple):
    """A belief of values drawn from a process of random hyperparameters, and f where it asks."""

    belief: Belief
    f: Array  # (n,) at the measured points
    elsewhere: Array  # (5, 2)
    there: Array  # (5,) f at those


def believe(X: Array, y: Array, settings: Settings | None = None, noise: float = NOISE) -> Belief:
    told = [Told(k, x, Measurement(v, noise)) for k, (x, v) in enumerate(zip(X, y, strict=True))]
    space = Space({f"x{k}": Float(0, 1) for k in range(X.shape[1])})
    return Belief(evidence_of(told, X.shape[1]), space, settings or Settings(), 0)


def draw(seed: int, n: int = 16) -> Draw:
    rng = np.random.default_rng([11, seed])
    lengthscales = np.exp(rng.normal(np.log(0.35), 0.6, 2))
    kernel = Matern52(lengthscales, np.exp(rng.normal(0.0, 0.5)))
    X = rng.random((n + ANYWHERE, 2))
    root = np.linalg.cholesky(kernel(X, X) + 1e-9 * np.eye(len(X)))
    f = root @ rng.standard_normal(len(X))
    y = f[:n] + NOISE * rng.standard_normal(n)
    return Draw(believe(X[:n], y), f[:n], X[n:], f[n:])


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """On functions of the prior's own kind; the hyperparameters taken as known are too sure."""
    chosen, anywhere, known = [], [], []
    for seed in range(70):
        drawn = draw(seed)
        found = drawn.belief.best
        chosen.append((drawn.f[found.number] - found.mean) / found.std)
        means, stds = drawn.belief.at_points(drawn.elsewhere)
        anywhere += ((drawn.there - means) / stds).tolist()
        means, variances = drawn.belief.model.gp.posterior(drawn.elsewhere)
        exponent = drawn.belief.model.exponent
        z = (drawn.there - np.ldexp(means, exponent)) / np.ldexp(np.sqrt(variances), exponent)
        known += z.tolist()
    for level, tolerance in ((0.5, 0.12), (0.8, 0.10), (0.95, 0.06)):
        half = ndtri(0.5 + 0.5 * level)
        assert np.mean(np.abs(chosen) < half) == pytest.approx(level, abs=1.3 * tolerance)
        assert np.mean(np.abs(anywhere) < half) == pytest.approx(level, abs=tolerance)
    assert abs(np.mean(chosen)) < 0.3
    assert np.mean(np.square(known)) > np.mean(np.square(anywhere))


def test_the_same_setting_is_stated_alike_whoever_asks() -> None:
    belief = draw(2).belief
    best, advice = belief.best, belief.recommended
    assert belief.at(best.params).mean == pytest.approx(best.mean, rel=1e-12)
    assert belief.at(best.params).std == pytest.approx(best.std, rel=1e-12)
    assert belief.at(advice.params).mean == pytest.approx(advice.mean, rel=1e-12)
    again = believe(belief.evidence.X, belief.evidence.y)
    assert (again.best, again.recommended) == (best, advice)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_setting_is_stated_to_be_the_best_and_no_worse_than_what_is_recommended(
    seed: int,
) -> None:
    belief = draw(seed).belief
    means, _ = belief.at_points(belief.evidence.X)
    assert belief.best.mean == pytest.approx(means.min(), rel=1e-12)
    assert belief.recommended.mean <= belief.best.mean


@given(
    st.floats(-1.0, 1.0), st.lists(st.floats(-3, 30), min_size=2, max_size=20), st.floats(0.1, 9)
)
def test_a_shift_keeps_the_order_of_means(share: float, gaps: list[float], spread: float) -> None:
    means = 2.0 + spread * np.sort(gaps)
    stated = means + Choice(2.0, spread, share * spread).shift(means)
    assert np.all(np.diff(stated) >= -1e-12 * spread)


def test_the_shift_is_the_whole_optimism_at_the_choice_and_nothing_far_away() -> None:
    choice = Choice(mean=1.0, spread=0.5, optimism=0.3)
    shift = choice.shift(np.array([1.0, 0.2, 1.5, 9.0]))
    assert shift == pytest.approx([0.3, 0.3, 0.3 * np.exp(-1.0), 0.0])


def test_a_plateau_is_stated_lower_than_the_model_has_it() -> None:
    """Where an objective is as good as flat, the best of 30 values is so by noise."""
    excess, stated = [], []
    for seed in range(12):
        rng = np.random.default_rng([5, seed])
        X = rng.random((30, 2))
        y = 3.0 * np.exp(-6.0 * X[:, 0]) + NOISE * rng.standard_normal(30)
        belief = believe(X, y)
        plain, _ = Statement(belief.model.gp).at(belief.space.to_unit(belief.best.params)[None, :])
        truth = 3.0 * np.exp(-6.0 * belief.best.params["x0"])
        excess.append(truth - np.ldexp(plain[0], belief.model.exponent))
        stated.append(truth - belief.best.mean)
    assert np.mean(excess) > 0.1
    assert abs(np.mean(stated)) < 0.75 * np.mean(excess)


def test_maximum_likelihood_and_very_many_observations_are_stated_as_the_model_has_them() -> None:
    X, y = draw(1).belief.evidence.X, draw(1).belief.evidence.y
    for belief in (believe(X, y, Settings(fit="ml")), believe(np.tile(X, (13, 1)), np.tile(y, 13))):
        stated = statement_of(belief.model, belief.settings)
        means, variances = belief.model.gp.posterior(X)
        assert stated.at(X)[0] == pytest.approx(means, rel=1e-12)
        assert stated.at(X)[1] == pytest.approx(np.sqrt(variances), rel=1e-12)


def test_a_sketch_is_exact_at_every_third_point_of_a_line_and_near_between() -> None:
    rng = np.random.default_rng(3)
    X = rng.random((150, 3))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + NOISE * rng.standard_normal(150)
    stated = believe(X, y).statement
    points = np.tile(rng.random(3), (53, 1))
    points[:25, 0] = points[25:50, 1] = np.linspace(0, 1, 25)
    points[50:] = rng.random((3, 3))
    means, stds = stated.at(points)
    sketched_means, sketched = stated.at(points, (slice(0, 25), slice(25, 50)))
    assert np.array_equal(means, sketched_means)
    knots = np.r_[0:25:3, 25:50:3, 50:53]
    assert sketched[knots] == pytest.approx(stds[knots], rel=1e-12)
    assert sketched == pytest.approx(stds, rel=0.05)
    # the factor is what is interpolated; the ± itself bends too much between the points
    assert not np.array_equal(sketched, stds)
    plain = np.interp(np.arange(25), knots[:9], stds[knots[:9]])
    assert np.max(np.abs(sketched[:25] / stds[:25] - 1)) < np.max(np.abs(plain / stds[:25] - 1))


def test_a_sketch_through_exact_measurements_is_not_of_their_rounding() -> None:
    rng = np.random.default_rng(3)
    X = rng.random((150, 3))
    X[:21] = 0.5
    X[:21, 0] = np.linspace(0, 1, 21)  # every third point of the line
    stated = believe(X, np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2], noise=0.0).statement
    line = np.full((61, 3), 0.5)
    line[:, 0] = np.linspace(0, 1, 61)
    exact, sketched = (stated.at(line, lines)[1] for lines in ((), (slice(0, 61),)))
    between = np.arange(61) % 3 > 0
    own = np.sqrt(stated.gp.posterior(line)[1])
    assert np.all(own[~between] < 1e-5 * np.sqrt(stated.gp.kernel.variance))
    # without a factor that is known, the ± is the model's own
    assert sketched[between] == pytest.approx(own[between], rel=1e-9)
    assert sketched[~between] == pytest.approx(exact[~between], abs=1e-5)


def test_nothing_is_sketched_where_averaging_is_quick() -> None:
    belief = draw(2).belief
    line = np.column_stack([np.linspace(0, 1, 25), np.full(25, 0.5)])
    for exact, quick in zip(
        belief.at_points(line), belief.at_points(line, (slice(0, 25),)), strict=True
    ):
        assert np.array_equal(exact, quick)


def test_hindsight_keeps_the_hyperparameters_of_now() -> None:
    belief = draw(8).belief
    earlier = belief.in_hindsight(10)
    now, then = belief.statement.average, earlier.statement.average
    assert now is not None
    assert then is not None
    assert len(then.fits[0].gp.X) == 10
    pairs = zip(
        (each.gp.kernel for each in now.fits), (each.gp.kernel for each in then.fits), strict=True
    )
    assert all(np.array_equal(a.lengthscales, b.lengthscales) for a, b in pairs)
    assert belief.in_hindsight(16).best.mean == pytest.approx(belief.best.mean, rel=1e-6)


def test_the_probability_of_being_the_best_is_averaged_and_one_for_a_clear_winner() -> None:
    belief = draw(6).belief
    X, average = belief.evidence.X, belief.statement.average
    assert average is not None
    chances = [belief.statement.probability_best(x) for x in X]
    assert sum(chances) == pytest.approx(1.0, abs=0.1)
    rows = [
        acq.probability_best(gp, belief.best.number or 0)
        for gp in (fitted.gp for fitted in average.fits)
    ]
    assert belief.best.probability == pytest.approx(float(average.weights @ rows), abs=0.03)
    assert belief.statement.probability_best(np.array([0.123, 0.456])) == 0.0
    clear = believe(X, np.where(np.arange(len(X)) == 3, -50.0, X[:, 0]), noise=1e-3)
    assert clear.best.probability == pytest.approx(1.0, abs=1e-3)


def test_an_outcome_is_stated_as_the_objective_of_a_study_without_outcomes() -> None:
    belief = draw(4).belief
    told = [Told(k, x, Measurement(-v, NOISE)) for k, x, v in enumerated(belief)]
    outcomes = Outcomes({"yield": Maximize()})
    evidence = joint_evidence_of(outcomes, 2, {"yield": told})
    joint = JointBelief(evidence, belief.space, belief.settings, belief.seed)
    for mine, other in ((belief.best, joint.best), (belief.recommended, joint.recommended)):
        assert other.params == mine.params
        assert (other.mean, other.std) == pytest.approx((-mine.mean, mine.std), rel=1e-9)


def test_with_limits_the_choice_is_among_settings_that_hold_them() -> None:
    belief = draw(9).belief
    told = [Told(k, x, Measurement(v, NOISE)) for k, x, v in enumerated(belief)]
    limited = [Told(k, x, Measurement(float(x[0]), 0.01)) for k, x, _ in enumerated(belief)]
    outcomes = Outcomes({"cost": Minimize(), "heat": AtMost(0.6)})
    evidence = joint_evidence_of(outcomes, 2, {"cost": told, "heat": limited})
    joint = JointBelief(evidence, belief.space, belief.settings, belief.seed)
    choice = joint.predictions.statement_of("cost").choice
    goal = joint.model.goal
    x = belief.space.to_unit(joint.best.params)[None, :]
    assert choice.mean == pytest.approx(float(goal.gp.posterior(x)[0][0]))
    assert joint.at(joint.best.params).mean == pytest.approx(joint.best.mean, rel=1e-12)
    assert joint.predictions.statement_of("heat").choice.optimism == 0.0


def enumerated(belief: Belief) -> list[tuple[int, Array, float]]:
    known = belief.evidence
    rows = zip(known.X, known.y.tolist(), strict=True)
    return [(k, x, value) for k, (x, value) in enumerate(rows)]
