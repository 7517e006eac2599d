"""Optuna with a pruner: what CeiboSampler loses by it, beside TPE and random search.

A bowl of three parameters, smooth or rippled, noise 0.3, ten reports a trial, MedianPruner. The
curves:

- level: every report is the value with noise of its own
- falling: the same, and all curves fall alike towards the value
- rates: how far and how fast a curve falls depends on the parameters; one error for all reports
- scaled: bad settings begin worse in proportion
- average: reports are running means of ten evaluations

The regret is the true value of `recommended(study)`, above the minimum; for TPE that of its best
trial, Optuna's own answer, is told too. Over the first four kinds of curves together,
CeiboSampler's with the pruner is to be at most 1.5 times that without, and smaller than that of
TPE's best trial (Wilcoxon's signed-rank test on pairs of equal seeds, one-sided, p < 0.05). The p
beside TPE's trials with the same answer as ours is told and not judged, and so are averages: there
the pruner saves up to nine of ten evaluations of a trial, and what they would have told is nowhere.
"""

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, final

import numpy as np
import optuna
from numpy.typing import NDArray
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from scipy.stats import wilcoxon

from ceibo.integrations.optuna import CeiboSampler, recommended

Array = NDArray[np.float64]

STEPS: Final = 10
NOISE: Final = 0.3
NAMES: Final = ("a", "b", "c")
LARGEST_RATIO: Final = 1.5
LARGEST_P: Final = 0.05
UNJUDGED: Final = "average"
BEST_TRIAL: Final = "TPE's best trial"

# x, its true value, ten errors of standard deviation 1 -> ten reports, of which the last is the
# value
Curve = Callable[[Array, float, Array], Array]
_REST: Final = np.exp(-np.arange(STEPS) / 3)

CURVES: Final[dict[str, Curve]] = {
    "level": lambda _x, f, e: f + NOISE * e,
    "falling": lambda _x, f, e: f + 2 * _REST + NOISE * e,
    "rates": lambda x, f, e: f + _rates(x) + NOISE * e[0],
    "scaled": lambda _x, f, e: f * (1 + 3 * _REST) + NOISE * e,
    "average": lambda _x, f, e: f + NOISE * np.sqrt(STEPS) * _running_mean(e),
}


def _rates(x: Array) -> Array:
    return np.asarray((1 + 2 * x[0]) * np.exp(-np.arange(STEPS) / (1 + 4 * x[1])))


def _running_mean(e: Array) -> Array:
    return np.asarray(np.cumsum(e) / np.arange(1, STEPS + 1))


def _bowl(u: Array) -> float:
    return float(2 * u**2 @ [1.0, 2.0, 1.0])


def _ripples(u: Array) -> float:
    return _bowl(u) + 0.3 * float(np.sum(1 - np.cos(9 * u[:2])))


# value at a distance (3,) from the minimum, which is 0
LANDSCAPES: Final = {"bowl": _bowl, "ripples": _ripples}


@final
@dataclass(frozen=True)
class Problem:
    """A landscape and the curves on which trials approach it."""

    landscape: str
    curve: str

    def truth(self, params: dict[str, Any]) -> float:
        """The value without noise."""
        x = np.array([params[name] for name in NAMES])
        return LANDSCAPES[self.landscape](x - [0.3, 0.6, 0.45])

    def reports(self, params: dict[str, Any], errors: Array) -> Array:
        """What a trial reports, in order; the last is its value."""
        x = np.array([params[name] for name in NAMES])
        return CURVES[self.curve](x, self.truth(params), errors)


@final
@dataclass(frozen=True)
class Method:
    """A sampler, with the pruner or without."""

    sampler: Callable[[int], BaseSampler]
    pruned: bool = True


METHODS: Final = {
    "ceibo, no pruner": Method(lambda seed: CeiboSampler(seed=seed), pruned=False),
    "ceibo": Method(lambda seed: CeiboSampler(seed=seed)),
    "TPE": Method(lambda seed: TPESampler(seed=seed)),
    "random": Method(lambda seed: RandomSampler(seed=seed)),
}


@final
class Regrets(NamedTuple):
    """True values of two answers."""

    recommended: float
    best_trial: float  # Optuna's own


def regrets(problem: Problem, method: str, seed: int, trials: int) -> Regrets:
    """True values of the answers after so many trials."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    chosen = METHODS[method]
    pruner = optuna.pruners.MedianPruner() if chosen.pruned else optuna.pruners.NopPruner()
    study = optuna.create_study(sampler=chosen.sampler(seed), pruner=pruner)

    def objective(trial: optuna.Trial) -> float:
        for name in NAMES:
            trial.suggest_float(name, 0, 1)
        errors = np.random.default_rng([seed, trial.number]).standard_normal(STEPS)
        reports = problem.reports(trial.params, errors)
        for step, value in enumerate(reports):
            trial.report(float(value), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(reports[-1])

    study.optimize(objective, n_trials=trials)
    return Regrets(problem.truth(recommended(study).params), problem.truth(study.best_params))


@final
@dataclass(frozen=True)
class Figures:
    """Regrets (seeds,) of each method on one kind of curves, or on several."""

    regrets: dict[str, Array]

    @property
    def ratio(self) -> float:
        """Mean regret with the pruner over that without."""
        return float(self.regrets["ceibo"].mean() / self.regrets["ceibo, no pruner"].mean())

    def p(self, other: str) -> float:
        """Of no smaller regret than another's."""
        difference = self.regrets["ceibo"] - self.regrets[other]
        return float(wilcoxon(difference, alternative="less").pvalue)

    def __str__(self) -> str:
        means = "".join(f"{each.mean():>18.3f}" for each in self.regrets.values())
        return f"{means}{self.ratio:>8.2f}{self.p(BEST_TRIAL):>14.2g}{self.p('TPE'):>10.2g}"


def measure(problems: list[Problem], seeds: range, trials: int, jobs: int) -> dict[str, Figures]:
    """The figures of every kind of curves, and of those judged, together."""
    cases = [(each, method, seed) for each in problems for method in METHODS for seed in seeds]
    with ProcessPoolExecutor(jobs) as pool:
        found = list(pool.map(regrets, *zip(*cases, strict=True), [trials] * len(cases)))
    figures: dict[str, Figures] = {}
    by_case = dict(zip(cases, found, strict=True))
    for problem in problems:
        rows: dict[str, Array] = {}
        for method in METHODS:
            each = [by_case[problem, method, seed] for seed in seeds]
            rows[method] = np.array([regret.recommended for regret in each])
            if method == "TPE":
                rows[BEST_TRIAL] = np.array([regret.best_trial for regret in each])
        figures[problem.curve] = Figures(rows)
    judged = [found for curve, found in figures.items() if curve != UNJUDGED]
    if judged:
        names = judged[0].regrets
        pooled = {name: np.concatenate([each.regrets[name] for each in judged]) for name in names}
        figures["judged"] = Figures(pooled)
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--landscape", default="bowl", choices=list(LANDSCAPES))
    parser.add_argument("--curves", nargs="+", default=list(CURVES), choices=list(CURVES))
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0, help="the first of the seeds")
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.seeds)
    problems = [Problem(options.landscape, curve) for curve in options.curves]
    figures = measure(problems, seeds, options.trials, options.jobs)
    names = "".join(f"{name:>18}" for name in next(iter(figures.values())).regrets)
    print(f"{'curves':<10}{names}{'ratio':>8}{'p (its best)':>14}{'p (TPE)':>10}")
    for curve, found in figures.items():
        print(f"{curve:<10}{found}")
    judged = figures.get("judged")
    if judged is None:
        return 0
    return 0 if judged.ratio <= LARGEST_RATIO and judged.p(BEST_TRIAL) < LARGEST_P else 1


if __name__ == "__main__":
    sys.exit(main())
