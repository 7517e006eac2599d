"""Several outcomes together: evidence, suggestions and answers."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ceibo.acquisition import nondominated
from ceibo.decide import (
    AtLeast,
    AtMost,
    Belief,
    Categorical,
    Float,
    Int,
    JointBelief,
    JointEvidence,
    Maximize,
    Measurement,
    Minimize,
    Outcomes,
    Settings,
    Space,
    Told,
    Unmeasured,
    Watch,
    evidence_of,
    joint_evidence_of,
    suggest,
    suggest_jointly,
)
from ceibo.decide.joint import raw_front, starts_of, to_joint_record
from ceibo.decide.outcomes import Outcome
from ceibo.decide.stopping import profit_of
from ceibo.errors import InputError, NoMeasurementError
from tests.helpers import Array

SPACE = Space({"a": Float(0, 1), "b": Float(0, 1)})
SETTINGS = Settings(confidence=0.95)
LIMITED: dict[str, Outcome] = {
    "yield": Maximize(unit="%", low=0, high=100),
    "impurity": AtMost(0.55),
    "colour": Watch(),
}
GOALS: dict[str, Outcome] = {"left": Minimize(), "right": Minimize()}


def measured(
    outcomes: dict[str, Outcome],
    count: int = 14,
    seed: int = 0,
    scales: dict[str, float] | None = None,
) -> JointEvidence:
    """Measurements at random points of a hill with an impurity that grows along both axes."""
    rng = np.random.default_rng(seed)
    X = rng.random((count, 2))
    truth = {
        "yield": 100 * np.exp(-4 * ((X - 0.7) ** 2).sum(axis=1)),
        "impurity": X.mean(axis=1),
        "purity": -X.mean(axis=1),
        "colour": X[:, 0],
        "left": ((X - 0.2) ** 2).sum(axis=1),
        "right": ((X - 0.8) ** 2).sum(axis=1),
    }
    told = {}
    for name in outcomes:
        noise = 0.02 * float(np.ptp(truth[name]))
        values = truth[name] + noise * rng.standard_normal(count)
        scale = (scales or {}).get(name, 1.0)
        told[name] = [
            Told(number, x, Measurement(scale * value, scale * noise))
            for number, (x, value) in enumerate(zip(X, values, strict=True))
        ]
    return joint_evidence_of(Outcomes(outcomes), 2, told)


def belief_of(evidence: JointEvidence, confidence: float = 0.95) -> JointBelief:
    return JointBelief(evidence, SPACE, Settings(confidence=confidence), 0)


# -- evidence --------------------------------------------------------------------------------------


def test_each_outcome_has_its_own_measurements_and_pending_points() -> None:
    x, y, z = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    told = {"yield": [Told(0, x, Measurement(1.0)), Told(1, y, Measurement(2.0))]}
    told["impurity"] = [Told(0, x, Measurement(0.1))]
    pending = {"yield": [z], "impurity": [y, z], "colour": [y, z]}
    evidence = joint_evidence_of(
        Outcomes(LIMITED), 2, told, Unmeasured(pending=[y, z]), pending, trials=3
    )
    assert evidence.trials == 3
    assert evidence.each["yield"].pending.tolist() == [z.tolist()]
    assert evidence.each["impurity"].pending.tolist() == [y.tolist(), z.tolist()]
    assert evidence.under_way.tolist() == [y.tolist(), z.tolist()]
    assert evidence.each["yield"].y.tolist() == [-1.0, -2.0]  # maximised: flipped
    assert evidence.is_sufficient
    assert not joint_evidence_of(Outcomes(LIMITED), 2, {"yield": told["yield"]}).is_sufficient


def test_earlier_evidence_keeps_the_trials_of_the_first_measurements() -> None:
    evidence = measured(LIMITED, 9)
    first = evidence.first(4)
    assert [len(each) for each in first.each.values()] == [4, 4, 4]
    assert first.key() != evidence.key()


def test_raw_values_hold_their_limits_trial_by_trial() -> None:
    x = np.array([0.5, 0.5])
    told = {
        "yield": [Told(k, x, Measurement(float(k))) for k in range(3)],
        "impurity": [
            Told(0, x, Measurement(0.5)),
            Told(1, x, Measurement(0.5)),
            Told(1, x, Measurement(0.7)),
        ],
    }
    evidence = joint_evidence_of(Outcomes(LIMITED), 2, told)
    assert evidence.raw_values("impurity") == {0: 0.5, 1: pytest.approx(0.6)}
    assert evidence.holding == [0]


# -- suggestions -----------------------------------------------------------------------------------


def test_without_limits_a_single_goal_is_suggested_as_in_a_plain_study() -> None:
    outcomes: dict[str, Outcome] = {"yield": Maximize()}
    joint = measured(outcomes)
    plain = joint.each["yield"]
    expected = suggest(plain, SPACE, Settings(), None, 3, 14)
    found = suggest_jointly(joint, SPACE, SETTINGS, {}, 3, 14)
    assert found.x.tobytes() == expected.x.tobytes()
    assert found.value == expected.value


def test_a_limit_that_certainly_holds_changes_nearly_nothing() -> None:
    free = measured({"yield": Maximize()})
    outcomes: dict[str, Outcome] = {"yield": Maximize(), "impurity": AtMost(1e6)}
    bound = replace(
        measured(outcomes), each={**measured(outcomes).each, "yield": free.each["yield"]}
    )
    plain = suggest_jointly(free, SPACE, SETTINGS, {}, 3, 14)
    found = suggest_jointly(bound, SPACE, SETTINGS, {}, 3, 14)
    np.testing.assert_allclose(found.x, plain.x, atol=1e-4)


def test_points_come_from_the_design_until_every_goal_and_limit_is_measured() -> None:
    evidence = measured(LIMITED)
    lacking = replace(evidence, each={**evidence.each, "impurity": evidence_of((), 2)}, trials=14)
    assert suggest_jointly(lacking, SPACE, SETTINGS, {}, 0, 14).source == "initial"
    assert suggest_jointly(evidence, SPACE, SETTINGS, {}, 0, 14).source == "model"


@pytest.mark.parametrize("outcomes", [LIMITED, GOALS])
def test_suggestions_do_not_depend_on_the_units_of_any_outcome(
    outcomes: dict[str, Outcome],
) -> None:
    expected = suggest_jointly(measured(outcomes), SPACE, SETTINGS, {}, 0, 14).x
    for scale in (2.0**-500, 2.0**500):
        for name in list(outcomes)[:2]:
            limit: Any = outcomes[name]
            changed = dict(outcomes)
            if isinstance(limit, AtMost):
                changed[name] = AtMost(limit.limit * scale)
            if isinstance(limit, Maximize):
                changed[name] = Maximize()
            evidence = measured(changed, scales={name: scale})
            found = suggest_jointly(evidence, SPACE, SETTINGS, {}, 0, 14).x
            assert found.tobytes() == expected.tobytes()


def test_at_most_and_at_least_are_mirror_images() -> None:
    below: dict[str, Outcome] = {"yield": Maximize(), "impurity": AtMost(0.55)}
    above: dict[str, Outcome] = {"yield": Maximize(), "purity": AtLeast(-0.55)}
    evidence = measured(below)
    mirrored = joint_evidence_of(
        Outcomes(above),
        2,
        {
            "yield": evidence.each["yield"].told,
            "purity": [
                replace_value(told, -told.measurement.value)
                for told in evidence.each["impurity"].told
            ],
        },
    )
    first = suggest_jointly(evidence, SPACE, SETTINGS, {}, 0, 14)
    second = suggest_jointly(mirrored, SPACE, SETTINGS, {}, 0, 14)
    assert first.x.tobytes() == second.x.tobytes()


def replace_value(told: Told, value: float) -> Told:
    return told._replace(measurement=Measurement(value, told.measurement.noise))


def test_mixed_spaces_are_searched_too() -> None:
    space = Space({"a": Float(1, 10, log=True), "n": Int(1, 5), "s": Categorical(["x", "y"])})
    rng = np.random.default_rng(0)
    told: dict[str, list[Told]] = {"goal": [], "limit": []}
    for number in range(10):
        x = space.to_unit(space.from_unit(rng.random(3)))
        told["goal"].append(Told(number, x, Measurement(float(x.sum()))))
        told["limit"].append(Told(number, x, Measurement(float(x[0]))))
    outcomes = Outcomes({"goal": Minimize(), "limit": AtLeast(0.4)})
    evidence = joint_evidence_of(outcomes, 3, told)
    found = suggest_jointly(evidence, space, SETTINGS, {}, 0, 10)
    assert space.check(found.params) == found.params


def test_a_record_is_plain_and_gives_the_starts_of_the_next_fits() -> None:
    suggestion = suggest_jointly(measured(LIMITED), SPACE, SETTINGS, {}, 0, 14)
    record = json.loads(json.dumps(to_joint_record(suggestion, 28, 0), allow_nan=False))
    starts = starts_of(record)
    assert set(starts) == {"yield", "impurity"}
    for name, fitted in suggestion.hyperparameters.items():
        assert starts[name].lengthscales.tobytes() == fitted.lengthscales.tobytes()
    assert starts_of(record, "start") == {}
    assert starts_of(None) == {}
    assert 0 <= record["incumbent"]["p_feasible"] <= 1


def test_only_noisy_ei_is_known_for_several_goals() -> None:
    settings = Settings("corrected-ei", confidence=0.95)
    with pytest.raises(InputError, match="has no meaning for 2 goals"):
        suggest_jointly(measured(GOALS), SPACE, settings, {}, 0, 14)


# -- answers ---------------------------------------------------------------------------------------


def test_the_answers_hold_their_limits_with_the_confidence() -> None:
    belief = belief_of(measured(LIMITED, 25))
    for answer in (belief.best, belief.recommended):
        assert answer.p_feasible is not None
        assert answer.p_feasible >= 0.95
        assert set(answer.outcomes) == set(LIMITED)
        assert answer.mean == answer.outcomes["yield"].mean
        chance = belief.predictions.feasibility(SPACE.to_unit(answer.params)[None, :])[0]
        assert chance == pytest.approx(answer.p_feasible, abs=1e-9)
    assert belief.recommended.mean >= belief.best.mean - 1e-9
    assert belief.best.number is not None


def test_the_recommendation_is_the_best_of_a_fine_grid_that_holds() -> None:
    belief = belief_of(measured(LIMITED, 25))
    axis = np.linspace(0, 1, 101)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    held = belief.predictions.feasibility(grid) >= 0.95
    best = np.max(belief.predictions.at_points(grid[held], "yield")[0])
    assert belief.recommended.mean >= best - 1e-3


def test_more_confidence_costs_value() -> None:
    evidence = measured(LIMITED, 25)
    means = [belief_of(evidence, level).recommended.mean for level in (0.5, 0.95, 0.999)]
    assert means[0] > means[1] > means[2]


def test_without_a_setting_that_holds_the_most_likely_one_is_the_answer() -> None:
    outcomes = {**LIMITED, "impurity": AtMost(-1.0)}
    belief = belief_of(measured(outcomes))
    best = belief.best
    assert best.p_feasible is not None
    assert best.p_feasible < 0.95
    evidence = belief.evidence.each["impurity"]
    assert best.p_feasible == pytest.approx(belief.predictions.feasibility(evidence.X).max())
    assert "no measured trial holds every limit" in belief.best_observed.why


def test_a_single_goal_has_the_answers_of_a_plain_study() -> None:
    joint = measured({"yield": Maximize()})
    plain = Belief(joint.each["yield"], SPACE, Settings(), 0)
    belief = belief_of(joint)
    assert belief.best.params == plain.best.params
    assert (belief.best.mean, belief.best.std) == (plain.best.mean, plain.best.std)
    assert belief.recommended.params == plain.recommended.params
    assert belief.remaining == plain.remaining
    assert belief.best.p_feasible is None
    assert belief.verdict(0.1) == plain.verdict(0.1)
    assert profit_of(belief, 0.1, 9) == profit_of(plain, 0.1, 9)


def test_stated_means_and_intervals_stay_in_the_range() -> None:
    outcomes: dict[str, Outcome] = {"yield": Maximize(low=20, high=60)}
    belief = belief_of(measured(outcomes))
    for params in ({"a": 0.7, "b": 0.7}, {"a": 0.0, "b": 0.0}):
        stated = belief.at(params).outcomes["yield"]
        assert 20 <= stated.low <= stated.high <= 60
        assert 20 <= stated.mean <= 60


def test_an_outcome_that_is_not_measured_yet_is_named() -> None:
    evidence = joint_evidence_of(Outcomes(LIMITED), 2, {})
    with pytest.raises(NoMeasurementError, match="'yield'"):
        _ = belief_of(evidence).best


def test_the_front_is_not_dominated_and_has_its_chances() -> None:
    belief = belief_of(measured(GOALS, 20))
    front = belief.front
    assert 2 <= len(front) < 20
    values = np.array([[each.outcomes[name].mean for name in GOALS] for each in front])
    assert np.all(np.diff(values[:, 0]) >= 0)
    assert np.all(np.diff(values[:, 1]) <= 0)
    assert all(0 < (each.p_efficient or 0) <= 1 for each in front)
    assert all(each.p_feasible is None for each in front)
    assert set(raw_front(belief.evidence)) <= set(range(20))
    simulated = chances_by_draws(belief)
    for each in front:
        assert each.number is not None
        assert each.p_efficient == pytest.approx(simulated[each.number], abs=0.03)


def chances_by_draws(belief: JointBelief, draws: int = 20_000) -> Array:
    """How often each measured point is not dominated, from plain joint draws."""
    rng = np.random.default_rng(0)
    X = belief.evidence.goal.X
    parts = []
    for gp in belief.model.goals:
        mean, _ = gp.posterior(X)
        covariance = gp.covariance(X, X)
        parts.append(rng.multivariate_normal(mean, covariance, draws, check_valid="ignore"))
    first, second = parts
    lost = np.zeros((draws, len(X)), dtype=bool)
    for k in range(len(X)):
        better = (first[:, [k]] <= first) & (second[:, [k]] <= second)
        better[:, k] = False
        lost |= better
    return np.asarray(1.0 - lost.mean(axis=0))


def test_questions_about_one_goal_are_refused_with_several() -> None:
    belief = belief_of(measured(GOALS))
    for ask in (lambda: belief.best, lambda: belief.recommended, lambda: belief.best_observed):
        with pytest.raises(InputError, match="ask for its front"):
            ask()
    with pytest.raises(InputError, match="price"):
        belief.verdict(1.0)
    with pytest.raises(InputError, match="a front is that of several goals"):
        _ = belief_of(measured(LIMITED)).front


def test_what_may_well_be_efficient_is_on_the_front_whatever_the_means_say() -> None:
    belief = belief_of(measured(GOALS, 20))
    simulated = chances_by_draws(belief)
    on_front = {each.number for each in belief.front}
    assert {number for number, chance in enumerate(simulated) if chance >= 0.23} <= on_front
    in_the_mean = on_front - {number for number, chance in enumerate(simulated) if chance >= 0.17}
    values = np.column_stack(
        [belief.model.each[name].gp.posterior(belief.evidence.goal.X)[0] for name in GOALS]
    )
    assert in_the_mean <= set(np.flatnonzero(nondominated(values)).tolist())


def test_a_limit_bounds_the_front() -> None:
    outcomes = {**GOALS, "impurity": AtMost(0.5)}
    belief = belief_of(measured(outcomes, 20))
    front = belief.front
    assert all((each.p_feasible or 0) >= 0.5 for each in front)
    for one in front:
        for other in front:
            better = all(other.outcomes[name].mean < one.outcomes[name].mean for name in GOALS)
            surer = min(other.p_feasible or 0, 0.95) >= min(one.p_feasible or 0, 0.95)
            assert not (better and surer) or (one.p_efficient or 0) >= 0.2
    raw = raw_front(belief.evidence)
    values = belief.evidence.raw_values("impurity")
    assert all(values[number] <= 0.5 for number in raw)


def test_hindsight_keeps_the_hyperparameters() -> None:
    belief = belief_of(measured(LIMITED, 12))
    earlier = belief.in_hindsight(6)
    for name in ("yield", "impurity"):
        kept = earlier.model.each[name].gp.kernel
        assert kept == belief.model.each[name].gp.kernel
    assert earlier.best.number is not None
    assert earlier.best.number < 6
