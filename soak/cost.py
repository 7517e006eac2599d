"""Prices of a measurement on the Sphere problem: when each stops, and the profit."""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

import ceibo

NOISE = 20.0
DIMENSION = 3
PRICES = {"small": 0.3, "middle": 3.0, "large": 30.0}  # 0.1, 1 and 10 % of the range, 300


def sphere(params: Mapping[str, Any]) -> float:
    """f(x) = Σ x², at most 300 on the box."""
    return float(sum(value**2 for value in params.values()))


@final
@dataclass(frozen=True)
class Outcome:
    """One run that was stopped by its price, or by the most trials allowed."""

    trials: int
    stopped: bool
    true_value: float  # at the incumbent
    believed: ceibo.decide.Profit
    true_profit: float


def run(price: float, seed: int, most: int) -> Outcome:
    """One run at that price."""
    rng = np.random.default_rng([7, seed])

    def objective(params: Mapping[str, Any]) -> ceibo.Measurement:
        return ceibo.Measurement(sphere(params) + NOISE * rng.standard_normal(), noise=NOISE)

    space = {f"x{j}": ceibo.Float(-10, 10) for j in range(DIMENSION)}
    result = ceibo.minimize(objective, space, n_trials=most, cost=price, seed=seed, progress=False)
    profit = result.study.profit(price)
    true = sphere(result.best.params)
    stopped = result.stop.reason is ceibo.StopReason.COST
    return Outcome(
        len(result.study.trials), stopped, true, profit, -true - price * profit.evaluations
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--most", type=int, default=120)
    options = parser.parse_args()
    print(
        f"{'price':>8}{'':>8}{'stopped':>9}{'trials (mean, range)':>24}{'f at best':>11}"
        f"{'profit':>9}{'believed':>16}"
    )
    outcomes = {}
    for name, price in PRICES.items():
        outcomes[name] = [run(price, seed, options.most) for seed in range(options.seeds)]
        runs = outcomes[name]
        trials = [each.trials for each in runs]
        spread = f"{np.mean(trials):.1f} ({min(trials)} to {max(trials)})"
        print(
            f"{price:>8g}{name:>8}{sum(each.stopped for each in runs):>6}/{len(runs):<2}"
            f"{spread:>24}",
            end="",
        )
        print(f"{np.mean([each.true_value for each in runs]):>11.2f}", end="")
        print(f"{np.mean([each.true_profit for each in runs]):>9.1f}", end="")
        believed, std = (
            np.mean([getattr(each.believed, part) for each in runs]) for part in ("value", "std")
        )
        print(f"{f'{believed:.1f} ± {std:.1f}':>16}", flush=True)
    rows = zip(*(outcomes[name] for name in ("small", "middle", "large")), strict=True)
    ordered = sum(small.trials >= middle.trials >= large.trials for small, middle, large in rows)
    means = [
        np.mean([each.trials for each in outcomes[name]]) for name in ("small", "middle", "large")
    ]
    print(f"in order in {ordered} of {options.seeds} seeds")
    return 0 if means[0] > means[1] > means[2] and ordered == options.seeds else 1


if __name__ == "__main__":
    sys.exit(main())
