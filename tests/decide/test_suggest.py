"""Suggestions: a pure function of the evidence; pending and failed points; no scale; many
observations.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from ceibo import Categorical, Float, InputError, Int, Measurement, Study
from ceibo.acquisition import ACQUISITIONS
from ceibo.decide import Evidence, Settings, Told, Unmeasured, evidence_of
from ceibo.decide.model import fit_model
from ceibo.decide.space import Space
from ceibo.decide.suggest import initial_point, suggest
from ceibo.gp import Kernel, Matern52, SquaredExponential
from ceibo.gp.inputs import Array

PLANE = Space({"x": Float(0, 1), "y": Float(0, 1)})
NONE = np.empty((0, 2))


def told(X: Array, y: Array, noise: float) -> Evidence:
    """Evidence of values with a known noise."""
    pairs = zip(X, y, strict=True)
    measured = [Told(k, x, Measurement(value, noise)) for k, (x, value) in enumerate(pairs)]
    return evidence_of(measured, 2)


def evidence(n: int = 12, noise: float = 0.05, seed: int = 0, **changes: object) -> Evidence:
    """Measurements of a bowl with its minimum at (0.3, 0.6)."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    y = np.sum((X - [0.3, 0.6]) ** 2, axis=1) + noise * rng.standard_normal(n)
    return replace(told(X, y, noise), **changes)  # type: ignore[arg-type]


def point(known: Evidence, number: int = 20, **settings: object) -> Array:
    return suggest(known, PLANE, Settings(**settings), None, 0, number).x  # type: ignore[arg-type]


# -- pure ------------------------------------------------------------------------------


def test_the_same_evidence_gives_the_same_bytes() -> None:
    assert point(evidence()).tobytes() == point(evidence()).tobytes()
    drawless = Settings(acquisition="corrected-ei")  # the default draws anew for every number
    one, other = (suggest(evidence(), PLANE, drawless, None, 0, number) for number in (20, 21))
    # another number searches anew, for the same maximum
    assert one.value == pytest.approx(other.value, rel=1e-6)


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_every_acquisition_suggests_a_point_of_the_space(acquisition: str) -> None:
    known = evidence(pending=np.array([[0.3, 0.5]]), failed=np.array([[0.9, 0.9]]))
    found = suggest(known, PLANE, Settings(acquisition=acquisition), None, 0, 20)
    assert np.all((found.x >= 0) & (found.x <= 1))
    assert found.source == "model"
    assert np.array_equal(PLANE.to_unit(found.params), found.x)
    assert found.fit_status == "converged"
    assert (found.observations, found.used) == (12, 12)


@pytest.mark.parametrize(("truth", "chosen"), [("smooth", SquaredExponential), ("rough", Matern52)])
def test_the_kernel_is_chosen_by_evidence(truth: str, chosen: type[Kernel]) -> None:
    """Draws from either kernel, measured with little noise: the one they come from explains them
    better.
    """
    X = np.random.default_rng(5).random((60, 2))
    kernel: Kernel = (SquaredExponential if truth == "smooth" else Matern52)(np.array([0.3, 0.3]))
    root = np.linalg.cholesky(kernel(X, X) + 1e-9 * np.eye(60))
    y = root @ np.random.default_rng(6).standard_normal(60) + 0.01
    known = told(X, y, 1e-3)
    model = fit_model(known, PLANE, Settings(kernel="auto"))
    assert isinstance(model.gp.kernel, chosen)
    fits = [
        fit_model(known, PLANE, Settings(kernel=name)).fit
        for name in ("matern52", "squared-exponential")
    ]
    assert model.fit.log_density == max(each.log_density for each in fits)


def test_initial_design_is_the_scrambled_sobol_set() -> None:
    points = np.array([initial_point(2, 7, number) for number in range(16)])
    # A Sobol set of 16 points has exactly one in each of 16 strips along each axis.
    for column in points.T:
        assert sorted((column * 16).astype(int)) == list(range(16))
    assert not np.array_equal(points[0], initial_point(2, 8, 0))
    empty = evidence_of([], 2)
    assert np.array_equal(suggest(empty, PLANE, Settings(), None, 7, 3).x, points[3])


def test_the_initial_design_lasts_until_something_was_measured() -> None:
    """All of the initial design failed: there is no model to ask, so the design goes on."""
    empty = evidence_of([], 2, unmeasured=Unmeasured(failed=[np.full(2, 0.5)] * 9), trials=9)
    found = suggest(empty, PLANE, Settings(), None, 7, 9)
    assert found.source == "initial"
    assert np.array_equal(found.x, initial_point(2, 7, 9))
    with pytest.raises(InputError, match="at least one measurement"):
        fit_model(empty, PLANE, Settings())


def test_sizes_of_the_initial_design() -> None:
    assert [Settings().initial_size(d) for d in (1, 2, 3, 20, 21, 1000)] == [4, 4, 6, 40, 40, 40]
    assert Settings(n_initial=3).initial_size(10) == 3


# -- pending ---------------------------------------------------------------------------


def test_pending_points_shrink_the_variance_and_leave_the_mean() -> None:
    known = evidence(pending=np.array([[0.35, 0.62]]))
    model = fit_model(known, PLANE, Settings())
    at = np.array([[0.35, 0.62], [0.4, 0.6], [0.9, 0.1]])
    mean, variance = model.gp.posterior(at)
    mean_with, variance_with = model.conditioned(known, 1000).posterior(at)
    # the factor grows by a row, which rounds anew
    np.testing.assert_allclose(mean_with, mean, rtol=1e-9)
    assert np.all(variance_with < variance)
    assert variance_with[0] < 0.9 * variance[0]


def test_a_pending_point_is_not_suggested_again() -> None:
    """However little one noisy measurement would say there."""
    known = evidence(noise=5.0)
    first = point(known)
    second = point(replace(known, pending=first[None, :]))
    assert np.max(np.abs(first - second)) > 1e-3


def test_a_withdrawn_point_is_kept_off_but_is_nothing_to_beat() -> None:
    """It will never have a value, so draws of one there must not lower what other points
    promise.
    """
    known = evidence()
    first = point(known)
    without = replace(known, withdrawn=first[None, :])
    assert np.max(np.abs(point(without) - first)) > 1e-3
    model = fit_model(known, PLANE, Settings())
    assert model.conditioned(without, 1000) is model.gp
    study = Study.create({"x": Float(0, 1)}, seed=0)
    study.add({"x": 0.2}, 1.0, noise=0.1)
    trial = study.ask()
    study.withdraw(trial)
    seen = study.ledger.belief().evidence
    np.testing.assert_array_equal(seen.withdrawn, [[trial.params["x"]]])
    assert (len(seen.pending), len(seen.failed), seen.failures_in_a_row) == (0, 0, 0)


# -- failed ----------------------------------------------------------------------------


def run_failing(
    study: Study, fails: Callable[[Mapping[str, object]], bool], value: Callable[..., float]
) -> list[bool]:
    """Twenty-five trials; which of them failed."""
    outcomes = []
    for _ in range(25):
        trial = study.ask()
        outcomes.append(fails(trial.params))
        if outcomes[-1]:
            study.fail(trial, "cracked")
        else:
            study.tell(trial, value(trial.params), noise=0.01)
    return outcomes


def test_a_failing_region_that_the_model_believes_in_is_left() -> None:
    """The objective falls towards x = 0, where everything fails; the best that can be had is at x =
    0.4.
    """
    study = Study.create({"x": Float(0, 1)}, seed=0)
    run_failing(study, lambda p: p["x"] < 0.4, lambda p: p["x"])  # type: ignore[operator]
    tried = [trial.params["x"] for trial in study.trials]
    assert len(set(tried)) == 25  # no point twice
    assert study.best.params["x"] < 0.5
    assert study.recommended.params["x"] not in [
        t.params["x"] for t in study.trials if t.state == "failed"
    ]


@pytest.mark.parametrize("seed", range(3))
def test_where_failures_begin_is_learnt_at_the_price_of_a_few(seed: int) -> None:
    """Batches above 256 run out of memory, below that larger ones are better: the best is at the
    edge.
    """
    study = Study.create({"batch": Int(8, 1024, log=True), "x": Float(0, 1)}, seed=seed)

    def value(p: Mapping[str, float]) -> float:
        return float(1.0 - 0.1 * np.log2(p["batch"]) + (p["x"] - 0.3) ** 2)

    outcomes = run_failing(study, lambda p: p["batch"] > 256, value)  # type: ignore[operator]
    row = "".join("x" if failed else "." for failed in outcomes)
    assert "xxxx" not in row
    assert row.count(".") >= 10
    assert value(study.best.params) < 0.2 + 0.02  # 0.2 at 256; the function's range is 1.2
    assert study.recommended.params["batch"] <= 256
    assert value(study.recommended.params) < 0.2 + 0.02


def test_failures_at_random_change_little() -> None:
    """A fifth of the measurements fails, wherever they are: the optimum is found all the same."""
    study = Study.create({"x": Float(0, 1), "y": Float(0, 1)}, seed=1)
    rng = np.random.default_rng(2)
    run_failing(
        study,
        lambda p: rng.random() < 0.2,
        lambda p: float((p["x"] - 0.3) ** 2 + (p["y"] - 0.6) ** 2),
    )
    assert study.recommended.params["x"] == pytest.approx(0.3, abs=0.1)
    assert study.recommended.params["y"] == pytest.approx(0.6, abs=0.1)


def test_a_failure_beside_the_optimum_leaves_the_recommendation() -> None:
    """In any units: the minimiser of the posterior mean where measurements are likely to
    succeed.
    """
    found = []
    for unit in (1.0, 1.3, 1e-3):
        study = Study.create({"x": Float(0, 1)}, seed=0)
        for x in np.linspace(0.02, 0.98, 13):
            study.add({"x": float(x)}, unit * (float(x) - 0.5) ** 2, noise=0.005 * unit)
        without = study.recommended.params["x"]
        study.enqueue({"x": 0.7})
        study.fail(study.ask(), "cracked")
        found.append(study.recommended.params["x"])
        assert found[-1] == pytest.approx(without, abs=1e-4)
    assert found == pytest.approx([found[0]] * 3, abs=1e-5)


def test_a_failed_point_is_not_proposed_again_in_a_space_of_categories() -> None:
    """Twelve settings, the four with the best category fail: each is tried once, then never
    again.
    """
    space = {"a": Categorical(["bad", "good", "poor"]), "b": Categorical(["p", "q", "r", "s"])}
    study = Study.create(space, seed=0, n_initial=2)
    worth = {"bad": 0.0, "good": 1.0, "poor": 2.0}
    study.add({"a": "good", "b": "p"}, 1.0, noise=0.1)
    outcomes = run_failing(study, lambda p: p["a"] == "bad", lambda p: worth[p["a"]])
    assert sum(outcomes) <= 4
    assert study.best.params["a"] == "good"
    assert study.recommended.params["a"] == "good"


def test_a_space_that_is_used_up_is_suggested_again() -> None:
    """Two settings, both being measured: one of them once more, and the record says why."""
    study = Study.create({"a": Categorical(["p", "q"])}, seed=0, n_initial=1)
    study.add({"a": "p"}, 1.0, noise=0.1)
    study.add({"a": "q"}, 2.0, noise=0.1)
    study.enqueue({"a": "p"})
    study.enqueue({"a": "q"})
    study.ask(2)
    trial = study.ask()
    assert (
        study.suggestions[trial.number]["fallback"]
        == "every other point has failed or is being measured"
    )
    assert study.verify().ok
    for pending in study.trials[2:]:
        study.fail(pending, "no")
    study.fail(study.ask(), "no")
    assert study.ask().params["a"] in ("p", "q")


# -- no scale --------------------------------------------------------------------------


def scaled_run(factor: float, trials: int = 9) -> list[Array]:
    """Points of a study whose values and noise are multiplied by `factor`."""
    study = Study.create({"x": Float(0, 1), "y": Float(0, 1)}, seed=2)
    rng = np.random.default_rng(0)
    for k in range(trials):
        trial = study.ask()
        value = (
            (trial.params["x"] - 0.3) ** 2
            + (trial.params["y"] - 0.6) ** 2
            + 0.05 * rng.standard_normal()
        )
        # every third trial of unknown noise, every fourth replicated
        replicates = Measurement.of([factor * value, factor * (value + 0.1)])
        plain = Measurement(factor * value, None if k % 3 == 0 else factor * 0.05)
        study.tell(trial, replicates if k % 4 == 3 else plain)
    _ = study.best, study.recommended, study.should_stop(factor * 0.01)
    return [study.space.to_unit(trial.params) for trial in study.trials]


REFERENCE: list[Array] = []


def reference() -> list[Array]:
    if not REFERENCE:
        REFERENCE.extend(scaled_run(1.0))
    return REFERENCE


@pytest.mark.parametrize("exponent", [-990, -300, -1, 10, 300, 1000])
def test_powers_of_two_change_no_bit(exponent: int) -> None:
    for one, other in zip(scaled_run(2.0**exponent), reference(), strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e-7, 3.0, 1e5, 1e150, 1e300])
def test_other_factors_change_points_by_rounding_alone(factor: float) -> None:
    """Rounding of a·y is amplified by the search's stopping tolerance; 1e-6 of the box is what is
    promised.
    """
    for one, other in zip(scaled_run(factor), reference(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6, rtol=0)


def test_values_at_the_end_of_the_range() -> None:
    """Near the largest double some of what is recorded overflows; the study goes on all the
    same.
    """
    study = Study.create({"x": Float(0, 1)}, seed=0)
    for value in (1.7e308, -1.7e308, 1.0, -1e300, 0.0, 5e-324):
        trial = study.ask()
        study.tell(trial, value, noise=1e307)
    assert 0 <= study.ask().params["x"] <= 1
    assert study.verify().ok


# -- noise -----------------------------------------------------------------------------


def test_an_absurdly_noisy_observation_says_nothing() -> None:
    known = evidence()
    n = len(known)
    with_junk = replace(
        known,
        X=np.vstack([known.X, [[0.3, 0.6]]]),
        y=np.append(known.y, 0.5),
        noise=np.append(known.noise, 1e200),
        group=np.arange(n + 1),
        counts=np.ones(n + 1),
        block=np.empty((n + 1, 0), dtype=np.intp),
    )
    ours, theirs = (
        fit_model(e, PLANE, Settings()).gp.posterior([[0.3, 0.6]]) for e in (known, with_junk)
    )
    # The junk moves the centre of the values a little, hence the variance of the fit.
    np.testing.assert_allclose(theirs[0], ours[0], atol=0.05)
    assert theirs[1][0] > 0.5 * ours[1][0]


def test_replicates_are_rows_of_one_group() -> None:
    study = Study.create({"x": Float(0, 1)})
    one, two = study.ask(2)
    study.tell(two, Measurement.of([1.0, 2.0, 3.0]))
    study.tell(one, 5.0, noise=0.5)
    known = study.ledger.belief().evidence
    assert known.y.tolist() == [1.0, 2.0, 3.0, 5.0]  # in the order they were told
    assert known.group.tolist() == [0, 0, 0, 1]
    assert known.measurements == 2
    assert known.first(1).y.tolist() == [1.0, 2.0, 3.0]
    assert len(known.first(0)) == 0
    assert np.isnan(known.noise[:3]).all()
    assert known.noise[3] == 0.5


# -- spaces ----------------------------------------------------------------------------


def test_every_kind_of_dimension_is_suggested_as_it_is() -> None:
    space = {
        "f": Float(-1, 1),
        "l": Float(1e-6, 1e2, log=True),
        "s": Float(0, 1, step=0.25),
        "i": Int(1, 3),
        "m": Int(1, 10**6, log=True),
        "c": Categorical(["u", "v", "w"]),
    }
    study = Study.create(space, seed=1, n_initial=4)
    for _ in range(14):
        trial = study.ask()
        assert study.space.check(trial.params) == trial.params
        assert isinstance(trial.params["i"], int)
        assert trial.params["s"] in (0.0, 0.25, 0.5, 0.75, 1.0)
        study.tell(trial, trial.params["f"] ** 2 + trial.params["i"] + (trial.params["c"] == "u"))
    assert study.verify().ok


# -- many observations -----------------------------------------------------------------


def test_more_observations_than_the_model_takes() -> None:
    known = evidence(n=400)
    found = suggest(known, PLANE, Settings(max_observations=60), None, 0, 400)
    assert (found.observations, found.used) == (400, 60)
    model = fit_model(known, PLANE, Settings(max_observations=60))
    assert len(model.gp.X) == 60
    # Half of the rows are those with the best posterior means, so the model is best informed where
    # it matters.
    near = np.linalg.norm(model.gp.X - [0.3, 0.6], axis=1) < 0.25
    assert near.mean() > np.mean(np.linalg.norm(known.X - [0.3, 0.6], axis=1) < 0.25) + 0.2
    full = fit_model(known, PLANE, Settings())
    best = model.gp.X[np.argmin(model.gp.posterior(model.gp.X)[0])]
    assert full.gp.posterior(best[None])[0][0] < full.gp.posterior(full.gp.X)[0].min() + 0.02
    assert (
        found.x.tobytes()
        == suggest(known, PLANE, Settings(max_observations=60), None, 0, 400).x.tobytes()
    )
