"""Objectives that fail in a region or at random: the failures, and the answers.

Thirty trials with noise 0.01 on each of five objectives of range about one. Counted: failed trials,
the longest row of them, and how far the true values at `best` and `recommended` are from the best
that can be had; a recommendation that fails counts as a fault. No row may be longer than four
unless failures come at random.
"""

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from ceibo import Categorical, Float, Int, Study

NOISE: Final = 0.01
LONGEST: Final = 4
CUBE: Final = {name: Float(0, 1) for name in "abc"}
Objective = Callable[[dict[str, Any]], float | None]  # None: it fails


def memory(p: dict[str, Any]) -> float | None:
    """Larger batches are better until they no longer fit: the best is at the edge."""
    return None if p["batch"] > 256 else 1.0 - 0.1 * math.log2(p["batch"]) + (p["x"] - 0.3) ** 2


def bowl(p: dict[str, Any]) -> float:
    return float((p["a"] - 0.2) ** 2 + (p["b"] - 0.4) ** 2 + 0.3 * (p["c"] - 0.5) ** 2)


def corner(p: dict[str, Any]) -> float | None:
    """A bowl whose bottom lies where everything fails."""
    return None if p["a"] + p["b"] < 0.8 else bowl(p)


def elsewhere(p: dict[str, Any]) -> float | None:
    """A third of the space fails, far from the optimum."""
    return None if p["a"] > 0.66 else bowl(p)


def category(p: dict[str, Any]) -> float | None:
    """The best category fails in most of its range."""
    if p["kind"] == "b" and p["x"] > 0.3:
        return None
    return {"a": 0.3, "b": 0.0, "c": 0.2}[p["kind"]] + float(p["x"] - 0.5) ** 2


@final
@dataclass(frozen=True)
class Task:
    objective: Objective
    space: dict[str, Any]
    best: float  # the least value where it does not fail
    at_random: float = 0.0  # share of trials that fail wherever they are


TASKS: Final = {
    "memory": Task(memory, {"batch": Int(8, 1024, log=True), "x": Float(0, 1)}, 0.2),
    "corner": Task(corner, CUBE, 0.02),
    "elsewhere": Task(elsewhere, CUBE, 0.0),
    "category": Task(category, {"kind": Categorical(["a", "b", "c"]), "x": Float(0, 1)}, 0.04),
    "at random": Task(bowl, CUBE, 0.0, at_random=0.2),
}


def run(task: Task, seed: int, trials: int) -> tuple[int, int, float, float | None]:
    """Failed trials, the longest row of them, and the regrets of best and recommended.

    The regret is None if the recommended setting fails.
    """
    rng = np.random.default_rng([seed, 3])
    study = Study.create(task.space, seed=seed)
    row = ""
    for _ in range(trials):
        trial = study.ask()
        value = task.objective(trial.params)
        if value is None or rng.random() < task.at_random:
            study.fail(trial, "it fails here")
            row += "x"
        else:
            study.tell(trial, value + NOISE * rng.standard_normal())
            row += "."
    best, recommended = (task.objective(each.params) for each in (study.best, study.recommended))
    study.close()
    if best is None:
        raise AssertionError("the best measured setting fails")
    regret = None if recommended is None else recommended - task.best
    return row.count("x"), max(map(len, row.split("."))), best - task.best, regret


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--trials", type=int, default=30)
    options = parser.parse_args()
    print(
        f"{'failing':>10}{'failed':>9}{'longest row':>13}{'best':>9}"
        f"{'recommended':>13}{'of them failing':>17}"
    )
    passed = True
    for name, task in TASKS.items():
        found = [run(task, seed, options.trials) for seed in range(options.seeds)]
        failed, longest, best, recommended = zip(*found, strict=True)
        good = [regret for regret in recommended if regret is not None]
        print(
            f"{name:>10}{np.median(failed):>9.3g}{max(longest):>13}{np.median(best):>9.4f}", end=""
        )
        print(f"{np.median(good):>13.4f}{len(found) - len(good):>12} of {len(found)}", flush=True)
        passed &= len(good) >= 0.9 * len(found) and (task.at_random > 0 or max(longest) <= LONGEST)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
