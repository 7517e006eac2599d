"""Four noisy problems × 15 seeds in Optuna: CeiboSampler beside GPSampler.

python -m soak.optuna_quality [trials=30] [seeds=15]

The regret is the true value of the answer above the minimum, in units of the noise. The test is
Wilcoxon's signed-rank test on the paired regrets (the same seed gives both samplers the same
noise), one-sided: ours is smaller.
"""

import json
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import optuna
from numpy.typing import NDArray
from scipy.stats import wilcoxon

from ceibo.integrations.optuna import CeiboSampler, recommended, report_noise
from ceibo_lab.problem import Problem
from ceibo_lab.problems.classics import hartmann
from ceibo_lab.problems.more import branin, hartmann_6

Array = NDArray[np.float64]


def _bowl(x: Array) -> float:
    """A narrow valley across four dimensions, 0 at (0.3, 0.4, 0.5, 0.6)."""
    u = x - np.array([0.3, 0.4, 0.5, 0.6])
    return float(10 * u.sum() ** 2 + 2 * (u @ u))


@final
@dataclass(frozen=True)
class Noisy:
    """A function over the unit cube, its minimum and the noise's standard deviation."""

    f: Callable[[Array], float]
    d: int
    minimum: float
    noise: float


def _of(problem: Problem, noise: float) -> Noisy:
    return Noisy(
        lambda x: float(problem.at_unit(x[None, :])[0]), problem.dimension, problem.minimum, noise
    )


PROBLEMS: Final = {
    "Branin (2-D)": _of(branin(), 10.0),
    "Hartmann (3-D)": _of(hartmann(), 0.4),
    "valley (4-D)": Noisy(_bowl, 4, 0.0, 0.5),
    "Hartmann (6-D)": _of(hartmann_6(), 0.3),
}


def run_both(name: str, seed: int, trials: int) -> dict[str, float]:
    """Regrets of the answers, in units of the noise."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    problem = PROBLEMS[name]
    columns = [f"x{k}" for k in range(problem.d)]

    def objective(trial: optuna.Trial) -> float:
        x = np.array([trial.suggest_float(column, 0, 1) for column in columns])
        report_noise(trial, problem.noise)
        rng = np.random.default_rng([seed, trial.number])
        return problem.f(x) + problem.noise * float(rng.standard_normal())

    def regret(params: dict[str, Any]) -> float:
        x = np.array([params[column] for column in columns])
        return (problem.f(x) - problem.minimum) / problem.noise

    studies = {}
    for sampler in (CeiboSampler(seed=seed), optuna.samplers.GPSampler(seed=seed)):
        study = optuna.create_study(sampler=sampler)
        study.optimize(objective, n_trials=trials)
        studies[type(sampler).__name__] = study
    ours, theirs = studies["CeiboSampler"], studies["GPSampler"]
    return {
        "ours recommended": regret(recommended(ours).params),
        "GPSampler best trial": regret(theirs.best_params),
        "ours best trial": regret(ours.best_params),
        "GPSampler's trials, recommended by us": regret(recommended(theirs).params),
    }


def main(trials: int = 30, seeds: int = 15) -> int:
    jobs = [(name, seed, trials) for name in PROBLEMS for seed in range(seeds)]
    with ProcessPoolExecutor(2) as pool:
        rows = list(pool.map(run_both, *zip(*jobs, strict=True)))
    figures: dict[str, Any] = {"trials": trials, "seeds": seeds}
    pooled: list[float] = []
    for name in PROBLEMS:
        found = [row for job, row in zip(jobs, rows, strict=True) if job[0] == name]
        means = {key: round(float(np.mean([row[key] for row in found])), 3) for key in found[0]}
        differences = [row["ours recommended"] - row["GPSampler best trial"] for row in found]
        pooled += differences
        figures[name] = {
            "mean regret / noise": means,
            "better in": f"{sum(each < 0 for each in differences)} of {seeds}",
            "p": float(wilcoxon(differences, alternative="less").pvalue),
        }
    figures["all"] = {
        "better in": f"{sum(each < 0 for each in pooled)} of {len(pooled)}",
        "p": float(wilcoxon(pooled, alternative="less").pvalue),
    }
    print(json.dumps(figures, indent=1))
    return 0 if figures["all"]["p"] < 0.05 else 1


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
