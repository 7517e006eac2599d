"""Blocks and counted standard errors in models, answers and suggestions."""

from dataclasses import replace

import numpy as np
import pytest

from ceibo import Float, Measurement, Study
from ceibo.decide import (
    AtMost,
    Belief,
    Direction,
    Evidence,
    JointBelief,
    Minimize,
    Outcomes,
    Settings,
    Space,
    Told,
    Unmeasured,
    evidence_of,
    joint_evidence_of,
    suggest,
)
from ceibo.decide.model import fit_model
from ceibo.decide.record import hyperparameters_of, to_record
from ceibo.gp import Blocks, Hyperparameters
from ceibo.gp.block_averaging import average_over_blocks
from ceibo.gp.offsets import block_offsets
from tests.helpers import Array, kernel_oracle

SPACE = Space({"a": Float(0, 1), "b": Float(0, 1)})
OFFSETS = np.array([0.8, -0.5, 0.1, -0.6, 0.4])


def measured(n: int = 30, seed: int = 0, scale: float = 1.0, plates: bool = False) -> list[Told]:
    """A bowl measured over five days with noise 0.1; `plates` are blocks of a second kind."""
    rng = np.random.default_rng(seed)
    told = []
    for number in range(n):
        x = rng.random(2)
        day = number * len(OFFSETS) // n
        value = 4 * np.sum((x - 0.4) ** 2) + OFFSETS[day] + 0.1 * rng.standard_normal()
        block = {"day": f"day {day}"} | ({"plate": str(number % 3)} if plates else {})
        told.append(Told(number, x, Measurement(scale * value, block=block)))
    return told


def believed(told: list[Told], direction: Direction = Direction.MINIMIZE) -> Belief:
    return Belief(evidence_of(told, 2, direction), SPACE, Settings(), 0)


def with_values(told: list[Told], factor: float) -> list[Told]:
    def turned(one: Measurement) -> Measurement:
        return Measurement(factor * one.value, block=dict(one.block))

    return [each._replace(measurement=turned(each.measurement)) for each in told]


def test_effects_are_those_of_the_joint_normal() -> None:
    # maximum likelihood has no priors to average over
    settings = Settings(fit="ml", restarts=1)
    evidence = evidence_of(measured(plates=True), 2, Direction.MINIMIZE)
    belief = Belief(evidence, SPACE, settings, 0)
    gp, evidence = belief.model.gp, belief.evidence
    assert gp.blocks is not None
    assert evidence.block_kinds == ("day", "plate")
    K = kernel_oracle(gp.kernel, gp.X, gp.X) + np.diag(gp.noise_variance)
    for of, variance in zip(gp.blocks.of.T, gp.blocks.variances, strict=True):
        K += variance * (of[:, None] == of)
    solved = np.linalg.solve(K, gp.y - gp.mean)
    shown = {(each.kind, each.label): each for each in belief.blocks}
    assert len(shown) == len(belief.blocks) == 8
    for t, kind in enumerate(evidence.block_kinds):
        variance = gp.blocks.variances[t]
        for j, label in enumerate(evidence.block_labels[t]):
            z = (gp.blocks.of[:, t] == j) * variance
            effect = shown[kind, label]
            assert effect.mean == pytest.approx(belief.model.natural(z @ solved), rel=1e-6)
            left = variance - z @ np.linalg.solve(K, z)
            assert effect.std == pytest.approx(belief.model.natural(np.sqrt(left)), rel=1e-6)
            assert effect.count == (6 if kind == "day" else 10)


def test_effects_are_found_and_answers_are_free_of_them() -> None:
    belief = believed(measured())
    centred = OFFSETS - OFFSETS.mean()
    for effect, true in zip(belief.blocks, centred, strict=True):
        assert abs(effect.mean - true) < 4 * effect.std + 0.1
        assert effect.std < 0.6
    assert belief.blocks[0].spread == pytest.approx(float(np.std(OFFSETS)), rel=0.4)
    assert belief.noise == pytest.approx(0.1, rel=0.6)
    # at the middle of the bowl, as on an average day
    assert belief.at({"a": 0.4, "b": 0.4}).mean == pytest.approx(OFFSETS.mean(), abs=0.4)
    blind = [each._replace(measurement=Measurement(each.measurement.value)) for each in measured()]
    assert (believed(blind).noise or 0.0) > 3 * (belief.noise or 0.0)
    assert believed(blind).blocks == ()


def test_few_measurements_of_two_days_are_not_too_sure_of_them() -> None:
    """The variance of days that fits best is zero in most of these studies."""
    scores = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        told = []
        for number, x in enumerate(rng.random((8, 2))):
            day = number % 2
            value = 60 - 100 * np.sum((x - 0.5) ** 2) + 6 * day - 3 + 1.5 * rng.standard_normal()
            told.append(Told(number, x, Measurement(value, block={"day": str(day)})))
        belief = believed(told)
        for effect in belief.blocks:
            assert effect.spread > 0.0
            scores.append(abs(effect.mean - (3.0 if effect.label == "1" else -3.0)) / effect.std)
    assert np.mean(scores) < 1.5
    assert max(scores) < 3.0


def test_effects_are_those_of_a_mixture_over_how_much_blocks_vary() -> None:
    belief = believed(measured(12))
    average = average_over_blocks(belief.model.fit, 0)
    assert average is not None
    assert np.sum(average.weights) == pytest.approx(1.0)
    scales = [each.hyperparameters.blocks[0] for each in average.fits]
    assert scales == sorted(scales)
    # the other hyperparameters are fitted to each: none is denser nearby
    objective = belief.model.fit.basis.objective()
    for each in average.fits:
        theta = belief.model.fit.basis.theta(each.hyperparameters)
        for step in 0.1 * np.eye(len(theta))[:-1]:
            assert max(objective.value(theta + step), objective.value(theta - step)) < (
                objective.value(theta) + 0.05
            )
    rng = np.random.default_rng(0)
    gps = [average.fits[k].gp for k in rng.choice(len(scales), 4000, p=average.weights)]
    parts = [block_offsets(gp, 0) for gp in gps]
    draws = np.array([rng.normal(mean, np.sqrt(variance)) for mean, variance, _ in parts])
    for k, effect in enumerate(belief.blocks):
        assert effect.mean == pytest.approx(
            belief.model.natural(draws[:, k].mean()), abs=0.1 * effect.std
        )
        assert effect.std == pytest.approx(belief.model.natural(draws[:, k].std()), rel=0.05)
        among = np.mean([part.variance_among for part in parts])
        assert effect.spread == pytest.approx(belief.model.natural(float(np.sqrt(among))), rel=0.02)


@pytest.mark.parametrize("offset", [0.0, 0.3, 1.2])
def test_small_differences_of_blocks_are_found_beside_a_small_noise(offset: float) -> None:
    rng = np.random.default_rng(3)
    offsets = 1e-3 * offset * rng.standard_normal(8)
    told = []
    for number, x in enumerate(rng.random((64, 2))):
        value = np.sum((x - 0.4) ** 2) + offsets[number % 8] + 1e-3 * rng.standard_normal()
        told.append(Told(number, x, Measurement(float(value), block={"day": str(number % 8)})))
    (spread,) = {effect.spread for effect in believed(told).blocks}
    if offset < 1.0:
        assert spread < 8e-4
    else:
        assert spread == pytest.approx(float(np.std(offsets)), rel=0.3)


def test_effects_turn_with_the_direction_and_grow_with_the_units() -> None:
    told = measured()
    plain, up = believed(told), believed(with_values(told, -1.0), Direction.MAXIMIZE)
    large = believed(with_values(told, 2.0**700))
    for one, turned, scaled in zip(plain.blocks, up.blocks, large.blocks, strict=True):
        assert turned == replace(one, mean=-one.mean)
        assert scaled == replace(
            one,
            mean=np.ldexp(one.mean, 700),
            std=np.ldexp(one.std, 700),
            spread=np.ldexp(one.spread, 700),
        )


def test_a_kind_with_one_block_has_no_effect() -> None:
    told = [
        each._replace(measurement=Measurement(each.measurement.value, block={"lab": "ours"}))
        for each in measured()
    ]
    (effect,) = believed(told).blocks
    assert (effect.mean, effect.std, effect.spread, effect.count) == (0.0, 0.0, 0.0, 30)
    blind = believed(
        [each._replace(measurement=Measurement(each.measurement.value)) for each in told]
    )
    assert believed(told).best == blind.best


def test_the_past_is_seen_with_the_variances_of_now_whatever_the_order_of_kinds() -> None:
    """Kinds are listed as they are told: those of earlier evidence may be fewer."""
    told = [
        each._replace(measurement=Measurement(each.measurement.value, block={"plate": "p"}))
        for each in measured(4)
    ] + [each._replace(number=each.number + 4) for each in measured(plates=True)]
    belief = believed(told)
    assert belief.evidence.block_kinds == ("plate", "day")
    past = belief.in_hindsight(4)
    assert past.evidence.block_kinds == ("plate",)
    assert past.model.gp.blocks is not None
    plate = belief.model.block_variances(["plate"])
    np.testing.assert_array_equal(past.model.gp.blocks.variances, plate)
    np.testing.assert_array_equal(
        belief.model.block_variances(["day", "other", "plate"])[[1, 2]], [0.0, plate[0]]
    )
    middle = belief.in_hindsight(20)
    assert [each.label for each in middle.blocks][:1] == ["p"]
    assert belief.in_hindsight(len(told)).best.mean == pytest.approx(belief.best.mean, rel=1e-9)


def test_pending_points_are_in_one_new_block() -> None:
    told = measured()
    pending = [np.array([0.2, 0.9]), np.array([0.9, 0.1])]
    evidence = evidence_of(told, 2, unmeasured=Unmeasured(pending=pending))
    model = fit_model(evidence, SPACE, Settings())
    conditioned = model.conditioned(evidence, 1000)
    assert conditioned.state.blocks is not None
    np.testing.assert_array_equal(conditioned.state.blocks.of[-2:], [[5], [5]])


def test_of_very_many_rows_those_of_one_setting_and_day_are_merged() -> None:
    """Merging is exact, so that the answers are those of the whole; across days nothing merges."""
    rng = np.random.default_rng(1)
    points, told = rng.random((12, 2)), []
    for number in range(60):
        x, day = points[number % 12], number // 24
        value = 4 * np.sum((x - 0.4) ** 2) + OFFSETS[day] + 0.1 * rng.standard_normal()
        told.append(Told(number, x, Measurement(value, block=str(day))))
    evidence = evidence_of(told, 2)
    whole = fit_model(evidence, SPACE, Settings())
    few = fit_model(evidence, SPACE, Settings(max_observations=40))
    assert len(whole.gp.X) == 36
    X = rng.random((5, 2))
    np.testing.assert_array_equal(whole.gp.posterior(X), few.gp.posterior(X))
    again = whole.refitted_to(evidence, 40)
    for a, b in zip(again.gp.posterior(X), whole.gp.posterior(X), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7)
    chosen = fit_model(evidence, SPACE, Settings(max_observations=20))
    assert chosen.gp.blocks is not None
    assert len(chosen.gp.X) == 20
    effects = Belief(evidence, SPACE, Settings(max_observations=20), 0).blocks
    assert [each.count for each in effects] == [24, 24, 12]


def evidence_with_pending(told: list[Told]) -> Evidence:
    return evidence_of(told, 2, unmeasured=Unmeasured(pending=[np.array([0.5, 0.5])]))


def test_a_suggestion_with_blocks_follows_from_its_record() -> None:
    evidence = evidence_with_pending(measured(plates=True))
    found = suggest(evidence, SPACE, Settings(), None, 0, 31)
    record = to_record(found, 0, 0)
    start = hyperparameters_of(record)
    assert start is not None
    assert found.hyperparameters is not None
    assert len(start.blocks) == 2
    np.testing.assert_array_equal(start.blocks, found.hyperparameters.blocks)
    again = suggest(evidence, SPACE, Settings(), start, 0, 32)
    assert suggest(evidence, SPACE, Settings(), start, 0, 32).x.tobytes() == again.x.tobytes()
    blind = evidence_with_pending([Told(0, np.zeros(2), Measurement(1.0))])
    plain = to_record(suggest(blind, SPACE, Settings(n_initial=1), None, 0, 1), 0, 0)
    assert "blocks" not in plain["hyperparameters"]


def test_a_study_of_two_kinds_of_block_verifies() -> None:
    study = Study.create({"a": Float(0, 1), "b": Float(0, 1)}, seed=3)
    rng = np.random.default_rng(0)
    for plate in range(4):
        for trial in study.ask(4):
            value = (trial.params["a"] - 0.3) ** 2 + 0.2 * plate + 0.05 * rng.standard_normal()
            study.tell(trial, value, block={"day": f"d{plate // 2}", "plate": f"p{plate}"})
    result = study.verify()
    assert result
    assert result.identical == 16


def counted(replicates: list[Array], xs: Array) -> tuple[list[Told], list[Told]]:
    """Means with standard errors and counts, and the replicates themselves."""
    means, raw = [], []
    for number, (x, values) in enumerate(zip(xs, replicates, strict=True)):
        error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
        one = Measurement(float(np.mean(values)), error, count=len(values))
        means.append(Told(number, x, one))
        raw.append(Told(number, x, Measurement.of(values)))
    return means, raw


def test_a_counted_standard_error_is_its_replicates() -> None:
    rng = np.random.default_rng(2)
    xs = rng.random((16, 2))
    truth = 4 * np.sum((xs - 0.4) ** 2, axis=1)
    values = [f + 0.3 * rng.standard_normal(int(rng.integers(2, 6))) for f in truth]
    means, raw = (believed(each) for each in counted(values, xs))
    assert means.noise == pytest.approx(raw.noise, rel=1e-6)
    assert means.best.mean == pytest.approx(raw.best.mean, rel=1e-5)
    assert means.best.std == pytest.approx(raw.best.std, rel=1e-5)
    known = [
        each._replace(measurement=Measurement(each.measurement.value, each.measurement.noise))
        for each in counted(values, xs)[0]
    ]
    assert believed(known).noise is None
    # in hindsight, and above the limit, the noise is that of as many values as were counted
    past = means.in_hindsight(10)
    inferred = means.model.fit.noise_variance or 0.0
    sizes = np.array([len(each) for each in values[:10]])
    np.testing.assert_allclose(past.model.gp.noise_variance * sizes, inferred, rtol=1e-12)
    merged = means.model.refitted_to(means.evidence.first(10), 5)
    assert len(merged.gp.X) == 5


def test_outcomes_have_effects_of_their_own() -> None:
    told = measured()
    cost = [
        each._replace(
            measurement=Measurement(
                each.x[0] + 0.01 * (-1) ** k, block=dict(each.measurement.block)
            )
        )
        for k, each in enumerate(told)
    ]
    outcomes = Outcomes({"loss": Minimize(), "cost": AtMost(0.8)})
    evidence = joint_evidence_of(outcomes, 2, {"loss": told, "cost": cost})
    belief = JointBelief(evidence, SPACE, Settings(), 0)
    alone = believed(told)
    assert belief.blocks["loss"] == alone.blocks
    assert belief.blocks["cost"][0].spread < 0.05
    assert belief.best.mean is not None
    past = belief.in_hindsight(20)
    assert [each.label for each in past.blocks["cost"]] == ["day 0", "day 1", "day 2", "day 3"]


def test_hyperparameters_of_old_records_have_no_blocks() -> None:
    old = {"hyperparameters": {"lengthscales": [1.0, 2.0], "variance": 1.0, "noise": None}}
    found = hyperparameters_of(old)
    assert isinstance(found, Hyperparameters)
    assert found.blocks.tolist() == []
    assert Blocks(np.zeros((3, 0)), []).total == 0.0
