"""The cases of tools.same: small studies with everything that can happen in one, by every door.

Only the public interface is used: suggestions and the answers of a study, the two integrations, and
the model at the level of arrays. Random numbers are Python's own, keyed by the number of the case.
"""

import itertools
import math
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

import ceibo
from ceibo import Categorical, Float, Int, Measurement, Study
from ceibo.acquisition import ACQUISITIONS

Dimension = Float | Int | Categorical
Outcome = dict[str, Any]
RECORD: Final = (
    *("source", "seen", "seed", "x", "acquisition", "value", "incumbent", "kernel", "start"),
    *("hyperparameters", "fit", "fallback", "observations", "used"),
)
SPACES: Final[tuple[Mapping[str, Dimension], ...]] = (
    {"x": Float(-5, 10)},
    {"x": Float(0, 1), "y": Float(-3, 3)},
    {"rate": Float(1e-5, 1, log=True), "x": Float(0, 1)},
    {"grid": Float(0, 1, step=0.1), "T": Float(20, 120, step=5)},
    {"n": Int(1, 8), "m": Int(-20, 20)},
    {"n": Int(1, 1000, log=True), "x": Float(0, 1)},
    {"a": Categorical(["u", "v", "w", "z"]), "b": Categorical(["one", "two", "three"])},
    {"x": Float(0, 2), "kind": Categorical(["linear", "rbf", "poly"])},
    {"x": Float(0, 1), "r": Float(1e-4, 9, log=True), "n": Int(1, 9), "c": Categorical(["p", "q"])},
    {"T": Float(0, 5, step=0.25), "n": Int(1, 64, log=True), "c": Categorical([None, True, 3, ""])},
    {"n": Int(0, 1_000_000), "x": Float(-1, 1)},  # too many whole numbers to be listed
    {"n": Int(1, 3), "c": Categorical(["a", "b"])},  # fewer points than trials
    {"x": Float(-1e-300, 1e-300), "wide": Float(1e-200, 1e200, log=True)},
    {"x": Float(0, 1), "y": Float(0, 1), "z": Float(0, 1)},
    {name: Float(0, 1) for name in "abcde"},
    {"x": Float(-1e6, 1e6), "n": Int(1, 100), "m": Int(2, 512, log=True)},
)
NOISES: Final = ("known", "unknown", "mixed", "replicates", "told-replicates", "repeated", "exact")
KERNELS: Final = ("matern52", "auto", "matern32", "squared-exponential", "matern12")
EVENTS: Final = ("fail", "withdraw", "release", "keep", "correct", "enqueue", "add", "nan")
# How many trials are asked for at a time, and the chances of what befalls them.
STORIES: Final[tuple[tuple[int, Mapping[str, float]], ...]] = (
    (1, {}),
    (3, {}),
    (1, {"fail": 0.25}),
    (2, {"keep": 0.25, "enqueue": 0.15}),
    (1, {"correct": 0.3, "add": 0.2, "withdraw": 0.1}),
    (2, dict.fromkeys(EVENTS, 0.12)),
)


@dataclass(frozen=True)
class Case:
    """One study: its settings, how its objective is measured, and what befalls its trials."""

    number: int
    space: Mapping[str, Dimension]
    noise: str
    trials: int
    scale: float
    maximize: bool
    story: int = 0
    added: int = 0  # measurements there are before the first question
    settings: Mapping[str, Any] = field(default_factory=dict)


def position(dimension: Dimension, value: Any) -> float:
    """Where a value lies in its dimension, from 0 to 1."""
    if isinstance(dimension, Categorical):
        return dimension.choices.index(value) / len(dimension.choices)
    low, high = dimension.low, dimension.high
    if dimension.log:
        low, high, value = math.log(low), math.log(high), math.log(value)
    return float((value - low) / (high - low))


def measured(case: Case, params: Mapping[str, Any], rng: random.Random) -> Measurement:
    """What one evaluation gives: a bowl with a dent in it, tilted, and noise."""
    at = [position(dimension, params[name]) for name, dimension in case.space.items()]
    bowl = sum((1 + 0.5 * k) * (u - 0.3 - 0.1 * k) ** 2 for k, u in enumerate(at))
    value = bowl + 0.2 * at[0] * at[-1] - 0.5 * math.exp(-20 * (at[0] - 0.7) ** 2)
    std, count = 0.05 + 0.1 * rng.random(), 2 + int(3 * rng.random())
    sign = -case.scale if case.maximize else case.scale
    values = [sign * (value + std * rng.gauss(0, 1)) for _ in range(count)]
    known = case.noise == "known" or (case.noise == "mixed" and rng.random() < 0.5)
    if case.noise == "exact":
        return Measurement(sign * value, noise=0.0)
    if case.noise.endswith("replicates"):
        told = case.scale * std / math.sqrt(count) if case.noise == "told-replicates" else None
        return Measurement(Measurement.of(values).value, told, values)
    return Measurement(values[0], case.scale * std if known else None)


def asked(case: Case) -> Outcome:
    """A study with ask and tell; every tenth is kept in a file, and opened again half-way."""
    rng, spare = random.Random(case.number), Study.create(case.space, seed=1000 + case.number)
    direction = "maximize" if case.maximize else "minimize"
    options = {"direction": direction, "seed": case.number, **case.settings}
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/study.db" if case.number % 10 == 0 else None
        study = Study.create(case.space, storage=storage, **options)
        for _ in range(case.added):
            params = spare.ask().params
            study.add(params, measured(case, params, rng))
        reopened = storage is None
        while (count := len(study.trials)) < case.trials:
            if not reopened and 2 * count >= case.trials and storage:
                study.close()
                study, reopened = Study.open(storage, space=case.space), True
            for trial in reversed(study.ask(STORIES[case.story][0])):
                befall(study, case, trial, spare, rng)
        return outcome(study, 0.02 * case.scale)


def befall(study: Study, case: Case, trial: ceibo.Trial, spare: Study, rng: random.Random) -> None:
    """Measures a trial, or whatever else happens to it, and to the study meanwhile."""
    happens = {name for name, chance in STORIES[case.story][1].items() if rng.random() < chance}
    if "fail" in happens:
        study.fail(trial, "broken")
    elif "nan" in happens:
        study.tell(trial, math.nan)
    elif "withdraw" in happens:
        study.withdraw(trial)
    elif "release" in happens:
        study.release(trial)
    elif "keep" not in happens:
        keys = ("one", "two") if case.noise == "repeated" else (None,)
        for key in keys:
            study.tell(trial, measured(case, trial.params, rng), key=key)
        if "correct" in happens:
            study.correct(trial, measured(case, trial.params, rng), key=keys[0])
    if "enqueue" in happens:
        study.enqueue(spare.ask().params)
    if "add" in happens:
        params = spare.ask().params
        study.add(params, measured(case, params, rng))


def run(case: Case) -> Outcome:
    """A study by `minimize` or `maximize` with a price, whose objective fails now and then."""
    rng, calls = random.Random(case.number), itertools.count()
    cost = (0.05, 0.002)[case.number % 2] * case.scale

    def objective(params: Mapping[str, Any]) -> Measurement:
        if next(calls) % 5 == 3:
            raise RuntimeError("broken")
        return measured(case, params, rng)

    options = {"n_trials": case.trials, "cost": cost, "seed": case.number, **case.settings}
    go = ceibo.maximize if case.maximize else ceibo.minimize
    result = go(objective, case.space, progress=False, **options)
    return {"stop": result.stop.reason.name, **outcome(result.study, cost)}


def outcome(study: Study, cost: float) -> Outcome:
    """Every trial, how it came about, and what the study says at the end (or the error's name)."""

    def said(ask: Callable[[], Any], *names: str) -> Any:
        try:
            answer = ask()
        except ceibo.CeiboError as error:
            return type(error).__name__
        return [getattr(answer, name) for name in names] if names else answer

    records, trials = study.suggestions, study.trials
    found = {
        "trials": [[each.params, each.state, each.attempt, each.measurements] for each in trials],
        "suggestions": [{key: records[n].get(key) for key in RECORD} for n in sorted(records)],
        "best": said(lambda: study.best, "params", "mean", "std", "number", "probability"),
        "recommended": said(lambda: study.recommended, "params", "mean", "std"),
        "best_observed": said(lambda: study.best_observed, "params", "value", "noise", "number"),
        "noise": said(lambda: study.noise),
        "should_stop": said(lambda: study.should_stop(cost), "stop", "remaining"),
        "profit": said(lambda: study.profit(cost), "value", "std", "evaluations"),
    }
    if study.seed % 4 == 0:
        found["verify"] = said(study.verify, "checked", "identical", "ok")
    study.close()
    return found


def arrays(number: int) -> Outcome:
    """The model and an acquisition on arrays: a categorical column, repeats, all sorts of noise."""
    rng, n = random.Random(number), 150 if number % 6 == 5 else 16
    X = np.array([[rng.random(), rng.random(), int(3 * rng.random()) / 2] for _ in range(n)])
    X[-2:] = X[:2]
    y = [u + (v - 0.4) ** 2 + 0.3 * w + 0.05 * rng.gauss(0, 1) for u, v, w in X.tolist()]
    some = [math.nan if k % 3 else 0.001 * (k % 16 + 1) for k in range(n)]
    noise, method = (None, 0.0025, some)[number % 3], ("map", "ml")[number % 2]
    kernel = ("matern52", *KERNELS[2:])[number % 4]
    fit = ceibo.gp.fit_gp(X, y, noise, kernel=kernel, method=method, categorical=[2])
    name = list(ACQUISITIONS)[number % 9]
    function = ceibo.acquisition.build(name, fit.gp, seed=number, pending=X[3:5] * [0.9, 0.9, 1])
    at = np.array([[rng.random(), rng.random(), 0.5] for _ in range(4)])
    best = ceibo.acquisition.maximize(function, seed=number, discrete={2: [0.0, 0.5, 1.0]})
    # the variances of blocks, of which there are none here, are younger than the file
    found = {key: each for key, each in vars(fit.hyperparameters).items() if key != "blocks"}
    return {
        "fit": [found, fit.noise_variance, fit.log_likelihood, fit.status.name],
        "posterior": fit.gp.posterior(at),
        "acquisition": function.value_and_gradient(at),
        "logarithm": None if name == "ucb" else function.log_value_and_gradient(at),
        "maximum": [best.x, best.value],
    }


def optuna(number: int) -> Outcome:
    """A study of Optuna: parameters of all kinds, some conditional; failed and running trials."""
    from optuna import create_study, logging
    from optuna.trial import TrialState

    from ceibo.integrations.optuna import CeiboSampler

    logging.set_verbosity(logging.ERROR)
    acquisition = ("noisy-ei", "corrected-ei", "ucb", "q-noisy-ei")[number % 4]
    sampler = CeiboSampler(
        number, acquisition=acquisition, noise_attribute="std", warn_independent_sampling=False
    )
    study = create_study(sampler=sampler, direction=("minimize", "maximize")[number % 2])
    rng = random.Random(number)
    for _ in range(7):
        for trial in [study.ask(), study.ask()]:
            x, n = trial.suggest_float("x", -1, 1), trial.suggest_int("n", 1, 64, log=True)
            kind = trial.suggest_categorical("kind", ["a", "b"])
            more = number % 3 == 0 and kind == "a"
            step = trial.suggest_float("step", 0, 2, step=0.25) if more else 1.0
            rate = trial.suggest_float("rate", 1e-4, 1, log=True)
            value = (x - 0.2) ** 2 + abs(n - 9) / 64 + step / 9 + rate + 0.05 * rng.gauss(0, 1)
            if number % 2:
                trial.set_user_attr("std", 0.05)
            chance = rng.random()
            if chance > 0.2:
                study.tell(trial, value)
            elif chance > 0.1:
                study.tell(trial, state=TrialState.FAIL)
    return {"trials": [[each.params, each.state.name, each.value] for each in study.trials]}


def sklearn(number: int) -> Outcome:
    """A search of scikit-learn, over lists, distributions and a dimension of ceibo's."""
    from scipy.stats import loguniform, randint
    from sklearn.datasets import load_iris
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    from ceibo.integrations.sklearn import CeiboSearchCV

    tree = {"min_impurity_decrease": loguniform(1e-4, 0.3), "max_depth": randint(1, 8)}
    near = {"n_neighbors": [*range(1, 30)], "weights": ["uniform", "distance"], "p": Float(1, 4)}
    given = ((DecisionTreeClassifier(random_state=0), tree), (KNeighborsClassifier(), near))
    options: Outcome = {"n_iter": 12, "random_state": number, "cv": 4, "batch_size": 1 + number % 3}
    X, y = load_iris(return_X_y=True)
    search = CeiboSearchCV(*given[number % 2], **options).fit(X[::2], y[::2])
    kept = ("mean_test_score", "posterior_mean_test_score", "posterior_std_test_score")
    found = {key: search.cv_results_[key] for key in ("params", *kept, "noise_test_score")}
    return found | {"best": [search.best_params_, search.best_score_, search.best_std_]}


def cases() -> Iterator[tuple[str, Callable[[], Outcome]]]:
    """Names and what is run. Settings go round in cycles of their own, so that they meet often."""
    for i in range(200):
        scale = {3: 1e-200, 7: 1e200, 9: 1e-3, 11: 1e6}.get(i % 13, 1.0)
        initial = {"n_initial": 3 + i % 3} if i % 4 == 1 else {}
        settings: Outcome = {"acquisition": list(ACQUISITIONS)[i % 9], **initial}
        case = partial(Case, i, SPACES[i % 16], scale=scale, maximize=i // 3 % 2 == 1)
        if i >= 190:
            yield f"run-{i}", partial(run, case(NOISES[i % 7], 14, settings=settings))
            continue
        settings |= {"kernel": KERNELS[i % 5], "fit": "ml" if i % 11 in (2, 7) else "map"}
        if i < 180:
            made = case(NOISES[i % 7], 10 + i // 2 % 8, story=i // 5 % 6, settings=settings)
            yield f"study-{i:03}", partial(asked, made)
            continue
        settings["max_observations"] = 10 + i % 8  # fewer than there are
        noise = ("known", "unknown")[i % 2]
        yield f"study-{i}", partial(asked, case(noise, 30, added=24, settings=settings))
    for door, count in ((arrays, 18), (optuna, 6), (sklearn, 4)):
        yield from ((f"{door.__name__}-{k:02}", partial(door, k)) for k in range(count))
