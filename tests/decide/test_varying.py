"""Noise that differs over the space: where it is believed, what it changes, and what it leaves."""

import json
import math

import numpy as np
import pytest

import ceibo
from ceibo.decide import (
    AtMost,
    Belief,
    Evidence,
    Float,
    Maximize,
    Measurement,
    Outcomes,
    Precision,
    Settings,
    Space,
    Told,
    Unmeasured,
    evidence_of,
    suggest,
)
from ceibo.decide.joint import JointBelief, joint_evidence_of
from ceibo.decide.model import fit_model
from ceibo.decide.record import to_record
from ceibo.study.run import first_change
from tests.helpers import Array

SPACE = Space({"a": Float(0, 1), "b": Float(0, 1)})
CALM, WILD, COUNT = 0.02, 0.4, 3
OFF = Settings(varying_noise=False)


def std(x: Array) -> float:
    return WILD if x[0] > 0.7 else CALM


def values(seed: int, n: int = 24) -> tuple[Array, Array]:
    """Points (n, 2), and the values (n, 3) of a bowl measured there."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    noise = np.array([std(x) for x in X])[:, None] * rng.standard_normal((n, COUNT))
    return X, np.sum((X - 0.4) ** 2, axis=1)[:, None] + noise


def told(X: Array, Y: Array, scale: float = 1.0) -> list[Told]:
    rows = (scale * Y).tolist()
    return [Told(i, x, Measurement.of(row)) for i, (x, row) in enumerate(zip(X, rows, strict=True))]


def belief(evidence: Evidence, settings: Settings | None = None) -> Belief:
    return Belief(evidence, SPACE, settings or Settings(), 0)


def test_the_answer_is_as_sure_as_with_the_noise_told() -> None:
    ratios = []
    for seed in range(3):
        X, Y = values(seed)
        known = [
            Told(i, x, Measurement(row.mean(), std(x) / math.sqrt(COUNT)))
            for i, (x, row) in enumerate(zip(X, Y, strict=True))
        ]
        evidence = evidence_of(told(X, Y), 2)
        found = belief(evidence)
        right = belief(evidence_of(known, 2)).at(found.best.params).std
        ratios.append(found.best.std / right)
        one_level = belief(evidence, Settings(varying_noise=False, outliers=False))
        assert one_level.best.std > 1.5 * found.best.std
        assert found.noise == pytest.approx(CALM, rel=0.5)
        span = found.model.noise_span
        assert span is not None
        assert span[0] < 2 * CALM
        assert span[1] > 0.5 * WILD
    assert all(1 / 1.5 < ratio < 1.5 for ratio in ratios)


def test_counted_standard_errors_say_the_same() -> None:
    X, Y = values(0)
    counted = [
        Told(i, x, Measurement(row.mean(), row.std(ddof=1) / math.sqrt(COUNT), count=COUNT))
        for i, (x, row) in enumerate(zip(X, Y, strict=True))
    ]
    alike = Settings(outliers=False)  # which see single replicates where they are told
    one, other = (belief(evidence_of(rows, 2), alike) for rows in (told(X, Y), counted))
    assert other.model.shape is not None
    for a, b in zip(one.at_points(X), other.at_points(X), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def test_a_single_value_has_the_noise_of_its_region() -> None:
    X, Y = values(1)
    single = [Told(24, np.array([0.9, 0.5]), Measurement(0.3))]
    single.append(Told(25, np.array([0.3, 0.5]), Measurement(0.0)))
    gp = belief(evidence_of(told(X, Y) + single, 2)).model.gp
    loud, quiet = np.sqrt(gp.noise_variance[-2:])
    assert WILD / 2 < loud < 2 * WILD
    assert CALM / 2 < quiet < 2 * CALM


def test_one_level_gives_the_bytes_it_always_gave() -> None:
    rng = np.random.default_rng(5)
    X, plain = values(0)
    even = told(X, np.sum((X - 0.4) ** 2, axis=1)[:, None] + 0.05 * rng.standard_normal((24, 3)))
    single = [Told(i, X[i], Measurement(plain[i, 0])) for i in range(24)]
    for rows in (even, single):
        evidence = evidence_of(rows, 2)
        new, old = (suggest(evidence, SPACE, each, None, 0, 24) for each in (Settings(), OFF))
        assert new.model is not None
        assert new.model.shape is None
        assert new.x.tobytes() == old.x.tobytes()
        assert to_record(new, 0, 0) == to_record(old, 0, 0)


def test_old_studies_go_on_with_one_level() -> None:
    assert "varying_noise" not in OFF.to_json()
    assert not Settings.from_json(OFF.to_json()).varying_noise
    assert Settings.from_json(Settings().to_json()).varying_noise
    with pytest.raises(ceibo.errors.InputError, match="varying_noise must be True or False"):
        Settings(varying_noise=1)  # type: ignore[arg-type]


def test_a_run_goes_on_with_what_is_off() -> None:
    options = {"outliers": False, "varying_noise": False}
    study = ceibo.Study.create({"a": ceibo.Float(0, 1)}, outliers=False, varying_noise=False)
    assert first_change(study, options) is None
    change = first_change(study, {"varying_noise": True})
    assert change is not None
    assert change.option == "varying_noise"
    study.close()


def test_a_wrong_replicate_is_an_outlier_and_no_region() -> None:
    rng = np.random.default_rng(6)
    X, _ = values(0)
    Y = np.sum((X - 0.4) ** 2, axis=1)[:, None] + 0.05 * rng.standard_normal((24, 3))
    Y[7, 1] += 0.75
    found = belief(evidence_of(told(X, Y), 2))
    assert found.model.shape is None
    assert [each.number for each in found.suspects] == [7]


def test_units_do_not_matter() -> None:
    X, Y = values(0)
    one = suggest(evidence_of(told(X, Y), 2), SPACE, Settings(), None, 0, 24)
    assert one.model is not None
    assert one.model.shape is not None
    for power in (-900,):
        other = suggest(evidence_of(told(X, Y, 2.0**power), 2), SPACE, Settings(), None, 0, 24)
        assert other.x.tobytes() == one.x.tobytes()
    for scale in (1e-300, 1e300):
        stated = belief(evidence_of(told(X, Y, scale), 2))
        best = belief(evidence_of(told(X, Y), 2)).best
        assert stated.best.params == best.params
        assert stated.best.std / scale == pytest.approx(best.std, rel=1e-3)


def test_the_noise_of_the_next_value_is_that_of_its_place() -> None:
    X, Y = values(0)
    away = np.array([[0.9, 0.9], [0.4, 0.3]])
    evidence = evidence_of(told(X, Y), 2, unmeasured=Unmeasured(pending=list(away)))
    model = belief(evidence).model
    expected = math.sqrt(model.gp.expected_noise or 0.0)
    assert model.noise == pytest.approx(model.natural(expected), rel=1e-12)
    loud, quiet = np.sqrt(model.expected_noise(away))
    assert loud > 5 * quiet
    pending = model.conditioned(evidence, 1000)
    np.testing.assert_allclose(
        np.sqrt(pending.state.noise[-2:]) * pending.unit, [loud, quiet], rtol=1e-3
    )
    assert model.expecting_at(model.gp, away[0]).expected_noise == pytest.approx(loud**2)
    priced = Settings(precision=Precision(setup=1.0, repeat=0.1))
    assert (suggest(evidence, SPACE, priced, None, 0, 26).repeats or 0) >= 1


def test_earlier_states_and_subsets_keep_the_shape() -> None:
    X, Y = values(2, 40)
    found = belief(evidence_of(told(X, Y), 2))
    before = found.in_hindsight(20)
    merged = before.model.gp.noise_variance[::COUNT] / COUNT  # three rows of a setting
    np.testing.assert_allclose(merged, found.model.gp.noise_variance[:20], rtol=1e-9)
    assert before.best.std > 0
    few = fit_model(evidence_of(told(X, Y), 2), SPACE, Settings(max_observations=25))
    assert few.shape is not None
    assert len(few.gp.X) == 25
    loud = few.gp.X[:, 0] > 0.75
    assert np.median(few.gp.noise_variance[loud]) > 20 * np.median(few.gp.noise_variance[~loud])


def test_days_are_no_regions() -> None:
    """An offset of a day is outside the scatter of what was measured on that day."""
    rng = np.random.default_rng(3)
    X, Y = values(0)
    even = np.sum((X - 0.4) ** 2, axis=1)[:, None] + 0.05 * rng.standard_normal((24, 3))
    days = rng.normal(0, 0.3, 6)
    for rows, differs in ((even, False), (Y, True)):
        shifted = rows + np.repeat(days, 4)[:, None]
        dated = [
            each._replace(measurement=Measurement.of(row.tolist(), block=f"day {i // 4}"))
            for i, (each, row) in enumerate(zip(told(X, rows), shifted, strict=True))
        ]
        assert (belief(evidence_of(dated, 2)).model.shape is not None) == differs


def test_each_outcome_has_its_own_noise() -> None:
    X, Y = values(0)
    rng = np.random.default_rng(1)
    other = told(X, X[:, :1] + 0.05 * rng.standard_normal((24, 3)))
    outcomes = Outcomes({"yield": Maximize(), "impurity": AtMost(0.8)})
    each = {"yield": told(X, -Y), "impurity": other}
    found = JointBelief(joint_evidence_of(outcomes, 2, each), SPACE, Settings(confidence=0.9), 0)
    assert found.model.each["yield"].shape is not None
    assert found.model.each["impurity"].shape is None
    assert found.noise["yield"] == pytest.approx(CALM, rel=0.6)
    assert found.noise["impurity"] == pytest.approx(0.05, rel=0.3)


def test_the_record_says_so_and_is_verified() -> None:
    study = ceibo.Study.create({"a": ceibo.Float(0, 1), "b": ceibo.Float(0, 1)}, seed=1)
    X, Y = values(0)
    for x, row in zip(X, Y, strict=True):
        study.add({"a": x[0], "b": x[1]}, Measurement.of(row.tolist()))
    trial = study.ask()
    record = study.ledger.store.suggestions(study.ledger.id)[trial.number]
    low, high = json.loads(json.dumps(record))["noise_span"]
    assert low < 2 * CALM
    assert high > 0.5 * WILD
    assert study.verify().ok
    study.close()
