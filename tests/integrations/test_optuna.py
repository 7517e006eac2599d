"""CeiboSampler: noise, restarts, conditional spaces, running and failed trials, and the answers
after a study.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FixedTrial, FrozenTrial, Trial, TrialState

import ceibo
from ceibo.decide import Direction
from ceibo.errors import InputError, NoMeasurementError
from ceibo.integrations.optuna import (
    CeiboSampler,
    best_trial_by_posterior,
    recommended,
    report_noise,
    report_replicates,
)
from ceibo.integrations.optuna.axes import Axes
from ceibo.integrations.optuna.evidence import NOISE, evidence_of_trials, record_of


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(level)


def noisy(trial: Trial, std: float = 0.3) -> float:
    """A bowl with its minimum 0 at x = 0.3, n = 7, kind = "b", and noise keyed by the trial."""
    x = trial.suggest_float("x", 0, 1)
    n = trial.suggest_int("n", 1, 21, step=2)
    kind = trial.suggest_categorical("kind", ["a", "b", None])
    report_noise(trial, std)
    error = std * float(np.random.default_rng(trial.number).standard_normal())
    return 4 * (x - 0.3) ** 2 + ((n - 7) / 10) ** 2 + (kind != "b") * 0.5 + error


def run(
    objective: Callable[[Trial], float], n: int, study: optuna.Study | None = None, **options: Any
) -> optuna.Study:
    study = study or optuna.create_study(sampler=CeiboSampler(seed=1), **options)
    study.optimize(objective, n_trials=n, catch=(RuntimeError,))
    return study


def recorded(trial: FrozenTrial) -> dict[str, Any]:
    record = record_of(trial)
    assert record is not None
    return record


def params_of(study: optuna.Study) -> list[dict[str, Any]]:
    return [trial.params for trial in study.trials]


def test_a_study_goes_on_after_a_restart_as_if_nothing_had_happened(tmp_path: Path) -> None:
    whole = run(noisy, 15)
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    run(noisy, 10, storage=storage, study_name="s")
    again = optuna.load_study(study_name="s", storage=storage, sampler=CeiboSampler(seed=1))
    assert params_of(run(noisy, 5, again)) == params_of(whole)


def test_maximising_the_negative_gives_the_same_trials() -> None:
    assert params_of(run(lambda t: -noisy(t), 16, direction="maximize")) == params_of(
        run(noisy, 16)
    )


def test_suggestions_are_those_of_a_ceibo_study() -> None:
    """The sampler adds nothing of its own: the same evidence gives the same point."""
    study = run(noisy, 14)
    space = {"kind": ceibo.Categorical([0, 1, 2]), "n": ceibo.Int(0, 10), "x": ceibo.Float(0, 1)}
    ours = ceibo.Study.create(space, seed=1)
    for trial in study.trials:
        kinds = ["a", "b", None]
        params = {
            **trial.params,
            "kind": kinds.index(trial.params["kind"]),
            "n": (trial.params["n"] - 1) // 2,
        }
        assert trial.value is not None
        ours.add(params, trial.value, noise=trial.user_attrs[NOISE])
    asked = study.ask()
    theirs = {"x": asked.suggest_float("x", 0, 1), "n": asked.suggest_int("n", 1, 21, step=2)}
    record = recorded(study.trials[-1])
    again = ours.ask().params
    assert record["source"] == "model"
    # A fit from recorded start values may end within its tolerance of one without.
    assert theirs["x"] == pytest.approx(again["x"], abs=0.02)
    assert theirs["n"] == 1 + 2 * again["n"]


def test_told_noise_is_used_and_untold_noise_inferred() -> None:
    study = run(noisy, 10)
    axes = Axes.of({"x": FloatDistribution(0, 1), "n": IntDistribution(1, 21, step=2)})
    study.add_trial(
        optuna.create_trial(
            params={"x": 0.1, "n": 3},
            distributions={name: axis.distribution for name, axis in axes.axes.items()},
            value=1,
        )
    )
    evidence = evidence_of_trials(study.trials, axes, Direction.MINIMIZE, NOISE)
    np.testing.assert_array_equal(evidence.noise, [0.3] * 10 + [np.nan])
    for wrong in (-1.0, "0.1", [0.1, "x"], [0.1, "0.2"], True, 1j, np.array([0.1, 0.2])):
        with pytest.raises(InputError, match="std must be a finite standard deviation"):
            report_noise(study.ask(), wrong)  # type: ignore[arg-type]  # that is what is tested
    trials = study.trials
    trials[0].user_attrs[NOISE] = "much"
    with pytest.raises(InputError, match="trial 0"):
        evidence_of_trials(trials, axes, Direction.MINIMIZE, NOISE)


def test_replicates_are_told_as_such_and_do_not_overstate_a_lucky_spread() -> None:
    """Four values that agree by luck: as a known noise the spread is all but believed exactly."""

    def values_of(trial: Trial) -> list[float]:
        x = trial.suggest_float("x", 0, 1)
        errors = 0.3 * np.random.default_rng(trial.number).standard_normal(4)
        if trial.number == 5:
            errors = np.array([-0.4, -0.4, -0.4, -0.400001])
        return [float(4 * (x - 0.3) ** 2 + error) for error in errors]

    def by_replicates(trial: Trial) -> float:
        return report_replicates(trial, values_of(trial))

    def by_spread(trial: Trial) -> float:
        values = values_of(trial)
        report_noise(trial, float(np.std(values, ddof=1) / 2))
        return float(np.mean(values))

    studies = []
    for objective in (by_replicates, by_spread):
        study = optuna.create_study()
        for x in (0.0, 0.1, 0.2, 0.4, 0.5, 0.3, 0.6, 0.7, 0.8, 0.9, 1.0, 0.15, 0.25, 0.35, 0.45):
            study.enqueue_trial({"x": x})
        study.optimize(objective, n_trials=15)
        studies.append(study)
    cautious, naive = (best_trial_by_posterior(study) for study in studies)
    assert naive.std < 0.01
    assert naive.mean < -0.2  # the truth is nowhere below zero
    assert abs(cautious.mean) < 3 * cautious.std
    axes = Axes.of({"x": FloatDistribution(0, 1)})
    evidence = evidence_of_trials(studies[0].trials, axes, Direction.MINIMIZE, NOISE)
    assert len(evidence) == 60
    assert evidence.measurements == 15
    assert np.all(np.isnan(evidence.noise))


def test_a_counted_standard_error_says_what_its_values_would() -> None:
    values = np.random.default_rng(3).normal(0.0, 0.3, (8, 4))

    def objective(trial: Trial, told: Callable[[Trial, Any], float]) -> float:
        x = trial.suggest_float("x", 0, 1)
        return told(trial, (x - 0.4) ** 2 + values[trial.number])

    def counted(trial: Trial, several: Any) -> float:
        report_noise(trial, float(np.std(several, ddof=1) / 2), count=4)
        return float(np.mean(several))

    answers = []
    for told in (report_replicates, counted):
        study = optuna.create_study(sampler=CeiboSampler(seed=1))
        for k in range(8):
            study.enqueue_trial({"x": k / 8})
        run(partial(objective, told=told), 8, study)
        answer = recommended(study)
        answers.append((answer.mean, answer.std))
    assert answers[0] == pytest.approx(answers[1], rel=1e-4)
    trial = study.ask()
    with pytest.raises(InputError, match="count must be a whole number from 2"):
        report_noise(trial, 0.1, count=1)
    with pytest.raises(InputError, match="count: expected none beside the noise of several"):
        report_noise(trial, [0.1, 0.2], count=3)


def test_replicates_must_have_the_mean_that_is_returned() -> None:
    study = optuna.create_study(sampler=CeiboSampler(seed=0))

    def objective(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        report_replicates(trial, [x, x + 1])
        return x

    with pytest.raises(InputError, match="trial 0 returned"):
        study.optimize(objective, n_trials=8)
    with pytest.raises(InputError, match="replicate"):
        report_replicates(study.ask(), [])
    failing = optuna.create_study(sampler=CeiboSampler(seed=0))
    trial = failing.ask()
    assert np.isnan(report_replicates(trial, [1.0, float("nan")]))
    assert not trial.user_attrs


def test_reported_noise_counts_with_another_noise_attribute_too() -> None:
    axes = Axes.of({"x": FloatDistribution(0, 1)})
    study = optuna.create_study(sampler=CeiboSampler(seed=0, noise_attribute="sem"))

    def objective(trial: Trial) -> float:
        report_noise(trial, 0.5)
        if trial.number % 2:
            trial.set_user_attr("sem", 0.25)
        return trial.suggest_float("x", 0, 1)

    study.optimize(objective, n_trials=4)
    np.testing.assert_array_equal(
        evidence_of_trials(study.trials, axes, Direction.MINIMIZE, "sem").noise,
        [0.5, 0.25, 0.5, 0.25],
    )
    np.testing.assert_array_equal(
        evidence_of_trials(study.trials, axes, Direction.MINIMIZE, NOISE).noise, [0.5] * 4
    )
    assert best_trial_by_posterior(study).std > 0.05


def test_running_trials_are_pending_even_before_they_ask_for_parameters() -> None:
    study = run(noisy, 10)
    first, second = study.ask(), study.ask()
    for trial in (first, second):
        trial.suggest_float("x", 0, 1)  # the first call makes the sampler suggest all of them
    space = {
        "x": FloatDistribution(0, 1),
        "n": IntDistribution(1, 21, step=2),
        "kind": CategoricalDistribution(["a", "b", None]),
    }
    axes = Axes.of(space)
    pending = evidence_of_trials(study.trials, axes, Direction.MINIMIZE, NOISE).pending
    assert len(pending) == 2
    assert np.max(np.abs(pending[0] - pending[1])) > 1e-3
    assert (
        len(
            evidence_of_trials(
                study.trials, axes, Direction.MINIMIZE, NOISE, before=second.number
            ).pending
        )
        == 1
    )


def test_failed_and_pruned_trials_are_kept_off() -> None:
    def fragile(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        if x < 0.3:
            raise RuntimeError("leaked")
        if x > 0.9:
            raise optuna.TrialPruned
        if 0.5 < x < 0.52:
            return float("inf")
        return (x - 0.2) ** 2

    study = run(fragile, 25)
    evidence = evidence_of_trials(
        study.trials, Axes.of({"x": FloatDistribution(0, 1)}), Direction.MINIMIZE, NOISE
    )
    assert len(evidence) + len(evidence.failed) == 25
    assert len(evidence.failed) >= 1
    assert len(
        {round(t.params["x"], 4) for t in study.trials if t.state is TrialState.FAIL}
    ) == sum(t.state is TrialState.FAIL for t in study.trials)


@pytest.mark.parametrize(
    ("states", "streak"), [("CFF", 2), ("CFFC", 0), ("CFP", 0), ("CPF", 1), ("FFF", 3)]
)
def test_failures_in_a_row_are_counted_and_pruning_is_none(states: str, streak: int) -> None:
    study = optuna.create_study()
    distribution = FloatDistribution(0, 1)
    named = {"C": TrialState.COMPLETE, "F": TrialState.FAIL, "P": TrialState.PRUNED}
    for k, letter in enumerate(states):
        study.add_trial(
            optuna.trial.create_trial(
                state=named[letter],
                value=1.0 if letter == "C" else None,
                params={"x": 0.1 * (k + 1)},
                distributions={"x": distribution},
            )
        )
    axes = Axes.of({"x": distribution})
    seen = evidence_of_trials(study.trials, axes, Direction.MINIMIZE, NOISE)
    assert seen.failures_in_a_row == streak


def test_only_what_no_finished_trial_has_is_sampled_independently(lines: list[str]) -> None:
    def conditional(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        if trial.suggest_categorical("model", ["svm", "forest"]) == "svm":
            return x + trial.suggest_float("C", 1e-3, 1e3, log=True) / 1e3
        if trial.number == 14:
            trial.suggest_float("new", 0, 1)
        return x + trial.suggest_int("trees", 1, 100) / 100

    study = run(conditional, 14)
    assert recorded(study.trials[-1])["names"] == ["C", "model", "trees", "x"]
    assert best_trial_by_posterior(study).params.keys() >= {"x", "model"}
    assert not any("sampled independently" in line for line in lines)
    study.enqueue_trial({"model": "forest"})
    run(conditional, 1, study)
    said = [line for line in lines if "sampled independently" in line]
    assert len(said) == 1
    assert "'new' in trial 14" in said[0]
    silent = CeiboSampler(seed=1, warn_independent_sampling=False)
    lines.clear()
    study = optuna.create_study(sampler=silent)
    study.enqueue_trial({"model": "forest"})
    run(conditional, 15, study)
    assert not lines
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    run(conditional, 5, optuna.create_study(sampler=CeiboSampler(seed=1)))
    assert not lines


def two_branches(trial: Trial | FixedTrial) -> float:
    """Branch "a" has its minimum 0 at xa = 0.3; branch "b" is nowhere below 1."""
    if trial.suggest_categorical("kind", ["a", "b"]) == "a":
        return (trial.suggest_float("xa", 0, 1) - 0.3) ** 2
    return 1 + trial.suggest_float("xb", 0, 1)


@pytest.mark.parametrize("seed", range(3))
def test_answers_tell_trials_apart_by_their_conditional_parameters(seed: int) -> None:
    sampler = CeiboSampler(seed=seed, warn_independent_sampling=False)
    study = run(two_branches, 20, optuna.create_study(sampler=sampler))
    best, anywhere = best_trial_by_posterior(study), recommended(study)
    # Without noise the best by the model is as good as the best trial, and is known as well as it
    # was measured.
    assert best.trial.value == pytest.approx(study.best_value, abs=1e-6)
    assert best.mean == pytest.approx(study.best_value, abs=0.01)
    assert best.std < 0.01
    assert anywhere.params.keys() == {"kind", "xa"}
    assert anywhere.params["kind"] == "a"
    assert str(best).startswith(f"trial {best.number}: ")
    assert str(best).endswith(f" at {best.params}")
    assert f"trial {best.number}" in best._repr_html_()
    assert two_branches(FixedTrial(anywhere.params)) <= study.best_value + 1e-6


def test_the_best_of_a_noisy_conditional_study_is_no_certainty() -> None:
    """Layers with units of their own: the number of parameters depends on one of them."""

    def truth(params: dict[str, Any]) -> float:
        n: int = params["layers"]
        units = [float(params[f"units{k}"]) for k in range(n)]
        return 0.1 * (n - 2) ** 2 + sum((u / 64 - 0.3) ** 2 for u in units) / n

    def objective(trial: Trial) -> float:
        for k in range(trial.suggest_int("layers", 1, 3)):
            trial.suggest_int(f"units{k}", 4, 64)
        trial.suggest_float("one", 1, 1)
        return truth(trial.params) + 0.1 * float(
            np.random.default_rng(trial.number).standard_normal()
        )

    study = run(objective, 30, optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0)))
    best, anywhere = best_trial_by_posterior(study), recommended(study)
    assert 0 < best.probability < 0.99
    assert best.mean > study.best_value
    assert abs(truth(best.params) - best.mean) < 3 * best.std
    assert anywhere.mean <= best.mean + 1e-9
    assert anywhere.params.keys() == best.params.keys()
    # no other number has these parameters
    assert anywhere.params["layers"] == best.params["layers"]
    assert anywhere.params["one"] == 1.0
    for k in range(anywhere.params["layers"]):
        assert type(anywhere.params[f"units{k}"]) is int


def test_a_branch_decided_by_a_number_is_not_left() -> None:
    def objective(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        return -x + trial.suggest_float("y", 0, 1) if x < 0.5 else 1 + x

    study = run(objective, 24, optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0)))
    found = recommended(study).params
    assert found.keys() == {"x", "y"}
    assert found["x"] < 0.5


def test_answers_where_ranges_change_or_branches_hold_one_trial() -> None:
    def growing(trial: Trial) -> float:
        high = 1 + trial.number % 3
        return (trial.suggest_float("x", 0, high) - 0.3) ** 2 + 0.01 * trial.suggest_int(
            "n", 2, 2 + 2 * high, step=2
        )

    study = run(growing, 15)
    assert best_trial_by_posterior(study).number == study.best_trial.number
    assert recommended(study).params["x"] == pytest.approx(0.3, abs=0.1)
    assert recommended(study).params["n"] in (2, 4, 6, 8)
    study = run(lambda trial: (trial.suggest_float(f"x{trial.number}", 0, 1) - 0.3) ** 2, 6)
    assert best_trial_by_posterior(study).probability < 0.9
    assert recommended(study).params == pytest.approx(best_trial_by_posterior(study).params)
    study = run(
        lambda trial: float(trial.suggest_int(f"only{trial.number % 2}", 1, 1) + trial.number % 2),
        6,
    )
    assert recommended(study).params == {"only0": 1}


def test_the_best_by_the_model_beats_the_luckiest() -> None:
    """Truth at the model's best and at Optuna's best, over seeds; both from the same trials."""
    gains = []
    for seed in range(6):
        study = optuna.create_study(sampler=CeiboSampler(seed=seed))

        def objective(trial: Trial, seed: int = seed) -> float:
            x = trial.suggest_float("x", 0, 1)
            return (x - 0.3) ** 2 + 0.3 * float(
                np.random.default_rng([seed, trial.number]).standard_normal()
            )

        study.optimize(objective, n_trials=25)
        best, anywhere = best_trial_by_posterior(study), recommended(study)
        assert study.trials[best.number].params == best.params
        assert 0 <= best.probability <= 1
        assert best.mean > study.best_value  # the luckiest value is too good to be true
        gains.append((study.best_params["x"] - 0.3) ** 2 - (anywhere.params["x"] - 0.3) ** 2)
    assert np.mean(gains) > 0


def test_answers_for_other_samplers_single_values_and_empty_studies() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0), direction="maximize")
    with pytest.raises(NoMeasurementError):
        best_trial_by_posterior(study)
    study.optimize(lambda t: t.suggest_float("x", 0, 1) + t.suggest_int("one", 1, 1), n_trials=8)
    assert recommended(study).params["one"] == 1
    assert recommended(study).mean == pytest.approx(2.0, abs=0.1)
    assert best_trial_by_posterior(study).number == study.best_trial.number


@pytest.mark.parametrize(
    "distribution",
    [
        FloatDistribution(-3, 5),
        FloatDistribution(1e-300, 1e300, log=True),
        FloatDistribution(0, 1, step=0.1),
        FloatDistribution(1e15, 1e15 + 1, step=1e-3),
        FloatDistribution(1.0, np.nextafter(1.0, 2), log=True),
        IntDistribution(-7, 8, step=5),
        IntDistribution(1, 2**60, log=True),
        IntDistribution(-(2**60), 2**60),
        CategoricalDistribution([1, None, "1", 1.5, False]),
    ],
)
def test_every_distribution_goes_there_and_back(distribution: Any) -> None:
    axes = Axes.of({"p": distribution})
    for u in np.linspace(0, 1, 41):
        value = axes.decode(axes.space.from_unit([u]))["p"]
        assert axes.axes["p"].contains(value)
        assert not isinstance(value, np.generic)
        there = axes.coordinates({"p": value})
        assert there is not None
        again = axes.decode(axes.space.from_unit(there))["p"]
        assert type(again) is type(value)
        assert again == pytest.approx(value, rel=1e-12) if isinstance(value, float) else True
        if not isinstance(value, float) and axes.axes["p"].dimension.levels is not None:
            assert again == value
    assert axes.coordinates({"p": "never"}) is None
    assert axes.coordinates({}) is None


def test_long_records_fit_every_storage(tmp_path: Path) -> None:
    """Thirty parameters: the record is longer than one attribute of a relational storage may be."""

    def objective(trial: Trial) -> float:
        return sum(
            trial.suggest_float(f"a parameter with a rather long name {k}", 0, 1) for k in range(30)
        )

    sampler = CeiboSampler(seed=0, n_startup_trials=3)
    study = optuna.create_study(storage=f"sqlite:///{tmp_path / 's.db'}", sampler=sampler)
    study.optimize(objective, n_trials=5)
    record = recorded(study.trials[-1])
    assert record["source"] == "model"
    assert len(record["internal"]) == 30
    assert max(len(value) for value in study.trials[-1].system_attrs.values()) <= 2045


def test_a_half_written_record_is_no_record() -> None:
    study = run(noisy, 6)
    trial: FrozenTrial = study.trials[-1]
    assert record_of(trial) is not None
    trial.system_attrs["ceibo:suggestion:0"] = trial.system_attrs["ceibo:suggestion:0"][:50]
    assert record_of(trial) is None


def test_seeds() -> None:
    assert CeiboSampler().seed != CeiboSampler().seed
    for wrong in (-1, 1.5, True):
        with pytest.raises(InputError, match="seed"):
            CeiboSampler(seed=cast(Any, wrong))


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True])
def test_errors_name_the_argument_that_was_given(wrong: Any) -> None:
    with pytest.raises(InputError, match="n_startup_trials"):
        CeiboSampler(n_startup_trials=wrong)


def test_an_independent_sampler_may_be_given() -> None:
    given = optuna.samplers.RandomSampler(seed=0)
    sampler = CeiboSampler(seed=0, independent_sampler=given)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=4, n_jobs=2)
    assert len(study.trials) == 4
