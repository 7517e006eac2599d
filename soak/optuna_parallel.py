"""CeiboSampler with several processes on one PostgreSQL study, and its speed beside GPSampler.

python -m soak.optuna_parallel               100 trials by 4 processes; every trial finished, none
repeated
python -m soak.optuna_parallel speed         seconds per suggestion at d = 6, n = 50, 150:
CeiboSampler and GPSampler
"""

import itertools
import json
import subprocess
import sys
import time
from collections import Counter
from typing import Any, Final

import numpy as np
import optuna

from ceibo.integrations.optuna import (
    CeiboSampler,
    best_trial_by_posterior,
    recommended,
    report_noise,
)
from ceibo.integrations.optuna.evidence import record_of
from soak.server import running_server

_NAME, _NOISE, _D = "crowd", 0.2, 3


def objective(trial: optuna.Trial) -> float:
    x = np.array([trial.suggest_float(f"x{k}", 0, 1) for k in range(_D)])
    report_noise(trial, _NOISE)
    time.sleep(0.02)
    return float(
        np.sum((x - 0.4) ** 2) + _NOISE * np.random.default_rng(trial.number).standard_normal()
    )


def sqlalchemy_url(url: str) -> str:
    """The URL with the driver that is installed, which is not SQLAlchemy's default."""
    return url.replace("postgresql://", "postgresql+psycopg://", 1)


def work(url: str, trials: int) -> None:
    """One worker: goes on until the study has that many trials, whoever made them."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.load_study(study_name=_NAME, storage=url, sampler=CeiboSampler(seed=0))
    limit = optuna.study.MaxTrialsCallback(trials, states=None)
    study.optimize(objective, callbacks=[limit], n_trials=trials)


def crowd(url: str, processes: int, trials: int) -> dict[str, Any]:
    """Runs the workers as processes of their own and reads the study afterwards."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(study_name=_NAME, storage=url, sampler=CeiboSampler(seed=0))
    began = time.perf_counter()
    command = [sys.executable, "-m", "soak.optuna_parallel", "work", url, str(trials)]
    workers = [subprocess.Popen(command) for _ in range(processes)]
    codes = [worker.wait() for worker in workers]
    found = study.get_trials(deepcopy=False)
    return {
        "exit codes": codes,
        "trials": len(found),
        "states": dict(Counter(trial.state.name for trial in found)),
        "suggested by the model": sum(
            (record_of(trial) or {}).get("source") == "model" for trial in found
        ),
        "closest pair of trials running at the same time": closest(found),
        "seconds": round(time.perf_counter() - began, 1),
        "best by the model": best_trial_by_posterior(study).mean,
        "recommended": recommended(study).params,
    }


def closest(trials: list[optuna.trial.FrozenTrial]) -> float:
    """Distance of the closest pair of trials that ran at the same time.

    The distance is the largest difference in a parameter.

    Trials one after the other may be close: under noise it pays to measure a good place again.
    """
    gaps = [1.0]
    for one, other in itertools.combinations(trials, 2):
        starts, ends = zip(
            *((t.datetime_start, t.datetime_complete) for t in (one, other)), strict=True
        )
        if None not in starts + ends and max(starts) < min(ends):
            gaps.append(max(abs(one.params[name] - other.params[name]) for name in one.params))
    return float(min(gaps))


def speed(n: int, d: int, seed: int) -> dict[str, float]:
    """Seconds for one suggestion by each sampler, new to a study of n trials."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    y = np.sin(4 * X).sum(axis=1) + 0.3 * rng.standard_normal(n)
    ranges: dict[str, optuna.distributions.BaseDistribution] = {
        f"x{k}": optuna.distributions.FloatDistribution(0, 1) for k in range(d)
    }
    seconds = {}
    samplers: tuple[optuna.samplers.BaseSampler, ...] = (
        CeiboSampler(seed),
        optuna.samplers.GPSampler(seed=seed),
    )
    for sampler in samplers:
        study = optuna.create_study(sampler=sampler)
        for x, value in zip(X, y, strict=True):
            params = dict(zip(ranges, x.tolist(), strict=True))
            study.add_trial(
                optuna.create_trial(params=params, distributions=ranges, value=float(value))
            )
        began = time.perf_counter()
        trial = study.ask()
        for name in ranges:
            trial.suggest_float(name, 0, 1)
        seconds[type(sampler).__name__] = time.perf_counter() - began
    return seconds


REPEATS: Final = 7


def speeds() -> dict[str, Any]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    speed(20, 2, 0)  # imports
    figures = {}
    for n in (50, 150):
        rows = [speed(n, 6, seed) for seed in range(REPEATS)]
        medians = {name: float(np.median([row[name] for row in rows])) for name in rows[0]}
        ratios = [row["GPSampler"] / row["CeiboSampler"] for row in rows]
        figures[f"d=6, n={n}"] = {
            **medians,
            "median ratio": float(np.median(ratios)),
            "least": float(min(ratios)),
        }
    return figures


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["work"]:
        work(arguments[1], int(arguments[2]))
        return 0
    if arguments[:1] == ["speed"]:
        print(json.dumps(speeds(), indent=1))
        return 0
    with running_server() as server:
        figures = crowd(sqlalchemy_url(server.new_database()), 4, 100)
    print(json.dumps(figures, indent=1))
    good = figures["states"].get("COMPLETE", 0) >= 100 and not any(figures["exit codes"])
    return 0 if good and figures["closest pair of trials running at the same time"] > 1e-6 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
