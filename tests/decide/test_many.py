"""More observations than a model takes: what is merged, what is chosen, and that it is sound."""

import re

import numpy as np
import pytest

from ceibo import Categorical, Float, InputError, Int, Measurement, Study, acquisition
from ceibo.decide import Belief, Evidence, Settings, Space, Told, Unmeasured, evidence_of, suggest
from ceibo.decide.model import fit_model
from ceibo.decide.space import MOST_PARAMETERS
from ceibo.decide.subset import group
from ceibo.gp import GaussianProcess, Matern52, fit_gp
from ceibo.numbers import with_uncertainty
from ceibo.report import render_report

LINE = Space({"x": Float(0, 1)})


def told(X: np.ndarray, y: np.ndarray, noise: np.ndarray) -> list[Told]:
    """One measurement per row; a noise of NaN is unknown."""
    rows = zip(X, y, noise, strict=True)
    return [
        Told(k, np.atleast_1d(x), Measurement(value, None if np.isnan(std) else std))
        for k, (x, value, std) in enumerate(rows)
    ]


def mixed(n: int, unknown: list[int]) -> Evidence:
    """A parabola of noise 0.1, told for all values but those of some rows."""
    rng = np.random.default_rng(4)
    X = rng.random(n)
    noise = np.full(n, 0.1)
    noise[unknown] = np.nan
    return evidence_of(told(X, 4 * (X - 0.3) ** 2 + 0.1 * rng.standard_normal(n), noise), 1)


# -- known and unknown noise together --------------------------------------------------


@pytest.mark.parametrize("unknown", [[57], [0], [119], list(range(0, 120, 2)), list(range(119))])
def test_unknown_noise_is_inferred_however_rare_it_is(unknown: list[int]) -> None:
    known = mixed(120, unknown)
    settings = Settings(max_observations=40)
    model = fit_model(known, LINE, settings)
    assert model.fit.noise_variance is not None
    assert np.all(model.gp.noise_variance > 0)
    assert 1e-3 < model.natural(np.sqrt(model.fit.noise_variance)) < 1.0
    belief = Belief(known, LINE, settings, seed=0)
    assert abs(belief.best.mean) < 0.1
    assert abs(belief.recommended.params["x"] - 0.3) < 0.15
    assert np.isfinite(belief.remaining)
    assert np.isfinite(suggest(known, LINE, settings, None, 0, 120).value or 0.0)
    for count in (20, 45, 119):
        for state in (belief.in_hindsight(count), belief.earlier(count)):
            assert np.isfinite(state.best.std)
            assert state.best.std > 0


def test_a_wild_value_of_unknown_noise_does_not_become_the_answer() -> None:
    known = mixed(120, [57])
    known.y[57] = -3.0
    assert Belief(known, LINE, Settings(max_observations=40), seed=0).best.mean > -0.5


def test_both_kinds_of_noise_are_in_the_data_of_a_fit() -> None:
    for count in (10, 40, 400):
        for unknown in (1, 7, 100, 900, 999):
            noise = np.where(np.arange(1000) < unknown, np.nan, 0.1)
            groups = group(np.arange(1000.0)[:, None], noise, np.empty((1000, 0), dtype=np.intp))
            chosen = groups.spread(count)
            assert len(set(chosen.tolist())) == len(chosen) <= count
            found = int(groups.unknown[chosen].sum())
            assert found >= min(unknown, count // 2, 20)
            assert len(chosen) - found >= min(1000 - unknown, count // 2, 20)
            assert found == pytest.approx(count * unknown / 1000, abs=20)


# -- replicates ------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "repeats"), [("known", 24), ("unknown", 24), ("mixed", 60)])
def test_replicates_are_merged_before_anything_is_left_out(kind: str, repeats: int) -> None:
    rng = np.random.default_rng(5)
    X = np.tile(rng.random(50), repeats)
    y = np.sin(6 * X) + 0.3 * rng.standard_normal(len(X))
    noise = rng.uniform(0.2, 0.4, len(X))
    if kind != "known":
        noise[: len(X) if kind == "unknown" else len(X) // 3] = np.nan
    known = evidence_of(told(X, y, noise), 1)
    model = fit_model(known, LINE, Settings())
    assert (model.observations, model.used) == (50 * repeats, 50 * repeats)
    fit = fit_gp(known.X, known.y, known.noise**2)
    unknown = np.nan if fit.noise_variance is None else fit.noise_variance
    noise = np.where(np.isnan(noise), unknown, noise**2)
    plain = GaussianProcess(known.X, known.y, noise, fit.gp.kernel, fit.gp.mean)
    grid = np.linspace(0, 1, 40)[:, None]
    means, variances = plain.posterior(grid)
    found, spread = model.gp.posterior(grid)
    np.testing.assert_allclose(np.ldexp(found, model.exponent), means, rtol=0, atol=1e-6)
    np.testing.assert_allclose(np.ldexp(spread, 2 * model.exponent), variances, rtol=1e-4)


def test_replicates_of_a_point_that_is_kept_are_all_kept() -> None:
    rng = np.random.default_rng(6)
    X = np.repeat(rng.random(80), 5)
    y = (X - 0.4) ** 2 + 0.2 * rng.standard_normal(len(X))
    known = evidence_of(told(X, y, np.full(len(X), np.nan)), 1)
    model = fit_model(known, LINE, Settings(max_observations=40))
    assert len(model.gp.X) == 40
    assert (model.observations, model.used) == (400, 200)
    inferred = model.fit.noise_variance
    assert inferred is not None
    np.testing.assert_allclose(model.gp.noise_variance, inferred / 5)
    for x, value in zip(model.gp.X, model.gp.y, strict=True):
        assert np.ldexp(value, model.exponent) == pytest.approx(y[x[0] == X].mean())


def test_hindsight_of_many_replicates_is_small() -> None:
    rng = np.random.default_rng(7)
    rows = []
    for number in range(30):
        values = rng.random() + 0.1 * rng.standard_normal(50)
        rows.append(Told(number, rng.random(1), Measurement.of(values.tolist())))
    belief = Belief(evidence_of(rows, 1), LINE, Settings(max_observations=40), seed=0)
    earlier = belief.in_hindsight(20)
    assert len(earlier.evidence) == 1000
    assert len(earlier.model.gp.X) == 20
    assert np.isfinite(earlier.best.std)


# -- points without a value ------------------------------------------------------------


def test_thousands_of_points_without_a_value() -> None:
    rng = np.random.default_rng(8)
    none = rng.random((6000, 1))
    few = told(rng.random(30), rng.random(30), np.full(30, 0.1))
    unmeasured = Unmeasured(list(none), list(0.5 + 0.5 * none), list(none[:5000]))
    known = evidence_of(few, 1, unmeasured=unmeasured, trials=17030)
    settings = Settings(max_observations=50)
    found = suggest(known, LINE, settings, None, 0, 17030)
    assert 0 <= found.params["x"] <= 1
    assert found.x.tobytes() == suggest(known, LINE, settings, None, 0, 17030).x.tobytes()


# -- the doors -------------------------------------------------------------------------


def late_study() -> Study:
    """1,200 measurements; those around the optimum at 0.1 are the last 150."""
    rng = np.random.default_rng(0)
    X = 0.4 + 0.6 * rng.random(1200)
    X[1050:] = np.clip(0.1 + 0.01 * rng.standard_normal(150), 0, 1)
    y = (X - 0.1) ** 2 + 0.05 * rng.standard_normal(1200)
    study = Study.create({"x": Float(0, 1)}, seed=0)
    study.add_all(
        ({"x": float(x)}, Measurement(float(value), None if k == 700 else 0.05))
        for k, (x, value) in enumerate(zip(X, y, strict=True))
    )
    return study


def test_the_report_of_more_than_a_thousand_says_what_best_says_and_changes_nothing() -> None:
    alone, reported = late_study(), late_study()
    page = render_report(reported)
    assert reported.best == alone.best
    assert reported.recommended == alone.recommended
    assert reported.ask().params == alone.ask().params
    best = alone.best
    assert best.number is not None
    assert best.number >= 1050
    card = r'measured</h3><div class="big"><span>(\S+)</span> <small>± (\S+)</small>'
    shown = re.search(card, page)
    assert shown is not None
    assert " ± ".join(shown.groups()) == with_uncertainty(best.mean, best.std)
    assert f"trial {best.number} measured" in page
    assert alone.verify().ok
    assert alone.should_stop(0.01).stop in (True, False)


# -- many parameters -------------------------------------------------------------------


def wide(kinds: list[Float | Int | Categorical], dimension: int) -> Space:
    return Space({f"x{k}": kinds[k % len(kinds)] for k in range(dimension)})


@pytest.mark.parametrize(
    "kinds",
    [
        [Float(0, 1)],
        [Int(1, 8)],
        [Categorical(["a", "b", "c"])],
        [Float(0, 1), Int(1, 8), Categorical([False, True])],
    ],
)
def test_a_suggestion_in_very_many_dimensions(kinds: list[Float | Int | Categorical]) -> None:
    space = wide(kinds, 400)
    rng = np.random.default_rng(9)
    X = space.to_unit_rows([space.from_unit(u) for u in rng.random((30, 400))])
    rows = [Told(k, x, Measurement(float(np.sum(x[:9])), 0.1)) for k, x in enumerate(X)]
    known = evidence_of(rows, 400)
    settings = Settings(n_initial=4)
    found = suggest(known, space, settings, None, 0, 30)
    assert found.source == "model"
    assert space.check(found.params) == found.params
    assert found.x.tobytes() == suggest(known, space, settings, None, 0, 30).x.tobytes()
    # It is a better point than all those of a random search of 200 points.
    model = fit_model(known, space, settings)
    function = acquisition.build("corrected-ei", model.gp)
    others = space.to_unit_rows([space.from_unit(u) for u in rng.random((200, 400))])
    best = acquisition.maximize(function, discrete=space.discrete)
    assert best.value > np.max(function.value(others))


def test_more_categorical_columns_than_are_compared_one_by_one() -> None:
    rng = np.random.default_rng(10)
    scales = rng.uniform(5, 20, 130)
    A, B = rng.integers(0, 3, (7, 130)) / 3, rng.integers(0, 3, (5, 130)) / 3
    B[2] = A[4]
    kernel = Matern52(scales, 1.0, tuple(range(120)))
    mismatch = (A[:, None, :120] != B[None, :, :120]) / scales[:120] ** 2
    ordered = ((A[:, None, 120:] - B[None, :, 120:]) / scales[120:]) ** 2
    wanted = mismatch.sum(axis=2) + ordered.sum(axis=2)
    np.testing.assert_allclose(kernel.squared_distance(A, B), wanted, rtol=1e-13)
    assert kernel.squared_distance(A, B)[4, 2] == 0.0


def test_more_parameters_than_can_be_searched_are_refused_in_a_sentence() -> None:
    space = wide([Float(0, 1)], MOST_PARAMETERS + 1)
    with pytest.raises(InputError, match=r"expected at most 5,000 parameters, got 5,001"):
        Study.create(space)
    with pytest.raises(InputError, match="at most 5,000"):
        suggest(evidence_of([], len(space)), space, Settings(), None, 0, 0)
    study = Study.create(wide([Float(0, 1)], MOST_PARAMETERS))
    assert len(study.ask().params) == MOST_PARAMETERS
